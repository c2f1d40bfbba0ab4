/**
 * The configuration of a new session: which properties a person can set, and where the session will work. The
 * properties depend on earlier choices: a folder in a repository can have a worktree, and a worktree begins at a
 * branch.
 */

import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  branchName,
  ErrorCode,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  NEW_BRANCH_PROPERTY,
  PERMISSION_MODES,
  type PermissionMode,
  type SessionConfigCompletionsParams,
  type SessionConfigPropertySchema,
  type SessionConfigSchema,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { RequestError } from '../contracts/request-error.js';
import { problemOfSessionSections, SESSION_SECTIONS, SESSION_SECTIONS_PROPERTY } from '../prompt/session-sections.js';
import { isFolder } from '../util/folders.js';
import { isInside } from '../util/paths.js';
import { badValues, withDefaults } from '../util/shape.js';

type Values = Readonly<Record<string, unknown>>;

interface ChosenOptions {
  /** Drops choices that no agent or service offers, instead of refusing them. */
  readonly ignoresUnknown: boolean;
}

export type SessionLocation = Pick<SessionSummary, 'workingDirectories' | 'project'>;

/** The repository that contains a folder. */
export interface Checkout {
  /** Absent when a bare commit is checked out. */
  readonly branch?: string;
  /** Local branches, the most recent first. */
  branches(): Promise<string[]>;
  /** Where a session with its own worktree will work. Creates nothing yet. */
  location(session: string, start: WorktreeStart): Promise<SessionLocation>;
}

export interface WorktreeStart {
  /** The branch that the worktree starts from. */
  readonly from: string | undefined;
  /** The wanted name of its own branch. */
  readonly name: string | undefined;
}

export interface WorktreePort {
  /** The repository of a folder; undefined when there is none that can be used. */
  checkoutAt(folder: string): Promise<Checkout | undefined>;
}

/** How many branches are offered; a repository may have thousands. */
export const BRANCHES_MAX = 100;

export interface SessionConfigOptions {
  readonly worktrees: WorktreePort | undefined;
  /** Where folder pickers begin, as a URI. */
  readonly defaultDirectory: string | undefined;
  /** Folders, as paths, below which clients may look for a folder. */
  readonly browsed: readonly string[];
  /** True when new sessions run tools without asking. */
  autoApprove(): boolean;
  /** The mode of new sessions. Default: ask. */
  mode?(): PermissionMode | undefined;
  /** True when clients may add text to the system prompt of a session they create. Default: true. */
  readonly takesPromptSections?: boolean | undefined;
  /** Folders of sessions as paths, the most recently used first. */
  recentFolders(): readonly string[];
}

interface Context {
  readonly workingDirectory?: string | undefined;
  /** Further folders of a session whose agent works in several. */
  readonly furtherDirectories?: readonly string[];
  readonly config?: Values | undefined;
}

/** The choices with which a new session begins. */
export interface Chosen {
  readonly config: Resolved;
  readonly location: SessionLocation;
}

export interface Resolved {
  readonly schema: SessionConfigSchema;
  readonly values: Record<string, unknown>;
}

type Completion = { value: string; label: string; description?: string };

export class SessionConfig {
  constructor(private readonly options: SessionConfigOptions) {}

  get #takesSections(): boolean {
    return this.options.takesPromptSections ?? true;
  }

  /** Checks text for the system prompt: either the host takes it as it is, or the session is not created. */
  #checkSections({ config = {} }: Context): void {
    const given = config[SESSION_SECTIONS];
    if (given === undefined) return;
    const forbidden = `/config/${SESSION_SECTIONS}: this host takes no text for the system prompt; leave it out`;
    const problem = this.#takesSections ? problemOfSessionSections(given) : forbidden;
    if (problem) throw invalid(problem);
  }

  /** Everything that is offered after the choices so far, and the values with defaults filled in. */
  async resolve(context: Context): Promise<Resolved> {
    return this.#resolved(context, await this.#checkout(context));
  }

  async #checkout({ workingDirectory, config = {} }: Context): Promise<Checkout | undefined> {
    const folder = folderOf(workingDirectory ?? config.folder);
    return folder === undefined || !this.options.worktrees ? undefined : this.options.worktrees.checkoutAt(folder);
  }

  async #resolved({ workingDirectory, config = {} }: Context, checkout: Checkout | undefined): Promise<Resolved> {
    const properties: Record<string, SessionConfigPropertySchema> = {
      ...(workingDirectory === undefined && { folder: FOLDER }),
      ...(checkout && { isolation: ISOLATION }),
      ...(checkout &&
        config.isolation === 'worktree' && {
          branch: await branchProperty(checkout),
          [NEW_BRANCH_PROPERTY]: NEW_BRANCH,
        }),
      [MODE_PROPERTY]: { ...MODE, default: this.options.mode?.() ?? 'ask' },
      autoApprove: { ...AUTO_APPROVE, default: this.options.autoApprove() },
      ...(this.#takesSections && { [SESSION_SECTIONS]: SESSION_SECTIONS_PROPERTY }),
    };
    const schema: SessionConfigSchema = { type: 'object', properties };
    return { schema, values: withDefaults(schema, config) };
  }

  /** The choices for a session that is created now. Throws the error to answer with when one does not fit. */
  async chosen(session: string, given: Context, { ignoresUnknown }: ChosenOptions): Promise<Chosen> {
    this.#checkSections(given);
    const context = ignoresUnknown ? await this.#known(given) : given;
    const { config = {} } = context;
    // A client that did not ask for a worktree does not wait for Git.
    const checkout = 'isolation' in config ? await this.#checkout(context) : undefined;
    const resolved = await this.#resolved(context, checkout);
    const problem = badValues(resolved.schema, config);
    if (problem) throw invalid(problem);
    await checkFolder(context);
    const { furtherDirectories = [] } = context;
    for (const directory of furtherDirectories) await checkFolder({ workingDirectory: directory });
    const location = await this.#location(session, context, checkout);
    const { workingDirectories = [] } = location;
    const all = [...new Set([...workingDirectories, ...furtherDirectories])];
    return { config: resolved, location: all.length > 0 ? { ...location, workingDirectories: all } : location };
  }

  /** The choices that an agent or service here offers: clients of the public protocol also send others. */
  async #known(given: Context): Promise<Context> {
    const { properties } = (await this.resolve(given)).schema;
    // Other hosts have modes of their own under the same name; a mode unknown here was not meant for this host.
    const isOffered = ([key, value]: [string, unknown]) =>
      Object.hasOwn(properties, key) && (key !== MODE_PROPERTY || PERMISSION_MODES.some((mode) => mode === value));
    const offered = Object.entries(given.config ?? {}).filter(isOffered);
    return { ...given, config: Object.fromEntries(offered) };
  }

  /** Where a session with these choices works. */
  async #location(
    session: string,
    { workingDirectory, config = {} }: Context,
    checkout: Checkout | undefined,
  ): Promise<SessionLocation> {
    if (config.isolation === 'worktree') {
      const { worktrees } = this.options;
      if (!worktrees) throw invalid('/config/isolation: this host has no folder to keep worktrees in');
      if (!checkout) throw invalid('/config/isolation: a worktree needs a folder in a git repository');
      const from = typeof config.branch === 'string' && config.branch !== '' ? config.branch : checkout.branch;
      const words = config[NEW_BRANCH_PROPERTY];
      return checkout.location(session, { from, name: typeof words === 'string' ? branchName(words) : undefined });
    }
    const chosen = workingDirectory ?? (typeof config.folder === 'string' ? uriOf(config.folder) : undefined);
    return chosen === undefined ? {} : { workingDirectories: [chosen] };
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
    if (query !== '') return foldersLike(query, this.options.browsed);
    const recent = [...new Set([...this.options.recentFolders(), ...this.#start()])];
    const present = await Promise.all(recent.slice(0, FOLDERS_MAX).map(isFolder));
    return recent.flatMap((folder, index) =>
      present[index] ? { value: folder, label: path.basename(folder) || folder, description: folder } : [],
    );
  }

  #start(): string[] {
    const folder = folderOf(this.options.defaultDirectory);
    return folder === undefined ? [] : [folder];
  }
}

/**
 * Throws when the folder does not exist: the session could do nothing, and every tool would say so in its own words.
 */
async function checkFolder({ workingDirectory, config = {} }: Context): Promise<void> {
  const folder = folderOf(workingDirectory ?? config.folder);
  if (folder === undefined || (await isFolder(folder))) return;
  const member = workingDirectory === undefined ? '/config/folder' : '/workingDirectory';
  throw invalid(`${member}: there is no folder ${folder} on the host's machine; make it, or name another`);
}

async function branchesLike(checkout: Checkout, query: string): Promise<Completion[]> {
  const wanted = query.toLowerCase();
  const names = (await checkout.branches().catch(() => [])).filter((name) => name.toLowerCase().includes(wanted));
  return names.slice(0, BRANCHES_MAX).map((name) => ({
    value: name,
    label: name,
    ...(name === checkout.branch && { description: 'Checked out now' }),
  }));
}

/** A folder as a path, given as a URI or a path. */
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
  if (!path.isAbsolute(folder)) throw invalid('/config/folder must be an absolute path');
  return pathToFileURL(folder).href;
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}

const AUTO_APPROVE: SessionConfigPropertySchema = {
  type: 'boolean',
  title: 'Run tools without asking',
  description:
    'Goes beyond the mode Auto: calls without a rule run, too. Rules that deny or ask still count. Choosing another mode ends it.',
  sessionMutable: true,
};

const MODE: SessionConfigPropertySchema = {
  type: 'string',
  title: 'Mode',
  description: 'What the agent may do without asking. Rules that deny or ask count in every mode.',
  enum: [...PERMISSION_MODES],
  enumLabels: PERMISSION_MODES.map((mode) => MODE_LABELS[mode]),
  enumDescriptions: PERMISSION_MODES.map((mode) => MODE_TEXTS[mode]),
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
    'Changes are made in that folder.',
    'Changes are made on a new branch in a separate folder, apart from your work and that of other sessions.',
  ],
  default: 'folder',
};

const NEW_BRANCH: SessionConfigPropertySchema = {
  type: 'string',
  title: 'New branch',
  description: 'The name of the branch that the worktree makes. One that is taken gets a number.',
};

async function branchProperty(checkout: Checkout): Promise<SessionConfigPropertySchema> {
  const begin = checkout.branch ?? (await checkout.branches().catch(() => []))[0];
  return {
    type: 'string',
    title: 'Begins at',
    description: 'The branch that the worktree starts from.',
    enumDynamic: true,
    ...(begin !== undefined && { default: begin, enum: [begin] }),
  };
}

export const FOLDERS_MAX = 50;

interface FolderChoice {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

/**
 * Completes the beginning of a path that a person typed, among the folders that clients may look into. `/srv/at` finds
 * `/srv/atrium`, and `~` is the home folder. Hidden folders are left out, because keys are kept there.
 */
export async function foldersLike(query: string, browsed: readonly string[]): Promise<FolderChoice[]> {
  const typed = query.replace(/^~(?=\/|$)/, homedir());
  if (!path.isAbsolute(typed)) return [];
  const above = browsed.filter((folder) => folder.startsWith(typed) && folder !== typed);
  const parent = typed.endsWith('/') ? typed : path.dirname(typed);
  const beginning = typed.endsWith('/') ? '' : path.basename(typed).toLowerCase();
  const names = (await isBrowsed(parent, browsed)) ? await foldersIn(parent) : [];
  const inside = names
    .filter((name) => name.toLowerCase().startsWith(beginning))
    .map((name) => path.join(parent, name));
  return [...new Set([...above, ...inside])]
    .slice(0, FOLDERS_MAX)
    .map((folder) => ({ value: folder, label: path.basename(folder) || folder, description: folder }));
}

async function foldersIn(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return folders.map(({ name }) => name).sort();
}

/** True when a folder, with links resolved, is one that clients may look into. */
async function isBrowsed(folder: string, browsed: readonly string[]): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return false;
  for (const root of browsed) {
    const realRoot = await realpath(root).catch(() => undefined);
    if (realRoot === undefined || !isInside(realRoot, real)) continue;
    if (
      !path
        .relative(realRoot, real)
        .split(path.sep)
        .some((name) => name.startsWith('.'))
    )
      return true;
  }
  return false;
}
