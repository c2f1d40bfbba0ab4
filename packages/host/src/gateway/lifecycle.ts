/** Tells providers of the life of their sessions: started, idle, about to end. */
import type { SessionState } from '@atrium/protocol';
import { SHUTDOWN_DEADLINE_MS, type ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Step } from '../core/channels/channel.js';
import type { Clock } from '../core/util/clock.js';
import type { GatewaySession } from './gateway-session.js';
import type { Commits, GatewayService } from './ports.js';
import { type Binding, bindingFor, type Provider, present } from './provider.js';
import { isIdle } from './pushes/injects.js';

interface Ending {
  /** Providers that have not sent `shutdown.ready` yet. */
  readonly waiting: Set<Provider>;
  readonly done: () => void;
}

interface LifecycleParts {
  readonly clock: Clock;
  readonly commits: Commits;
}

export class Lifecycle implements GatewayService {
  readonly #parts: LifecycleParts;
  readonly #endings = new Map<string, Ending>();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  readonly handlers = {
    'shutdown.ready': ({ sessionId }: ToGatewayMessageMap['shutdown.ready'], provider: Provider) => {
      bindingFor(provider, sessionId);
      this.#ready(sessionId, provider);
    },
  };

  /** While the provider was being bound, the session may have begun to end; the provider has heard that instead. */
  bound({ provider, sessionId, session }: Binding): void {
    if (!session.isEnding) provider.send({ type: 'session.lifecycle', sessionId, state: 'started' });
  }

  observe(session: GatewaySession, { before, after }: Step<SessionState>): void {
    if (!isIdle(after) || isIdle(before) || before.lifecycle !== 'ready') return;
    this.#parts.commits.afterCommit(() => {
      // A held message may have started the next turn meanwhile.
      if (!isIdle(session.state)) return;
      for (const { provider } of present(session))
        provider.send({ type: 'session.lifecycle', sessionId: session.id, state: 'idle' });
    });
  }

  ending(session: GatewaySession): Promise<void> | undefined {
    const providers = present(session).map(({ provider }) => provider);
    if (providers.length === 0) return undefined;
    const deadline = SHUTDOWN_DEADLINE_MS;
    return new Promise((resolve) => {
      const stopTimer = this.#parts.clock.after(deadline, () => done());
      const done = () => {
        stopTimer();
        this.#endings.delete(session.id);
        resolve();
      };
      this.#endings.set(session.id, { waiting: new Set(providers), done });
      for (const provider of providers)
        provider.send({ type: 'session.lifecycle', sessionId: session.id, state: 'shutdown.pending', deadline });
    });
  }

  left(provider: Provider): void {
    for (const sessionId of this.#endings.keys()) this.#ready(sessionId, provider);
  }

  #ready(sessionId: string, provider: Provider): void {
    const ending = this.#endings.get(sessionId);
    ending?.waiting.delete(provider);
    if (ending?.waiting.size === 0) ending.done();
  }
}
