import { describe, expect, it } from 'vitest';
import { agentAcceptance, type PlannedAnswer, type PlannedFailure } from '../../src/agent-acceptance/suite.js';
import { type ClaudeUnderTest, claudeUnderTest, hasClaude, WHY_SKIPPED } from '../support/claude-agent.js';
import type { ServedAnswer } from '../support/model-server.js';

/** How servers say it. */
const FAILURES: Record<PlannedFailure, readonly ServedAnswer[]> = {
  auth: [{ status: 401, message: 'invalid key' }],
  'rate-limited': [{ status: 429, message: 'slow down' }],
  overloaded: [{ status: 529, message: 'Overloaded' }],
  'context-overflow': [{ status: 400, message: 'prompt is too long: 9000 tokens > 8192 maximum' }],
  network: [{ ending: 'cut' }],
  // Claude asks once more, in another way.
  'model-not-found': [
    { status: 404, message: 'model: m-1' },
    { status: 404, message: 'model: m-1' },
  ],
  other: [{ status: 500, message: 'the server has a bug' }],
};

function served({ reasoning, text, call, usage, hangs, fails }: PlannedAnswer, index: number): readonly ServedAnswer[] {
  if (fails) return FAILURES[fails];
  return [
    {
      ...(reasoning !== undefined && { reasoning: [reasoning] }),
      ...(text && { text }),
      ...(call && { calls: [{ id: `toolu_${index}`, name: `mcp__host__${call.name}`, input: call.input }] }),
      ...(usage && { usage }),
      ...(hangs && { ending: 'hang' }),
    },
  ];
}

const LOOK_EVERY_MS = 50;

/** Those of a turn are gone with it, so they are looked for while it runs. */
function watchProcesses({ pids }: ClaudeUnderTest): { readonly seen: ReadonlySet<number>; stop(): void } {
  const seen = new Set<number>();
  const timer = setInterval(async () => {
    for (const pid of await pids()) seen.add(pid);
  }, LOOK_EVERY_MS);
  return { seen, stop: () => clearInterval(timer) };
}

describe.skipIf(!hasClaude)(`Claude${WHY_SKIPPED}`, () => {
  agentAcceptance(
    { describe, it, expect },
    'Claude',
    async (plan) => {
      const claude = await claudeUnderTest(plan.flatMap(served));
      const { agent, server } = claude;
      const processes = watchProcesses(claude);
      return {
        agent,
        receivedMessages: () => server.heard(),
        ...(process.platform === 'linux' && { pids: async () => [...processes.seen] }),
        async close() {
          processes.stop();
          await claude.close();
        },
      };
    },
    { timeScale: 6 },
  );
});
