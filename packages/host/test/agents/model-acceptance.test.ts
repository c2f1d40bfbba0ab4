import { describe, expect, it } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import type { Step } from '../../../agents/src/scripted/script.js';
import { agentAcceptance, type PlannedAnswer, type PlannedFailure } from '../../src/agent-acceptance/suite.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';

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

for (const kind of ['openai-compatible', 'openai', 'anthropic'] satisfies ModelApi[]) {
  agentAcceptance({ describe, it, expect }, `[UNI-086] [UNI-110] a model that speaks ${kind}`, async (plan) => {
    const server = await ModelServer.start(...plan.map(served));
    const models = [{ id: 'm-1', name: 'M 1' }];
    const agent = modelAgent({
      provider: 'model',
      displayName: 'Model',
      kind,
      baseURL: server.url,
      models,
      retries: 0,
    });
    return { agent, receivedMessages: () => server.heard(), close: () => server.stop() };
  });
}

function steps({ reasoning, text = [], call, usage, hangs, fails }: PlannedAnswer): Step[] {
  return [
    ...(reasoning === undefined ? [] : [{ reasoning }]),
    ...text.map((part) => ({ text: part })),
    ...(call ? [{ callTool: call }] : []),
    ...(usage ? [{ usage: { inputTokens: usage.input, outputTokens: usage.output } }] : []),
    ...(hangs ? [{ delayMs: 60_000 }] : []),
    ...(fails ? [{ error: { errorType: fails, message: 'It broke.' } }] : []),
  ];
}

agentAcceptance(
  { describe, it, expect },
  '[UNI-110] a script',
  async (plan) => {
    // Every turn of a script begins anew; only the last answer of a plan is ever for another turn.
    const prompts = { 'once more': plan.slice(-1).flatMap(steps) };
    return {
      agent: scriptedAgent({ provider: 'script', displayName: 'Script', prompts, default: plan.flatMap(steps) }),
    };
  },
  { without: ['heard'] },
);
