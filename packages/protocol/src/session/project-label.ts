/** The name of the place where a session works, for people: the folder name of a worktree means nothing to them. */
import type { ProjectInfo, SessionSummary } from './state.js';

/** Atrium's host adds the branch that the worktree began from. Other hosts do not know it. */
export interface ProjectOfWorktree extends ProjectInfo {
  readonly branch?: string;
}

/** `atrium · fix-login`; undefined for a session that does not work in a worktree. */
export function projectLabel({ project }: Pick<SessionSummary, 'project'>): string | undefined {
  if (!project) return undefined;
  const { displayName, branch }: { readonly displayName: string; readonly branch?: unknown } = project;
  return typeof branch === 'string' && branch !== '' ? `${displayName} · ${branch}` : displayName;
}
