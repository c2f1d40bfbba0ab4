/** The public face of the library: `connectProvider` returns a `Provider`, which delegates to its engine. */

import { deferred, newId, optional } from '@atrium/link';
import type {
  ProviderFilterRule,
  ProviderJsonObject,
  ProviderPushMessage,
  ProviderSessionEntry,
  ProviderStreamEvent,
  ProviderStreamHistoryMessage,
} from '@atrium/protocol/provider';
import { Engine } from './engine.js';
import { LocalErrorCode, ProviderError } from './errors.js';
import { type Binding, type ProviderOptions, type ProviderState, settingsOf } from './options.js';
import { checked } from './registration.js';
import {
  type Acknowledged,
  contextChange,
  filterChange,
  type HookChanges,
  hooksChange,
  type OneSession,
  type ToolChanges,
  toolsChange,
} from './updates.js';

/** A gateway answers from memory. */
export const QUERY_TIMEOUT_MS = 10_000;
export const QUERY_LAST_DEFAULT = 10;

export interface PushOptions extends OneSession {
  /** The name of the provider when absent. */
  readonly stream?: string;
  readonly metadata?: ProviderJsonObject;
  /** To every session, for providers that are bound to all. */
  readonly broadcast?: boolean;
}

/** Each resolves when the push is sent; you may ignore the promise. An empty text throws immediately. */
export interface Push {
  /** Only stored, for `query`. */
  keep(event: string, options?: PushOptions): Promise<void>;
  /** Stored, and shown to the people in the session. */
  surface(event: string, options?: PushOptions): Promise<void>;
  /** Stored, and told to the model: it starts a turn when the session is idle. */
  inject(event: string, options?: PushOptions): Promise<void>;
  /** Starts a turn with exactly this prompt. */
  prompt(prompt: string, options?: PushOptions): Promise<void>;
}

export class Provider {
  readonly push: Push;
  readonly #engine: Engine;

  /** Providers are made by `connectProvider`. */
  constructor(engine: Engine) {
    this.#engine = engine;
    const event =
      (level: 'keep' | 'surface' | 'inject') =>
      (text: string, options: PushOptions = {}) =>
        this.#push({ type: 'push', level, event: text, ...options });
    this.push = {
      keep: event('keep'),
      surface: event('surface'),
      inject: event('inject'),
      prompt: (prompt, options = {}) => this.#push({ type: 'push', level: 'inject', prompt, ...options }),
    };
  }

  /** Resolves when the gateway has registered the provider for the first time; rejects when it never will. */
  get ready(): Promise<Binding> {
    return this.#engine.ready.promise;
  }

  get state(): ProviderState {
    return this.#engine.state;
  }

  /** The sessions that the gateway listed last. */
  get sessions(): readonly ProviderSessionEntry[] {
    return this.#engine.sessions.active;
  }

  /** Adds tools, or replaces those of the same name; `null` removes one. Refused as a whole, or in force as a whole. */
  updateTools(changes: ToolChanges, scope: OneSession = {}): Promise<Acknowledged> {
    const { sessionTools, updates } = this.#engine;
    if (scope.sessionId !== undefined)
      for (const [name, tool] of Object.entries(changes)) if (tool) sessionTools.set(name, tool);
    return updates.change((before) => toolsChange(before, changes, scope));
  }

  /** Changes gates, rules and transforms. */
  updateHooks(changes: HookChanges, scope: OneSession = {}): Promise<Acknowledged> {
    return this.#engine.updates.change((before) => hooksChange(before, changes, scope));
  }

  /** Replaces what the model is told with every prompt; the empty text clears it. */
  updateContext(context: string, scope: OneSession = {}): Promise<Acknowledged> {
    return this.#engine.updates.change(() => contextChange(context, scope));
  }

  /** Lets the gateway sort the events of a stream: the first rule that matches decides. No rules, no filter. */
  setFilter(stream: string, rules: readonly ProviderFilterRule[], scope: OneSession = {}): Promise<Acknowledged> {
    return this.#engine.updates.change((before) => filterChange(before, { stream, rules, ...scope }));
  }

  /** The latest events of some streams, newest first, by `stream@provider`. */
  async query(
    streams: readonly string[],
    { last = QUERY_LAST_DEFAULT, ...scope }: OneSession & { readonly last?: number } = {},
  ): Promise<Readonly<Record<string, readonly ProviderStreamEvent[]>>> {
    const { connection, queries } = this.#engine;
    this.#throwUnlessReady('query');
    const id = newId();
    const type = 'stream.query' as const;
    const query = checked({ type, queryId: id, ...scope, streams: [...streams], last });
    const answer = deferred<ProviderStreamHistoryMessage['streams']>();
    queries.wait({ id, method: type, timeoutMs: QUERY_TIMEOUT_MS }, (outcome) =>
      outcome.ok ? answer.resolve(outcome.value) : answer.reject(outcome.error),
    );
    // Errors carry a `requestId`, answers a `queryId`; one id serves as both.
    connection.send(Object.assign(query, { requestId: id }));
    return answer.promise;
  }

  /** Says goodbye. The gateway removes the provider's tools, hooks and context from the sessions. */
  close(reason = 'closed'): Promise<void> {
    if (this.state.at === 'ready') this.#engine.connection.send({ type: 'goodbye', reason });
    return this.#engine.close();
  }

  #push(message: ProviderPushMessage): Promise<void> {
    const { isClosed, pushes } = this.#engine;
    return optional(isClosed ? Promise.reject(closed('push')) : pushes.push(checked(message)));
  }

  #throwUnlessReady(doing: string): void {
    if (this.#engine.isClosed) throw closed(doing);
    if (this.state.at !== 'ready') throw new ProviderError(LocalErrorCode.Disconnected, `cannot ${doing} now`);
  }
}

function closed(doing: string): ProviderError {
  return new ProviderError(LocalErrorCode.Closed, `cannot ${doing}: the provider is closed`);
}

/**
 * Connects to the gateway of a host and stays connected: reconnects by itself and registers everything again.
 * Throws when the options make no sense.
 *
 * ```ts
 * const provider = connectProvider({
 *   name: 'greeter',
 *   tools: { greet: { description: 'Says hello', run: () => 'Hello!' } },
 * });
 * await provider.ready;
 * ```
 */
export function connectProvider(options: ProviderOptions): Provider {
  const engine = new Engine(settingsOf(options));
  engine.connection.dial();
  return new Provider(engine);
}
