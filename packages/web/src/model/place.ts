/** Where a session works, as people call it: a worktree by its project and branch, anything else by its folder. */
import { projectLabel, type SessionSummary } from '@atrium/protocol';
import { lastPart, pathOf } from './format.js';

export function placeOf(summary: Pick<SessionSummary, 'project' | 'workingDirectory'>): string {
  const { workingDirectory } = summary;
  return projectLabel(summary) ?? (workingDirectory ? lastPart(pathOf(workingDirectory)) : '');
}
