/** The questions that a person can answer here: those of the running turn, and those that stand outside of turns. */
import { type ChatInputRequest, type ChatState, isStanding, type SessionState } from '@atrium/protocol/ahp-1';

export interface OpenQuestion {
  readonly request: ChatInputRequest;
  /** The chat that is answered to. */
  readonly chat: string;
}

type Asking = Pick<SessionState, 'inputNeeded'>;

/** A question is listed by the session, too; the running turn has its latest answers. */
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
