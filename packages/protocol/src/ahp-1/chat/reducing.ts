/** What the chat's reducers share: the active turn, and a status that follows the turn. */
import { openParts } from '../../parts.js';
import { withMembers } from '../../reducing.js';
import { SessionStatus } from '../../session/status.js';
import { type Handlers, withActivity } from '../reducing.js';
import type { ChatActionMap, ChatActionType } from './actions.js';
import type { ChatState } from './state.js';
import type { ActiveTurn, ResponsePart } from './turns.js';

/** The handlers of some types of action. */
export type ChatHandlers<Types extends ChatActionType> = Handlers<ChatState, Pick<ChatActionMap, Types>>;

/** Changes the active turn, if it is this one. */
export function withActiveTurn(state: ChatState, turnId: string, change: (turn: ActiveTurn) => ActiveTurn): ChatState {
  const { activeTurn } = state;
  if (activeTurn?.id !== turnId) return state;
  const changed = change(activeTurn);
  return changed === activeTurn ? state : { ...state, activeTurn: changed };
}

/** The activity that the state implies. A turn that failed has ended, and leaves `Error` behind. */
function activity({ activeTurn }: ChatState): number {
  if (!activeTurn) return SessionStatus.Idle;
  for (const part of openParts(activeTurn)) if (waitsForPerson(part)) return SessionStatus.InputNeeded;
  return SessionStatus.InProgress;
}

const WAITING: ReadonlySet<string> = new Set(['pending-confirmation', 'pending-result-confirmation', 'auth-required']);

/** True for an open part that waits for a person. */
function waitsForPerson(part: ResponsePart): boolean {
  return part.kind === 'inputRequest' || (part.kind === 'toolCall' && WAITING.has(part.toolCall.status));
}

/** The state with the activity that it implies, or with the given one. */
export function refreshed(state: ChatState, terminal?: number): ChatState {
  return withMembers(state, { status: withActivity(state.status, terminal ?? activity(state)) });
}

/** The state with the activity that it implies, marked unread: something happened that a person should see. */
export function refreshedUnread(state: ChatState): ChatState {
  const { status } = refreshed(state);
  return withMembers(state, { status: status & ~SessionStatus.IsRead });
}
