/**
 * Agents that are installed on this machine: commands on PATH that speak ACP, and packages of their makers. Runs none
 * of them.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ChangeEntry } from '../config/config-schema.js';
import {
  type AcpOptions,
  type Candidate,
  type Environment,
  type Machine,
  NO_FACTORY,
  notFound,
  PATH_FOLDERS_MAX,
  type Probe,
  type SdkOptions,
} from './candidate.js';

const ACP_PACKAGE = '@agentclientprotocol/sdk';

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
    probe: (changes) => probeAgent(command, machine, changes),
  }));
}

async function probeAgent(agent: AgentCommand, machine: Machine, changes: ChangeEntry): Promise<Probe> {
  const { provider, command, args } = agent;
  const file = await machine.which(command);
  if (file === undefined) return notFound(`${command} is not on PATH: npm install -g ${agent.package}`);
  const { displayName = agent.displayName } = changes;
  return acpProbe(machine, { provider, displayName, command: file, args }, `found ${file}`);
}

/** An agent that is a program. The host needs an optional package to talk to it. */
export async function acpProbe(machine: Machine, options: AcpOptions, why: string): Promise<Probe> {
  if (!machine.factories.acp) return NO_FACTORY;
  if (!(await machine.isInstalled(ACP_PACKAGE))) {
    return notFound(`${why}, but a package is missing to speak with it: npm install ${ACP_PACKAGE}`);
  }
  return { found: true, why, backend: machine.factories.acp(options) };
}

interface AgentPackage {
  readonly kind: 'copilot' | 'claude';
  readonly displayName: string;
  readonly package: string;
}

const PACKAGES: readonly AgentPackage[] = [
  { kind: 'copilot', displayName: 'GitHub Copilot', package: '@github/copilot-sdk' },
  { kind: 'claude', displayName: 'Claude Code', package: '@anthropic-ai/claude-agent-sdk' },
];

export function packageCandidates(machine: Machine): Candidate[] {
  return PACKAGES.map(({ kind, displayName }) => ({
    provider: kind,
    displayName,
    source: 'package',
    isNamed: false,
    probe: ({ displayName: name = displayName, models }: ChangeEntry) =>
      sdkProbe(machine, kind, { provider: kind, displayName: name, models }),
  }));
}

export function sdkName(kind: AgentPackage['kind']): string {
  return PACKAGES.find((candidate) => candidate.kind === kind)?.displayName ?? kind;
}

export async function sdkProbe(machine: Machine, kind: AgentPackage['kind'], options: SdkOptions): Promise<Probe> {
  const name = PACKAGES.find((candidate) => candidate.kind === kind)?.package ?? kind;
  if (!(await machine.isInstalled(name))) return notFound(`its package is not installed: npm install ${name}`);
  const make = machine.factories[kind];
  return make ? { found: true, why: `${name} is installed`, backend: make(options) } : NO_FACTORY;
}

/**
 * The full path of a command on PATH, found without running it. Ignores relative folders on PATH: a file in the folder
 * where the host was started is not a command of the user.
 */
export async function which(command: string, env: Environment): Promise<string | undefined> {
  if (/[\\/]/.test(command)) return (await isProgram(command)) ? command : undefined;
  const folders = pathOf(env).split(path.delimiter).filter(path.isAbsolute).slice(0, PATH_FOLDERS_MAX);
  const files = [...new Set(folders)].flatMap((folder) => namesOf(command, env).map((name) => path.join(folder, name)));
  const isThere = await Promise.all(files.map(isProgram));
  return files.find((_, index) => isThere[index]);
}

function pathOf(env: Environment): string {
  return env.PATH ?? env.Path ?? '';
}

function namesOf(command: string, env: Environment): string[] {
  if (process.platform !== 'win32') return [command];
  return (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').map((ending) => `${command}${ending.toLowerCase()}`);
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** Whether an optional package is installed, found without loading it, because loading a large one takes a second. */
export async function isInstalled(name: string): Promise<boolean> {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const isThere = await Promise.all(folders.map((folder) => exists(path.join(folder, name, 'package.json'))));
  return isThere.includes(true);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
