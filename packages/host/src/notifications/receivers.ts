/**
 * The places where people get notifications, stored as records of the log together with the secrets needed to reach
 * them.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { type Access, type Credential, hasRole } from '@atrium/core/contracts/access.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import { shownAddress } from '@atrium/core/util/addresses.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { newToken } from '@atrium/core/util/secrets.js';
import { shorten } from '@atrium/core/util/text.js';
import {
  DEFAULT_RULE,
  ErrorCode,
  type NotificationReceiver,
  type PushSubscriptionKeys,
  RECEIVER_KINDS,
  type ReceiverKind,
  type SetReceiverResult,
  visibleText,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '@atrium/protocol/ahp-1';
import { RECEIVER_NAME_MAX_CHARACTERS, RECEIVERS_MAX, RECEIVERS_PER_DEVICE_MAX } from './limits.js';
import { addressProblem, type Reach } from './post.js';
import { isRecord, readRule, readSubscription, wrong } from './rules.js';

const PREFIX = 'notify-receiver:';

/** A receiver as it is stored. */
export interface StoredReceiver extends Omit<NotificationReceiver, 'address' | 'device'> {
  /** The receiver may see and answer what this credential may. */
  readonly owner: Credential;
  readonly subscription?: PushSubscriptionKeys;
  readonly url?: string;
  readonly format?: WebhookFormat;
  readonly secret?: string;
}

export interface ReceiversOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly reach: Reach;
  /** Whether the machine has a desktop to show something on. */
  readonly hasDesktop: boolean;
  /** A receiver was removed. */
  removed(id: string): void;
}

type Params = Readonly<Record<string, unknown>>;

export class Receivers {
  readonly #options: ReceiversOptions;
  readonly #all = new Map<string, StoredReceiver>();

  constructor(options: ReceiversOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const { value } of await this.#options.log.records(PREFIX)) {
      const stored = JSON.parse(value) as StoredReceiver;
      this.#all.set(stored.id, stored);
    }
  }

  get isAny(): boolean {
    return this.#all.size > 0;
  }

  all(): readonly StoredReceiver[] {
    return [...this.#all.values()];
  }

  get(id: string): StoredReceiver | undefined {
    return this.#all.get(id);
  }

  /** The receivers that a caller may see: owners all of them, others their own. */
  list(access: Access): NotificationReceiver[] {
    return this.all()
      .filter((receiver) => isHeldBy(receiver, access))
      .map(listed);
  }

  /** Whether a receiver belongs to this very device, or to the owner's own access. */
  isOwn(id: string, access: Access): boolean {
    const found = this.get(id);
    return found !== undefined && isOwn(found, access);
  }

  /** A receiver that the caller may change. Throws when it does not exist. */
  held(id: unknown, access: Access): StoredReceiver {
    const found = typeof id === 'string' ? this.get(id) : undefined;
    if (!found || !isHeldBy(found, access))
      throw new RequestError(ErrorCode.NotFound, `there is no receiver ${String(id)}`);
    return found;
  }

  /** Adds a receiver, or changes one. A browser that subscribes again keeps its receiver. */
  async set(params: Params, access: Access): Promise<SetReceiverResult> {
    const before = params.id === undefined ? this.#sameEndpoint(params, access) : this.held(params.id, access);
    // The address belongs to the browser: with another one, a removed browser would still get notifications.
    if (before && params.subscription !== undefined && !isOwn(before, access))
      throw notAllowed('only the browser that subscribed changes its address');
    const receiver = before ? this.#changed(before, params) : this.#made(params, access);
    this.#keep(receiver, 'full');
    await this.#options.writer.settled();
    const isFirst = before === undefined && receiver.secret !== undefined;
    return { receiver: listed(receiver), ...(isFirst && { secret: receiver.secret }) };
  }

  #sameEndpoint({ kind, subscription }: Params, { credential }: Access): StoredReceiver | undefined {
    if (kind !== 'push' || !isRecord(subscription)) return undefined;
    const { endpoint } = subscription;
    return this.all().find((each) => each.owner.id === credential.id && each.subscription?.endpoint === endpoint);
  }

  #changed(before: StoredReceiver, { name, rule, subscription }: Params): StoredReceiver {
    const { problem: _over, ...rest } = before;
    const isPush = before.kind === 'push' && subscription !== undefined;
    return {
      ...(isPush ? { ...rest, subscription: this.#checkedSubscription(subscription) } : before),
      ...(name !== undefined && { name: readName(name) }),
      ...(rule !== undefined && { rule: readRule(rule) }),
    };
  }

  #made(params: Params, access: Access): StoredReceiver {
    const kind = RECEIVER_KINDS.find((each) => each === params.kind);
    if (kind === undefined) throw wrong(`/kind must be ${RECEIVER_KINDS.join(', ')}`);
    const { credential } = access;
    if (credential.kind === 'share') throw notAllowed('a share gets no notifications');
    const isOfHost = kind === 'webhook' || kind === 'desktop';
    if (isOfHost && access.role !== 'owner') throw notAllowed(`only the owner adds a ${kind}`);
    this.#checkCount(credential, kind);
    const name = params.name === undefined ? (credential.name ?? NAMES[kind]) : params.name;
    return {
      id: crypto.randomUUID(),
      kind,
      name: readName(name),
      rule: params.rule === undefined ? DEFAULT_RULE : readRule(params.rule),
      createdAt: new Date(this.#options.clock.now()).toISOString(),
      owner: credential,
      ...this.#place(kind, params),
    };
  }

  #checkCount({ kind, id }: Credential, receiver: ReceiverKind): void {
    const all = this.all();
    if (all.length >= RECEIVERS_MAX) throw wrong(`at most ${RECEIVERS_MAX} receivers are kept: remove one first`);
    const own = all.filter(({ owner }) => owner.id === id).length;
    if (kind === 'device' && own >= RECEIVERS_PER_DEVICE_MAX)
      throw wrong(`a device has at most ${RECEIVERS_PER_DEVICE_MAX} receivers: remove one first`);
    if (receiver === 'desktop' && all.some((each) => each.kind === 'desktop'))
      throw wrong('the desktop is a receiver already');
  }

  /** Where it is, and the secret needed to reach it. */
  #place(kind: ReceiverKind, params: Params): Partial<StoredReceiver> {
    if (kind === 'push') return { subscription: this.#checkedSubscription(params.subscription) };
    if (kind === 'desktop' && !this.#options.hasDesktop)
      throw wrong('the machine of the host has no desktop to show notifications on');
    if (kind !== 'webhook') return {};
    const { url, format = 'json' } = params;
    if (typeof url !== 'string') throw wrong('/url must be an address');
    const problem = addressProblem(url, this.#options.reach);
    if (problem !== undefined) throw wrong(`/url: ${problem}`);
    const known = WEBHOOK_FORMATS.find((each) => each === format);
    if (known === undefined) throw wrong(`/format must be ${WEBHOOK_FORMATS.join(', ')}`);
    return { url, format: known, secret: newToken() };
  }

  #checkedSubscription(value: unknown): PushSubscriptionKeys {
    const subscription = readSubscription(value);
    const problem = addressProblem(subscription.endpoint, this.#options.reach);
    if (problem !== undefined) throw wrong(`/subscription/endpoint: ${problem}`);
    return subscription;
  }

  /** Records whether a message reached it. */
  note(id: string, outcome: { readonly sentAt: string } | { readonly problem: string }): void {
    const receiver = this.get(id);
    if (!receiver) return;
    const { problem: _before, ...rest } = receiver;
    this.#keep({ ...rest, ...outcome }, 'normal');
  }

  remove(id: string): void {
    if (!this.#all.delete(id)) return;
    this.#options.writer.record({ key: PREFIX + id, value: null }, 'full');
    this.#options.removed(id);
  }

  /** A device was removed; removes its receivers. */
  removeAllOf(credentialId: string): void {
    for (const { id, owner } of this.all()) if (owner.id === credentialId) this.remove(id);
  }

  /** Removes only its browsers. Webhooks and the desktop are settings of the host, and stay. */
  removeBrowsersOf(credentialId: string): void {
    const isBrowser = ({ kind }: StoredReceiver) => kind === 'push' || kind === 'page';
    for (const each of this.all()) if (each.owner.id === credentialId && isBrowser(each)) this.remove(each.id);
  }

  #keep(receiver: StoredReceiver, durability: 'full' | 'normal'): void {
    const before = this.#all.get(receiver.id);
    this.#all.set(receiver.id, receiver);
    this.#options.writer.record({ key: PREFIX + receiver.id, value: jsonText(receiver) }, durability);
    this.#options.writer.afterFailure(() => {
      if (this.#all.get(receiver.id) !== receiver) return;
      if (before) this.#all.set(receiver.id, before);
      else this.#all.delete(receiver.id);
    });
  }
}

const NAMES: Readonly<Record<ReceiverKind, string>> = {
  push: 'Browser',
  page: 'Browser',
  webhook: 'Webhook',
  desktop: 'Desktop of the host',
};

/** An owner with bounds or an end holds no receivers of others, which would hear of everything, and for longer. */
function isHeldBy(receiver: StoredReceiver, access: Access): boolean {
  const isWhole = hasRole(access.role, 'owner') && access.bounds === undefined && access.until === undefined;
  return isWhole || isOwn(receiver, access);
}

function isOwn({ owner }: StoredReceiver, { credential }: Access): boolean {
  return owner.kind === credential.kind && owner.id === credential.id;
}

function readName(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw wrong('/name must be a text');
  return shorten(visibleText(value, 'line'), RECEIVER_NAME_MAX_CHARACTERS);
}

function listed({ owner, subscription, url, secret: _secret, ...rest }: StoredReceiver): NotificationReceiver {
  // The path of an address is a secret of a push service, and often of a webhook.
  const place = subscription?.endpoint ?? url;
  const address = place !== undefined && new URL(shownAddress(place)).origin;
  return { ...rest, ...(address && { address }), ...(owner.kind === 'device' && { device: owner.id }) };
}

function notAllowed(message: string): RequestError {
  return new RequestError(ErrorCode.PermissionDenied, message);
}
