/** Which agents the host offers. The first one is the default. */
import { type AgentBackend, loadScripts, offlineAgent } from '@atrium/host';

export async function findAgents(scripts: readonly string[]): Promise<AgentBackend[]> {
  return [...(await loadScripts(scripts)), offlineAgent()];
}
