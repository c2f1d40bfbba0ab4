/** The name of the place where a session works, for people, to whom the folder name of a worktree means nothing. */
import type { ProjectInfo, SessionSummary } from './state.js';

/** Atrium's host adds two branches; other hosts do not know them. */
export interface ProjectOfWorktree extends ProjectInfo {
  /** The worktree's branch. */
  readonly branch?: string;
  /** The branch from which it started. */
  readonly from?: string;
}

/** `atrium · fix-login`; undefined for a session without a worktree. */
export function projectLabel({ project }: Pick<SessionSummary, 'project'>): string | undefined {
  if (!project) return undefined;
  const { displayName, branch }: { readonly displayName: string; readonly branch?: unknown } = project;
  return typeof branch === 'string' && branch !== '' ? `${displayName} · ${branch}` : displayName;
}
