/** Which agents the host offers: scripts, those of the configuration, the offline agent, and what is found by itself. */

import {
  type AgentBackend,
  type AgentFactories,
  type Discovered,
  discoverAgents,
  type FolderTrust,
  type LoadedConfig,
  type LocalServer,
  loadConfig,
  loadScripts,
  offlineAgent,
  ScriptError,
  userConfigFile,
} from '@atrium/host';
import { dataFolderFrom } from '../data-place.js';
import { io } from '../io.js';
import { agentFactories } from './factories.js';
import { inOrder } from './order.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface AgentSources {
  readonly scripts?: readonly string[];
  readonly env?: Environment;
  /** Where `atrium.json` is looked for. */
  readonly folder?: string;
  /** Whether the `atrium.json` of that folder counts. Without it, it does not. */
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
  /** Everything that was looked for, found or not. */
  readonly discovered: readonly Discovered[];
  readonly config: LoadedConfig;
  readonly userFile: string;
}

const NOBODY = { isTrusted: async () => false, allows: async () => false };

export async function findAgents(sources: AgentSources = {}): Promise<FoundAgents> {
  const { scripts = [], env = io().env, folder = process.cwd(), trust = NOBODY } = sources;
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
  const agents = inOrder({ scripted, offline, discovered, config: config.config });
  return { agents, scripted, discovered, config, userFile };
}

function refuseNameOf({ info }: AgentBackend, scripted: readonly AgentBackend[]): void {
  if (!scripted.some((script) => script.info.provider === info.provider)) return;
  throw new ScriptError(`a script calls itself ${info.provider}, as a built-in agent does: give it another provider`);
}

function isOff(value = ''): boolean {
  return ['0', 'false', 'no', 'off'].includes(value.toLowerCase());
}
