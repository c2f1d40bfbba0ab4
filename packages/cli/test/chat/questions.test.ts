import type { SessionInputRequest, ToolCallState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { approvalLines, choiceOf } from '../../src/chat/approval.js';
import { Form } from '../../src/chat/form.js';
import { PLAIN } from '../../src/text/style.js';

const VIEW = { style: PLAIN, columns: 80 };
const letter = (text: string) => ({ name: 'text', text });

type Pending = Extract<ToolCallState, { status: 'pending-confirmation' }>;
const call: Pending = {
  ...{ status: 'pending-confirmation', toolCallId: 'c', toolName: 'shell', displayName: 'Shell' },
  ...{ invocationMessage: 'Run ls', toolInput: '{"command":"ls"}', editable: true },
  options: [
    { id: 'run', label: 'Run', kind: 'approve' },
    { id: 'allow-session', label: 'Run always', kind: 'approve' },
    { id: 'no', label: 'Leave it', kind: 'deny' },
  ],
};
const target = { turnId: 't', call };

describe('a question for permission', () => {
  it('[CLI-028] shows the options of the call, and sends the one that was chosen', () => {
    const lines = approvalLines(target, { ...VIEW, diffs: [], waiting: 1 }).join('\n');
    for (const { label } of call.options ?? []) expect(lines).toContain(label);
    expect(choiceOf(letter('2'), target)).toMatchObject({ approved: true, selectedOptionId: 'allow-session' });
    expect(choiceOf(letter('3'), target)).toMatchObject({ approved: false, selectedOptionId: 'no' });
    expect(choiceOf(letter('4'), target)).toBeUndefined();
  });

  it('has a key for each answer', () => {
    expect(choiceOf(letter('y'), target)).toMatchObject({ approved: true, selectedOptionId: 'run' });
    expect(choiceOf(letter('n'), target)).toMatchObject({ approved: false, selectedOptionId: 'no' });
    expect(choiceOf(letter('a'), target)).toMatchObject({ approved: true, selectedOptionId: 'allow-session' });
    expect(choiceOf(letter('e'), target)).toBe('edit');
    expect(choiceOf(letter('d'), target)).toBe('reason');
    expect(choiceOf({ name: 'paste', text: 'y' }, target)).toBeUndefined();
  });

  it('offers no key that does nothing', () => {
    const { options: _options, editable: _editable, ...plain } = call;
    const bare = { turnId: 't', call: plain };
    expect(choiceOf(letter('a'), bare)).toBeUndefined();
    expect(choiceOf(letter('e'), bare)).toBeUndefined();
    expect(approvalLines(bare, { ...VIEW, diffs: [], waiting: 2 }).join('\n')).toMatch(
      /1 of 2[\s\S]*y yes · n no · d no/,
    );
  });
});

function answered(request: Omit<SessionInputRequest, 'id'>, ...keys: { name: string; text?: string }[]) {
  const form = new Form({ id: 'q', ...request });
  let last: ReturnType<Form['press']>;
  for (const key of keys) last = form.press(key);
  return { last, form };
}

describe('questions to the person', () => {
  it('are answered one after the other, each in its own way', () => {
    const options = [
      { id: 'a', label: 'A' },
      { id: 'b', label: 'B' },
    ];
    const questions: SessionInputRequest['questions'] = [
      { kind: 'text', id: 'name', message: 'Name?', required: true },
      { kind: 'integer', id: 'age', message: 'Age?', min: 1 },
      { kind: 'boolean', id: 'sure', message: 'Sure?' },
      { kind: 'multi-select', id: 'many', message: 'Which?', options, min: 1 },
    ];
    const enter = { name: 'enter' };
    const keys = [enter, letter('Ann'), enter, letter('0'), enter, { name: 'backspace' }, letter('7'), enter];
    const { last } = answered({ questions }, ...keys, { name: 'down' }, enter, enter, letter('2'), enter);
    expect(last).toMatchObject({
      response: 'accept',
      answers: {
        name: { value: { kind: 'text', value: 'Ann' } },
        age: { value: { kind: 'number', value: 7 } },
        sure: { value: { kind: 'boolean', value: false } },
        many: { value: { kind: 'selected-many', value: ['b'] } },
      },
    });
  });

  it('can be declined; what is no question can also wait', () => {
    const questions: SessionInputRequest['questions'] = [{ kind: 'text', id: 'x', message: '?' }];
    expect(answered({ questions }, { name: 'escape' }).last).toMatchObject({ response: 'decline' });
    expect(answered({ message: 'Trust?' }, { name: 'escape' }).last).toBe('later');
    expect(answered({ message: 'Trust?' }, letter('y')).last).toMatchObject({ response: 'accept' });
    expect(answered({ message: 'Trust?' }, letter('n')).last).toMatchObject({ response: 'decline' });
  });
});
