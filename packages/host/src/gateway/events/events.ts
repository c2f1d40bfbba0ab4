/** What happens in a session, told to the providers that asked for it. Only what is stored is told. */
import type { SessionAction, SessionState, UserMessage } from '@atrium/protocol';
import type { ProviderSessionEventMessage, ProviderSessionEventName } from '@atrium/protocol/provider';
import type { Step } from '../../core/channels/channel.js';
import { isRecord } from '../../core/util/shape.js';
import type { Binding } from '../provider.js';
import type { Room } from '../room.js';
import type { GatewayCore, GatewayService } from '../service.js';
import { AgentSteps } from './steps.js';
import { ToolEvents } from './tool-events.js';

type EventOf<Name extends ProviderSessionEventName> = Extract<ProviderSessionEventMessage, { event: Name }>['data'];

interface Following {
  readonly steps: AgentSteps;
  readonly tools: ToolEvents;
}

export interface EventsParts {
  readonly core: GatewayCore;
  /** Whether a provider's message began this turn. What a message says about itself proves nothing: anybody writes it. */
  isOfProvider(room: Room, turnId: string): boolean;
}

export class SessionEvents implements GatewayService {
  readonly #parts: EventsParts;
  readonly #following = new WeakMap<Room, Following>();

  constructor(parts: EventsParts) {
    this.#parts = parts;
  }

  observe(room: Room, step: Step<SessionState>): void {
    // Most sessions have no listeners. Who comes in the middle of a turn hears what comes from then on.
    if (!room.bindings.some(isListening)) return void this.#following.delete(room);
    const { action } = step.envelope;
    const { steps, tools } = this.#of(room);
    const said = steps.take(action as SessionAction, step.after);
    const ended = tools.take(step, this.#parts.core.clock.now());
    if (action.type === 'session/turnStarted') {
      const isOfProvider = this.#parts.isOfProvider(room, action.turnId);
      this.#tell(room, 'user.message', messageData(action.userMessage, isOfProvider));
    }
    if (said) this.#tell(room, 'assistant.message', said);
    for (const data of ended) this.#tell(room, 'tool.execution_complete', data);
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
    this.#parts.core.afterCommit(() => {
      for (const { provider } of listeners) provider.send(message);
    });
  }
}

function isListening({ provider }: Binding): boolean {
  return provider.registration.subscribe.size > 0;
}

/** A provider recognises its own messages; for those of people there is no origin. */
function messageData(
  { text, _meta }: UserMessage,
  isOfProvider: boolean,
): EventOf<'user.message'> & { origin?: object } {
  const gateway = _meta?.gateway;
  if (!isOfProvider || !isRecord(gateway)) return { content: text };
  return { content: text, origin: { provider: gateway.provider, stream: gateway.stream } };
}
