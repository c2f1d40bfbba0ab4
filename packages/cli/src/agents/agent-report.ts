/** What `atrium agents` reports: as data, for programs and for people alike, and as a table for people. */
import { connect } from '@atrium/client';
import type { AgentBackend, AgentSource } from '@atrium/host';
import { ROOT_CHANNEL, type RootState } from '@atrium/protocol/ahp-1';
import type { RunningHost } from '../service/running-host.js';
import { PLAIN, type Style } from '../text/style.js';
import type { FoundAgents } from './find-agents.js';

interface AgentReport {
  /** The host that answered. Absent when none runs: then the report lists what a host started from here would offer. */
  readonly host?: AskedHost;
  /** The id of the default agent. */
  readonly default: string | undefined;
  /** In the order in which clients see them; missing agents come last. */
  readonly agents: readonly AgentRow[];
  readonly config: ConfigReport;
}

interface AskedHost {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
}

interface AgentRow {
  readonly provider: string;
  readonly displayName: string;
  /** `host`: the running host has the agent, and this shell does not know where it found it. */
  readonly source: AgentSource | 'script' | 'built-in' | 'host';
  readonly found: boolean;
  readonly why: string;
  readonly models: AgentBackend['info']['models'];
}

interface ConfigReport {
  readonly files: readonly string[];
  /** The path of the user's own file, whether or not it exists. */
  readonly userFile: string;
  readonly warnings: readonly string[];
  readonly waitingForTrust: FoundAgents['config']['waiting'] | null;
}

export function agentReport(found: FoundAgents): AgentReport {
  const { agents, discovered, config, userFile } = found;
  const absent = discovered.filter((agent) => !agent.found);
  return {
    default: agents[0]?.info.provider,
    agents: [
      ...agents.map((agent) => rowOf(agent, found)),
      ...absent.map(({ provider, displayName, source, why }) => ({
        ...{ provider, displayName, source, found: false, why, models: [] },
      })),
    ],
    config: { files: config.files, userFile, warnings: config.warnings, waitingForTrust: config.waiting ?? null },
  };
}

function rowOf(agent: AgentBackend, { scripted, discovered }: FoundAgents): AgentRow {
  const { provider, displayName, models } = agent.info;
  const row = { provider, displayName, found: true, models };
  const known = discovered.find(({ backend }) => backend === agent);
  if (known) return { ...row, source: known.source, why: known.why };
  if (scripted.includes(agent)) return { ...row, source: 'script', why: 'plays the script that you named' };
  return { ...row, source: 'built-in', why: 'built in: needs no key and no network' };
}

/**
 * What a running host offers. Only the host knows, because its environment and folder differ from those of this shell.
 * Agents
 * that only this shell would find are listed as missing, with what to do about it.
 */
function hostReport(here: AgentReport, host: AskedHost, root: RootState): AgentReport {
  const known = new Map(here.agents.map((row) => [row.provider, row]));
  const offered = root.agents.map(({ provider, displayName, models }): AgentRow => {
    const row = known.get(provider);
    known.delete(provider);
    if (row?.found) return { ...row, displayName, models };
    return { provider, displayName, models, found: true, source: 'host', why: 'found by the host when it started' };
  });
  const others = [...known.values()].map((row) => (row.found ? { ...row, found: false, why: missing(row) } : row));
  return { ...here, host, default: defaultAgentOf(root), agents: [...offered, ...others] };
}

function missing({ why }: AgentRow): string {
  return `${why}, but the host runs without it: atrium service stop, then atrium service start`;
}

/** The agent that the host chooses for a session whose creator names none. */
export function defaultAgentOf({ agents, config }: RootState): string | undefined {
  const chosen = config?.values.defaultAgent;
  return typeof chosen === 'string' ? chosen : agents[0]?.provider;
}

/** `here` lists what this shell would find. Throws when the host does not answer. */
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

// The report as a table.

const MODELS_SHOWN_MAX = 4;

export function agentTable(report: AgentReport, style: Style = PLAIN): string {
  const { agents, config } = report;
  const found = agents.filter((agent) => agent.found);
  const absent = agents.filter((agent) => !agent.found);
  const width = Math.max(...agents.map(({ provider }) => provider.length)) + 1;
  const nameWidth = Math.max(...found.map(({ displayName }) => displayName.length));
  const { host } = report;
  const lines = [
    style.bold('Agents'),
    ...(host ? [`of the host ${host.url} (process ${host.pid}, data folder ${host.dataDir})`] : []),
    ...found.flatMap((agent) => foundLines(agent, agent.provider === report.default, { width, nameWidth, style })),
    '',
    ...(absent.length > 0 ? [style.bold('Not found')] : []),
    ...absent.map(({ provider, why }) => `  ${provider.padEnd(width)}  ${why}`),
    ...(absent.length > 0 ? [''] : []),
    ...configLines(config, style),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

interface Layout {
  readonly width: number;
  readonly nameWidth: number;
  readonly style: Style;
}

function foundLines(agent: AgentRow, isDefault: boolean, { width, nameWidth, style }: Layout): string[] {
  const { provider, displayName, why, models } = agent;
  const shown = style.bold(`${provider}${isDefault ? '*' : ''}`.padEnd(width));
  const indent = ' '.repeat(width + nameWidth + 6);
  const list = models.length > 0 ? [`${indent}${style.dim(modelsText(models.map(({ id }) => id)))}`] : [];
  return [`  ${shown}  ${displayName.padEnd(nameWidth)}  ${why}`, ...list];
}

function modelsText(ids: readonly string[]): string {
  const rest = ids.length - MODELS_SHOWN_MAX;
  const shown = ids.slice(0, MODELS_SHOWN_MAX).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function configLines({ files, userFile, warnings, waitingForTrust }: ConfigReport, style: Style): string[] {
  return [
    `* is the default. To choose another: "defaultAgent" in ${userFile}`,
    files.length > 0 ? `Configuration: ${files.join(', ')}` : 'Configuration: none',
    ...warnings.map((warning) => `${style.bold('warning')} ${warning}`),
    ...(waitingForTrust ? waitingLines(waitingForTrust) : []),
  ];
}

function waitingLines({ file, entries }: { readonly file: string; readonly entries: readonly string[] }): string[] {
  const what = entries.length > 0 ? `; waiting for trust: ${entries.join(', ')}` : '';
  return [`${file} is not used, because its folder is not trusted${what}`, 'To use it: atrium trust <folder>'];
}

/** Names may come from a stranger's file: nothing in them moves the cursor. Our own styles do not count. */
function printable(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of our own styles
  return line.replace(/(\u001b\[\d+m)|\p{C}/gu, (_, own?: string) => own ?? ' ');
}
