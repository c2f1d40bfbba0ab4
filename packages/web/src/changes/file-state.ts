/** The state of a changed file, as a letter and as a word. */
import type { ChangesetFile, FileEdit } from '@atrium/protocol/ahp-1';
import { pathIn } from '../model/format.js';

interface FileState {
  readonly letter: 'A' | 'D' | 'R' | 'M';
  readonly word: string;
}

const ADDED: FileState = { letter: 'A', word: 'Added' };
const DELETED: FileState = { letter: 'D', word: 'Deleted' };
const RENAMED: FileState = { letter: 'R', word: 'Renamed' };
const MODIFIED: FileState = { letter: 'M', word: 'Changed' };

export function stateOf({ before, after }: FileEdit): FileState {
  if (!before) return ADDED;
  if (!after) return DELETED;
  return before.uri === after.uri ? MODIFIED : RENAMED;
}

export function fileUri({ before, after }: FileEdit): string {
  return after?.uri ?? before?.uri ?? '';
}

/** `old name → new name` for a file that moved. */
export function fileName(edit: FileEdit, folder: string | undefined): string {
  const name = pathIn(fileUri(edit), folder);
  return stateOf(edit) === RENAMED && edit.before ? `${pathIn(edit.before.uri, folder)} → ${name}` : name;
}

/** Whether the file is staged: all of it, some of it, or nothing. Undefined in views without Git. */
export function stagedWord({ _meta }: Pick<ChangesetFile, '_meta'>): string | undefined {
  const { index, folder } = (_meta?.git ?? {}) as { index?: unknown; folder?: unknown };
  if (typeof index !== 'string' || index === '.' || index === '?') return undefined;
  if (index === 'U' || folder === 'U') return 'conflict';
  return folder === '.' ? 'staged' : 'partly staged';
}

export function totals(files: readonly ChangesetFile[]): { readonly added: number; readonly removed: number } {
  return files.reduce(
    ({ added, removed }, { edit: { diff } }) => ({
      added: added + (diff?.added ?? 0),
      removed: removed + (diff?.removed ?? 0),
    }),
    { added: 0, removed: 0 },
  );
}
