/** The life of a session as its providers hear of it: started, idle, about to end. */
import type { SessionState } from '@atrium/protocol';
import { SHUTDOWN_DEADLINE_MS, type ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Step } from '../core/channels/channel.js';
import type { Room } from './gateway-session.js';
import { type Binding, bindingFor, type Provider } from './provider.js';
import { isIdle } from './pushes/injects.js';
import type { GatewayCore, GatewayService } from './service.js';

interface Ending {
  /** Those who have not said yet that they are ready. */
  readonly waiting: Set<Provider>;
  readonly done: () => void;
}

export class Lifecycle implements GatewayService {
  readonly #core: GatewayCore;
  readonly #endings = new Map<string, Ending>();

  constructor(core: GatewayCore) {
    this.#core = core;
  }

  readonly handlers = {
    'shutdown.ready': ({ sessionId }: ToGatewayMessageMap['shutdown.ready'], provider: Provider) => {
      bindingFor(provider, sessionId);
      this.#ready(sessionId, provider);
    },
  };

  /** A session may begin to end while the provider is being bound to it; that is what it has heard then. */
  bound({ provider, sessionId, room }: Binding): void {
    if (!room.isEnding) provider.send({ type: 'session.lifecycle', sessionId, state: 'started' });
  }

  observe(room: Room, { before, after }: Step<SessionState>): void {
    if (!isIdle(after) || isIdle(before) || before.lifecycle !== 'ready') return;
    this.#core.afterCommit(() => {
      // A message that was held back may have started the next turn meanwhile.
      if (!isIdle(room.session.state)) return;
      for (const { provider } of present(room))
        provider.send({ type: 'session.lifecycle', sessionId: room.id, state: 'idle' });
    });
  }

  ending(room: Room): Promise<void> | undefined {
    const providers = present(room).map(({ provider }) => provider);
    if (providers.length === 0) return undefined;
    const deadline = SHUTDOWN_DEADLINE_MS;
    return new Promise((resolve) => {
      const stopTimer = this.#core.clock.after(deadline, () => done());
      const done = () => {
        stopTimer();
        this.#endings.delete(room.id);
        resolve();
      };
      this.#endings.set(room.id, { waiting: new Set(providers), done });
      for (const provider of providers)
        provider.send({ type: 'session.lifecycle', sessionId: room.id, state: 'shutdown.pending', deadline });
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

function present({ bindings }: Room): Binding[] {
  return bindings.filter(({ isAway }) => !isAway);
}
