/** What an agent says at the end of a turn: why it stopped, and what it has used. */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { isRecord } from '../../core/util/shape.js';

/** What a person should know. */
const NOTES: Readonly<Record<string, (name: string) => string>> = {
  max_tokens: () => "The answer was cut off at the model's limit. Ask it to go on.",
  max_turn_requests: (name) => `${name} stopped after as many steps as it takes at once. Ask it to go on.`,
  refusal: (name) => `${name} does not want to go on with this.`,
  cancelled: (name) => `${name} has stopped by itself.`,
};

export function showEnd(turn: AgentTurn, response: PromptResponse, displayName: string): void {
  const note = NOTES[response.stopReason];
  if (note) turn.notify(note(displayName));
  // A part of the protocol that is still to come; agents that count send it already.
  if ('usage' in response && isRecord(response.usage)) turn.usage(usageInfo(response.usage));
}

function usageInfo({ inputTokens, outputTokens, cachedReadTokens }: Record<string, unknown>) {
  return {
    ...(typeof inputTokens === 'number' && { inputTokens }),
    ...(typeof outputTokens === 'number' && { outputTokens }),
    ...(typeof cachedReadTokens === 'number' && { cacheReadTokens: cachedReadTokens }),
  };
}
