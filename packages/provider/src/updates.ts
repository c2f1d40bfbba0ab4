/**
 * Changes to the registration. The next `hello` carries each change at once; the gateway gets changes of one kind one
 * at a time. The next `hello` also carries a change that was lost with the connection.
 */
import { asError, type Clock, type Deferred, deferred, newId, type Outcome, PendingById } from '@atrium/link';
import type { ProviderAckMessage, ProviderFilterRule, ToGatewayMessageMap } from '@atrium/protocol/provider';
import { LocalErrorCode, ProviderError } from './errors.js';
import { hookRules, type Rules, type Transform, wireTransform } from './hooks.js';
import { checked, type Registration } from './registration.js';
import { type Tool, toolDefinition } from './tools.js';

/** Older gateways do not acknowledge: without a refusal within this time, the change counts as accepted. */
export const ACK_GRACE_MS = 3_000;
const NOT_ACKNOWLEDGED = new Error('the gateway did not acknowledge the change');

export interface Acknowledged {
  /** Counts up with each change in a session. Absent when the gateway did not say. */
  readonly revision?: number;
  /** False for a gateway that does not acknowledge. */
  readonly acknowledged: boolean;
  /** After a change of hooks: those that the agent of the session cannot apply. */
  readonly degraded?: readonly string[];
}

type UpdateType = 'tools.update' | 'hooks.update' | 'context.update' | 'filter.set';
type UpdateMessage = ToGatewayMessageMap[UpdateType];

interface Change {
  readonly message: UpdateMessage;
  /** Its lasting effect on the registration; empty for a change of one session. */
  readonly patch: Partial<Registration>;
}

/** Builds the change from the registration at the moment of sending. */
type MakeChange = (before: Registration) => Change;

interface Pending extends Deferred<Acknowledged> {
  readonly make: MakeChange;
}

interface UpdatesOptions {
  readonly clock: Clock;
  readonly registration: { current: Registration };
  isBound(): boolean;
  send(message: UpdateMessage): void;
}

export class Updates {
  readonly #options: UpdatesOptions;
  readonly #requests: PendingById<string, Acknowledged>;
  /** By type; the first of each is under way. */
  readonly #queues = new Map<UpdateType, Pending[]>();
  /** Changes that the next `hello` carries. */
  readonly #pendingForHello: Pending[] = [];

  constructor(options: UpdatesOptions) {
    this.#options = options;
    this.#requests = new PendingById({ clock: options.clock, late: () => NOT_ACKNOWLEDGED });
  }

  /** Rejects when the change breaks the contract, or the gateway refuses it. */
  change(make: MakeChange): Promise<Acknowledged> {
    const pending = { make, ...deferred<Acknowledged>() };
    try {
      const { message } = make(this.#options.registration.current);
      checked(message);
      if (this.#options.isBound()) this.#enqueue(pending, message.type);
      else this.#deferToHello(pending);
    } catch (error) {
      pending.reject(asError(error));
    }
    return pending.promise;
  }

  acknowledged({ requestId, revision, degraded }: ProviderAckMessage): void {
    if (requestId === undefined) return;
    this.#requests.succeeded(requestId, { acknowledged: true, revision, ...(degraded && { degraded }) });
  }

  /** Whether the error was about a change. */
  refused(refusal: Refusal, error: Error): boolean {
    return failRequest(this.#requests, refusal, error);
  }

  /** The gateway accepted a `hello`, and with it every change it carried. */
  bound(): void {
    for (const { resolve } of this.#pendingForHello.splice(0)) resolve({ acknowledged: true });
  }

  lost(): void {
    const waiting = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#requests.abandon(() => new Error('left to the next hello'));
    for (const pending of waiting) this.#deferToHello(pending);
  }

  close(error: Error): void {
    this.lost();
    for (const { reject } of this.#pendingForHello.splice(0)) reject(error);
  }

  #enqueue(pending: Pending, type: UpdateType): void {
    const queue = this.#queues.get(type) ?? [];
    this.#queues.set(type, queue);
    queue.push(pending);
    if (queue.length === 1) void this.#send(pending, queue);
  }

  /** Changes of one session are not part of `hello`. */
  #deferToHello(pending: Pending): void {
    const { message, patch } = pending.make(this.#options.registration.current);
    if (message.sessionId !== undefined)
      return pending.reject(new ProviderError(LocalErrorCode.Disconnected, 'there is no session to change'));
    this.#apply(patch);
    this.#pendingForHello.push(pending);
  }

  async #send(pending: Pending, queue: Pending[]): Promise<void> {
    const { registration, send } = this.#options;
    const before = registration.current;
    const { message, patch } = pending.make(before);
    const { type } = message;
    const isCurrent = () => this.#queues.get(type) === queue;
    const id = newId();
    const answer = deferred<Acknowledged>();
    this.#requests.wait({ id, method: type, timeoutMs: ACK_GRACE_MS }, (outcome) => settle(answer, outcome));
    this.#apply(patch);
    send({ ...message, requestId: id });
    try {
      pending.resolve(await answer.promise);
    } catch (error) {
      if (isCurrent()) this.#undo(pending, patch, { before, error: asError(error) });
    }
    if (!isCurrent()) return;
    queue.shift();
    const [next] = queue;
    if (next) void this.#send(next, queue);
  }

  /** Reverts only its own keys: changes of another kind may have happened meanwhile. */
  #undo(
    { reject }: Pending,
    patch: Partial<Registration>,
    { before, error }: { readonly before: Registration; readonly error: Error },
  ): void {
    const old = Object.keys(patch).map((key) => [key, before[key as keyof Registration]]);
    this.#apply(Object.fromEntries(old));
    reject(error);
  }

  #apply(patch: Partial<Registration>): void {
    this.#options.registration.current = { ...this.#options.registration.current, ...patch };
  }
}

/** A gateway that stays silent has accepted the change. */
function settle(answer: Deferred<Acknowledged>, outcome: Outcome<Acknowledged>): void {
  if (outcome.ok) answer.resolve(outcome.value);
  else if (outcome.error === NOT_ACKNOWLEDGED) answer.resolve({ acknowledged: false });
  else answer.reject(outcome.error);
}

/** The members of an error message that name the refused request. */
export interface Refusal {
  readonly requestId?: string | undefined;
  readonly replyTo?: string | undefined;
}

/** Older gateways do not name the refused request; then it is the oldest of its type. False when none waits. */
export function failRequest<Result>(
  requests: PendingById<string, Result>,
  { requestId, replyTo }: Refusal,
  error: Error,
): boolean {
  const id = requestId ?? (replyTo === undefined ? undefined : requests.oldest(replyTo));
  return id !== undefined && requests.failed(id, error);
}

/** For providers bound to all sessions: changes only this one, until the connection is lost. */
export interface OneSession {
  readonly sessionId?: string;
}

/** `null` removes a tool. */
export type ToolChanges = Readonly<Record<string, Tool | null>>;

/** New rules replace all old ones of any kind; transforms are merged by section, and `null` removes one. */
export interface HookChanges extends Rules {
  readonly transforms?: Readonly<Record<string, Transform | null>>;
}

/** Sends the whole list, because older gateways replace theirs; newer ones ignore unchanged tools. */
export function toolsChange({ tools: before }: Registration, changes: ToolChanges, scope: OneSession): Change {
  const remove = Object.keys(changes).filter((name) => changes[name] === null);
  const added = present(changes);
  const all = [...Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name)), ...added];
  const isForAll = scope.sessionId === undefined;
  const tools = (isForAll ? all : added).map(([name, tool]) => toolDefinition(name, tool));
  return {
    message: { type: 'tools.update', ...scope, tools, remove },
    patch: isForAll ? { tools: Object.fromEntries(all) } : {},
  };
}

/** Gates and callbacks of one session still need answers, so the registration keeps them. */
export function hooksChange(before: Registration, { transforms, ...rules }: HookChanges, scope: OneSession): Change {
  const hasRules = Object.values(rules).some((list) => list !== undefined);
  const wire = Object.entries(transforms ?? {}).map(([section, change]) => [section, change && wireTransform(change)]);
  const merged = present({ ...before.transforms, ...transforms });
  return {
    message: {
      type: 'hooks.update',
      ...scope,
      ...(hasRules && { onPreToolUse: hookRules(rules) }),
      ...(transforms && { transforms: Object.fromEntries(wire) }),
    },
    patch: { ...(hasRules && { rules }), ...(transforms && { transforms: Object.fromEntries(merged) }) },
  };
}

export function contextChange(context: string, scope: OneSession): Change {
  return {
    message: { type: 'context.update', ...scope, context },
    patch: scope.sessionId === undefined ? { context } : {},
  };
}

export function filterChange(
  { filters }: Registration,
  { stream, rules, ...scope }: OneSession & { readonly stream: string; readonly rules: readonly ProviderFilterRule[] },
): Change {
  return {
    message: { type: 'filter.set', ...scope, stream, rules: [...rules] },
    patch: scope.sessionId === undefined ? { filters: { ...filters, [stream]: rules } } : {},
  };
}

function present<T>(changes: Readonly<Record<string, T | null>>): [string, T][] {
  return Object.entries(changes).flatMap(([name, value]): [string, T][] => (value === null ? [] : [[name, value]]));
}
