/** Changed files as text: the list of files, their differences in colours, and the names and contents behind them. */
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@atrium/client';
import type { ChangesetFile, ChangesetState, ContentRef, FileEdit } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { folderText } from '../sessions/summary-text.js';
import { unifiedDiff } from '../text/diff.js';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut, padded, widthOf, wrap } from '../text/width.js';

interface ChangesFrame {
  readonly style: Style;
  readonly columns: number;
  /** Names are shown within this folder. */
  readonly folder: string | undefined;
}

/** The list only counts the files beyond this. */
const FILES_SHOWN_MAX = 100;
/** Room beside a name, for the letter, the numbers and the word for staged. */
const BESIDE_NAME_COLUMNS = 28;
const NAME_COLUMNS_MIN = 12;

export function fileLines({ files, status, error }: ChangesetState, frame: ChangesFrame): string[] {
  const { style, columns, folder } = frame;
  const shown = files.slice(0, FILES_SHOWN_MAX);
  const room = Math.max(NAME_COLUMNS_MIN, columns - BESIDE_NAME_COLUMNS);
  const names = shown.map(({ edit }) => tail(nameOf(edit, folder), room));
  const width = Math.max(0, ...names.map(widthOf));
  const rows = shown.map((file, index) => `  ${rowOf(file, padded(names[index] ?? '', width), style)}`.trimEnd());
  const hidden = files.length - shown.length;
  const doubt =
    status === 'computing' ? 'The host is still looking.' : status === 'error' ? (error?.message ?? 'It failed.') : '';
  const doubtLines = doubt === '' ? [] : wrap(printable(doubt), columns - 2).map((line) => style.yellow(`  ${line}`));
  return [...rows, ...(hidden > 0 ? [style.dim(`  … ${hidden} more files`)] : []), ...doubtLines];
}

/** Keeps the end of a long path, which says more than its beginning. */
function tail(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  const letters = [...name];
  while (widthOf(letters.join('')) > width - 1) letters.shift();
  return `…${letters.join('')}`;
}

function rowOf(file: ChangesetFile, name: string, style: Style): string {
  const { added, removed } = file.edit.diff ?? {};
  const counts = added === undefined ? '' : `${style.green(`+${added}`)} ${style.red(`−${removed ?? 0}`)}`;
  const staged = stagedWord(file);
  return `${lettered(letterOf(file.edit), style)} ${name}  ${counts}${staged === '' ? '' : `  ${style.dim(staged)}`}`;
}

function lettered(letter: string, style: Style): string {
  if (letter === 'A') return style.green(letter);
  return letter === 'D' ? style.red(letter) : style.yellow(letter);
}

/** The difference of one file, or a line that says why there is none. */
export async function diffOf(place: ContentSource, edit: FileEdit, folder: string | undefined): Promise<string[]> {
  const fresh = nameIn((edit.after ?? edit.before)?.uri ?? '', folder);
  const names = { old: nameIn((edit.before ?? edit.after)?.uri ?? '', folder), fresh };
  const [before, after] = await Promise.all([
    contentText(place, edit.before?.content),
    contentText(place, edit.after?.content),
  ]);
  const head = `diff --git a/${names.old} b/${names.fresh}`;
  if (before === undefined || after === undefined) return [head, '(too large to be shown, or not there any more)'];
  if (before.includes('\0') || after.includes('\0')) return [head, 'Binary files differ'];
  return unifiedDiff({ before: edit.before && before, after: edit.after && after }, names);
}

/** A line of a difference as the screen shows it. */
export function diffLine(line: string, { style, columns }: Pick<ChangesFrame, 'style' | 'columns'>): string {
  const text = cut(printable(line.replace(/\s+$/, '')), columns);
  if (/^(diff|\+\+\+|---) /.test(line)) return style.bold(text);
  if (line.startsWith('@@')) return style.cyan(text);
  if (line.startsWith('+')) return style.green(text);
  return line.startsWith('-') ? style.red(text) : text;
}

// Names and states of a changed file.

function letterOf({ before, after }: FileEdit): 'A' | 'D' | 'R' | 'M' {
  if (!before) return 'A';
  if (!after) return 'D';
  return before.uri === after.uri ? 'M' : 'R';
}

export function uriOf({ before, after }: FileEdit): string {
  return after?.uri ?? before?.uri ?? '';
}

/** Relative to the folder of the session, as people would type it. */
export function nameOf(edit: FileEdit, folder: string | undefined): string {
  const name = nameIn(uriOf(edit), folder);
  return letterOf(edit) === 'R' && edit.before ? `${nameIn(edit.before.uri, folder)} → ${name}` : name;
}

export function nameIn(uri: string, folder: string | undefined): string {
  const inside = pathIn(uri, folder);
  return inside === undefined ? folderText(uri) : printable(inside);
}

/** The raw path, with invisible characters; undefined outside the folder. */
export function pathIn(uri: string, folder: string | undefined): string | undefined {
  const base = folder === undefined ? undefined : `${folder.replace(/\/+$/, '')}/`;
  if (base === undefined || !uri.startsWith(base)) return undefined;
  const inside = uri.slice(base.length);
  try {
    return decodeURIComponent(inside);
  } catch {
    return inside;
  }
}

/** A word if the file is staged for the next commit; empty if not, or outside Git. */
export function stagedWord({ _meta }: Pick<ChangesetFile, '_meta'>): string {
  const { index, folder } = (_meta?.git ?? {}) as { index?: unknown; folder?: unknown };
  if (index === 'U' || folder === 'U') return 'conflict';
  if (typeof index !== 'string' || index === '.' || index === '?') return '';
  return folder === '.' ? 'staged' : 'partly staged';
}

interface Totals {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

export function totalsOf(files: readonly ChangesetFile[]): Totals {
  const diffs = files.map(({ edit }) => edit.diff);
  return {
    files: files.length,
    added: diffs.reduce((sum, diff) => sum + (diff?.added ?? 0), 0),
    removed: diffs.reduce((sum, diff) => sum + (diff?.removed ?? 0), 0),
  };
}

/** `3 files (+12 −4)` */
export function totalsText({ files, added, removed }: Totals): string {
  return `${files} ${files === 1 ? 'file' : 'files'} (+${added} −${removed})`;
}

/** The file with this name within the folder, or whose path ends with it. */
export function findFile(files: readonly ChangesetFile[], name: string, folder: string | undefined): ChangesetFile {
  const wanted = name.replace(/^\.\//, '');
  const names = ({ edit }: ChangesetFile) =>
    [edit.after?.uri, edit.before?.uri].flatMap((uri) => (uri === undefined ? [] : [nameIn(uri, folder), uri]));
  const exact = files.find((file) => names(file).includes(wanted));
  if (exact) return exact;
  const [first, ...more] = files.filter((file) => names(file).some((each) => each.endsWith(`/${wanted}`)));
  if (!first) throw new UsageError(`"${name}" is not among the changed files`);
  if (more.length > 0)
    throw new UsageError(`${more.length + 1} changed files end with "${name}": type more of the path`);
  return first;
}

// The content of one side of a change.

/** Larger files have no diff here, only the number of lines. */
const CONTENT_MAX_BYTES = 512 * 1024;

export interface ContentSource {
  readonly client: Client;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
}

/** Empty if the edit has no such side; undefined when the text is unreadable or too large. */
export async function contentText(
  { client, isLocal }: ContentSource,
  content: ContentRef | undefined,
  maxBytes = CONTENT_MAX_BYTES,
): Promise<string | undefined> {
  if (content === undefined) return '';
  if ((content.sizeHint ?? 0) > maxBytes) return undefined;
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(content.uri)?.[1];
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  try {
    const { data, encoding } = await client.request('resourceRead', { uri: content.uri });
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString('utf8') : data;
  } catch {
    return isLocal ? localText(content.uri, maxBytes) : undefined;
  }
}

async function localText(uri: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = fileURLToPath(uri);
    return (await stat(file)).size > maxBytes ? undefined : await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
