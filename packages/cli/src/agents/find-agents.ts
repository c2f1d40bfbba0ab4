/**
 * Which agents the host offers: scripts, agents of the configuration, the offline agent, and agents that discovery
 * finds.
 */
import path from 'node:path';
import {
  type AgentBackend,
  type AgentFactories,
  acpAgent,
  type Config,
  claudeAgent,
  configuredModels,
  copilotAgent,
  type Discovered,
  discoverAgents,
  type FolderTrust,
  type LoadedConfig,
  type LocalServer,
  type Logger,
  loadConfig,
  loadScripts,
  modelAgent,
  offlineAgent,
  ScriptError,
  userConfigFile,
} from '@atrium/host';
import { dataFolderFrom } from '../data-folder.js';
import { io } from '../io.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface AgentSources {
  readonly scripts?: readonly string[];
  readonly env?: Environment;
  /** The folder of `atrium.json`. */
  readonly folder?: string;
  /** Decides whether the `atrium.json` of that folder counts. Absent: it does not. */
  readonly trust?: Pick<FolderTrust, 'isTrusted' | 'allows'>;
  readonly userFile?: string;
  /** Where agents keep files of their own. */
  readonly dataDir?: string;
  readonly factories?: AgentFactories;
  readonly localServers?: readonly LocalServer[];
}

export interface FoundAgents {
  /** What the host offers; the first one is the default. */
  readonly agents: readonly AgentBackend[];
  readonly scripted: readonly AgentBackend[];
  /** Everything that the search covered, found or not. */
  readonly discovered: readonly Discovered[];
  readonly config: LoadedConfig;
  readonly userFile: string;
}

const TRUST_NOTHING = { isTrusted: async () => false, allows: async () => false };

export async function findAgents(sources: AgentSources = {}): Promise<FoundAgents> {
  const { scripts = [], env = io().env, folder = io().cwd, trust = TRUST_NOTHING } = sources;
  const { userFile = userConfigFile({ platform: process.platform, env, home: io().home }) } = sources;
  const [scripted, config] = await Promise.all([
    loadScripts(scripts),
    loadConfig({ userFile, projectFolder: folder, trust }),
  ]);
  const offline = offlineAgent();
  refuseNameOf(offline, scripted);
  const { dataDir = dataFolderFrom(undefined, env), localServers } = sources;
  const { factories = agentFactories(dataDir) } = sources;
  const effective = isOff(env.ATRIUM_DISCOVERY) ? { ...config.config, discovery: { enabled: false } } : config.config;
  const discovered = await discoverAgents({ env, factories, config: effective, ...(localServers && { localServers }) });
  const agents = orderAgents({ scripted, offline, discovered, config: config.config });
  return { agents, scripted, discovered, config, userFile };
}

function refuseNameOf({ info }: AgentBackend, scripted: readonly AgentBackend[]): void {
  if (!scripted.some((script) => script.info.provider === info.provider)) return;
  throw new ScriptError(`a script calls itself ${info.provider}, as a built-in agent does: give it another provider`);
}

function isOff(value = ''): boolean {
  return ['0', 'false', 'no', 'off'].includes(value.toLowerCase());
}

// The order of the agents; the first is the default. Configured agents come first, then agents with a model: the server
// that the user named, keys, servers on this machine. The offline agent follows, and last come agents that show only in
// their first turn whether they have a model.

interface AgentsToOrder {
  readonly scripted: readonly AgentBackend[];
  readonly offline: AgentBackend;
  readonly discovered: readonly Discovered[];
  readonly config: Config;
}

function orderAgents({ scripted, offline, discovered, config }: AgentsToOrder): AgentBackend[] {
  const taken = new Set(scripted.map(({ info }) => info.provider));
  const found = discovered.filter(({ provider }) => !taken.has(provider));
  const configured = backendsOf(found.filter(({ source }) => source === 'config'));
  const others = backendsOf(found.filter(({ source }) => source !== 'config'));
  const real = [...configured, ...others];
  const isWanted = config.agents?.offline?.enabled !== false || scripted.length + real.length === 0;
  const hasModel = ({ info }: AgentBackend): boolean => info.models.length > 0;
  const unscripted = [
    ...configured,
    ...others.filter(hasModel),
    ...(isWanted ? [offline] : []),
    ...others.filter((agent) => !hasModel(agent)),
  ];
  const isDefault = ({ info }: AgentBackend): boolean => info.provider === config.defaultAgent;
  return [...scripted, ...unscripted.filter(isDefault), ...unscripted.filter((agent) => !isDefault(agent))];
}

function backendsOf(discovered: readonly Discovered[]): AgentBackend[] {
  return discovered.flatMap(({ backend }) => backend ?? []);
}

/** Agents that keep files of their own keep them in the data folder. */
function agentFactories(dataDir: string): AgentFactories {
  return {
    model: modelAgent,
    acp: acpAgent,
    copilot: ({ provider, displayName, models, env }) =>
      copilotAgent({
        provider,
        displayName,
        home: path.join(dataDir, 'copilot'),
        ...(models && { models: configuredModels(models) }),
        ...(env && { env }),
      }),
    // Without a folder of its own, Claude finds the person's login where it always is.
    claude: ({ provider, displayName, models, env }) =>
      claudeAgent({
        provider,
        displayName,
        ...(models && { models: configuredModels(models) }),
        ...(env && { env }),
      }),
  };
}

export function logAgents({ agents, discovered, config }: FoundAgents, logger: Logger): void {
  for (const warning of config.warnings) logger.log('warn', warning);
  logWaiting(config.waiting, logger);
  for (const agent of discovered) logAgent(agent, logger);
  const { defaultAgent } = config.config;
  if (defaultAgent !== undefined && !agents.some(({ info }) => info.provider === defaultAgent)) {
    logger.log('warn', 'the default agent of the configuration is not there', { defaultAgent });
  }
}

function logWaiting(waiting: FoundAgents['config']['waiting'], logger: Logger): void {
  if (!waiting) return;
  const { file, entries } = waiting;
  logger.log('warn', 'atrium.json is not used, because its folder is not trusted; --trust <folder> uses it', {
    file,
    waiting: entries.join(', '),
  });
}

function logAgent({ provider, found, isNamed, why, backend }: Discovered, logger: Logger): void {
  if (found) logger.log('info', 'agent found', { provider, models: backend?.info.models.length, why });
  else logger.log(isNamed ? 'warn' : 'debug', 'agent not found; going on without it', { provider, why });
}
