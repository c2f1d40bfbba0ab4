/** Tokens for GitHub that clients show: what is asked for, and whether Copilot can do without. */
import type { ProtectedResourceMetadata } from '@atrium/protocol';
import type { Environment } from '../../core/util/child-environment.js';
import type { CopilotAgentOptions } from './copilot-agent.js';

export const GITHUB = 'https://api.github.com';

/** Where the runtime looks for a token by itself. */
const TOKEN_VARIABLES = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'] as const;

/** None with a model server of one's own: GitHub is not asked anything then. */
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

/** Whether a login of this machine, or a token that the host was given, may serve. Nobody knows before it is tried. */
function mayBeLoggedIn({ gitHubToken, useLoggedInUser = true, env = {} }: CopilotAgentOptions, host: Environment) {
  const variables: Environment = { ...host, ...env };
  return useLoggedInUser || Boolean(gitHubToken) || TOKEN_VARIABLES.some((name) => variables[name]);
}
