/** Agents out of packages that speak ACP, pointed at a model on loopback. They are large, so they may not be there. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { AgentUnderTest, PlannedAnswer, PlannedFailure } from '../../src/agents/acceptance.js';
import { acpAgent } from '../../src/agents/acp/acp-agent.js';
import { ModelServer, type ServedAnswer } from './model-server.js';

interface RealAgent {
  readonly package: string;
  readonly args: readonly string[];
  /** How its model knows a tool that the agent is lent. */
  toolName(name: string): string;
  env(server: ModelServer, home: string): Readonly<Record<string, string>>;
}

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    package: '@github/copilot',
    args: ['--acp'],
    toolName: (name) => `atrium-${name}`,
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
  const command = { command: process.execPath, args: ['/tmp/acp-lab/tee.mjs', start, ...agent.args], env: agent.env(server, home) };
  return {
    agent: acpAgent({ provider: 'real', displayName: agent.package, ...command }),
    heard: () => server.heard(),
    async close() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
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

function served({ reasoning, text, call, usage, hangs, fails }: PlannedAnswer, { toolName }: RealAgent): ServedAnswer {
  if (fails) return FAILURES[fails];
  return {
    ...(reasoning !== undefined && { reasoning: [reasoning] }),
    ...(text && { text }),
    ...(call && { calls: [{ ...call, name: toolName(call.name) }] }),
    ...(usage && { usage }),
    ...(hangs && { ending: 'hang' }),
  };
}
