/** The real Copilot SDK and runtime, in front of a model's endpoint that says what a test tells it to. */
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { type CopilotAgentOptions, copilotAgent } from '../../../agents/src/copilot/backend.js';
import { loadSdk, SDK_PACKAGE } from '../../../agents/src/copilot/sdk.js';
import { ModelServer, type ServedAnswer } from './model-server.js';

/** Whether the optional package is here. */
export const hasCopilot = await loadSdk().then(
  () => true,
  () => false,
);

/** Stands in the title of what is skipped. */
export const WHY_SKIPPED = hasCopilot ? '' : ` (skipped: ${SDK_PACKAGE} is not installed)`;

export interface CopilotUnderTest {
  readonly agent: AgentBackend;
  readonly server: ModelServer;
  readonly home: string;
  /** Of the processes that run for it now, on Linux. */
  pids(): Promise<number[]>;
  close(): Promise<void>;
}

export async function copilotUnderTest(
  answers: readonly ServedAnswer[],
  options: Partial<CopilotAgentOptions> = {},
): Promise<CopilotUnderTest> {
  const server = await ModelServer.start(...answers);
  const home = await realpath(await mkdtemp(path.join(os.tmpdir(), 'copilot-test-')));
  const models = [
    { id: 'm-1', name: 'M 1' },
    { id: 'm-2', name: 'M 2' },
  ];
  const providerConfig = { type: 'openai', baseUrl: server.url, apiKey: 'none' } as const;
  return {
    agent: copilotAgent({ home, models, providerConfig, retries: 0, ...options }),
    server,
    home,
    pids: () => pidsWith(`COPILOT_HOME=${home}`),
    async close() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
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
