/** What clients may do with a terminal. */
import type { StateAction, TerminalState } from '@atrium/protocol';
import { claimRefusal } from './claims.js';
import { COLS_MAX, INPUT_MAX_CHARACTERS, ROWS_MAX, TITLE_MAX_CHARACTERS } from './limits.js';
import { cleanTitle } from './signals.js';

export interface TerminalView {
  readonly state: TerminalState;
  readonly hasExited: boolean;
  /** The program has left so much unread that no more is taken. */
  readonly isFull: boolean;
  readonly isSession: (uri: string) => boolean;
  /** Whether a client is connected. */
  readonly isHere: (clientId: string) => boolean;
}

/** Why a client may not do this now; undefined when it may. */
export function terminalRefusal(action: StateAction, clientId: string, terminal: TerminalView): string | undefined {
  const { state, hasExited, isFull, isSession, isHere } = terminal;
  switch (action.type) {
    case 'terminal/input':
      if (hasExited) return 'the process has exited';
      if (action.data.length > INPUT_MAX_CHARACTERS) return `send at most ${INPUT_MAX_CHARACTERS} characters at once`;
      return isFull ? 'the program does not read its input: wait until it does' : undefined;
    case 'terminal/resized':
      return hasExited ? 'the process has exited' : sizeProblem(action);
    case 'terminal/claimed':
      return claimRefusal({ from: state.claim, to: action.claim, clientId, isSession, isHere });
    case 'terminal/titleChanged':
      return titleProblem(action.title);
    case 'terminal/cleared':
      return undefined;
    default:
      return `clients cannot dispatch ${action.type} here`;
  }
}

export function sizeProblem({ cols, rows }: { readonly cols: number; readonly rows: number }): string | undefined {
  if (!isWithin(cols, COLS_MAX)) return `/cols must be a whole number from 1 to ${COLS_MAX}`;
  return isWithin(rows, ROWS_MAX) ? undefined : `/rows must be a whole number from 1 to ${ROWS_MAX}`;
}

export function titleProblem(title: string): string | undefined {
  const isFit = title !== '' && title.length <= TITLE_MAX_CHARACTERS && title === cleanTitle(title);
  return isFit ? undefined : `a title is one line of 1 to ${TITLE_MAX_CHARACTERS} characters`;
}

function isWithin(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max;
}
