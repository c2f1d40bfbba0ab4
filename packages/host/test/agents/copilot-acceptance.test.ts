import { describe, expect, it } from 'vitest';
import { agentAcceptance, type PlannedAnswer, type PlannedFailure } from '../../src/agent-acceptance/suite.js';
import { copilotUnderTest, hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import type { ServedAnswer } from '../support/model-server.js';

/** How servers say it. */
const FAILURES: Record<PlannedFailure, ServedAnswer> = {
  auth: { status: 401, message: 'invalid key' },
  'rate-limited': { status: 429, message: 'slow down' },
  overloaded: { status: 529, message: 'Overloaded' },
  'context-overflow': { status: 400, message: "This model's maximum context length is 8192 tokens." },
  network: { ending: 'cut' },
  'model-not-found': { status: 404, message: 'The model `m-1` does not exist.' },
  other: { status: 500, message: 'the server has a bug' },
};

function served({ reasoning, text, call, usage, hangs, fails }: PlannedAnswer): ServedAnswer {
  if (fails) return FAILURES[fails];
  return {
    ...(reasoning !== undefined && { reasoning: [reasoning] }),
    ...(text && { text }),
    ...(call && { calls: [call] }),
    ...(usage && { usage }),
    ...(hangs && { ending: 'hang' }),
  };
}

describe.skipIf(!hasCopilot)(`Copilot${WHY_SKIPPED}`, () => {
  agentAcceptance(
    { describe, it, expect },
    'Copilot',
    async (plan) => {
      const { agent, server, pids, close } = await copilotUnderTest(plan.map(served));
      return { agent, receivedMessages: () => server.heard(), pids, close };
    },
    { timeScale: 6 },
  );
});
