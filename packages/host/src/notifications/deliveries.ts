/**
 * Delivers messages to receivers. A busy server is tried again, each time later, up to a limit; a push service that no
 * longer knows a browser ends its subscription. Nothing is sent twice to a receiver that could not recognise the
 * repetition: see `deduplicates`.
 */
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { errorText } from '@atrium/core/util/text.js';
import type { NotificationMessage } from '@atrium/protocol/ahp-1';
import type { Desktop } from './desktop.js';
import { ATTEMPTS_MAX, RETRY_FIRST_MS, RETRY_MAX_MS, SENDS_AT_ONCE_MAX, TTL_SECONDS } from './limits.js';
import { PostError, type Posted, post, type Reach } from './post.js';
import type { StoredReceiver } from './receivers.js';
import { encrypt, type VapidKeys, vapidHeader } from './web-push.js';
import { webhookRequest } from './webhook.js';

/** `gone`: the receiver no longer exists. `failed`: given up. */
export type Outcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly problem: string };

export interface DeliveriesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reach: Reach;
  readonly desktop: Desktop | undefined;
  /** Tells push services how to reach the operator. */
  readonly contact: string;
  keys(): Promise<VapidKeys>;
}

export interface SendOptions {
  /** Fires when the event was settled meanwhile. */
  readonly signal?: AbortSignal;
  readonly attempts?: number;
}

const SENT: Outcome = { kind: 'sent' };

/**
 * Whether a receiver shows a repeated message only once: service workers and webhooks in our own format recognise it by
 * its id.
 */
export function deduplicates({ kind, format }: StoredReceiver): boolean {
  return kind === 'push' || (kind === 'webhook' && format === 'json');
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #stopped = new AbortController();
  #inProgress = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped.abort();
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async send(receiver: StoredReceiver, message: NotificationMessage, options: SendOptions = {}): Promise<Outcome> {
    const { signal, attempts = ATTEMPTS_MAX } = options;
    const over = signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal;
    for (let attempt = 1; ; attempt++) {
      const result = await this.#inTurn(over, () => this.#attempt(receiver, message, over));
      if (result.kind !== 'later') return result;
      if (attempt >= attempts) return this.#givenUp(receiver, result.problem);
      const wait = Math.max(RETRY_FIRST_MS * 4 ** (attempt - 1), result.retryAfterMs ?? 0);
      await this.#wait(Math.min(wait, RETRY_MAX_MS), over);
      if (over.aborted) return { kind: 'failed', problem: result.problem };
    }
  }

  #givenUp({ id, kind }: StoredReceiver, problem: string): Outcome {
    this.#options.logger.log('warn', 'a notification could not be sent', { receiver: id, kind, problem });
    return { kind: 'failed', problem };
  }

  async #inTurn<T>(over: AbortSignal, work: () => Promise<T>): Promise<T> {
    while (this.#inProgress >= SENDS_AT_ONCE_MAX && !over.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inProgress++;
    try {
      return await work();
    } finally {
      this.#inProgress--;
      this.#waiting.shift()?.();
    }
  }

  async #attempt(receiver: StoredReceiver, message: NotificationMessage, signal: AbortSignal): Promise<Attempt> {
    try {
      if (signal.aborted) return { kind: 'failed', problem: 'it was settled before it could be sent' };
      if (receiver.kind === 'desktop') return await this.#onDesktop(message);
      const posted = await this.#posted(receiver, message, signal);
      return posted ? judge(posted, receiver) : SENT;
    } catch (error) {
      const isFinal = error instanceof PostError && error.reason === 'address';
      // Without an answer, the message may or may not have arrived.
      if (isFinal || !deduplicates(receiver)) return { kind: 'failed', problem: errorText(error) };
      return { kind: 'later', problem: errorText(error) };
    }
  }

  async #onDesktop({ kind, title, body = '' }: NotificationMessage): Promise<Attempt> {
    // Desktops remove notifications by themselves.
    if (kind === 'show') await this.#options.desktop?.show(title, body);
    return SENT;
  }

  async #posted(
    receiver: StoredReceiver,
    message: NotificationMessage,
    signal: AbortSignal,
  ): Promise<Posted | undefined> {
    const { clock, reach } = this.#options;
    const { subscription, url, format = 'json', secret = '' } = receiver;
    if (subscription) {
      const body = encrypt(Buffer.from(JSON.stringify(message)), subscription.keys);
      return post({
        url: subscription.endpoint,
        headers: await this.#pushHeaders(subscription.endpoint, message),
        body,
        signal,
        reach,
      });
    }
    const request = url === undefined ? undefined : webhookRequest({ message, format, secret, now: clock.now() });
    return request && url !== undefined ? post({ url, ...request, signal, reach }) : undefined;
  }

  async #pushHeaders(endpoint: string, { event, tag }: NotificationMessage): Promise<Record<string, string>> {
    const { clock, contact } = this.#options;
    return {
      'Content-Type': 'application/octet-stream',
      'Content-Encoding': 'aes128gcm',
      TTL: String(TTL_SECONDS[event]),
      Urgency: event === 'question' || event === 'budget' ? 'high' : 'normal',
      // A device that is away gets only the newest message of each tag.
      Topic: tag.slice(0, 32),
      Authorization: vapidHeader({ keys: await this.#options.keys(), endpoint, now: clock.now(), contact }),
    };
  }

  #wait(milliseconds: number, over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        over.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#options.clock.after(milliseconds, done);
      over.addEventListener('abort', done);
      if (over.aborted) done();
    });
  }
}

type Attempt = Outcome | { readonly kind: 'later'; readonly problem: string; readonly retryAfterMs?: number };

function judge({ status, retryAfterMs }: Posted, { kind }: StoredReceiver): Attempt {
  if (status >= 200 && status < 300) return SENT;
  const problem = `The server answered ${status}.`;
  if (kind === 'push' && (status === 404 || status === 410)) return { kind: 'gone' };
  if (status === 429 || status >= 500)
    return { kind: 'later', problem, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const isRedirect = status >= 300 && status < 400;
  return {
    kind: 'failed',
    problem: isRedirect ? `${problem} Redirects are not followed: give the last address.` : problem,
  };
}
