/** The board of a project: methods of our own beside the protocol. AHP lists sessions, but knows nothing of their branches. */
import type { URI } from '../common/types.js';

export const BOARD_METHOD = 'atrium/board';
export const COMPARE_BRANCHES_METHOD = 'atrium/compareBranches';
export const BRANCH_ACTION_METHOD = 'atrium/branchAction';
export const PROPOSE_COMMIT_METHOD = 'atrium/proposeCommit';
export const PULL_REQUEST_METHOD = 'atrium/pullRequest';

export const BRANCH_ACTIONS = ['merge', 'rebase', 'remove', 'commit', 'push'] as const;
export type BranchActionName = (typeof BRANCH_ACTIONS)[number];

/** One session on the board. */
export interface BoardCard {
  readonly session: URI;
  readonly title: string;
  /** As in its summary. */
  readonly status: number;
  readonly folder: URI;
  /** What is checked out there; absent for a bare commit. */
  readonly branch?: string;
  /** Whether the host made a worktree for it. */
  readonly isWorktree: boolean;
  /** The branch that it is compared with: the one that its worktree began with. */
  readonly base?: string;
  /** Commits that only its branch has, and that only the base has. */
  readonly ahead?: number;
  readonly behind?: number;
  /** Against the base, with what is not committed. */
  readonly added: number;
  readonly removed: number;
  readonly files: number;
  /** Files that are not committed. */
  readonly uncommitted: number;
  /** The last test command that ran to its end, as far as its exit code is that of the tests. */
  readonly tests?: { readonly command: string; readonly passed: boolean };
  /** In US dollars, where that is known. */
  readonly cost?: number;
  /** Why its branch cannot be pushed, and why no pull request can be made of it; absent where it can be tried. */
  readonly noPush?: string;
  readonly noPullRequest?: string;
  /** Why nothing is known of its folder. */
  readonly problem?: string;
}

export interface Board {
  /** The main folder of the repository. */
  readonly root: URI;
  readonly name: string;
  readonly branches: readonly string[];
  readonly cards: readonly BoardCard[];
}

export interface BranchComparison {
  readonly from: string;
  readonly to: string;
  readonly files: readonly { readonly path: string; readonly added?: number; readonly removed?: number }[];
  /** As Git prints it, perhaps only the beginning. */
  readonly diff: string;
  readonly isCut: boolean;
}

export interface BranchActionParams {
  readonly session: URI;
  readonly action: BranchActionName;
  /** The other branch of a merge or a rebase; that which the session began with, if left out. */
  readonly into?: string;
  /** Of a commit. */
  readonly message?: string;
  /** Removes a worktree with what is not committed there. */
  readonly force?: boolean;
}

export interface CommitProposal {
  readonly message: string;
  readonly by: 'model' | 'files';
}

/** What a pull request would be; with `url` once it is made. */
export interface PullRequest {
  /** The program of this machine that makes it; absent: a person does, behind the link. */
  readonly tool?: 'gh' | 'glab';
  readonly title: string;
  readonly body: string;
  readonly base: string;
  readonly head: string;
  /** Where a person makes one by hand; absent where the forge is not known. */
  readonly link?: string;
  readonly url?: string;
}
