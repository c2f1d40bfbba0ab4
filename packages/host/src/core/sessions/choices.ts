/**
 * What a session can be configured with. It depends on what was chosen so far: a folder in a repository can have a
 * worktree, and a worktree begins at a branch.
 */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  ErrorCode,
  type SessionConfigCompletionsParams,
  type SessionConfigPropertySchema,
  type SessionConfigSchema,
} from '@atrium/protocol';
import {
  branchesOf,
  type Checkout,
  checkoutAt,
  type Place,
  type Worktrees,
} from '../../workspace/worktrees/worktrees.js';
import { RequestError } from '../contracts/request-error.js';
import { isFolder } from '../util/folders.js';
import { AUTO_APPROVE, branchProperty, FOLDER, ISOLATION } from './choice-properties.js';
import { badValues, withDefaults } from './config-values.js';
import { FOLDERS_MAX, foldersLike } from './folder-choices.js';

type Values = Readonly<Record<string, unknown>>;

/** Branches that are offered; a repository may have thousands. */
export const BRANCHES_MAX = 100;

export interface ChoicesParts {
  readonly worktrees: Worktrees | undefined;
  /** Where folder pickers begin, as a URI. */
  readonly defaultDirectory: string | undefined;
  /** Folders, as paths, below which clients may look for one. */
  readonly browsed: readonly string[];
  /** Whether new sessions run tools without asking. */
  autoApprove(): boolean;
  /** Folders of sessions, the latest first, as paths. */
  recentFolders(): readonly string[];
}

interface Context {
  readonly workingDirectory?: string | undefined;
  readonly config?: Values | undefined;
}

/** How a new session begins. */
export interface Chosen {
  readonly config: Resolved;
  readonly place: Place;
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
    return this.#resolved(context, await this.#checkout(context));
  }

  async #checkout({ workingDirectory, config = {} }: Context): Promise<Checkout | undefined> {
    const folder = folderOf(workingDirectory ?? config.folder);
    return folder === undefined || !this.parts.worktrees ? undefined : checkoutAt(folder);
  }

  async #resolved({ workingDirectory, config = {} }: Context, checkout: Checkout | undefined): Promise<Resolved> {
    const properties: Record<string, SessionConfigPropertySchema> = {
      ...(workingDirectory === undefined && { folder: FOLDER }),
      ...(checkout && { isolation: ISOLATION }),
      ...(checkout && config.isolation === 'worktree' && { branch: await branchProperty(checkout) }),
      autoApprove: { ...AUTO_APPROVE, default: this.parts.autoApprove() },
    };
    const schema: SessionConfigSchema = { type: 'object', properties };
    return { schema, values: withDefaults(schema, config) };
  }

  /** What a session that is created now is made of. Throws the error to answer with when something does not fit. */
  async chosen(session: string, context: Context): Promise<Chosen> {
    const { config = {} } = context;
    // Nobody is kept waiting for Git who did not ask for a worktree.
    const checkout = 'isolation' in config ? await this.#checkout(context) : undefined;
    const resolved = await this.#resolved(context, checkout);
    const problem = badValues(resolved.schema, config);
    if (problem) throw invalid(problem);
    await checkFolder(context);
    return { config: resolved, place: this.#place(session, context, checkout) };
  }

  /** Where a session with these choices works. */
  #place(session: string, { workingDirectory, config = {} }: Context, checkout: Checkout | undefined): Place {
    if (config.isolation === 'worktree') {
      const { worktrees } = this.parts;
      if (!worktrees) throw invalid('/config/isolation: this host has no folder to keep worktrees in');
      if (!checkout) throw invalid('/config/isolation: a worktree needs a folder in a git repository');
      const branch = typeof config.branch === 'string' && config.branch !== '' ? config.branch : checkout.branch;
      return worktrees.place(session, checkout.repository, branch);
    }
    const chosen = workingDirectory ?? (typeof config.folder === 'string' ? uriOf(config.folder) : undefined);
    return chosen === undefined ? {} : { workingDirectory: chosen };
  }

  async completions({ property, query = '', ...context }: SessionConfigCompletionsParams): Promise<Completion[]> {
    const checkout = await this.#checkout(context);
    const { schema } = await this.#resolved(context, checkout);
    if (!schema.properties[property]?.enumDynamic) {
      throw invalid(`/property: no values can be looked up for ${property} here`);
    }
    if (property === 'folder') return this.#folders(query);
    return checkout ? branchesLike(checkout, query) : [];
  }

  async #folders(query: string): Promise<Completion[]> {
    if (query !== '') return foldersLike(query, this.parts.browsed);
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

/** A session in a folder that is not there could do nothing, and every tool would say so in words of its own. */
async function checkFolder({ workingDirectory, config = {} }: Context): Promise<void> {
  const folder = folderOf(workingDirectory ?? config.folder);
  if (folder === undefined || (await isFolder(folder))) return;
  const member = workingDirectory === undefined ? '/config/folder' : '/workingDirectory';
  throw invalid(`${member}: there is no folder ${folder} on the host's machine; make it, or name another`);
}

async function branchesLike({ repository, branch }: Checkout, query: string): Promise<Completion[]> {
  const wanted = query.toLowerCase();
  const names = (await branchesOf(repository).catch(() => [])).filter((name) => name.toLowerCase().includes(wanted));
  return names.slice(0, BRANCHES_MAX).map((name) => ({
    value: name,
    label: name,
    ...(name === branch && { description: 'Checked out now' }),
  }));
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

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
