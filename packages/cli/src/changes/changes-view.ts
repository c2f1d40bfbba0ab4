/** Changes as lines: the list of files, and their differences in colours. */
import type { ChangesetFile, ChangesetState, FileEdit } from '@atrium/protocol';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { unifiedDiff } from '../text/unified.js';
import { cut, padded, widthOf, wrap } from '../text/width.js';
import { type ContentPlace, contentText } from './contents.js';
import { letterOf, nameIn, nameOf, stagedWord } from './file-state.js';

export interface ChangesFrame {
  readonly style: Style;
  readonly columns: number;
  /** Names are shown within this folder. */
  readonly folder: string | undefined;
}

/** More files than this are only counted. */
const FILES_SHOWN_MAX = 100;
/** What stands beside a name: the letter, the numbers, and whether it is staged. */
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

/** The end of a long path says more than its beginning. */
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

/** The difference of one file, or a word about why there is none. */
export async function diffOf(place: ContentPlace, edit: FileEdit, folder: string | undefined): Promise<string[]> {
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
