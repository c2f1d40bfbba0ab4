/** Agent programs on PATH that speak the Agent Client Protocol. They are found by name; nothing is run. */
import type { ChangeEntry } from '../config/schema.js';
import { type AcpOptions, type Candidate, type Look, type Machine, NO_FACTORY, notFound } from './candidate.js';

export const ACP_PACKAGE = '@agentclientprotocol/sdk';

interface AgentCommand {
  readonly provider: string;
  readonly displayName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly package: string;
}

const COMMANDS: readonly AgentCommand[] = [
  { provider: 'gemini', displayName: 'Gemini CLI', command: 'gemini', args: ['--acp'], package: '@google/gemini-cli' },
  { provider: 'opencode', displayName: 'OpenCode', command: 'opencode', args: ['acp'], package: 'opencode-ai' },
  {
    provider: 'copilot-cli',
    displayName: 'Copilot CLI',
    command: 'copilot',
    args: ['--acp'],
    package: '@github/copilot',
  },
  {
    provider: 'codex',
    displayName: 'Codex',
    command: 'codex-acp',
    args: [],
    package: '@agentclientprotocol/codex-acp',
  },
  {
    provider: 'claude-acp',
    displayName: 'Claude Code (ACP)',
    command: 'claude-agent-acp',
    args: [],
    package: '@agentclientprotocol/claude-agent-acp',
  },
];

export function commandCandidates(machine: Machine): Candidate[] {
  return COMMANDS.map((command) => ({
    provider: command.provider,
    displayName: command.displayName,
    source: 'command',
    isNamed: false,
    look: (changes) => lookFor(command, machine, changes),
  }));
}

async function lookFor(agent: AgentCommand, machine: Machine, changes: ChangeEntry): Promise<Look> {
  const { provider, command, args } = agent;
  const file = await machine.which(command);
  if (file === undefined) return notFound(`${command} is not on PATH: npm install -g ${agent.package}`);
  const { displayName = agent.displayName } = changes;
  return acpLook(machine, { provider, displayName, command: file, args }, `found ${file}`);
}

/** An agent that is a program. Speaking with it takes a package that is not everywhere. */
export async function acpLook(machine: Machine, options: AcpOptions, why: string): Promise<Look> {
  if (!machine.factories.acp) return NO_FACTORY;
  if (!(await machine.isInstalled(ACP_PACKAGE))) {
    return notFound(`${why}, but a package is missing to speak with it: npm install ${ACP_PACKAGE}`);
  }
  return { found: true, why, backend: machine.factories.acp(options) };
}
