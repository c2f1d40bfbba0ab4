/** The questions that a person can answer here: those of the running turn, and those outside turns. */
import { type ChatInputRequest, type ChatState, isStanding, type SessionState } from '@atrium/protocol/ahp-1';

export interface OpenQuestion {
  readonly request: ChatInputRequest;
  /** The chat that takes the answer. */
  readonly chat: string;
}

type Asking = Pick<SessionState, 'inputNeeded'>;

/** The session also lists questions of the turn, but the turn has their latest answers. */
export function openQuestions({ inputNeeded = [] }: Asking, chat: ChatState): readonly OpenQuestion[] {
  const inTurn = questionsOfTurn(chat).map((request) => ({ request, chat: chat.resource }));
  const others = inputNeeded.flatMap((entry): OpenQuestion[] => {
    if (entry.kind !== 'chatInput' || inTurn.some(({ request }) => request.id === entry.request.id)) return [];
    return entry.chat === chat.resource || isStanding(entry) ? [{ request: entry.request, chat: entry.chat }] : [];
  });
  return [...inTurn, ...others];
}

export function questionsOfTurn({ activeTurn }: Pick<ChatState, 'activeTurn'>): readonly ChatInputRequest[] {
  const parts = activeTurn?.responseParts ?? [];
  return parts.flatMap((part) => (part.kind === 'inputRequest' && !part.response ? [part.request] : []));
}
