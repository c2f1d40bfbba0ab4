/** The one place where the kinds of agents meet the code that runs them. */
import path from 'node:path';
import { type AgentFactories, acpAgent, claudeAgent, configuredModels, copilotAgent, modelAgent } from '@atrium/host';

/** Agents that keep files of their own keep them in the data folder. */
export function agentFactories(dataDir: string): AgentFactories {
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
