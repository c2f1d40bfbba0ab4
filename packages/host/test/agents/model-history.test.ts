/** What a model is told, after a restart, of calls that did not come to their end. */

import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type ResponsePart, steeringPart, type ToolCallState } from '@atrium/protocol/ahp-1';
import { turnUp } from '@atrium/protocol/dialects';
import { describe, expect, it } from 'vitest';
import { exchangeOf } from '../../../agents/src/model/history.js';
import { FakeClock } from '../support/fake-clock.js';
import { messageOf } from '../support/fake-turn.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openPuppetFixture, startHost, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const CUT_OFF = 'The turn ended before this call was done; it may have run in part.';

function told(responseParts: ResponsePart[]): unknown {
  const turn = { id: 't1', message: messageOf('go'), responseParts, state: 'complete' as const, usage: undefined };
  return exchangeOf(turn).messages.at(-1)?.content;
}

function cancelled(more: object): ResponsePart {
  const call = {
    status: 'cancelled',
    toolCallId: 'c1',
    toolName: 'write',
    displayName: 'write',
    invocationMessage: '',
  };
  return { kind: 'toolCall', toolCall: { ...call, ...more } as ToolCallState };
}

describe('a call that was cut off', () => {
  it('by a crash is not told as one that a person denied', async () => {
    const log = new MemoryLog();
    const tool = echoTool('write', { work: () => new Promise<string>(() => {}) });
    const { puppet, uri } = await openPuppetFixture({ log, tools: [tool] });
    puppet.turn.callTool({ name: 'write', input: {} }).catch(() => {});
    await settle();
    expect(tool.runs).toHaveLength(1);
    const host = await startHost({ log, agents: [new PuppetAgent()], clock: new FakeClock() });
    const [turn] = (await stateOf(await host.client('desk'), uri)).turns;
    const value = expect.stringContaining('Interrupted while running');
    expect(told(turn ? turnUp(turn).responseParts : [])).toMatchObject([{ output: { type: 'error-text', value } }]);
  });

  it.each([
    [{ reason: 'denied' }, 'The call was denied: the person said no'],
    [{ reason: 'denied', reasonMessage: 'CI is red' }, 'The call was denied: CI is red'],
    [{ reason: 'skipped', userSuggestion: { text: 'use git mv' } }, 'The call was denied: use git mv'],
    [{ reason: 'skipped' }, CUT_OFF],
  ])('is told from one that somebody decided about: %j', (more, value) => {
    expect(told([cancelled(more)])).toMatchObject([{ output: { value } }]);
  });
});

describe('what steered a turn', () => {
  it('[REL-070] is told after a restart as a message of the person, behind the calls before it', () => {
    const done = { status: 'completed', toolCallId: 'c1', toolName: 'look', displayName: 'Look', success: true };
    const call = { kind: 'toolCall', toolCall: done as unknown as ToolCallState } as const;
    const text = (content: string) => ({ kind: 'markdown' as const, id: content, content });
    const responseParts = [text('one'), call, steeringPart(messageOf('to the left')), text('two')];
    const turn = { id: 't1', message: messageOf('go'), responseParts, state: 'complete' as const, usage: undefined };
    const { messages } = exchangeOf(turn);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    expect(messages[3]).toEqual({ role: 'user', content: 'to the left' });
  });
});
