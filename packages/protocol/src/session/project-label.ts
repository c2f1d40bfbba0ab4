/** The name of the place where a session works, for people: the folder name of a worktree means nothing to them. */
import type { ProjectInfo, SessionSummary } from './state.js';

/** Atrium's host adds two branches. Other hosts do not know them. */
export interface ProjectOfWorktree extends ProjectInfo {
  /** The worktree's own. */
  readonly branch?: string;
  /** The one that it began with. */
  readonly from?: string;
}

/** `atrium · fix-login`; undefined for a session that does not work in a worktree. */
export function projectLabel({ project }: Pick<SessionSummary, 'project'>): string | undefined {
  if (!project) return undefined;
  const { displayName, branch }: { readonly displayName: string; readonly branch?: unknown } = project;
  return typeof branch === 'string' && branch !== '' ? `${displayName} · ${branch}` : displayName;
}
