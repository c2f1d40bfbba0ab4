/** What the runtime sees of the host's environment. */
import { childEnvironment, type Environment } from '../../core/util/child-environment.js';
import type { CopilotAgentOptions } from './copilot-agent.js';

/** Keys to GitHub: no business of a runtime that works with another server. */
const GITHUB_KEYS = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_SDK_AUTH_TOKEN'] as const;

/** With a model server of one's own the runtime stays away from everything else. */
export function runtimeEnvironment(host: Environment, { env, providerConfig }: CopilotAgentOptions): Environment {
  const open = childEnvironment(host);
  if (!providerConfig) return { ...open, ...env };
  const own = Object.fromEntries(Object.entries(open).filter(([name]) => !GITHUB_KEYS.some((key) => key === name)));
  return { ...own, COPILOT_OFFLINE: 'true', ...env };
}
