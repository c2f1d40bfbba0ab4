import { type Static, type TSchema, Type } from 'typebox';
import { ProviderAssistantIntentData } from '../parts/assistant-intent-data.js';
import { ProviderAssistantMessageData } from '../parts/assistant-message-data.js';
import type { ProviderSessionEventName } from '../parts/session-event-name.js';
import { ProviderToolExecutionData } from '../parts/tool-execution-data.js';
import { ProviderUserMessageData } from '../parts/user-message-data.js';

/** What each session event carries, by its name. */
export const sessionEventData = {
  'user.message': ProviderUserMessageData,
  'assistant.message': ProviderAssistantMessageData,
  'tool.execution_complete': ProviderToolExecutionData,
  'assistant.intent': ProviderAssistantIntentData,
} as const satisfies Record<ProviderSessionEventName, TSchema>;

function eventMessage<Name extends ProviderSessionEventName>(event: Name) {
  return Type.Object({
    type: Type.Literal('session.event'),
    sessionId: Type.String(),
    event: Type.Literal(event),
    data: sessionEventData[event],
  });
}

export const ProviderSessionEventMessage = Type.Union(
  [
    eventMessage('user.message'),
    eventMessage('assistant.message'),
    eventMessage('tool.execution_complete'),
    eventMessage('assistant.intent'),
  ],
  { $id: 'ProviderSessionEventMessage', description: 'Something the provider subscribed to happened in a session.' },
);
export type ProviderSessionEventMessage = Static<typeof ProviderSessionEventMessage>;
