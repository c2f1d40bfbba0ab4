/** The lines of a journal: what happened to a session's folder, or is about to. */
import type { BytePath } from '../../git/byte-path.js';
import type { Change } from '../entry.js';

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
