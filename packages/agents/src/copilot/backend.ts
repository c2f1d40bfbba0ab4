/** GitHub Copilot as an agent. Its SDK runs the loop and the tools; the host shows, gates and confirms every call. */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Environment } from '@atrium/core/util/processes.js';
import type { AgentInfo, ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import { type ModelInfo, publishedModel, SEVERAL_CHATS, SEVERAL_FOLDERS } from '../shared/agent-info.js';
import { COPILOT_CATALOGUE } from './prompt.js';
import { CopilotRuntime } from './runtime.js';
import type { ProviderConfig } from './sdk.js';

export interface CopilotAgentOptions {
  /** The id under which clients choose this agent: `copilot` by default. */
  readonly provider?: string;
  readonly displayName?: string;
  /** The first one is the default. A model server of one's own needs at least one. */
  readonly models?: readonly ModelInfo[];
  /** A folder for Copilot's own state: sessions, settings, logs. */
  readonly home: string;
  /** A model server of one's own. The runtime then reaches nothing else, not even GitHub. */
  readonly providerConfig?: ProviderConfig;
  /** Without one, a login of this machine is used, or a token in the environment. */
  readonly gitHubToken?: string;
  /** Whether to use a login of this machine: yes by default, but not with a model server of one's own. */
  readonly useLoggedInUser?: boolean;
  /** Further variables for the runtime and the commands it runs, on top of the host's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further attempts after a failed request; without it, as many as the runtime likes, which can take a minute. */
  readonly retries?: number;
}

export function copilotAgent(options: CopilotAgentOptions): AgentBackend {
  const { providerConfig, models = [] } = options;
  if (providerConfig && models.length === 0) {
    throw new TypeError(
      'a Copilot agent with a providerConfig needs models: the runtime cannot ask that server for any',
    );
  }
  const runtime = new CopilotRuntime(options);
  return {
    info: infoOf(options),
    abilities: {
      tools: 'next-turn',
      toolIntent: 'all',
      render: 'sections',
      steer: true,
      cancelTool: false,
      ownTools: true,
      ownProcess: true,
    },
    // The text of the sections is the runtime's, and is handed in with each render.
    sections: {},
    ownToolNames: () => [...runtime.toolNames],
    authenticate: (_resource, token) => runtime.authenticate(token),
    revoke: () => runtime.revoke(),
    // Loaded with the first session, so that a host without Copilot starts faster.
    open: async (context) => (await import('./session.js')).CopilotSession.open({ agent: options, runtime, context }),
  };
}

const DEFAULT_PROVIDER = 'copilot';
export const DEFAULT_NAME = 'GitHub Copilot';

function infoOf(options: CopilotAgentOptions): AgentInfo {
  const { provider = DEFAULT_PROVIDER, displayName = DEFAULT_NAME, models = [] } = options;
  const resources = protectedResources(options);
  return {
    provider,
    displayName,
    description: "GitHub's coding agent, with tools of its own and those of the active client.",
    capabilities: { multipleChats: SEVERAL_CHATS, multipleWorkingDirectories: SEVERAL_FOLDERS },
    models: models.map((model) => publishedModel(provider, model)),
    systemMessageSections: [...COPILOT_CATALOGUE],
    ...(resources.length > 0 && { protectedResources: resources }),
  };
}

const GITHUB = 'https://api.github.com';

/** Where the runtime looks for a token by itself. */
const TOKEN_VARIABLES = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'] as const;

/** The logins that clients may offer. None with a model server of one's own: the runtime does not ask GitHub then. */
export function protectedResources(
  options: CopilotAgentOptions,
  host: Environment = process.env,
): ProtectedResourceMetadata[] {
  if (options.providerConfig) return [];
  return [
    {
      resource: GITHUB,
      resource_name: 'GitHub',
      authorization_servers: ['https://github.com/login/oauth'],
      scopes_supported: ['read:user'],
      required: !mayBeLoggedIn(options, host),
    },
  ];
}

/** Whether a login of this machine or a token of the host may do. Only a session shows whether it really does. */
function mayBeLoggedIn({ gitHubToken, useLoggedInUser = true, env = {} }: CopilotAgentOptions, host: Environment) {
  const variables: Environment = { ...host, ...env };
  return useLoggedInUser || Boolean(gitHubToken) || TOKEN_VARIABLES.some((name) => variables[name]);
}
