/**
 * Events that providers push: stored in streams, shown to people, or turned into a turn, as far as filters and rate
 * limits allow.
 */

import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { type Pattern, tryPatterns } from '@atrium/core/util/patterns.js';
import { RateLimit } from '@atrium/core/util/scheduling.js';
import {
  GatewayErrorCode,
  grantOf,
  type ProviderFilterRule,
  PUSHES_PER_SECOND_MAX,
  STREAMS_PER_PROVIDER_MAX,
  type ToGatewayMessageMap,
} from '@atrium/protocol/provider';
import { GatewayError, tooMany, unauthorized } from '../gateway-errors.js';
import type { GatewaySession, ProviderGroup } from '../gateway-session.js';
import { compilePattern } from '../hooks/pre-tool-rules.js';
import type { Commits, GatewayPorts, GatewayService } from '../ports.js';
import { type Binding, bindingFor, bindingsFor, type Provider } from '../provider.js';
import type { Updates } from '../registration-updates.js';
import { Injects } from './injects.js';
import { checkStreamName, STREAMS_PER_QUERY_MAX, Streams, streamNamed } from './streams.js';
import { Timeline } from './timeline.js';

type Push = ToGatewayMessageMap['push'];

const SECOND_MS = 1_000;

/** The gateway tries every rule of a filter on every event of its stream. */
export const RULES_PER_FILTER_MAX = 50;

interface PushesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly commits: Commits;
  readonly updates: Updates;
  readonly pushed: NonNullable<GatewayPorts['pushed']>;
}

export class Pushes implements GatewayService {
  readonly timeline: Timeline;
  readonly #options: PushesOptions;
  readonly #streams = new Streams();
  readonly #filters = new Filters();
  readonly #injects: Injects;
  readonly #rates: RateLimit;

  constructor(options: PushesOptions) {
    const { clock, commits } = options;
    this.#options = options;
    this.#rates = new RateLimit(clock, PUSHES_PER_SECOND_MAX, SECOND_MS);
    this.timeline = new Timeline(clock);
    this.#injects = new Injects(clock, (then) => commits.afterCommit(then));
  }

  readonly handlers = {
    push: (message: Push, provider: Provider) => this.#push(provider, message),
    'filter.set': (message: ToGatewayMessageMap['filter.set'], provider: Provider) => this.#filter(provider, message),
    'stream.query': (message: ToGatewayMessageMap['stream.query'], provider: Provider) =>
      this.#query(provider, message),
  };

  observe(session: GatewaySession, step: SessionStep): void {
    this.timeline.observe(session, step);
    this.#injects.observe(session, step);
  }

  /** Whether a provider's message began this turn. */
  hasStarted(session: GatewaySession, turnId: string): boolean {
    return this.#injects.hasStarted(session, turnId);
  }

  changed({ session, name }: ProviderGroup): void {
    if (session.isEnabled(name)) this.#injects.resume(session);
  }

  bound({ session, provider }: Binding): void {
    this.#streams.claim(session, provider);
  }

  /** Tells people when a provider that guarded the session does not come back. */
  unbound(binding: Binding): void {
    const { provider, session, rules, isAway } = binding;
    if (session.group(provider.name).bindings.length === 0) this.#injects.forget(session, provider.name);
    const wasGuarding = rules.some(({ action }) => action !== 'context');
    if (isAway && wasGuarding && !session.isEnding && !session.isSuspended(provider.name))
      this.timeline.note(session, provider.name, 'did not come back; its checks on tools no longer apply');
  }

  ended(session: GatewaySession): undefined {
    this.timeline.stop(session);
  }

  /** If one session refuses the event, the others still get it; the provider hears of the first problem. */
  #push(provider: Provider, message: Push): void {
    const problems = this.#targets(provider, message).flatMap((binding) => this.#pushTo(binding, message) ?? []);
    if (problems[0]) throw problems[0];
  }

  #targets(provider: Provider, { sessionId, broadcast }: Push): Binding[] {
    if (sessionId === undefined && broadcast) return bindingsFor(provider, undefined);
    return [bindingFor(provider, sessionId)];
  }

  #pushTo(binding: Binding, message: Push): GatewayError | undefined {
    const { sessionId, provider } = binding;
    const max = PUSHES_PER_SECOND_MAX;
    // By name, like the streams, so that neither a new connection nor another instance has a limit of its own.
    if (!this.#rates.take(JSON.stringify([sessionId, provider.name])))
      return new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} pushes a second`, sessionId);
    try {
      return this.#publish(binding, message);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  #publish(binding: Binding, message: Push): GatewayError | undefined {
    const { provider, session } = binding;
    const stream = message.stream ?? provider.name;
    const text = message.event ?? message.prompt ?? '';
    const outcome = this.#filters.outcome(binding, stream, text) ?? message.level;
    if (outcome === 'drop') return undefined;
    const { metadata } = message;
    const ts = new Date(this.#options.clock.now()).toISOString();
    this.#streams.store(session, provider, stream, { ts, event: text, ...(metadata && { metadata }) });
    const isEnabled = session.isEnabled(provider.name);
    if (isEnabled) this.#options.pushed({ session: session.uri, provider: provider.name, stream, text });
    if (outcome === 'keep') return undefined;
    if (!isEnabled) return switchedOff(binding);
    if (outcome === 'inject') return this.#inject(binding, stream, message);
    this.timeline.note(session, provider.name, text);
    return undefined;
  }

  #inject(
    { provider, session, sessionId }: Binding,
    stream: string,
    { event, prompt, metadata }: Push,
  ): GatewayError | undefined {
    const text = prompt ?? `[${provider.name}/${stream}] ${event ?? ''}`;
    const answer = this.#injects.offer(session, { provider: provider.name, stream, text, metadata });
    if (answer === 'taken' || answer === 'held') return undefined;
    this.timeline.note(session, provider.name, event ?? prompt ?? '');
    if (answer === 'pausing') this.#announcePause(session, provider.name);
    const why =
      answer === 'full' ? 'too many are waiting' : 'you started three turns in a row: wait until a person writes';
    return new GatewayError(GatewayErrorCode.RateLimited, `the message starts no turn: ${why}`, sessionId);
  }

  #announcePause(session: GatewaySession, provider: string): void {
    const { logger } = this.#options;
    logger.log('warn', 'a provider answers itself; it starts no more turns', { session: session.uri, provider });
    this.timeline.note(session, provider, 'paused: it started three turns in a row. Write something to go on.');
  }

  #filter(provider: Provider, message: ToGatewayMessageMap['filter.set']): void {
    const { stream, provider: owner } = streamNamed(message.stream, provider.name);
    if (owner !== provider.name) throw unauthorized('filters can be set on your own streams only');
    checkStreamName(stream);
    const filter = compileFilter(message.rules);
    this.#options.updates.apply(provider, message, {
      check: (binding) => this.#filters.check(binding, stream, filter),
      apply: (binding) => this.#filters.set(binding, stream, filter),
    });
  }

  #query(provider: Provider, { queryId, sessionId, streams, last }: ToGatewayMessageMap['stream.query']): void {
    const { session } = bindingFor(provider, sessionId);
    if (streams.length > STREAMS_PER_QUERY_MAX) throw tooMany('streams in a query', STREAMS_PER_QUERY_MAX);
    const names = streams.map((name) => streamNamed(name, provider.name));
    const isForeign = names.some((name) => name.provider !== provider.name);
    if (isForeign && !grantOf('queryOtherStreams', provider.trust))
      throw unauthorized('you may read your own streams only');
    const found = names.map((name) => [`${name.stream}@${name.provider}`, this.#streams.latest(session, name, last)]);
    provider.send({ type: 'stream.history', queryId, streams: Object.fromEntries(found) });
  }
}

/** The event stays in the stream, where its provider finds it. */
function switchedOff({ sessionId }: Binding): GatewayError {
  const message = 'a person has switched you off in this session: the event is kept, and not shown';
  return new GatewayError(GatewayErrorCode.Unauthorized, message, sessionId);
}

type Outcome = ProviderFilterRule['outcome'];

interface CompiledFilter {
  readonly pattern: Pattern;
  readonly outcome: Outcome;
}

/** Throws for a rule that can never be tried. */
function compileFilter(rules: readonly ProviderFilterRule[]): readonly CompiledFilter[] {
  if (rules.length > RULES_PER_FILTER_MAX) throw tooMany('rules in a filter', RULES_PER_FILTER_MAX);
  return rules.map(({ match, outcome }) => ({ pattern: compilePattern(match), outcome }));
}

/** Filters sort the events of a provider's own streams: the first matching rule decides how far an event goes. */
class Filters {
  readonly #filters = new WeakMap<Binding, Map<string, readonly CompiledFilter[]>>();

  /** Throws when the provider has too many filters. It can always change or remove one. */
  check(binding: Binding, stream: string, filter: readonly CompiledFilter[]): void {
    const streams = this.#filters.get(binding);
    const isNew = filter.length > 0 && !streams?.has(stream);
    if (isNew && (streams?.size ?? 0) >= STREAMS_PER_PROVIDER_MAX) throw tooMany('filters', STREAMS_PER_PROVIDER_MAX);
  }

  set(binding: Binding, stream: string, filter: readonly CompiledFilter[]): void {
    const streams = this.#filters.get(binding) ?? new Map();
    this.#filters.set(binding, streams);
    if (filter.length === 0) streams.delete(stream);
    else streams.set(stream, filter);
  }

  /** The outcome of the first matching rule. A rule that ran out of time does not match. */
  outcome(binding: Binding, stream: string, text: string): Outcome | undefined {
    const filter = this.#filters.get(binding)?.get(stream) ?? [];
    if (filter.length === 0) return undefined;
    const results = tryPatterns(
      filter.map(({ pattern }) => pattern),
      text,
    );
    return filter[results.indexOf('match')]?.outcome;
  }
}
