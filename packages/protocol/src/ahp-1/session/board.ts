/**
 * The board of a project: methods of our own beside the protocol. AHP lists sessions, but does not know their branches.
 */
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
  /** The same as in the session's summary. */
  readonly status: number;
  readonly folder: URI;
  /** The branch checked out there; absent for a bare commit. */
  readonly branch?: string;
  /** The host made a worktree for it. */
  readonly isWorktree: boolean;
  /** The branch that it is compared with: the one from which its worktree started. */
  readonly base?: string;
  /** Number of commits that only its branch has, and that only the base has. */
  readonly ahead?: number;
  readonly behind?: number;
  /** Compared with the base, including uncommitted changes. */
  readonly added: number;
  readonly removed: number;
  readonly files: number;
  /** Number of files with uncommitted changes. */
  readonly uncommitted: number;
  /** The last test command that finished, if its exit code is that of the tests. */
  readonly tests?: { readonly command: string; readonly passed: boolean };
  /** In US dollars, if known. */
  readonly cost?: number;
  /** Why its branch cannot be pushed, and why no pull request can be made; absent when it can be tried. */
  readonly noPush?: string;
  readonly noPullRequest?: string;
  /** Why nothing is known about its folder. */
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
  /** Git's output, possibly only the beginning. */
  readonly diff: string;
  readonly isCut: boolean;
}

export interface BranchActionParams {
  readonly session: URI;
  readonly action: BranchActionName;
  /** The other branch of a merge or a rebase. Default: the branch from which the session started. */
  readonly into?: string;
  /** Message of a commit. */
  readonly message?: string;
  /** What a person was shown before a commit. If it is not so any more, nothing is committed. */
  readonly shown?: Pick<CommitProposal, 'branch' | 'count' | 'isStaged'>;
  /** Removes a worktree together with its uncommitted changes. */
  readonly force?: boolean;
}

export interface CommitProposal {
  readonly message: string;
  readonly by: 'model' | 'files';
  /** Absent when a bare commit is checked out. */
  readonly branch?: string;
  /** What would be committed: what is staged, or everything. At most 200 names, from the root of the repository. */
  readonly files: readonly string[];
  /** How many files that are. */
  readonly count: number;
  readonly isStaged: boolean;
}

/** A planned pull request; with `url` once it is made. */
export interface PullRequest {
  /** The program on this machine that makes it; absent: a person makes it with the link. */
  readonly tool?: 'gh' | 'glab';
  readonly title: string;
  readonly body: string;
  readonly base: string;
  readonly head: string;
  /** Where a person can make one by hand; absent when the forge is unknown. */
  readonly link?: string;
  readonly url?: string;
}
