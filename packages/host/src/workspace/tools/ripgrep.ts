/**
 * Finds candidate files with ripgrep if it is installed. The search then reads those files with the same code as
 * without ripgrep, so hits, order and limits are the same.
 */
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '@atrium/core/util/clock.js';
import { isForbidden } from '@atrium/core/util/paths.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { runProcess } from '@atrium/core/util/run-process.js';
import { byWalk, SKIPPED_FOLDERS } from './walk.js';

/** After this time the search continues without ripgrep. */
export const RIPGREP_TIMEOUT_MS = 20_000;
export const RIPGREP_GRACE_MS = 500;
/** The longest list of files that is read. A text in more files is found quickly without ripgrep. */
export const RIPGREP_OUTPUT_MAX_CHARACTERS = 2 * 2 ** 20;

export interface QuickSearch {
  /** The path of ripgrep. */
  readonly program: string;
  readonly text: string;
  readonly caseSensitive: boolean;
  readonly folder: string;
  readonly signal: AbortSignal;
}

let lookup: Promise<string | undefined> | undefined;

/** Looked up once per run of the host. */
export function installedRipgrep(): Promise<string | undefined> {
  lookup ??= findRipgrep(process.env.PATH ?? '');
  return lookup;
}

/** Considers only absolute entries of PATH, so that a searched folder cannot supply the program. */
export async function findRipgrep(searchPath: string): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  for (const folder of searchPath.split(path.delimiter).filter((entry) => path.isAbsolute(entry))) {
    const file = path.join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

/**
 * Whether ripgrep finds everything that the search without it finds. It treats the case of letters beyond ASCII
 * differently.
 */
export function suitsRipgrep(text: string, folder: string): boolean {
  // The root folder includes the kernel's own files.
  return /^[\x20-\x7e]+$/.test(text) && path.dirname(folder) !== folder;
}

/** The files that may contain the text; undefined when ripgrep is not installed or would miss some. */
export async function quickFiles(
  find: () => Promise<string | undefined>,
  search: Omit<QuickSearch, 'program'>,
): Promise<string[] | undefined> {
  const program = suitsRipgrep(search.text, search.folder) ? await find() : undefined;
  return program === undefined ? undefined : filesWithText({ ...search, program });
}

/** The files that may contain the text, in the order of a walk; undefined when ripgrep fails. */
export async function filesWithText(search: QuickSearch): Promise<string[] | undefined> {
  const { program, folder, signal } = search;
  const enough = new AbortController();
  let errorText = '';
  const end = await runProcess({
    command: program,
    args: argumentsFor(search),
    cwd: folder,
    env: childEnvironment(),
    signal: AbortSignal.any([signal, enough.signal]),
    timeoutMs: RIPGREP_TIMEOUT_MS,
    graceMs: RIPGREP_GRACE_MS,
    clock: systemClock,
    output(text) {
      errorText += text;
      if (errorText.length > RIPGREP_OUTPUT_MAX_CHARACTERS) enough.abort();
    },
  });
  signal.throwIfAborted();
  // Exit code 1 means no file; anything higher is a failure.
  if (end.kind !== 'exited' || end.code > 1) return undefined;
  const names = errorText.split('\0').filter((name) => name !== '');
  return allowed(folder, names.map((name) => path.normalize(name)).sort(byWalk));
}

function argumentsFor({ text, caseSensitive }: QuickSearch): string[] {
  return [
    ...['--no-config', '--no-messages', '--files-with-matches', '--null', '--fixed-strings'],
    // Includes ignored, hidden and binary files: the search itself decides about those.
    ...['--no-ignore', '--hidden', '--text', caseSensitive ? '--case-sensitive' : '--ignore-case'],
    ...[...SKIPPED_FOLDERS].flatMap((folder) => ['--glob', `!**/${folder}/`]),
    ...['--', text, '.'],
  ];
}

/** Leaves out files below forbidden folders. */
async function allowed(root: string, names: readonly string[]): Promise<string[]> {
  const known = new Map<string, Promise<boolean>>();
  const isClosed = (folder: string): Promise<boolean> => {
    const found = known.get(folder) ?? closed(folder);
    known.set(folder, found);
    return found;
  };
  const closed = async (folder: string): Promise<boolean> =>
    (folder !== root && (await isClosed(path.dirname(folder)))) || isForbidden(folder);
  const files: string[] = [];
  for (const name of names) {
    const file = path.join(root, name);
    if (!(await isClosed(path.dirname(file)))) files.push(file);
  }
  return files;
}
