/** Checks of what the user set up: agents, configuration, trusted folders. */

import { stat } from 'node:fs/promises';
import { agentReport } from '../agents/agent-report.js';
import { askHost } from '../agents/ask-host.js';
import { findAgents } from '../agents/find-agents.js';
import { io } from '../io.js';
import { scriptsFrom } from '../serve/settings.js';
import type { RunningHost } from '../service/running-host.js';
import { trustedFolders } from '../trusted-folders.js';
import { type Finding, fine, problem, warning } from './finding.js';

/** Agents that need no model are for trying things out. */
const WITHOUT_MODEL = new Set(['built-in', 'script']);

/** A host does not say where its agents are from, but the one without a model has a name of its own. */
function isReal(source: string, provider: string): boolean {
  return !WITHOUT_MODEL.has(source) && provider !== 'offline';
}

/** The running host is asked, where there is one: what this shell would find is not what works there. */
export async function checkAgents(dataDir: string, host: RunningHost | undefined): Promise<Finding[]> {
  try {
    const trust = trustedFolders(dataDir);
    const here = agentReport(await findAgents({ dataDir, trust, scripts: scriptsFrom(io().env) }));
    const report = host ? await askHost(host, dataDir, here) : here;
    const real = report.agents.filter(({ found, source, provider }) => found && isReal(source, provider));
    const where = host ? ` (the host ${host.instance.url}, data folder ${dataDir})` : ' (as a host started here would)';
    const names = real.map(({ provider }) => (provider === report.default ? `${provider}*` : provider)).join(', ');
    const agents =
      real.length > 0
        ? fine('agents', `${names}${where}`)
        : warning('agents', `no agent with a model was found${where}`, 'See how to get one: atrium agents');
    const { warnings, waitingForTrust } = report.config;
    const remedy = 'Change the file; docs/configuration.md has every key';
    const waiting = waitingForTrust
      ? [warning('config', `${waitingForTrust.file} is not used: its folder is not trusted`, 'Run: atrium trust .')]
      : [];
    return [agents, ...warnings.map((text) => warning('config', text, remedy)), ...waiting];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [problem('config', text, 'Change the file as it says')];
  }
}

export async function checkTrust(dataDir: string): Promise<Finding> {
  const folders = await trustedFolders(dataDir).list();
  const gone: string[] = [];
  for (const folder of folders) if (!(await stat(folder).catch(() => undefined))) gone.push(folder);
  if (gone.length > 0)
    return warning(
      'trust',
      `trusted folders that do not exist: ${gone.join(', ')}`,
      'Run: atrium trust --remove <folder>',
    );
  return fine('trust', folders.length === 0 ? 'no folder is trusted' : `${folders.length} trusted folders`);
}
