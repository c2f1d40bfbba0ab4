/** The report on agents, for people. */
import type { AgentReport, AgentRow, ConfigReport } from './agent-report.js';

const MODELS_SHOWN_MAX = 4;

export interface TableStyle {
  bold(text: string): string;
  dim(text: string): string;
}

export const PLAIN: TableStyle = { bold: (text) => text, dim: (text) => text };
export const COLOURED: TableStyle = {
  bold: (text) => `\u001b[1m${text}\u001b[22m`,
  dim: (text) => `\u001b[2m${text}\u001b[22m`,
};

export function agentTable(report: AgentReport, style: TableStyle = PLAIN): string {
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
  readonly style: TableStyle;
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

function configLines({ files, userFile, warnings, waitingForTrust }: ConfigReport, style: TableStyle): string[] {
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
