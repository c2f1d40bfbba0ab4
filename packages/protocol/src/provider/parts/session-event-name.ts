/**
 * The session events that a provider can subscribe to.
 * No schema: a subscription may name events of a later version, which never come.
 */
export const SESSION_EVENT_NAMES = [
  'user.message',
  'assistant.message',
  'tool.execution_complete',
  'assistant.intent',
] as const;
export type ProviderSessionEventName = (typeof SESSION_EVENT_NAMES)[number];
