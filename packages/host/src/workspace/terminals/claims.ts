/**
 * Who owns a terminal, who may change that, and which actions of clients a terminal accepts. A terminal always has
 * exactly one owner.
 */

import { CLIENT_ID_MAX_CHARACTERS } from '@atrium/core/wire/limits.js';
import type { StateAction, TerminalClaim, TerminalSessionClaim, TerminalState } from '@atrium/protocol/ahp-1';
import { cleanTitle, TITLE_MAX_CHARACTERS } from './osc-sequences.js';

export const COLS_MAX = 1_000;
export const ROWS_MAX = 500;
/** Characters in one `terminal/input`. Longer input is sent in several. */
export const INPUT_MAX_CHARACTERS = 64 * 2 ** 10;

/** The claim of a tool that is using the terminal right now. */
export type CallClaim = TerminalSessionClaim & { readonly turnId: string; readonly toolCallId: string };

export function isOfCall(claim: TerminalClaim): claim is CallClaim {
  return claim.kind === 'session' && claim.toolCallId !== undefined && claim.turnId !== undefined;
}

export function isOfSession(claim: TerminalClaim, session: string): boolean {
  return claim.kind === 'session' && claim.session === session;
}

/** The same session, without the ended call. */
export function inBackground({ session, chat }: TerminalSessionClaim): TerminalSessionClaim {
  return { kind: 'session', session, chat };
}

/** The part of the host's sessions that claims need. */
export interface ClaimedSessions {
  has(uri: string): boolean;
  /** The session of a channel: the channel itself, or the session of the chat. */
  sessionUriOf(channel: string): string;
}

interface ClaimChange {
  readonly from: TerminalClaim;
  readonly to: TerminalClaim;
  readonly clientId: string;
  readonly sessions: ClaimedSessions;
  /** Whether a client is connected. */
  readonly isHere: (clientId: string) => boolean;
}

/** Why a client may not make this change of the claim; undefined when it may. */
function claimRefusal({ from, to, clientId, sessions, isHere }: ClaimChange): string | undefined {
  if (from.kind === 'client' && from.clientId === clientId) return claimProblem(to, sessions);
  if (from.kind === 'client' && isHere(from.clientId)) return `the terminal belongs to the client ${from.clientId}`;
  // A client that crashed cannot hand its terminal over.
  if (to.kind === 'client' && to.clientId !== clientId) return 'take the terminal for yourself, or leave it';
  if (from.kind === 'session' && to.kind === 'session' && to.session !== from.session)
    return `the terminal belongs to the session ${from.session}`;
  return claimProblem(to, sessions);
}

/** Why no client may make this claim, whoever owns the terminal; undefined when it is allowed. */
export function claimProblem(claim: TerminalClaim, sessions: ClaimedSessions): string | undefined {
  if (claim.kind === 'client')
    return claim.clientId.length > CLIENT_ID_MAX_CHARACTERS ? 'the id is too long' : undefined;
  const { session, chat, turnId, toolCallId } = claim;
  if (turnId !== undefined || toolCallId !== undefined) return 'only the host uses a terminal for a call of a tool';
  if (!sessions.has(session)) return `there is no session ${session}`;
  return chat !== session && sessions.sessionUriOf(chat) === session
    ? undefined
    : `${chat} is not a chat of that session`;
}

/** What the rules need to know of a terminal. */
interface TerminalView {
  readonly state: TerminalState;
  readonly hasExited: boolean;
  /** The program does not read its input, and the queue is full. */
  readonly isFull: boolean;
  readonly sessions: ClaimedSessions;
  /** Whether a client is connected. */
  readonly isHere: (clientId: string) => boolean;
}

/** Why a client may not do this now; undefined when it may. */
export function terminalRefusal(action: StateAction, clientId: string, terminal: TerminalView): string | undefined {
  const { state, hasExited, isFull, sessions, isHere } = terminal;
  switch (action.type) {
    case 'terminal/input':
      if (hasExited) return 'the process has exited';
      if (action.data.length > INPUT_MAX_CHARACTERS) return `send at most ${INPUT_MAX_CHARACTERS} characters at once`;
      return isFull ? 'the program does not read its input: wait until it does' : undefined;
    case 'terminal/resized':
      return hasExited ? 'the process has exited' : sizeProblem(action);
    case 'terminal/claimed':
      return claimRefusal({ from: state.claim, to: action.claim, clientId, sessions, isHere });
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
