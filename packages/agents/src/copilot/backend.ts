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
  /** The first one is the default. With a model server of one's own, at least one is needed. */
  readonly models?: readonly ModelInfo[];
  /** A folder for Copilot's own files: sessions, settings, logs. */
  readonly home: string;
  /** A model server of one's own. The runtime then contacts nothing else, not even GitHub. */
  readonly providerConfig?: ProviderConfig;
  /** Without it, the runtime uses a login on this machine, or a token in the environment. */
  readonly gitHubToken?: string;
  /** Use a login on this machine. Default: true, but false with a model server of one's own. */
  readonly useLoggedInUser?: boolean;
  /** More variables for the runtime and the commands that it runs, added to the host's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further attempts after a failed request. Without it, the runtime decides, which can take a minute. */
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
    // The runtime has the text of the sections, and passes it in with each render.
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

/** Variables in which the runtime itself looks for a token. */
const TOKEN_VARIABLES = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'] as const;

/**
 * The logins that clients may offer. None with a model server of one's own, because the runtime then does not use
 * GitHub.
 */
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

/**
 * True when a login on this machine or a token of the host may be enough. Only a session shows whether it really is.
 */
function mayBeLoggedIn({ gitHubToken, useLoggedInUser = true, env = {} }: CopilotAgentOptions, host: Environment) {
  const variables: Environment = { ...host, ...env };
  return useLoggedInUser || Boolean(gitHubToken) || TOKEN_VARIABLES.some((name) => variables[name]);
}
