/** Checks of what the user set up: agents, configuration, trusted folders. */
import { stat } from 'node:fs/promises';
import { agentReport } from '../agents/agent-report.js';
import { findAgents } from '../agents/find-agents.js';
import { scriptsFrom } from '../serve/settings.js';
import { trustedFolders } from '../trusted-folders.js';
import { type Finding, fine, problem, warning } from './finding.js';

/** Agents that need no model are for trying things out. */
const WITHOUT_MODEL = new Set(['built-in', 'script']);

export async function checkAgents(dataDir: string): Promise<Finding[]> {
  try {
    const trust = trustedFolders(dataDir);
    const report = agentReport(await findAgents({ dataDir, trust, scripts: scriptsFrom(process.env) }));
    const real = report.agents.filter(({ found, source }) => found && !WITHOUT_MODEL.has(source));
    const names = real.map(({ provider }) => provider).join(', ');
    const agents =
      real.length > 0
        ? fine('agents', names)
        : warning('agents', 'no agent with a model was found', 'See how to get one: atrium agents');
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
