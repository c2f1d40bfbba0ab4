/** The lines of a journal: what happened to a session's folder, or is about to. */

import type { BytePath } from '../git/byte-path.js';
import { type Change, segmentsOf } from './change.js';
import type { JournalFile } from './journal-file.js';

export interface TurnChanges {
  readonly turnId: string;
  readonly changes: readonly Change[];
}

/** What Git had staged of a file, by the hash of its content. */
export interface StagedFile {
  readonly path: BytePath;
  readonly mode: string;
  readonly hash: string;
}

/** What taking back means beyond files. */
export interface UndoneMeaning {
  /** The view that it was asked for in. */
  readonly view: string;
  /** The newest turn first, as things are taken back. */
  readonly turns: readonly TurnChanges[];
  readonly staged?: readonly StagedFile[];
}

/** Changes were taken back, or thrown away: what that means for turns, and what it did to files. */
export interface Undone extends UndoneMeaning {
  readonly kind: 'undone';
  readonly id: string;
  readonly applied: readonly Change[];
}

/** Files are about to be changed for people. Stands before it is done, so that nothing is lost if it never ends. */
export interface Writing {
  readonly kind: 'writing';
  readonly id: string;
  readonly planned: readonly Change[];
  /** Absent when something is put back. */
  readonly meaning?: UndoneMeaning;
}

export type JournalLine =
  | { readonly kind: 'session'; readonly uri: string }
  /** A turn has begun. */
  | { readonly kind: 'turn'; readonly turnId: string }
  /** From here on something is done that is recorded when it is over. */
  | { readonly kind: 'begun'; readonly turnId: string; readonly id: string }
  /** Something was done. */
  | {
      readonly kind: 'step';
      readonly turnId: string;
      readonly id: string;
      readonly changes: readonly Change[];
      /** Why there may be more than is known. */
      readonly gap?: string;
    }
  | Writing
  /** What was about to be done is over; an `undone` with its id says so, too. */
  | { readonly kind: 'written'; readonly id: string }
  | Undone
  /** That was taken back in its turn. */
  | { readonly kind: 'redone'; readonly id: string };

export const KINDS: ReadonlySet<unknown> = new Set<JournalLine['kind']>([
  'session',
  'turn',
  'begun',
  'step',
  'writing',
  'written',
  'undone',
  'redone',
]);

/** What a session's turns changed, as it is remembered: which change belongs to which turn, and what was taken back. */

const LOST = 'the host stopped while something was being done, so what that changed is not known';

export class Journal {
  readonly #lines: JournalLine[];
  readonly #turns = new Set<string>();
  readonly #redone = new Set<string>();
  #bytes = 0;
  #size = 0;

  private constructor(
    private readonly file: JournalFile,
    lines: readonly JournalLine[],
  ) {
    this.#lines = [...lines];
    for (const line of lines) this.#note(line);
  }

  static async open(file: JournalFile, uri: string): Promise<Journal> {
    const lines = await file.read();
    const journal = new Journal(file, lines);
    if (lines.length === 0) await journal.add({ kind: 'session', uri });
    return journal;
  }

  async add(line: JournalLine): Promise<void> {
    this.#lines.push(line);
    this.#note(line);
    await this.file.append(line);
  }

  /** How much is kept for what it names, at most. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many changes it remembers. */
  get size(): number {
    return this.#size;
  }

  #note(line: JournalLine): void {
    if (line.kind === 'step') this.#size += line.changes.length;
    if (line.kind === 'step') this.#bytes += line.changes.reduce((sum, change) => sum + bytesIn(change), 0);
    if (line.kind === 'turn') this.#turns.add(line.turnId);
    if (line.kind === 'redone') this.#redone.add(line.id);
  }

  /** The turns that are remembered, oldest first. */
  get turns(): readonly string[] {
    return [...this.#turns];
  }

  has(turnId: string): boolean {
    return this.#turns.has(turnId);
  }

  /**
   * What is left of what these turns changed, by file. What was taken back is taken from its own turn first: turns are
   * taken back in any order, and then one does not follow from the other any more.
   */
  segments(turnIds: readonly string[]): Map<BytePath, readonly Change[]> {
    const byTurn = this.#changesOf(new Set(turnIds));
    const left = turnIds.flatMap((turnId) => [...segmentsOf(byTurn.get(turnId) ?? []).values()].flat());
    return segmentsOf(left);
  }

  #changesOf(wanted: ReadonlySet<string>): ReadonlyMap<string, Change[]> {
    const byTurn = new Map<string, Change[]>([...wanted].map((turnId) => [turnId, []]));
    for (const line of this.#lines) {
      if (line.kind === 'step') byTurn.get(line.turnId)?.push(...line.changes);
      if (line.kind !== 'undone' || this.#redone.has(line.id)) continue;
      for (const { turnId, changes } of line.turns) byTurn.get(turnId)?.push(...changes);
    }
    return byTurn;
  }

  /** Why not everything may be known of these turns. */
  gaps(turnIds: readonly string[], underWay: ReadonlySet<string>): string[] {
    const wanted = new Set(turnIds);
    const steps = this.#lines.flatMap((line) => (line.kind === 'step' && wanted.has(line.turnId) ? line : []));
    const done = new Set(steps.map(({ id }) => id));
    const isLost = this.#lines.some(
      (line) => line.kind === 'begun' && wanted.has(line.turnId) && !done.has(line.id) && !underWay.has(line.id),
    );
    return [...new Set([...steps.flatMap(({ gap }) => gap ?? []), ...(isLost ? [LOST] : [])])];
  }

  /** What was about to be done when the host stopped. */
  get unfinished(): readonly Writing[] {
    const over = new Set(
      this.#lines.flatMap((line) => (line.kind === 'written' || line.kind === 'undone' ? line.id : [])),
    );
    return this.#lines.flatMap((line) => (line.kind === 'writing' && !over.has(line.id) ? line : []));
  }

  /** What was taken back last in a view, and not put back since. */
  lastUndone(view: string): Undone | undefined {
    const undone = this.#lines.findLast(
      (line) => line.kind === 'undone' && line.view === view && !this.#redone.has(line.id),
    );
    return undone?.kind === 'undone' ? undone : undefined;
  }
}

function bytesIn({ before, after }: Change): number {
  return [before, after].reduce((sum, side) => sum + (side && !side.isLost ? side.bytes : 0), 0);
}
