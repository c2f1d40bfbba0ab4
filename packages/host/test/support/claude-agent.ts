/** The real Claude agent, in front of a model's endpoint that says what a test tells it to. */
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { type ClaudeAgentOptions, claudeAgent } from '../../../agents/src/claude/backend.js';
import { loadClaudeSdk } from '../../../agents/src/claude/sdk.js';
import { ModelServer, type ServedAnswer } from './model-server.js';

/** Whether the optional package is here; `npm run test:agents` installs it. */
export const hasClaude = await loadClaudeSdk().then(
  () => true,
  () => false,
);

/** Stands in the title of what is skipped. */
export const WHY_SKIPPED = hasClaude ? '' : ' (skipped: @anthropic-ai/claude-agent-sdk is not installed)';

export interface ClaudeUnderTest {
  readonly agent: AgentBackend;
  readonly server: ModelServer;
  readonly configDir: string;
  /** Of the processes that run for it now, on Linux. */
  pids(): Promise<number[]>;
  close(): Promise<void>;
}

export async function claudeUnderTest(
  answers: readonly ServedAnswer[],
  options: ClaudeAgentOptions = {},
): Promise<ClaudeUnderTest> {
  const server = await ModelServer.start(...answers);
  const configDir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'claude-test-')));
  const env = {
    ANTHROPIC_API_KEY: 'none',
    ANTHROPIC_AUTH_TOKEN: undefined,
    ANTHROPIC_BASE_URL: server.url.replace(/\/v1$/, ''),
    CLAUDE_CODE_MAX_RETRIES: '0',
    // Claude's commands read what a shell reads at its start; nothing of this machine is to slow them down.
    HOME: configDir,
    ...options.env,
  };
  return {
    agent: claudeAgent({ models: [{ id: 'm-1', name: 'M 1' }], configDir, ...options, env }),
    server,
    configDir,
    pids: () => pidsWith(`CLAUDE_CONFIG_DIR=${configDir}`),
    async close() {
      await server.stop();
      await rm(configDir, { recursive: true, force: true });
    },
  };
}

/** The processes that were started with this in their environment, and run. */
async function pidsWith(variable: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry));
  const found = pids.map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    return environment.split('\0').includes(variable) ? Number(pid) : [];
  });
  return (await Promise.all(found)).flat();
}
