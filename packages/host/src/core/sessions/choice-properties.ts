/** The properties that a new session can be configured with, as people see them. */
import type { SessionConfigPropertySchema } from '@atrium/protocol';
import { branchesOf, type Checkout } from '../../workspace/worktrees/worktrees.js';

export const AUTO_APPROVE: SessionConfigPropertySchema = {
  type: 'boolean',
  title: 'Run tools without asking',
  description: 'Tools that would ask a person first just run.',
  sessionMutable: true,
};

export const FOLDER: SessionConfigPropertySchema = {
  type: 'string',
  title: 'Folder',
  description: 'Where the session works: a path on the machine of the host.',
  enumDynamic: true,
};

export const ISOLATION: SessionConfigPropertySchema = {
  type: 'string',
  title: 'Works in',
  enum: ['folder', 'worktree'],
  enumLabels: ['The folder itself', 'A git worktree of its own'],
  enumDescriptions: [
    'Changes are made right there.',
    'Changes are made on a new branch in a folder apart, beside what you and other sessions do.',
  ],
  default: 'folder',
};

export async function branchProperty({ repository, branch }: Checkout): Promise<SessionConfigPropertySchema> {
  const begin = branch ?? (await branchesOf(repository).catch(() => []))[0];
  return {
    type: 'string',
    title: 'Begins at',
    description: 'The branch that the worktree starts from.',
    enumDynamic: true,
    ...(begin !== undefined && { default: begin, enum: [begin] }),
  };
}
