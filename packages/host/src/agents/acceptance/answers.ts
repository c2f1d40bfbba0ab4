/** What a person says to a call that asks, and what is left of a turn. */
import type { Turn } from '@atrium/protocol';
import type { Answer } from './room.js';

const CONFIRMED = 'session/toolCallConfirmed';

/** Why a person says no. The model should come to know it. */
export const REASON = 'write to the blue file instead';

export const approve: Answer = (toolCallId, turnId) => {
  return { type: CONFIRMED, turnId, toolCallId, approved: true, confirmed: 'user-action' };
};

export const deny: Answer = (toolCallId, turnId) => {
  const userSuggestion = { text: REASON };
  return { type: CONFIRMED, turnId, toolCallId, approved: false, reason: 'denied', userSuggestion };
};

export function textIn({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('');
}
