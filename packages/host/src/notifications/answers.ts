/**
 * Allow and Deny in a notification. Each notification has its own key, which only the encrypted message contains.
 * Whoever presents the key answers this one question, as the device that was told, and nothing else. A key works once,
 * and only while exactly the question that was shown still waits.
 */
import { type Access, hasRole } from '@atrium/core/contracts/access.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { newToken, digestOf as secretDigest, TOKEN_BYTES } from '@atrium/core/util/secrets.js';
import { ANSWER_PATH, ANSWERED_BY, type SessionInputRequest } from '@atrium/protocol/ahp-1';
import type { Route } from '../server/routes.js';
import { digestOf } from './events.js';
import type { OpenEvent } from './open-events.js';
import type { StoredReceiver } from './receivers.js';

export type AnswerResult =
  | { readonly kind: 'taken' }
  /** The question is no longer open, or the key is unknown. */
  | { readonly kind: 'stale'; readonly problem: string }
  | { readonly kind: 'forbidden'; readonly problem: string };

const STALE = 'This question is no longer open. Nothing was done.';
const FORBIDDEN = 'This device may not answer questions any more. Nothing was done.';
const KEY = new RegExp(`^[\\w-]{${Math.ceil((TOKEN_BYTES * 8) / 6)}}$`);

export interface AnswersOptions {
  eventOf(id: string): OpenEvent | undefined;
  receiverOf(id: string): StoredReceiver | undefined;
  /** The present access of the receiver's owner; undefined when it is gone. */
  accessOf(receiver: StoredReceiver): Access | undefined;
  canSee(access: Access, session: string): boolean;
  sessionOf(uri: string): Session | undefined;
  /** Resolves when everything written so far is stored. */
  settled(): Promise<void>;
}

interface Granted {
  readonly event: string;
  readonly receiver: string;
}

const FORBIDDEN_RESULT: AnswerResult = { kind: 'forbidden', problem: FORBIDDEN };

export class Answers {
  readonly #options: AnswersOptions;
  /** Keyed by the digest of the key. */
  readonly #keys = new Map<string, Granted>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  keyFor(event: string, receiver: string): string {
    const key = newToken();
    this.#keys.set(secretDigest(key).toString('hex'), { event, receiver });
    return key;
  }

  /** The event is over; its keys no longer work. */
  forget(event: string): void {
    for (const [digest, granted] of this.#keys) if (granted.event === event) this.#keys.delete(digest);
  }

  async answer(key: unknown, approved: unknown): Promise<AnswerResult> {
    const digest = typeof key === 'string' && KEY.test(key) ? secretDigest(key).toString('hex') : '';
    const granted = this.#keys.get(digest);
    if (!granted || typeof approved !== 'boolean') return { kind: 'stale', problem: STALE };
    const event = this.#options.eventOf(granted.event);
    const receiver = this.#options.receiverOf(granted.receiver);
    if (!event || !receiver) return { kind: 'stale', problem: STALE };
    const access = this.#options.accessOf(receiver);
    const canAnswer = access && hasRole(access.role, 'approver') && this.#options.canSee(access, event.session);
    if (!canAnswer) return FORBIDDEN_RESULT;
    const written = this.#write(event, approved, access);
    if (written !== 'taken') return written === 'forbidden' ? FORBIDDEN_RESULT : { kind: 'stale', problem: STALE };
    this.#keys.delete(digest);
    await this.#options.settled();
    return { kind: 'taken' };
  }

  /** Checks and writes in one step, so that nobody else can answer in between. */
  #write(event: OpenEvent, approved: boolean, { role, credential }: Access): AnswerResult['kind'] {
    const by = credential.name;
    const session = this.#options.sessionOf(event.session);
    const request = session && openRequest(session.state.inputNeeded, event);
    if (!session || request?.kind !== 'toolConfirmation') return 'stale';
    const chat = session.chatAt(request.chat);
    const { turnId, toolCall } = request;
    if (!chat || toolCall.status !== 'pending-confirmation') return 'stale';
    const signed = by !== undefined && { _meta: { ...toolCall._meta, [ANSWERED_BY]: by } };
    const target = { type: 'chat/toolCallConfirmed' as const, turnId, toolCallId: toolCall.toolCallId, ...signed };
    const action = approved
      ? { ...target, approved, confirmed: 'user-action' as const }
      : { ...target, approved, reason: 'denied' as const };
    // Some answers, such as accepting a plan, need more than an approver, also from a notification.
    if (!hasRole(role, chat.leastRole(action) ?? 'approver')) return 'forbidden';
    chat.write(action);
    return 'taken';
  }
}

/** The request of an event, if exactly that request still waits. */
export function openRequest(
  needed: readonly SessionInputRequest[] | undefined,
  { question }: Pick<OpenEvent, 'question'>,
): SessionInputRequest | undefined {
  const request = needed?.find(({ id }) => id === question?.entry);
  return request && digestOf(request) === question?.digest ? request : undefined;
}

const STATUS: Readonly<Record<AnswerResult['kind'], number>> = { taken: 200, stale: 409, forbidden: 403 };

/**
 * The service worker of the page posts Allow and Deny here, because it has no connection. Only a page of this host can
 * do so.
 */
export function answerRoute(answer: (key: unknown, approved: unknown) => Promise<AnswerResult>): Route {
  return {
    method: 'POST',
    path: ANSWER_PATH,
    answer: async ({ isPage, body }) => {
      if (!isPage) return { status: 403 };
      const { key, approved } = (body ?? {}) as { readonly key?: unknown; readonly approved?: unknown };
      const { kind, ...json } = await answer(key, approved);
      return { status: STATUS[kind], json };
    },
  };
}
