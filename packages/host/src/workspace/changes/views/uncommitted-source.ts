/** What differs from the last commit, whoever changed it, and what Git can do with it. */
import { type ChangesetOperation, ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../../core/contracts/request-error.js';
import { findRepository, type Repository } from '../../git/repository.js';
import type { ContentStore } from '../content-store.js';
import { isConflict, isStaged, type StatusEntry } from '../git/status.js';
import { VIEW_MAX_FILES } from '../limits.js';
import { type CommitScope, whatToCommit } from '../operations/commit.js';
import { discard, restore } from '../operations/discard.js';
import { stage, unstage } from '../operations/index-operations.js';
import type { Journal } from '../record/journal.js';
import type { FolderParts } from '../snapshots/snapshot.js';
import { incomplete, type OperationTarget, type Shown, type ViewSource } from './source.js';
import type { UncommittedFiles } from './uncommitted-files.js';

export interface UncommittedParts {
  readonly view: string;
  readonly store: ContentStore;
  readonly files: UncommittedFiles;
  journal(): Promise<Journal>;
  folder(): Promise<FolderParts>;
  isTrusted(folder: string): Promise<boolean>;
  quietly<T>(work: () => Promise<T>): Promise<T>;
  /** Asks for a message and commits; says what is asked. */
  commit(repository: Repository, what: CommitScope): string;
}

/** How a view says that there is nothing to compare with. */
export const NO_REPOSITORY = 'no-repository';

export class UncommittedSource implements ViewSource {
  readonly isOpenToAll = true;

  constructor(private readonly parts: UncommittedParts) {}

  async show(): Promise<Shown> {
    const { root, isOurs } = await this.parts.folder();
    const repository = await findRepository(root);
    if (!repository) {
      const message = 'The folder is in no Git repository that can be used, so nothing is uncommitted here.';
      return { files: [], operations: [], problem: { errorType: NO_REPOSITORY, message } };
    }
    const { status, files, isCut } = await this.parts.files.list(repository, isOurs);
    const isUndone = (await this.parts.journal()).lastUndone(this.parts.view) !== undefined;
    const cut = incomplete(`only ${VIEW_MAX_FILES} of ${status.entries.length} files are shown`);
    return { files, operations: operationsFor(status.entries, isUndone), ...(isCut && { problem: cut }) };
  }

  async run(operationId: string, target: OperationTarget | undefined): Promise<string> {
    const { root, isOurs } = await this.parts.folder();
    const repository = await findRepository(root);
    if (!repository) throw new RequestError(ErrorCode.Conflict, 'the folder is in no Git repository any more');
    const { store, view } = this.parts;
    if (operationId === 'stage') return stage(repository, target?.paths, await this.parts.isTrusted(root));
    if (operationId === 'unstage') return unstage(repository, target?.paths);
    if (operationId === 'commit') return this.parts.commit(repository, await whatToCommit(repository));
    const parts = { root, store, view, repository, isOurs, journal: await this.parts.journal() };
    return this.parts.quietly(() => (operationId === 'restore' ? restore(parts) : discard(parts, target?.paths)));
  }
}

function operationsFor(entries: readonly StatusEntry[], isUndone: boolean): ChangesetOperation[] {
  const isAnyStaged = entries.some(isStaged);
  const isAnyConflict = entries.some(isConflict);
  return [
    ...(entries.some(({ letters }) => letters[1] !== '.') ? [STAGE] : []),
    ...(isAnyStaged || isAnyConflict ? [UNSTAGE] : []),
    ...(entries.length > 0 ? [DISCARD] : []),
    // Markers of a conflict are not to end up in a commit by accident.
    ...(entries.length > 0 && !isAnyConflict ? [isAnyStaged ? COMMIT_STAGED : COMMIT_ALL] : []),
    ...(isUndone ? [RESTORE] : []),
  ];
}

const STAGE: ChangesetOperation = { id: 'stage', label: 'Stage', scopes: ['changeset', 'resource'], icon: 'add' };
const UNSTAGE: ChangesetOperation = {
  id: 'unstage',
  label: 'Unstage',
  scopes: ['changeset', 'resource'],
  icon: 'remove',
};
const DISCARD: ChangesetOperation = {
  id: 'discard',
  label: 'Discard',
  description: 'Makes files as the last commit has them, and deletes those that it does not have.',
  scopes: ['changeset', 'resource'],
  confirmation: 'Throw away these changes, whoever made them? They can be restored in this session.',
  icon: 'discard',
};
const COMMIT_STAGED: ChangesetOperation = {
  id: 'commit',
  label: 'Commit',
  description: 'Commits what is staged. The message is asked for in the session.',
  scopes: ['changeset'],
  icon: 'check',
};
const COMMIT_ALL: ChangesetOperation = {
  ...COMMIT_STAGED,
  description: 'Commits everything here, as nothing is staged. The message is asked for in the session.',
};
const RESTORE: ChangesetOperation = {
  id: 'restore',
  label: 'Restore',
  description: 'Puts back what was discarded last.',
  scopes: ['changeset'],
  icon: 'redo',
};
