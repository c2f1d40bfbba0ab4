/** What a session's turns changed, as it is remembered: which change belongs to which turn, and what was taken back. */
import type { BytePath } from '../../git/byte-path.js';
import type { Change } from '../entry.js';
import type { JournalFile } from './journal-file.js';
import type { JournalLine, Undone, Writing } from './journal-line.js';
import { segmentsOf } from './segments.js';

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
