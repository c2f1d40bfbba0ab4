/**
 * What is kept of a session to go on with it: Claude's own id of the conversation, and where in it each turn ended. Values
 * only: every change gives a new one.
 */
import type { Turn } from '@atrium/protocol';
import { isRecord } from '../../core/util/shape.js';
import { MARKS_MAX_CHARACTERS } from './limits.js';

/** A turn, and the id of the last message of it. */
export type Mark = readonly [turnId: string, message: string];

export interface ClaudeMemory {
  readonly conversation: string;
  /** Oldest first. */
  readonly marks: readonly Mark[];
}

/** How a turn begins for Claude. */
export type Beginning =
  /** A conversation of its own; `turns` is what it has to be told first. */
  | { readonly kind: 'new'; readonly conversation: string; readonly turns: readonly Turn[] }
  /** The conversation goes on; from an earlier message, when history was cut. */
  | { readonly kind: 'resume'; readonly memory: ClaudeMemory; readonly isCut: boolean };

/** From outside: the host may have been another version when it was written. */
export function memoryOf(value: unknown): ClaudeMemory | undefined {
  if (!isRecord(value) || typeof value.conversation !== 'string' || !Array.isArray(value.marks)) return undefined;
  const isMark = (mark: unknown): mark is Mark =>
    Array.isArray(mark) && mark.length === 2 && mark.every((part) => typeof part === 'string');
  return value.marks.every(isMark) ? { conversation: value.conversation, marks: value.marks } : undefined;
}

/** The host's history decides: Claude goes on after the newest turn there that it knows. The turn itself may go on, too. */
export function beginningOf(memory: ClaudeMemory | undefined, turns: readonly Turn[], current?: string): Beginning {
  const isThere = (turnId: string) => turnId === current || turns.some(({ id }) => id === turnId);
  const known = memory?.marks.findLastIndex(([turnId]) => isThere(turnId)) ?? -1;
  if (!memory || known < 0) return begunAnew(turns);
  const marks = memory.marks.slice(0, known + 1);
  return { kind: 'resume', memory: { ...memory, marks }, isCut: marks.length < memory.marks.length };
}

export function begunAnew(turns: readonly Turn[]): Beginning {
  return { kind: 'new', conversation: crypto.randomUUID(), turns };
}

/** A turn came this far. */
export function withMark({ conversation, marks }: ClaudeMemory, [turnId, message]: Mark): ClaudeMemory {
  const others = marks.filter(([id]) => id !== turnId);
  return { conversation, marks: newest([...others, [turnId, message] as const]) };
}

function newest(marks: readonly Mark[]): Mark[] {
  let room = MARKS_MAX_CHARACTERS;
  const tooOld = marks.findLastIndex((mark) => {
    room -= JSON.stringify(mark).length + 1;
    return room < 0;
  });
  return marks.slice(tooOld + 1);
}
