/** One call on the screen of the terminal. */
import type { ToolCallState } from '@atrium/protocol/ahp-1';
import { expect, it } from 'vitest';
import { callLines } from '../../src/chat/call-view.js';
import { clockText } from '../../src/chat/chat-view.js';
import { PLAIN } from '../../src/text/style.js';

function updated(...items: readonly string[]): ToolCallState {
  const text = items.map((item) => `- ${item}`).join('\n');
  return {
    ...{ status: 'completed', toolCallId: 'c', toolName: 'todo_list', displayName: 'To-do list', success: true },
    ...{ invocationMessage: 'Update', pastTenseMessage: 'Updated', confirmed: 'not-needed' },
    content: [{ type: 'text', text }],
  };
}

const linesOf = (call: ToolCallState) => callLines(call, { diffs: [] }, { style: PLAIN, columns: 60 });

it.each([
  ['the one that is worked on', updated('[x] Read', '[>] Change', '[ ] Test'), '  ▸ Change'],
  ['the last that is done', updated('[x] Read', '[x] Change', '[ ] Test'), '  ✓ Change'],
  ['the first, where none has begun', updated('[ ] Read', '[ ] Change'), '  · Read'],
])('of a list of tasks one is named: %s [DAY-116]', (_, call, line) => {
  expect(linesOf(call)).toEqual(['✓ To-do list  Updated', line]);
});

it('the time that a turn has taken is short and grows to hours [DAY-118]', () => {
  expect([0, 42_999, 727_000, 3_723_000].map(clockText)).toEqual(['0:00', '0:42', '12:07', '1:02:03']);
});

it('a call that ran when its turn was stopped says so, with what it had said; it is no failure [AHP-254]', () => {
  const stopped: ToolCallState = {
    ...{ status: 'completed', toolCallId: 'c', toolName: 'shell', displayName: 'Shell', success: false },
    ...{ invocationMessage: 'Run make', pastTenseMessage: 'Stopped while running: Run make', confirmed: 'not-needed' },
    content: [{ type: 'text', text: 'step 1' }],
    error: { message: 'Stopped while it ran.', code: 'STOPPED' },
  };
  expect(linesOf(stopped)).toEqual(['– Shell  Stopped while running: Run make', '  Stopped while it ran.', '  step 1']);
  const { toolCallId, toolName, displayName, invocationMessage } = stopped;
  const unfinished: ToolCallState = {
    ...{ status: 'cancelled', reason: 'skipped', toolCallId, toolName, displayName, invocationMessage },
  };
  expect(linesOf(unfinished)).toContain('  not finished');
});
