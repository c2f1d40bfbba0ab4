import type { SessionInputRequest, ToolCallState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { approvalLines, choiceOf, wholeCall } from '../../src/chat/approval.js';
import { Form } from '../../src/chat/form.js';
import { editedInput, inputText } from '../../src/chat/input-text.js';
import { Writing } from '../../src/chat/writing.js';
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

  it('names each answer once, behind its key', () => {
    const lines = approvalLines(target, { ...VIEW, diffs: [], waiting: 1 }).join('\n');
    expect(lines).toBe(
      '? Run ls\n  command: ls\n  y Run · n Leave it · a Run always · e edit first · d no, and say why',
    );
    const other = { id: 'ask', label: 'Ask Ann', kind: 'deny' as const };
    const more = { turnId: 't', call: { ...call, options: [...(call.options ?? []), other] } };
    expect(approvalLines(more, { ...VIEW, diffs: [], waiting: 1 }).join('\n')).toContain('4 Ask Ann');
    expect(choiceOf(letter('yyy'), target)).toMatchObject({ approved: true });
    expect(choiceOf(letter('yn'), target)).toBeUndefined();
  });

  it('hides no part of what would run, however narrow the window is', () => {
    const command = `echo ${'x'.repeat(200)}; rm -rf build`;
    const long = { turnId: 't', call: { ...call, toolInput: JSON.stringify({ command }) } };
    const view = { style: PLAIN, columns: 40, rows: 30, diffs: [], waiting: 1 };
    const lines = approvalLines(long, view);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines.map((line) => line.slice(2)).join('')).toContain(command);
    const small = approvalLines(long, { ...view, rows: 12 }).join('\n');
    expect(small).toMatch(/… \d+ more lines[\s\S]*v show all of it/);
    expect(choiceOf(letter('v'), long)).toBe('view');
    expect(
      wholeCall(long, view)
        .map((line) => line.slice(2))
        .join(''),
    ).toContain(command);
  });

  it('lets a person change a command as text, and other input as JSON that must stay an object', () => {
    expect(inputText('{"command":"ls"}')).toMatchObject({ name: 'command', value: 'ls' });
    expect(editedInput('{"command":"ls"}', 'ls "a"')).toEqual({ input: '{"command":"ls \\"a\\""}' });
    expect(inputText('{"a":1,"b":"x"}').value).toBe('{\n  "a": 1,\n  "b": "x"\n}');
    expect(editedInput('{"a":1,"b":"x"}', '{"a":2}')).toEqual({ input: '{"a":2}' });
    expect(editedInput('{"a":1,"b":"x"}', '{"a":')).toHaveProperty('problem');
    expect(editedInput('{"a":1,"b":"x"}', '[1]')).toHaveProperty('problem');
    expect(editedInput('plain words', 'other words')).toEqual({ input: 'other words' });
  });

  it('stays in the editor while the input is not JSON, and says so', () => {
    const twoParts = { turnId: 't', call: { ...call, toolInput: '{"a":1,"b":2}' } };
    const writing = new Writing('edit', twoParts);
    expect(writing.press(letter('x'))).toBeUndefined();
    expect(writing.press({ name: 'enter' })).toBeUndefined();
    expect(writing.view(VIEW).lines.join('\n')).toContain('must be a JSON object');
    writing.press({ name: 'backspace' });
    expect(writing.press({ name: 'enter' })).toMatchObject({ approved: true, editedToolInput: '{"a":1,"b":2}' });
    expect(new Writing('reason', target).press({ name: 'escape' })).toBe('back');
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

  const choices = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ];
  const enter = { name: 'enter' };

  it('take an answer of one own where that is allowed, and only there', () => {
    const single = { kind: 'single-select' as const, id: 's', message: 'Which?', options: choices };
    const open = { ...single, allowFreeformInput: true, required: true };
    const own = (value: string) => ({ answers: { s: { value: { kind: 'selected', value, freeformValues: ['C'] } } } });
    expect(answered({ questions: [open] }, letter('C'), enter).last).toMatchObject(own(''));
    const down = { name: 'down' };
    expect(answered({ questions: [open] }, down, down, letter('C'), enter).last).toMatchObject(own(''));
    expect(answered({ questions: [open] }, letter('3'), enter).last).toBeUndefined();
    expect(answered({ questions: [open] }, letter('C'), { name: 'up' }, enter).last).toMatchObject({
      answers: { s: { value: { kind: 'selected', value: 'b' } } },
    });
    expect(answered({ questions: [single] }, letter('C'), enter).last).toMatchObject({
      answers: { s: { value: { kind: 'selected', value: 'a' } } },
    });
    const { form } = answered({ questions: [open] }, letter('C'));
    expect(form.view(VIEW).lines).toEqual(['? Which?', '  1 A', '  2 B', '› 3 C', '  Enter accepts · Esc declines']);
  });

  it('take ticks and an answer of one own together', () => {
    const many = { kind: 'multi-select' as const, id: 'm', message: '?', options: choices, allowFreeformInput: true };
    const { last, form } = answered({ questions: [many] }, letter('12'), letter('more words'), enter);
    expect(last).toMatchObject({
      answers: { m: { value: { kind: 'selected-many', value: ['a', 'b'], freeformValues: ['more words'] } } },
    });
    expect(form.summary).toBe('? A, B, more words');
  });

  it('can be gone back to, with what was answered still there', () => {
    const questions: SessionInputRequest['questions'] = [
      { kind: 'text', id: 'x', message: 'First?' },
      { kind: 'text', id: 'y', message: 'Second?' },
    ];
    const back = { name: 'tab', shift: true };
    const { last } = answered({ questions }, letter('on'), enter, letter('two'), back, letter('e'), enter, enter);
    expect(last).toMatchObject({ answers: { x: { value: { value: 'one' } }, y: { value: { value: 'two' } } } });
  });

  it('can be declined; what is no question can also wait', () => {
    const questions: SessionInputRequest['questions'] = [{ kind: 'text', id: 'x', message: '?' }];
    expect(answered({ questions }, { name: 'escape' }).last).toMatchObject({ response: 'decline' });
    expect(answered({ message: 'Trust?' }, { name: 'escape' }).last).toBe('later');
    expect(answered({ message: 'Trust?' }, letter('y')).last).toMatchObject({ response: 'accept' });
    expect(answered({ message: 'Trust?' }, letter('n')).last).toMatchObject({ response: 'decline' });
  });
});
