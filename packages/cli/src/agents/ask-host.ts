/** The agents of the host that runs on a data folder: it is asked itself, because its environment is its own. */
import { connect } from '@atrium/client';
import { ROOT_CHANNEL } from '@atrium/protocol';
import type { RunningHost } from '../service/running-host.js';
import { type AgentReport, hostReport } from './agent-report.js';

/** `here` is what this shell would find. Throws when the host does not answer. */
export async function askHost(found: RunningHost, dataDir: string, here: AgentReport): Promise<AgentReport> {
  const { instance, token, tokenProblem } = found;
  if (tokenProblem !== undefined) throw new Error(tokenProblem);
  const { url, pid } = instance;
  const client = await connect({ url, ...(token !== undefined && { token }), log: () => {} });
  try {
    const root = await client.subscribe(ROOT_CHANNEL);
    return hostReport(here, { url, pid, dataDir }, root.state);
  } finally {
    client.close();
  }
}
