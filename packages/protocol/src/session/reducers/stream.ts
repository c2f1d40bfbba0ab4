/** The answer as it streams in. These run for every token: each copies only the path to what grows. */
import { withElement, withMembers } from '../../reducing.js';
import type { ActiveTurn } from '../state/active-turn.js';
import type { ResponsePart } from '../state/response-part.js';
import type { SessionState } from '../state/session-state.js';
import type { SessionHandlers } from './family.js';

export const streamHandlers: SessionHandlers<
  'session/responsePart' | 'session/delta' | 'session/reasoning' | 'session/usage'
> = {
  'session/responsePart': (state, { turnId, part }) =>
    withActiveTurn(state, turnId, (turn) => ({ ...turn, responseParts: [...turn.responseParts, part] })),

  'session/delta': (state, action) => appended(state, 'markdown', action),

  'session/reasoning': (state, action) => appended(state, 'reasoning', action),

  'session/usage': (state, { turnId, usage }) => withActiveTurn(state, turnId, (turn) => withMembers(turn, { usage })),
};

/** The state with its active turn changed; nothing happens to a turn that is not the active one. */
export function withActiveTurn(
  state: SessionState,
  turnId: string,
  change: (turn: ActiveTurn) => ActiveTurn,
): SessionState {
  const { activeTurn } = state;
  if (!activeTurn || activeTurn.id !== turnId) return state;
  const changed = change(activeTurn);
  return changed === activeTurn ? state : { ...state, activeTurn: changed };
}

interface Delta {
  readonly turnId: string;
  readonly partId: string;
  readonly content: string;
}

function appended(state: SessionState, kind: 'markdown' | 'reasoning', delta: Delta): SessionState {
  return withActiveTurn(state, delta.turnId, (turn) => {
    const index = turn.responseParts.findIndex((part) => partId(part) === delta.partId);
    const part = turn.responseParts[index];
    if (part?.kind !== kind || delta.content === '') return turn;
    const grown = { ...part, content: part.content + delta.content };
    return { ...turn, responseParts: withElement(turn.responseParts, index, grown) };
  });
}

/** The id that actions use for a part; some parts, and all of a kind we do not know, may have none. */
function partId(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId;
  return 'id' in part ? part.id : undefined;
}
