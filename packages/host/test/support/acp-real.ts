/** Agents out of packages that speak ACP, pointed at a model on loopback. They are large, so they may not be there. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { acpAgent } from '../../src/acp-agent.js';
import type { AgentUnderTest, PlannedAnswer, PlannedFailure } from '../../src/agent-acceptance/suite.js';
import { ModelServer, type ServedAnswer } from './model-server.js';

/** In plans: the agent's own tool for commands, whatever it is called. */
export const SHELL = 'shell';

interface RealAgent {
  readonly package: string;
  readonly args: readonly string[];
  /** How its model knows a tool that the agent is lent. */
  toolName(name: string): string;
  /** How its model calls the agent's own tool for commands. */
  readonly shell: string;
  env(server: ModelServer, home: string): Readonly<Record<string, string>>;
}

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    package: '@github/copilot',
    args: ['--acp'],
    toolName: (name) => `atrium-${name}`,
    shell: 'bash',
    env: ({ url }, home) => ({
      COPILOT_HOME: home,
      COPILOT_OFFLINE: 'true',
      COPILOT_MODEL: 'gpt-4.1',
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: 'none',
    }),
  },
  {
    package: '@agentclientprotocol/claude-agent-acp',
    args: [],
    toolName: (name) => `mcp__atrium__${name}`,
    shell: 'Bash',
    env: ({ url }, home) => ({
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ''),
    }),
  },
];

/** The file that a package starts with; undefined when the package is not there. */
export function startOf({ package: name }: RealAgent): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => path.join(folder, name, 'package.json')).find((file) => existsSync(file));
  if (!file) return undefined;
  const { bin } = JSON.parse(readFileSync(file, 'utf8'));
  const start: unknown = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  return typeof start === 'string' ? path.join(path.dirname(file), start) : undefined;
}

export async function realSubject(agent: RealAgent, plan: readonly PlannedAnswer[]): Promise<AgentUnderTest> {
  const start = startOf(agent);
  if (!start) throw new Error(`${agent.package} is not installed`);
  const server = await ModelServer.start(...plan.map((answer) => served(answer, agent)));
  const home = await mkdtemp(path.join(os.tmpdir(), 'acp-real-'));
  const command = { command: process.execPath, args: [start, ...agent.args], env: agent.env(server, home) };
  return {
    agent: acpAgent({ provider: 'real', displayName: agent.package, ...command }),
    receivedMessages: () => server.heard(),
    ...(process.platform === 'linux' && { pids: () => pidsWith(home) }),
    async close() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The processes that were started with this text in their environment. */
async function pidsWith(text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = pids.map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    return environment.includes(text) ? Number(pid) : [];
  });
  return (await Promise.all(found)).flat();
}

/** How servers say it. */
const FAILURES: Record<PlannedFailure, ServedAnswer> = {
  auth: { status: 401, message: 'invalid key' },
  'rate-limited': { status: 429, message: 'slow down' },
  overloaded: { status: 529, message: 'Overloaded' },
  'context-overflow': { status: 400, message: 'prompt is too long: 9000 tokens > 8192 maximum' },
  network: { ending: 'cut' },
  'model-not-found': { status: 404, message: 'The model does not exist.' },
  other: { status: 400, message: 'the server has a bug' },
};

function served(answer: PlannedAnswer, { toolName, shell }: RealAgent): ServedAnswer {
  const { reasoning, text, call, usage, hangs, fails } = answer;
  if (fails) return FAILURES[fails];
  return {
    ...(reasoning !== undefined && { reasoning: [reasoning] }),
    ...(text && { text }),
    ...(call && { calls: [{ ...call, name: call.name === SHELL ? shell : toolName(call.name) }] }),
    ...(usage && { usage }),
    ...(hangs && { ending: 'hang' }),
  };
}
