/** What is remembered of a session's changes: one file to which lines are added, so that no crash takes more than one. */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../tools/shape.js';
import type { Change } from '../entry.js';

export interface TurnChanges {
  readonly turnId: string;
  readonly changes: readonly Change[];
}

/** Changes were taken back, or thrown away: what that means for turns, and what it did to files. */
export interface Undone {
  readonly kind: 'undone';
  readonly id: string;
  /** The view that it was asked for in. */
  readonly view: string;
  /** The newest turn first, as things are taken back. */
  readonly turns: readonly TurnChanges[];
  readonly applied: readonly Change[];
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
  | Undone
  /** That was taken back in its turn. */
  | { readonly kind: 'redone'; readonly id: string };

const KINDS: ReadonlySet<unknown> = new Set(['session', 'turn', 'begun', 'step', 'undone', 'redone']);

export class JournalFile {
  /** Lines come one after the other. */
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly file: string) {}

  /** Lines that are damaged are left out; only the last one can be, after a crash. */
  async read(): Promise<JournalLine[]> {
    const text = await readFile(this.file, 'utf8').catch(() => '');
    return text.split('\n').flatMap(parsed);
  }

  append(line: JournalLine): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        await mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
        // The line break stands first, so that half a line before it does no harm.
        await appendFile(this.file, `\n${JSON.stringify(line)}`, { mode: 0o600, flush: true });
      });
    return this.#writing;
  }
}

function parsed(text: string): JournalLine[] {
  if (text === '') return [];
  try {
    const line: unknown = JSON.parse(text);
    return isRecord(line) && KINDS.has(line.kind) ? [line as unknown as JournalLine] : [];
  } catch {
    return [];
  }
}
