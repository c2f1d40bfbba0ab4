/**
 * A conversation as the rows of a list. A row stays the same object as long as its content is the same, so that React
 * draws only
 * the last row again while an answer streams.
 */
import type { ActiveTurn, ChatState, ResponsePart, Turn } from '@atrium/protocol/ahp-1';

interface UserRow {
  readonly kind: 'user';
  readonly key: string;
  readonly turn: Turn | ActiveTurn;
}

export interface PartRow {
  readonly kind: 'part';
  readonly key: string;
  readonly turnId: string;
  readonly part: ResponsePart;
  /** Part of the running turn: it may still change, and its questions can be answered. */
  readonly isActive: boolean;
  /** The last part of the running turn, which the agent is writing. */
  readonly isLast: boolean;
}

interface EndRow {
  readonly kind: 'end';
  readonly key: string;
  readonly turn: Turn;
}

interface WorkingRow {
  readonly kind: 'working';
  readonly key: string;
}

export type Row = UserRow | PartRow | EndRow | WorkingRow;

export function rowsOf({ turns, activeTurn }: Pick<ChatState, 'turns' | 'activeTurn'>): readonly Row[] {
  const rows = finishedRows(turns);
  return activeTurn ? [...rows, ...activeRows(activeTurn)] : rows;
}

const ofTurns = new WeakMap<readonly Turn[], readonly Row[]>();

/** Cached by the list of finished turns, which does not change while an answer streams. */
function finishedRows(turns: readonly Turn[]): readonly Row[] {
  const known = ofTurns.get(turns);
  if (known) return known;
  const rows = turns.flatMap(turnRows);
  ofTurns.set(turns, rows);
  return rows;
}

const ofTurn = new WeakMap<Turn, readonly Row[]>();

function turnRows(turn: Turn): readonly Row[] {
  const known = ofTurn.get(turn);
  if (known) return known;
  const { id } = turn;
  const parts = partsBeforeEnd(turn).map((part, index) => partRow(id, index, part, { isActive: false, isLast: false }));
  const rows: Row[] = [userRow(turn), ...parts, { kind: 'end', key: `${id}/end`, turn }];
  ofTurn.set(turn, rows);
  return rows;
}

/** Leaves out the error, which the end of the turn shows with advice. */
function partsBeforeEnd({ responseParts, state }: Turn): readonly ResponsePart[] {
  const isTold = state === 'error' && responseParts.at(-1)?.kind === 'error';
  return isTold ? responseParts.slice(0, -1) : responseParts;
}

function activeRows(turn: ActiveTurn): Row[] {
  const { id, responseParts } = turn;
  const last = responseParts.length - 1;
  const parts = responseParts.map((part, index) =>
    partRow(id, index, part, { isActive: true, isLast: index === last }),
  );
  return [userRow(turn), ...parts, { kind: 'working', key: `${id}/working` }];
}

function userRow(turn: Turn | ActiveTurn): UserRow {
  const known = ofMessage.get(turn.message);
  if (known && known.turn.id === turn.id && 'state' in known.turn === 'state' in turn) return known;
  const row: UserRow = { kind: 'user', key: `${turn.id}/user`, turn };
  ofMessage.set(turn.message, row);
  return row;
}

const ofMessage = new WeakMap<object, UserRow>();
const ofPart = new WeakMap<ResponsePart, PartRow>();

function partRow(
  turnId: string,
  index: number,
  part: ResponsePart,
  { isActive, isLast }: Pick<PartRow, 'isActive' | 'isLast'>,
): PartRow {
  const key = `${turnId}/${index}`;
  const known = ofPart.get(part);
  if (known && known.key === key && known.isActive === isActive && known.isLast === isLast) return known;
  const row: PartRow = { kind: 'part', key, turnId, part, isActive, isLast };
  ofPart.set(part, row);
  return row;
}
