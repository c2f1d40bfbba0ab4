/**
 * What a session can be configured with. It depends on what was chosen so far: a folder in a repository can have a
 * worktree, and a worktree begins at a branch.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  ErrorCode,
  type SessionConfigCompletionsParams,
  type SessionConfigPropertySchema,
  type SessionConfigSchema,
} from '@atrium/protocol';
import { RequestError } from '../wire/request-error.js';
import {
  BRANCHES_MAX,
  branchesOf,
  type Place,
  type Repository,
  repositoryAt,
  type Worktrees,
} from '../worktrees/worktrees.js';
import { badValues, withDefaults } from './config-values.js';
import { FOLDERS_MAX, foldersLike } from './folder-choices.js';

type Values = Readonly<Record<string, unknown>>;

export interface ChoicesParts {
  readonly worktrees: Worktrees | undefined;
  /** Where folder pickers begin, as a URI. */
  readonly defaultDirectory: string | undefined;
  /** Whether new sessions run tools without asking. */
  autoApprove(): boolean;
  /** Folders of sessions, the latest first, as paths. */
  recentFolders(): readonly string[];
}

interface Context {
  readonly workingDirectory?: string | undefined;
  readonly config?: Values | undefined;
}

export interface Resolved {
  readonly schema: SessionConfigSchema;
  readonly values: Record<string, unknown>;
}

type Completion = { value: string; label: string; description?: string };

export class Choices {
  constructor(private readonly parts: ChoicesParts) {}

  /** Everything that is offered for what was chosen so far, and the values with defaults filled in. */
  async resolve(context: Context): Promise<Resolved> {
    const { workingDirectory, config = {} } = context;
    return this.#resolved(context, await this.#repository(workingDirectory ?? config.folder));
  }

  async #repository(place: unknown): Promise<Repository | undefined> {
    const folder = folderOf(place);
    return folder === undefined || !this.parts.worktrees ? undefined : repositoryAt(folder);
  }

  async #resolved({ workingDirectory, config = {} }: Context, repository: Repository | undefined): Promise<Resolved> {
    const properties: Record<string, SessionConfigPropertySchema> = {
      ...(workingDirectory === undefined && { folder: FOLDER }),
      ...(repository && { isolation: ISOLATION }),
      ...(repository && config.isolation === 'worktree' && { branch: await branchProperty(repository) }),
      autoApprove: { ...AUTO_APPROVE, default: this.parts.autoApprove() },
    };
    const schema: SessionConfigSchema = { type: 'object', properties };
    return { schema, values: withDefaults(schema, config) };
  }

  /** The configuration of a session that is created now. Throws the error to answer with when it does not fit. */
  async checked(context: Context): Promise<Resolved> {
    const { config = {} } = context;
    // Nobody is kept waiting for Git who did not ask for a worktree.
    const resolved = 'isolation' in config ? await this.resolve(context) : await this.#resolved(context, undefined);
    const problem = badValues(resolved.schema, config);
    if (problem) throw invalid(problem);
    return resolved;
  }

  /** Where a session with these choices works. */
  async place(session: string, { workingDirectory }: Context, values: Values): Promise<Place> {
    const chosen = workingDirectory ?? (typeof values.folder === 'string' ? uriOf(values.folder) : undefined);
    if (chosen === undefined) return {};
    const folder = folderOf(chosen);
    if (values.isolation !== 'worktree' || !folder || !this.parts.worktrees) return { workingDirectory: chosen };
    const repository = await repositoryAt(folder);
    if (!repository) throw invalid(`/config/isolation: ${folder} is not in a git repository`);
    return this.parts.worktrees.place(session, repository, folder);
  }

  async completions({ property, query = '', ...context }: SessionConfigCompletionsParams): Promise<Completion[]> {
    const { schema } = await this.resolve(context);
    if (!schema.properties[property]?.enumDynamic) {
      throw invalid(`/property: no values can be looked up for ${property} here`);
    }
    return property === 'folder' ? this.#folders(query) : this.#branches(context, query);
  }

  async #branches({ workingDirectory, config }: Context, query: string): Promise<Completion[]> {
    const folder = folderOf(workingDirectory ?? config?.folder);
    const repository = folder && (await repositoryAt(folder));
    if (!repository) return [];
    const wanted = query.toLowerCase();
    const names = (await branchesOf(repository)).filter((name) => name.toLowerCase().includes(wanted));
    return names.slice(0, BRANCHES_MAX).map((name) => ({
      value: name,
      label: name,
      ...(name === repository.branch && { description: 'Checked out now' }),
    }));
  }

  async #folders(query: string): Promise<Completion[]> {
    if (query !== '') return foldersLike(query);
    const recent = [...new Set([...this.parts.recentFolders(), ...this.#start()])];
    const present = await Promise.all(recent.slice(0, FOLDERS_MAX).map(isFolder));
    return recent.flatMap((folder, index) =>
      present[index] ? { value: folder, label: path.basename(folder) || folder, description: folder } : [],
    );
  }

  #start(): string[] {
    const folder = folderOf(this.parts.defaultDirectory);
    return folder === undefined ? [] : [folder];
  }
}

const AUTO_APPROVE: SessionConfigPropertySchema = {
  type: 'boolean',
  title: 'Run tools without asking',
  description: 'Tools that would ask a person first just run.',
  sessionMutable: true,
};

const FOLDER: SessionConfigPropertySchema = {
  type: 'string',
  title: 'Folder',
  description: 'Where the session works: a path on the machine of the host.',
  enumDynamic: true,
};

const ISOLATION: SessionConfigPropertySchema = {
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

async function branchProperty(repository: Repository): Promise<SessionConfigPropertySchema> {
  const [newest] = await branchesOf(repository).catch(() => []);
  const begin = repository.branch ?? newest;
  return {
    type: 'string',
    title: 'Begins at',
    description: 'The branch that the worktree starts from.',
    enumDynamic: true,
    ...(begin !== undefined && { default: begin, enum: [begin] }),
  };
}

/** A folder as a path, from a URI or a path. */
function folderOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (path.isAbsolute(value)) return value;
  try {
    return value.startsWith('file:') ? fileURLToPath(value) : undefined;
  } catch {
    return undefined;
  }
}

function uriOf(folder: string): string {
  if (!path.isAbsolute(folder)) throw invalid('/config/folder must be a whole path');
  return pathToFileURL(folder).href;
}

function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
