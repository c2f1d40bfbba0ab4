import type { ModelMessage } from '@ai-sdk/provider-utils';
import { describe, expect, it } from 'vitest';
import {
  fit,
  KEPT_SHARE,
  LEFT_OUT_LINES_MAX,
  OUTPUT_SHARE,
  SHORT_OUTPUT_CHARACTERS,
  TOOL_OUTPUTS_KEPT,
} from '../../../agents/src/model/context-window.js';
import { type Conversation, messagesOf } from '../../../agents/src/model/conversation.js';
import { CHARACTERS_PER_TOKEN, tokensIn } from '../../../agents/src/model/tokens.js';

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
    expect(fit(whole, tokensIn(whole))).toEqual({ conversation: whole, shortened: 0, dropped: [] });
  });

  it('loses the text of the oldest tool outputs first, and only as much as needed', () => {
    const whole = conversation(8);
    const once = fit(whole, tokensIn(whole) - 1);
    expect([once.shortened, once.dropped.length, longOutputs(once.conversation)]).toEqual([1, 0, 7]);
    expect(JSON.stringify(once.conversation.exchanges[0])).toContain(
      `${4_000 - SHORT_OUTPUT_CHARACTERS} more characters were left out`,
    );
    const four = fit(whole, tokensIn(whole) - 3_200);
    expect([four.shortened, four.dropped.length, longOutputs(four.conversation)]).toEqual([4, 0, TOOL_OUTPUTS_KEPT]);
  });

  it('does not lose turns to one huge output', () => {
    const small = conversation(3).exchanges.map(({ turnId }, index) => ({
      turnId,
      messages: turnWithOutput(index, 'ok'),
    }));
    const exchanges = [...small, { turnId: 'now', messages: turnWithOutput(9, LONG.repeat(10)) }];
    const { conversation: fitted, shortened, dropped } = fit({ leftOut: [], exchanges }, 3_000);
    expect([shortened, dropped.length]).toEqual([1, 0]);
    expect(JSON.stringify(fitted)).toContain('x'.repeat(3_000 * CHARACTERS_PER_TOKEN * OUTPUT_SHARE));
    expect(tokensIn(fitted)).toBeLessThanOrEqual(3_000);
  });

  it('then loses its oldest turns, but for a line each', () => {
    const { conversation: fitted, dropped } = fit(conversation(8), 3_500);
    expect(dropped.length).toBeGreaterThan(4);
    // As they were, for the summary.
    expect(dropped).toEqual(conversation(8).exchanges.slice(0, dropped.length));
    expect(tokensIn(fitted)).toBeLessThanOrEqual(3_500 * KEPT_SHARE);
    expect(fitted.leftOut.slice(0, 2)).toEqual(['question 0', 'question 1']);
    const [first] = messagesOf(fitted);
    expect(first?.content).toContain('- question 0\n- question 1');
    expect(first?.content).toMatch(new RegExp(`question ${dropped.length}$`));
  });

  it('keeps the newest lines when it lost many turns', () => {
    const { conversation: fitted } = fit(conversation(50), 1_500);
    expect(fitted.leftOut.length).toBe(LEFT_OUT_LINES_MAX);
    const kept = fitted.exchanges.length;
    expect(fitted.leftOut.at(-1)).toBe(`question ${50 - kept - 1}`);
  });

  it('keeps the turn that is running, and shortens even its outputs at last', () => {
    const { conversation: fitted, shortened } = fit(conversation(1), 500);
    expect([fitted.exchanges.length, shortened, longOutputs(fitted)]).toEqual([1, 1, 0]);
  });
});
