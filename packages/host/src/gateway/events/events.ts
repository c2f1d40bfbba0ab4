/** What happens in a session, told to the providers that asked for it. Only what is stored is told. */
import type { SessionAction, SessionState, UserMessage } from '@atrium/protocol';
import type { ProviderSessionEventMessage, ProviderSessionEventName } from '@atrium/protocol/provider';
import type { Step } from '../../channels/channel.js';
import { isRecord } from '../../tools/shape.js';
import type { Room } from '../room.js';
import type { GatewayCore, GatewayService } from '../service.js';
import { AgentSteps } from './steps.js';
import { ToolEvents } from './tool-events.js';

type EventOf<Name extends ProviderSessionEventName> = Extract<ProviderSessionEventMessage, { event: Name }>['data'];

interface Following {
  readonly steps: AgentSteps;
  readonly tools: ToolEvents;
}

export class SessionEvents implements GatewayService {
  readonly #core: GatewayCore;
  readonly #following = new WeakMap<Room, Following>();

  constructor(core: GatewayCore) {
    this.#core = core;
  }

  observe(room: Room, step: Step<SessionState>): void {
    const { action } = step.envelope;
    const { steps, tools } = this.#of(room);
    const said = steps.take(action as SessionAction, step.after);
    const ended = tools.take(step, this.#core.clock.now());
    if (action.type === 'session/turnStarted') this.#tell(room, 'user.message', messageData(action.userMessage));
    for (const data of ended) this.#tell(room, 'tool.execution_complete', data);
    if (said) this.#tell(room, 'assistant.message', said);
    if (action.type === 'session/activityChanged' && action.activity && step.after.activeTurn)
      this.#tell(room, 'assistant.intent', { intent: action.activity });
  }

  #of(room: Room): Following {
    const following = this.#following.get(room) ?? { steps: new AgentSteps(), tools: new ToolEvents() };
    this.#following.set(room, following);
    return following;
  }

  #tell<Name extends ProviderSessionEventName>(room: Room, event: Name, data: EventOf<Name>): void {
    const listeners = room.bindings.filter(
      ({ isAway, provider }) => !isAway && provider.registration.subscribe.has(event),
    );
    if (listeners.length === 0) return;
    const message = { type: 'session.event', sessionId: room.id, event, data } as ProviderSessionEventMessage;
    this.#core.afterCommit(() => {
      for (const { provider } of listeners) provider.send(message);
    });
  }
}

/** A provider recognises its own messages; for those of people there is no origin. */
function messageData({ text, _meta }: UserMessage): EventOf<'user.message'> & { origin?: object } {
  const gateway = _meta?.gateway;
  if (!isRecord(gateway)) return { content: text };
  return { content: text, origin: { provider: gateway.provider, stream: gateway.stream } };
}
