/** What the sequences of a terminal mean. Marks count only with the terminal's own secret, so that no output forges them. */
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { TITLE_MAX_CHARACTERS } from './limits.js';

export type Signal =
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'cwd'; readonly path: string }
  /** The shell is about to ask for a command. */
  | { readonly kind: 'prompt' }
  /** `isSure`: the shell knows that it is this line; otherwise it is the last one that it remembers. */
  | { readonly kind: 'executed'; readonly commandLine: string; readonly isSure: boolean }
  | { readonly kind: 'finished'; readonly exitCode: number | undefined }
  /** The command that the terminal was opened for is over, and all that it wrote has come. */
  | { readonly kind: 'over'; readonly exitCode: number };

export function signalOf(code: number, body: string, nonce: string | undefined): Signal | undefined {
  if (code === 0 || code === 2) return { kind: 'title', title: cleanTitle(body) };
  if (code === 7) return folderIn(body);
  const fields = body.split(';');
  if (code !== 633 || nonce === undefined || fields.pop() !== nonce) return undefined;
  return markOf(fields);
}

/** One line, without anything that a terminal would act upon. */
export function cleanTitle(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const plain = text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').trim();
  return [...plain].slice(0, TITLE_MAX_CHARACTERS).join('');
}

function folderIn(uri: string): Signal | undefined {
  try {
    const { protocol, host, pathname } = new URL(uri);
    const isHere = host === '' || host === 'localhost' || host.toLowerCase() === hostname().toLowerCase();
    if (protocol !== 'file:' || !isHere) return undefined;
    return { kind: 'cwd', path: fileURLToPath(`file://${pathname}`) };
  } catch {
    return undefined;
  }
}

function markOf([mark, first = '', second = '']: readonly string[]): Signal | undefined {
  if (mark === 'A') return { kind: 'prompt' };
  if (mark === 'C') return { kind: 'executed', isSure: first === 'sure', commandLine: unescaped(second) };
  if (mark === 'D') return { kind: 'finished', exitCode: /^\d+$/.test(first) ? Number(first) : undefined };
  if (mark === 'X') return { kind: 'over', exitCode: Number(first) };
  if (mark === 'P' && first.startsWith('Cwd=')) return { kind: 'cwd', path: unescaped(first.slice('Cwd='.length)) };
  return undefined;
}

/** The scripts write `\\` for a backslash, and `\xNN` for what would end a field or the sequence. */
function unescaped(text: string): string {
  return text.replace(/\\(?:\\|x([\da-f]{2}))/gi, (_all, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
