/** A text file as a whole: its text, the marks that tell how it was written, and which version of it was read. */
import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { ToolFailure } from '../../core/contracts/tool.js';
import type { InsidePath } from '../../core/util/paths.js';
import { looksBinary } from '../../core/util/text.js';

export const EDIT_MAX_BYTES = 8 * 2 ** 20;

const BOM = '\uFEFF';

/** Enough to tell whether a file has changed. */
export type FileVersion = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'mode'>;

export interface TextFile {
  /** Without the mark at the beginning. */
  readonly text: string;
  /** The mark that some programs put before UTF-8; usually empty. */
  readonly bom: string;
  readonly lineEnding: '\n' | '\r\n';
}

/** Which version of a file is there; undefined when there is none. Anything but a plain file is refused. */
export async function existingFile({ real, shown }: InsidePath): Promise<FileVersion | undefined> {
  const stats = await stat(real, { bigint: true }).catch(ifMissing);
  if (stats?.isDirectory()) throw new ToolFailure('NOT_A_FILE', `${shown} is a folder.`);
  if (stats && !stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${shown} is not a plain file.`);
  return stats;
}

export async function versionOf(file: string): Promise<FileVersion | undefined> {
  return stat(file, { bigint: true }).catch(ifMissing);
}

/** Whether a file is still the one that it was, or still not there. */
export function isSameVersion(one: FileVersion | undefined, other: FileVersion | undefined): boolean {
  if (!one || !other) return one === other;
  return one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs;
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

/** The text of a file; undefined when it is too large, or no text that could be written back unharmed. */
export async function readText({ real }: InsidePath, { size }: FileVersion): Promise<TextFile | undefined> {
  if (size > EDIT_MAX_BYTES) return undefined;
  const bytes = await readFile(real);
  if (looksBinary(bytes)) return undefined;
  try {
    return textFile(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function textFile(whole: string): TextFile {
  const bom = whole.startsWith(BOM) ? BOM : '';
  const text = whole.slice(bom.length);
  const all = text.split('\n').length - 1;
  const windows = text.split('\r\n').length - 1;
  return { text, bom, lineEnding: windows > all / 2 ? '\r\n' : '\n' };
}
