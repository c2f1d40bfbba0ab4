import type { ModelMessage } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Conversation } from '../../src/agents/model/conversation.js';
import { messagesOf } from '../../src/agents/model/conversation.js';
import { SHORT_OUTPUT_CHARACTERS, SUMMARY_LINES_MAX, TOOL_OUTPUTS_KEPT } from '../../src/agents/model/limits.js';
import { modelAgent } from '../../src/agents/model/model-agent.js';
import { fit, tokensIn } from '../../src/agents/model/window.js';
import { completed, FakeTurn, openSession } from '../support/fake-turn.js';
import { ModelServer } from '../support/model-server.js';

const LONG = 'x'.repeat(4_000);

function turnWithOutput(index: number, value = LONG): ModelMessage[] {
  const call = { toolCallId: `c${index}`, toolName: 'look' };
  return [
    { role: 'user', content: `question ${index}` },
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value } }] },
    { role: 'assistant', content: `answer ${index}` },
  ];
}

function conversation(turns: number): Conversation {
  const exchanges = Array.from({ length: turns }, (_, index) => ({
    turnId: `t${index}`,
    messages: turnWithOutput(index),
  }));
  return { leftOut: [], exchanges };
}

const longOutputs = (fitted: Conversation) => JSON.stringify(fitted).split(LONG).length - 1;

describe('a conversation that outgrows the window', () => {
  it('stays as it is while there is room', () => {
    const whole = conversation(3);
    expect(fit(whole, tokensIn(whole))).toEqual({ conversation: whole, shortened: 0, dropped: 0 });
  });

  it('loses the text of the oldest tool outputs first, and only as much as needed', () => {
    const whole = conversation(8);
    const once = fit(whole, tokensIn(whole) - 1);
    expect([once.shortened, once.dropped, longOutputs(once.conversation)]).toEqual([1, 0, 7]);
    expect(JSON.stringify(once.conversation.exchanges[0])).toContain(
      `${4_000 - SHORT_OUTPUT_CHARACTERS} more characters were left out`,
    );
    const four = fit(whole, tokensIn(whole) - 3_200);
    expect([four.shortened, four.dropped, longOutputs(four.conversation)]).toEqual([4, 0, TOOL_OUTPUTS_KEPT]);
  });

  it('then loses its oldest turns, but for a line each', () => {
    const { conversation: fitted, dropped } = fit(conversation(8), 3_500);
    expect(dropped).toBeGreaterThan(4);
    expect(tokensIn(fitted)).toBeLessThanOrEqual(3_500);
    expect(fitted.leftOut.slice(0, 2)).toEqual(['question 0', 'question 1']);
    const [first] = messagesOf(fitted);
    expect(first?.content).toContain('- question 0\n- question 1');
    expect(first?.content).toMatch(new RegExp(`question ${dropped}$`));
  });

  it('keeps the newest lines when it lost many turns', () => {
    const { conversation: fitted } = fit(conversation(50), 1_500);
    expect(fitted.leftOut.length).toBe(SUMMARY_LINES_MAX);
    const kept = fitted.exchanges.length;
    expect(fitted.leftOut.at(-1)).toBe(`question ${50 - kept - 1}`);
  });

  it('keeps the turn that is running, and shortens even its outputs at last', () => {
    const { conversation: fitted, shortened } = fit(conversation(1), 500);
    expect([fitted.exchanges.length, shortened, longOutputs(fitted)]).toEqual([1, 1, 0]);
  });

  it('is told to the person, once', async () => {
    const call = { name: 'look', input: {} };
    const answers = [{ calls: [call] }, { text: ['one'] }, { text: ['two'] }, { text: ['three'] }];
    const server = await ModelServer.start(...answers);
    onTestFinished(() => server.stop());
    const models = [{ id: 'm-1', name: 'M 1', maxContextWindow: 1_000 }];
    const options = { provider: 'model', displayName: 'Model', baseURL: server.url, models, retries: 0 };
    const session = await openSession(modelAgent({ ...options, kind: 'openai-compatible' }));
    const turns = ['first', 'second', 'third'].map(
      (text) =>
        new FakeTurn(`${text} ${text === 'second' ? 'y'.repeat(2_400) : ''}`, {
          id: text,
          tools: [{ name: 'look' }],
          callTool: () => completed(LONG),
        }),
    );
    for (const turn of turns) await session.runTurn(turn);
    const notes = turns.map(({ events }) => events.flatMap((event) => ('notify' in event ? [event.notify] : [])));
    expect(notes).toEqual([
      ["Shortened 1 tool output in the model's memory to stay within the 1000 tokens of M 1."],
      ["Left the oldest 1 turn out of the model's memory to stay within the 1000 tokens of M 1."],
      [],
    ]);
    expect(server.heard()).toContain('- first');
    expect(server.heard()).not.toContain('more characters');
  });
});
