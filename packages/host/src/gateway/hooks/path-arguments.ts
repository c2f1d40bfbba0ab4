/** The arguments of a call that name files or folders, in every form in which a rule may look for them. */
import path from 'node:path';
import { isRecord } from '../../core/util/shape.js';

/** More paths than this in one call are not looked at one by one. */
export const PATHS_MAX = 1_000;

/** How keys end whose values are paths: `file_path`, `oldPath`, `fileName`, `dir`. */
const PATH_WORDS: ReadonlySet<string> = new Set(
  ['path', 'file', 'filename', 'filepath', 'pathname', 'folder', 'dir', 'cwd']
    .flatMap((word) => [word, `${word}s`])
    .concat('directory', 'directories'),
);

function isPathKey(key: string): boolean {
  const words = key.split(/[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
  return PATH_WORDS.has(words.at(-1) ?? '') || PATH_WORDS.has(words.slice(-2).join(''));
}

/** Undefined when there are too many of them to tell. */
export function pathArguments(args: unknown, workingDirectory: string | undefined): readonly string[] | undefined {
  const found: string[] = [];
  collect(args, '', found);
  if (found.length > PATHS_MAX) return undefined;
  return [...new Set(found.flatMap((file) => formsOf(file, workingDirectory)))];
}

/** Stops soon after there are too many. */
function collect(value: unknown, key: string, found: string[]): void {
  if (found.length > PATHS_MAX) return;
  if (typeof value === 'string') {
    if (isPathKey(key)) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, key, found);
  else if (isRecord(value)) for (const [name, item] of Object.entries(value)) collect(item, name, found);
}

/** As it is meant, without detours; and seen from the session's folder, where it lies in there. */
function formsOf(file: string, workingDirectory: string | undefined): string[] {
  const plain = path.posix.normalize(file.replaceAll('\\', '/'));
  if (workingDirectory === undefined) return [plain];
  const folder = `${workingDirectory.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return plain.startsWith(folder) ? [plain, plain.slice(folder.length)] : [plain];
}
