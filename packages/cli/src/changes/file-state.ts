/** A changed file in words: what became of it, where it is, how much changed. */
import type { ChangesetFile, FileEdit } from '@atrium/protocol';
import { UsageError } from '../exit.js';
import { folderText } from '../sessions/words.js';
import { printable } from '../text/printable.js';

export function letterOf({ before, after }: FileEdit): 'A' | 'D' | 'R' | 'M' {
  if (!before) return 'A';
  if (!after) return 'D';
  return before.uri === after.uri ? 'M' : 'R';
}

export function uriOf({ before, after }: FileEdit): string {
  return after?.uri ?? before?.uri ?? '';
}

/** Within the folder of the session, as people would type it. */
export function nameOf(edit: FileEdit, folder: string | undefined): string {
  const name = nameIn(uriOf(edit), folder);
  return letterOf(edit) === 'R' && edit.before ? `${nameIn(edit.before.uri, folder)} → ${name}` : name;
}

export function nameIn(uri: string, folder: string | undefined): string {
  const inside = pathIn(uri, folder);
  return inside === undefined ? folderText(uri) : printable(inside);
}

/** As it is, with whatever is in it; undefined outside of the folder. */
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

/** Whether Git has it for the next commit. Empty where it has not, or is not asked. */
export function stagedWord({ _meta }: Pick<ChangesetFile, '_meta'>): string {
  const { index, folder } = (_meta?.git ?? {}) as { index?: unknown; folder?: unknown };
  if (index === 'U' || folder === 'U') return 'conflict';
  if (typeof index !== 'string' || index === '.' || index === '?') return '';
  return folder === '.' ? 'staged' : 'partly staged';
}

export interface Totals {
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

/** The one file that is meant: its name within the folder, or the end of it. */
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
