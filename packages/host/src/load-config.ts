/**
 * Configuration from two files: the user's, and the project's `atrium.json`. A stranger may have written the project,
 * so the host uses nothing of its file before a person trusts the folder.
 */
import path from 'node:path';
import { ConfigError, type ConfigFile, PROJECT_FILE, readConfigFile } from './config/config-file.js';
import { type AgentEntry, type Config, isTyped } from './config/config-schema.js';
import type { FolderTrust } from './plugins/trust/folder-trust.js';
import { agentProgram } from './plugins/trust/programs.js';

export interface ConfigSources {
  readonly userFile: string;
  readonly projectFolder: string;
  readonly trust: Pick<FolderTrust, 'isTrusted' | 'allows'>;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The files that were used. */
  readonly files: readonly string[];
  /** Which of the files set each key. */
  readonly origins: Readonly<Record<string, readonly string[]>>;
  /** Each with its file and line. */
  readonly warnings: readonly string[];
  /** Declarations of the project that a person has not trusted yet. */
  readonly waiting: WaitingForTrust | undefined;
}

export interface WaitingForTrust {
  readonly file: string;
  readonly folder: string;
  /** Keys of the file, such as `agents.mine`. */
  readonly entries: readonly string[];
}

/** A stranger writes the list, so only the first entries are named. */
const WAITING_MAX = 50;

/** Throws a `ConfigError` when a file of the user or of a trusted project is unusable. */
export async function loadConfig({ userFile, projectFolder, trust }: ConfigSources): Promise<LoadedConfig> {
  const projectFile = path.join(projectFolder, PROJECT_FILE);
  const [user, project] = await Promise.all([readConfigFile(userFile), attempt(projectFile)]);
  if (!project) return loaded(user, undefined, undefined);
  const isTrusted = await trust.isTrusted(projectFolder);
  if (isTrusted && project instanceof ConfigError) throw project;
  if (isTrusted && !(project instanceof ConfigError) && (await allowsAgents(project, projectFolder, trust)))
    return loaded(user, project, undefined);
  const entries = project instanceof ConfigError ? [] : entriesOf(project.config);
  return loaded(user, undefined, { file: projectFile, folder: projectFolder, entries });
}

/**
 * Agents need trust here, because an agent is a program, or a server that receives conversations and keys. Sessions ask
 * about everything else in the file.
 */
async function allowsAgents({ config }: ConfigFile, folder: string, trust: ConfigSources['trust']): Promise<boolean> {
  const programs = Object.entries(config.agents ?? {}).map(([id, entry]) => agentProgram(id, entry, folder));
  const allowed = await Promise.all(programs.map(({ digest }) => trust.allows(folder, digest)));
  return allowed.every(Boolean);
}

/** A broken file matters only in a trusted folder, which is checked later. */
async function attempt(file: string): Promise<ConfigFile | ConfigError | undefined> {
  return readConfigFile(file).catch((error) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
}

function loaded(
  user: ConfigFile | undefined,
  project: ConfigFile | undefined,
  waiting: WaitingForTrust | undefined,
): LoadedConfig {
  const files = [user, project].filter((file) => file !== undefined);
  const { updateNotice, ...shared } = project?.config ?? {};
  const ignored = project && updateNotice !== undefined;
  return {
    config: merged(user?.config ?? {}, shared),
    files: files.map(({ file }) => file),
    origins: originsOf([...(user ? [user] : []), ...(project ? [{ ...project, config: shared }] : [])]),
    warnings: [
      ...files.flatMap(({ warnings }) => warnings),
      ...(ignored ? [`${project.file}: "updateNotice" is ignored: it counts in your own file only`] : []),
    ],
    waiting,
  };
}

function originsOf(files: readonly Pick<ConfigFile, 'file' | 'config'>[]): Record<string, readonly string[]> {
  const keys = new Set(files.flatMap(({ config }) => Object.keys(config)));
  const saying = (key: string) => files.filter(({ config }) => Object.hasOwn(config, key)).map(({ file }) => file);
  return Object.fromEntries([...keys].map((key) => [key, saying(key)]));
}

function entriesOf({ $schema: _, ...config }: Config): string[] {
  const entries = Object.entries(config).flatMap(([key, value]) => {
    const isMap = typeof value === 'object' && !Array.isArray(value) && key !== 'discovery';
    return isMap ? Object.keys(value).map((name) => `${key}.${name}`) : [key];
  });
  return entries.slice(0, WAITING_MAX);
}

/** The project takes precedence over the user, key by key, but it cannot allow what the user forbids. */
function merged(user: Config, project: Config): Config {
  return {
    ...user,
    ...project,
    ...(user.systemMessageSections === false && { systemMessageSections: false }),
    ...(user.titles === false && { titles: false }),
    ...runsAtOnce(user, project),
    // Only the user decides how money is counted.
    ...((user.prices || project.prices) && { prices: { ...project.prices, ...user.prices } }),
    ...(user.flatPlans && { flatPlans: user.flatPlans }),
    ...((user.budgets || project.budgets) && { budgets: lowerBudgets(user.budgets ?? {}, project.budgets ?? {}) }),
    agents: mergedAgents(user.agents ?? {}, project.agents ?? {}),
    discovery: { ...user.discovery, ...project.discovery },
    mcpServers: { ...user.mcpServers, ...project.mcpServers },
    providers: { ...user.providers, ...project.providers },
    plugins: [...new Set([...(user.plugins ?? []), ...(project.plugins ?? [])])],
  };
}

/** The lower one, so that a project does not make its user's machine work more than the user allows. */
function runsAtOnce(...configs: readonly Config[]): Pick<Config, 'automationRunsAtOnce'> {
  const limits = configs.flatMap(({ automationRunsAtOnce = [] }) => automationRunsAtOnce);
  return limits.length === 0 ? {} : { automationRunsAtOnce: Math.min(...limits) };
}

type Budgets = NonNullable<Config['budgets']>;

/** The lower value of each limit, so that a project does not spend more than its user allows. */
function lowerBudgets(user: Budgets, project: Budgets): Budgets {
  const scopes = (['session', 'project', 'day'] as const).flatMap((scope) => {
    const limits = [user[scope] ?? {}, project[scope] ?? {}];
    const lowest = (name: 'money' | 'tokens') =>
      Math.min(...limits.map((each) => each[name] ?? Number.POSITIVE_INFINITY));
    const [money, tokens] = [lowest('money'), lowest('tokens')];
    const budget = { ...(Number.isFinite(money) && { money }), ...(Number.isFinite(tokens) && { tokens }) };
    return Object.keys(budget).length === 0 ? [] : [[scope, budget] as const];
  });
  return Object.fromEntries(scopes);
}

type Agents = Readonly<Record<string, AgentEntry>>;

/**
 * An entry with a type replaces the user's, because mixing them could send the key of one to the address of the other.
 * An entry without a type changes the user's.
 */
function mergedAgents(user: Agents, project: Agents): Agents {
  const changed = Object.entries(project).map(([id, entry]) => {
    const before = Object.hasOwn(user, id) ? user[id] : undefined;
    return [id, isTyped(entry) ? entry : { ...before, ...entry }] as const;
  });
  return { ...user, ...Object.fromEntries(changed) };
}
