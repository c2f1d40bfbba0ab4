/**
 * Requests that take a while. A client that sends a `progressToken` gets `root/progress` for its request, and can stop
 * it with `atrium/cancelWork`. The token belongs to its connection: no other client can stop the work. Losing the
 * connection stops nothing.
 */
import { ErrorCode, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import { RequestError } from '../contracts/request-error.js';
import type { Work, WorkStep } from '../contracts/work.js';
import { PROGRESS_TOKEN_MAX_CHARACTERS } from '../sessions/creation-progress.js';
import type { Clock } from '../util/clock.js';
import { throttle } from '../util/scheduling.js';
import { isRecord } from '../util/shape.js';
import type { Connection } from './connection.js';
import type { Subscriptions } from './subscriptions.js';

/** Least time between two progress messages about the same work. */
export const PROGRESS_EVERY_MS = 100;
/** How many requests one connection may watch at the same time. */
export const WATCHED_MAX = 64;

type Params = Readonly<Record<string, unknown>>;

export class LongWork {
  readonly #clock: Clock;
  readonly #subscriptions: Pick<Subscriptions, 'notifyOne'>;
  readonly #running = new WeakMap<Connection, Map<string, AbortController>>();

  constructor(clock: Clock, subscriptions: Pick<Subscriptions, 'notifyOne'>) {
    this.#clock = clock;
    this.#subscriptions = subscriptions;
  }

  /** True when the client wants progress messages for this request. */
  isWatched(params: Params): boolean {
    return tokenIn(params) !== undefined;
  }

  async run(connection: Connection, params: Params, job: (work: Work) => unknown): Promise<unknown> {
    const token = tokenIn(params) ?? '';
    const own = this.#running.get(connection) ?? new Map<string, AbortController>();
    this.#running.set(connection, own);
    if (own.has(token)) throw invalid('/progressToken is in use by another running request');
    if (own.size >= WATCHED_MAX) throw invalid(`no more than ${WATCHED_MAX} requests can be watched at once`);
    const stopping = new AbortController();
    own.set(token, stopping);
    let latest: WorkStep | undefined;
    const tell = throttle(this.#clock, PROGRESS_EVERY_MS, () => latest && this.#report(connection, token, latest));
    const report = (step: WorkStep) => {
      latest = step;
      tell.request();
    };
    try {
      return await job({ signal: stopping.signal, report });
    } finally {
      own.delete(token);
      tell.stop();
      if (latest) this.#report(connection, token, { ...latest, done: latest.total });
    }
  }

  /** Stops the work under a token; false when there is none. */
  cancel(connection: Connection, token: unknown): boolean {
    const stopping = typeof token === 'string' ? this.#running.get(connection)?.get(token) : undefined;
    stopping?.abort(new RequestError(ErrorCode.Conflict, 'it was stopped'));
    return stopping !== undefined;
  }

  #report(connection: Connection, progressToken: string, { done, total, message }: WorkStep): void {
    const params = { channel: ROOT_CHANNEL, progressToken, progress: done, total, message };
    this.#subscriptions.notifyOne(connection, { method: 'root/progress', params });
  }
}

/** Our own methods have the token among their parameters; methods of the protocol have it in `_meta`. */
function tokenIn({ progressToken, _meta }: Params): string | undefined {
  const token = progressToken ?? (isRecord(_meta) ? _meta.progressToken : undefined);
  if (token === undefined) return undefined;
  if (typeof token === 'string' && token !== '' && token.length <= PROGRESS_TOKEN_MAX_CHARACTERS) return token;
  throw invalid(`/progressToken must be a string of at most ${PROGRESS_TOKEN_MAX_CHARACTERS} characters`);
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
