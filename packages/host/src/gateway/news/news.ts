/** News from providers: kept, shown to people, or turned into a turn, as far as filters and budgets allow. */

import type { SessionState } from '@atrium/protocol';
import {
  GatewayErrorCode,
  grantOf,
  PUSHES_PER_SECOND_MAX,
  STREAMS_PER_PROVIDER_MAX,
  type ToGatewayMessageMap,
} from '@atrium/protocol/provider';
import type { Step } from '../../channels/channel.js';
import { GatewayError, tooMany, unauthorized } from '../gateway-error.js';
import type { Binding, Provider } from '../provider.js';
import { Rate } from '../rate.js';
import type { Room } from '../room.js';
import { bindingFor, bindingsFor } from '../scope.js';
import type { GatewayCore, GatewayService } from '../service.js';
import { applyUpdate } from '../updates.js';
import { Filters } from './filters.js';
import { Injects } from './injects.js';
import { Streams } from './streams.js';
import { Timeline } from './timeline.js';

type Push = ToGatewayMessageMap['push'];

const SECOND_MS = 1_000;

export class News implements GatewayService {
  readonly timeline: Timeline;
  readonly #core: GatewayCore;
  readonly #streams = new Streams();
  readonly #filters = new Filters();
  readonly #injects = new Injects();
  readonly #rates = new WeakMap<Binding, Rate>();

  constructor(core: GatewayCore) {
    this.#core = core;
    this.timeline = new Timeline(core.clock);
  }

  readonly handlers = {
    push: (message: Push, provider: Provider) => this.#push(provider, message),
    'filter.set': (message: ToGatewayMessageMap['filter.set'], provider: Provider) => this.#filter(provider, message),
    'stream.query': (message: ToGatewayMessageMap['stream.query'], provider: Provider) =>
      this.#query(provider, message),
  };

  observe(room: Room, step: Step<SessionState>): void {
    this.timeline.observe(room, step);
    this.#injects.observe(room, step);
  }

  /** What guarded the session is gone for good, and people should know. */
  unbound(binding: Binding): void {
    const { provider, room, rules, isAway } = binding;
    if (room.group(provider.name).bindings.length === 0) this.#injects.forget(room, provider.name);
    const wasGuarding = rules.some(({ action }) => action !== 'context');
    if (isAway && wasGuarding && !room.isEnding)
      this.timeline.note(room, provider.name, 'did not come back; its checks on tools no longer apply');
  }

  #push(provider: Provider, message: Push): void {
    for (const binding of this.#targets(provider, message)) {
      const rate = this.#rates.get(binding) ?? new Rate(this.#core.clock, PUSHES_PER_SECOND_MAX, SECOND_MS);
      this.#rates.set(binding, rate);
      if (!rate.take()) {
        const max = PUSHES_PER_SECOND_MAX;
        throw new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} pushes a second`, binding.sessionId);
      }
      this.#publish(binding, message);
    }
  }

  #targets(provider: Provider, { sessionId, broadcast }: Push): Binding[] {
    if (sessionId === undefined && broadcast) return bindingsFor(provider, undefined);
    return [bindingFor(provider, sessionId)];
  }

  #publish(binding: Binding, message: Push): void {
    const { provider, room } = binding;
    const stream = message.stream ?? provider.name;
    const text = message.event ?? message.prompt ?? '';
    const outcome = this.#filters.outcome(binding, stream, text) ?? message.level;
    if (outcome === 'drop') return;
    const { metadata } = message;
    const ts = new Date(this.#core.clock.now()).toISOString();
    this.#streams.store(room, { provider: provider.name, stream }, { ts, event: text, ...(metadata && { metadata }) });
    if (outcome === 'surface') this.timeline.note(room, provider.name, text);
    if (outcome === 'inject') this.#inject(binding, stream, message);
  }

  #inject({ provider, room, sessionId }: Binding, stream: string, { event, prompt, metadata }: Push): void {
    const text = prompt ?? `[${provider.name}/${stream}] ${event ?? ''}`;
    const answer = this.#injects.offer(room, { provider: provider.name, stream, text, metadata });
    if (answer === 'taken' || answer === 'held') return;
    this.timeline.note(room, provider.name, event ?? prompt ?? '');
    if (answer === 'paused') {
      this.#core.logger.log('warn', 'a provider answers itself; its messages start no turns', {
        session: room.session.uri,
        provider: provider.name,
      });
      this.timeline.note(room, provider.name, 'paused: it started three turns in a row. Write something to go on.');
    }
    const why = answer === 'paused' ? 'three turns without a person in between: wait for one' : 'too many are waiting';
    throw new GatewayError(GatewayErrorCode.RateLimited, `the message starts no turn: ${why}`, sessionId);
  }

  #filter(provider: Provider, message: ToGatewayMessageMap['filter.set']): void {
    const [stream = '', owner = provider.name] = message.stream.split('@');
    if (owner !== provider.name) throw unauthorized('filters can be set on your own streams only');
    const filter = this.#filters.compile(message.rules);
    applyUpdate(this.#core, provider, message, {
      check: (binding) => {
        if (this.#filters.get(binding) >= STREAMS_PER_PROVIDER_MAX) throw tooMany('filters', STREAMS_PER_PROVIDER_MAX);
      },
      apply: (binding) => this.#filters.set(binding, stream, filter),
    });
  }

  #query(provider: Provider, { queryId, sessionId, streams, last }: ToGatewayMessageMap['stream.query']): void {
    const { room } = bindingFor(provider, sessionId);
    const names = streams.map((name) => {
      const at = name.lastIndexOf('@');
      return at < 0
        ? { stream: name, provider: provider.name }
        : { stream: name.slice(0, at), provider: name.slice(at + 1) };
    });
    const isForeign = names.some((name) => name.provider !== provider.name);
    if (isForeign && !grantOf('queryOtherStreams', provider.trust))
      throw unauthorized('you may read your own streams only');
    const found = names.map((name) => [`${name.stream}@${name.provider}`, this.#streams.latest(room, name, last)]);
    provider.send({ type: 'stream.history', queryId, streams: Object.fromEntries(found) });
  }
}
