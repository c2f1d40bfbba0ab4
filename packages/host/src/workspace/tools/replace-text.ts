/** Replaces exact text in a file whose line endings may differ from those in the request. */
import type { TextFile } from './text-file.js';

export interface Replacement {
  /** With every occurrence replaced. */
  readonly text: string;
  readonly found: number;
  /** Whether it could be meant to stand in more than one place. */
  readonly isAmbiguous: boolean;
}

/** What is put in has the line endings of the file. What is looked for is tried as given first, then with those. */
export function replaceText({ text, lineEnding }: TextFile, old: string, fresh: string): Replacement {
  const inserted = withEnding(fresh, lineEnding);
  const exact = replaceAll(text, old, inserted);
  if (exact.found > 0) return exact;
  const other = withEnding(old, lineEnding);
  return other === old ? exact : replaceAll(text, other, inserted);
}

function replaceAll(text: string, old: string, fresh: string): Replacement {
  const pieces = text.split(old);
  const found = pieces.length - 1;
  // "aa" is in "aaa" twice, though only one of the two can be replaced.
  const isAmbiguous = found > 0 && text.indexOf(old, text.indexOf(old) + 1) >= 0;
  return { text: pieces.join(fresh), found, isAmbiguous };
}

function withEnding(text: string, lineEnding: string): string {
  return text.replace(/\r?\n/g, lineEnding);
}
