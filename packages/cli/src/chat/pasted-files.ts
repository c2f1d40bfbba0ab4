/** Reads the names that a terminal pastes for dropped or copied files, in any of their spellings. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { typeOfBeginning } from '@atrium/protocol/ahp-1';

/** A longer text is not a list of names. */
const TEXT_MAX_CHARACTERS = 20_000;
const BEGINNING_BYTES = 32;
/** The beginning of an absolute path or address; other pasted text is prose. */
const LEADS = /^(?:\/|~\/|file:\/\/|[a-z]:[\\/]|\\\\)/i;

/** The pictures and PDF files that a pasted text names, when it names nothing else. */
export function pastedFiles(text: string, home: string): string[] {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > TEXT_MAX_CHARACTERS) return [];
  const whole = fileOf(trimmed, home);
  if (whole !== undefined && isAttachable(whole)) return [whole];
  const files = wordsOf(trimmed).map((word) => fileOf(word, home));
  return files.every((file) => file !== undefined && isAttachable(file))
    ? files.filter((file) => file !== undefined)
    : [];
}

/** Words as a shell reads them: quotes and backslashes keep blanks together. Nothing is expanded. */
function wordsOf(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+/g) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/g, (_, single, double, escaped) => {
      if (single !== undefined) return single;
      return double === undefined ? escaped : double.replace(/\\(["\\$`])/g, '$1');
    }),
  );
}

function fileOf(word: string, home: string): string | undefined {
  if (!LEADS.test(word)) return undefined;
  if (word.startsWith('~/')) return path.join(home, word.slice(2));
  if (!/^file:\/\//i.test(word)) return word;
  try {
    const { hostname, href } = new URL(word);
    return hostname === '' || hostname === 'localhost' ? fileURLToPath(href.replace('//localhost/', '///')) : undefined;
  } catch {
    return undefined;
  }
}

/** Looks at the bytes of the file, not at its name. */
function isAttachable(file: string): boolean {
  try {
    return statSync(file).isFile() && typeOfBeginning(beginningOf(file)) !== undefined;
  } catch {
    return false;
  }
}

function beginningOf(file: string): Uint8Array {
  const handle = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(BEGINNING_BYTES);
    return bytes.subarray(0, readSync(handle, bytes, 0, BEGINNING_BYTES, 0));
  } finally {
    closeSync(handle);
  }
}
