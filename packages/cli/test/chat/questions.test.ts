import type { OpenSessionState } from '@atrium/client';
import {
  type ChatInputRequest,
  standingEntry,
  type ToolCallState,
  type ToolResultContent,
  visibleText,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  Approval,
  type ApprovalFrame,
  choiceOf,
  editedInput,
  inputText,
  Writing,
  wholeCall,
} from '../../src/chat/approval.js';
import { Form } from '../../src/chat/form.js';
import { Questions, type QuestionsOptions, ResultQuestion } from '../../src/chat/questions.js';
import { COLOURED, PLAIN } from '../../src/text/style.js';
import { withoutStyles } from '../../src/text/width.js';

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
const ONE = { ...VIEW, diffs: [], waiting: 1 };
const approvalLines = (about: typeof target, frame: ApprovalFrame) => new Approval(about).view(frame);
const asking = (command: string) => ({ turnId: 't', call: { ...call, toolInput: JSON.stringify({ command }) } });

describe('a question for the release of a result', () => {
  const released = (content: ToolResultContent[]) => {
    const { options: _options, editable: _editable, ...rest } = call;
    const done = { ...rest, status: 'pending-result-confirmation' as const, confirmed: 'not-needed' as const };
    return new ResultQuestion('t', { ...done, success: true, pastTenseMessage: 'Ran ls', content });
  };

  it('[REL-051] is asked beside the text that would be released', () => {
    const question = released([{ type: 'text', text: 'a.txt' }]);
    expect(question.view(VIEW).lines.join('\n')).toMatch(/a\.txt[\s\S]*y yes/);
    expect(question.press(letter('y'))).toMatchObject({ approved: true });
  });

  it('[REL-051] takes no yes to what a terminal cannot show', () => {
    for (const block of [
      { type: 'resource' as const, uri: 'atrium-content:/x' },
      { type: 'embeddedResource' as const, contentType: 'image/png', data: 'aGk=' },
    ]) {
      const question = released([{ type: 'text', text: 'a.txt' }, block]);
      const shown = question.view(VIEW).lines.join('\n');
      expect(shown).toContain('1 more of it cannot be shown');
      expect(shown).not.toContain('y yes');
      expect(question.press(letter('y'))).toBeUndefined();
      expect(question.press(letter('n'))).toMatchObject({ approved: false });
    }
  });
});

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
    expect(approvalLines(more, { ...VIEW, diffs: [], waiting: 1 }).join('\n')).toContain('4 ✗ Ask Ann');
    expect(choiceOf(letter('yyy'), target)).toMatchObject({ approved: true });
    expect(choiceOf(letter('yn'), target)).toBeUndefined();
  });

  it('[REL-051] hides no part of what would run, however narrow the window is', () => {
    const command = `echo ${'x'.repeat(200)}; rm -rf build`;
    const view = { ...ONE, columns: 40, rows: 30 };
    const lines = approvalLines(asking(command), view);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines.map((line) => line.slice(2)).join('')).toContain(command);
    expect(choiceOf(letter('v'), asking(command))).toBe('view');
    const whole = wholeCall(asking(command), view).map((line) => line.slice(2));
    expect(whole.join('')).toContain(command);
  });

  it('[REL-051] spells out what cannot be seen, and marks it', () => {
    const command = 'ls -la \x1b]\ntouch PWNED\x1b\\ \u202e\u200b\r';
    expect(wholeCall(asking(command), ONE).slice(1)).toEqual([
      '  command: 2 lines',
      '│ ls -la \\x1b]',
      '│ touch PWNED\\x1b\\ \\u{202e}\\u{200b}\\r',
    ]);
    const coloured = wholeCall(asking('a\x1bb\\x1b'), { ...ONE, style: COLOURED }).at(-1);
    expect(coloured).toContain('a\x1b[7m\\x1b\x1b[27mb\\x1b');
    expect(wholeCall(asking('\\x1b'), ONE).at(-1)).toBe('  command: \\\\x1b');
  });

  it.each([
    '\r',
    '\b',
    '\x1b[2K\x1b[1G',
    '\x9b8m',
    '\u202e',
    '\t'.repeat(500),
    '\0',
    '\u0336'.repeat(300),
    '\ud800',
    '\u2028',
  ])('[REL-051] can be read back to exactly what runs with %j in it, at any width', (piece) => {
    const command = `rm -rf ~${piece}ls \\x1b${piece}\nnext${piece}`;
    for (const columns of [20, 41, 80]) {
      const rows = wholeCall(asking(command), { ...ONE, columns }).slice(2);
      for (const row of rows) expect(row).toMatch(/^[│┆] [^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u);
      const lines: string[] = [];
      for (const row of rows)
        if (row.startsWith('│')) lines.push(row.slice(2));
        else lines.push(`${lines.pop() ?? ''}${row.slice(2)}`);
      expect(lines.join('\n')).toBe(visibleText(command, 'lines').replaceAll('\t', '    '));
    }
  });

  it('[REL-051] offers no yes before the end of a long text was shown, page by page, with its number of lines', () => {
    const question = new Approval(asking(`${'echo\n'.repeat(40)}touch PWNED`));
    const view = { ...ONE, rows: 12 };
    expect(question.press(letter('y'))).toBeUndefined();
    const first = question.view(view).join('\n');
    expect(first).toMatch(/command: 41 lines[\s\S]*lines 1 to \d of 43: read to the end/);
    expect(first).toContain('n Leave it');
    expect(first).not.toMatch(/y Run|a Run always|e edit first/);
    for (const key of ['y', 'a', '1', '2', 'e']) expect(question.press(letter(key))).toBeUndefined();
    expect(question.press(letter('n'))).toMatchObject({ approved: false });
    let shown = first;
    for (let pages = 0; !shown.includes('touch PWNED') && pages < 20; pages += 1) {
      expect(question.press(letter(' '))).toBeUndefined();
      shown = question.view(view).join('\n');
      expect(shown.split('\n').length).toBeLessThan(12);
    }
    expect(shown).toMatch(/touch PWNED\n {2}lines \d+ to 43 of 43\n[\s\S]*y Run/);
    expect(question.press(letter('y'))).toMatchObject({ approved: true });
    expect(question.press({ name: 'pageup' })).toBeUndefined();
    expect(question.view(view).join('\n')).toContain('y Run');
  });

  it('[REL-051] offers no yes where the window has no room for a line', () => {
    const question = new Approval(asking('ls'));
    expect(question.view({ ...ONE, columns: 20, rows: 5 }).join('\n')).toMatch(/Make the window larger/);
    expect(question.press(letter('y'))).toBeUndefined();
    expect(question.view(ONE).join('\n')).toContain('y Run');
    expect(question.press(letter('y'))).toMatchObject({ approved: true });
  });

  it('[REL-051] takes no row for shorter than the widest terminal draws it', () => {
    const lines = wholeCall(asking('👨‍👩‍👧‍👦'.repeat(30)), { ...ONE, columns: 40 });
    for (const line of lines) expect(2 * [...line].length).toBeLessThanOrEqual(2 * 40);
    expect(lines.slice(1).every((line) => [...line].length <= 21 || line.includes('command'))).toBe(true);
  });

  it('[REL-051] shows whole diffs, and of the input what they do not say', () => {
    const after = `${'line\n'.repeat(60)}${'x'.repeat(100)}\x1b]end\n`;
    const about = {
      turnId: 't',
      call: { ...call, toolInput: JSON.stringify({ path: 'a.sh', content: after, mode: '755' }) },
    };
    const texts = { uri: 'file:///srv/a.sh', before: '', after };
    const lines = after
      .trimEnd()
      .split('\n')
      .map((text) => ({ kind: 'added' as const, text }));
    const shown = wholeCall(about, { ...ONE, diffs: [{ file: 'a.sh', added: 61, removed: 0, lines, texts }] });
    expect(shown.slice(1, 3)).toEqual(['  mode: 755', '  a.sh  +61 -0']);
    expect(shown.filter((line) => line === '  + line')).toHaveLength(60);
    expect(
      shown
        .slice(-2)
        .map((line) => line.slice(4))
        .join(''),
    ).toBe(`${'x'.repeat(100)}\\x1b]end`);
    const waits = new Approval(about);
    expect(waits.view({ ...ONE, diffs: [{ file: 'a.sh', isLoading: true }] }).join('\n')).not.toContain('y Run');
    expect(waits.press(letter('y'))).toBeUndefined();
    const unknown = wholeCall(about, { ...ONE, diffs: [{ file: 'a.sh' }] }).join('\n');
    expect(unknown).toMatch(/path: a\.sh\n {2}content: 62 lines\n│ line\n[\s\S]*cannot be shown here/);
  });

  it('[REL-051] lets no title or name look like a line of the question', () => {
    const forged = {
      turnId: 't',
      call: {
        ...call,
        toolName: 'evil_tool',
        displayName: 'Shell',
        confirmationTitle: `Run "ls"?${' '.repeat(70)}\n  command: ls \u202e`,
        toolInput: '{"command":"rm -rf ~"}',
      },
    };
    expect(wholeCall(forged, ONE)).toEqual([
      '? Run "ls"? command: ls \\u{202e}',
      '  tool: Shell (evil_tool)',
      '  command: rm -rf ~',
    ]);
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
    const writing = new Writing('edit', twoParts, '{"a":1,"b":2}');
    expect(writing.press(letter('x'))).toBeUndefined();
    expect(writing.press({ name: 'enter' })).toBeUndefined();
    expect(writing.view(VIEW).lines.join('\n')).toContain('must be a JSON object');
    writing.press({ name: 'backspace' });
    expect(writing.press({ name: 'enter' })).toMatchObject({ approved: true, editedToolInput: '{"a":1,"b":2}' });
    expect(new Writing('reason', target).press({ name: 'escape' })).toBe('back');
  });

  it('[UP-076] [REL-051] takes no yes to an input that is kept elsewhere before it was read', () => {
    const about = { turnId: 't', call: { ...call, toolInput: { uri: 'x:input' } } };
    const approval = new Approval(about);
    expect(approval.view({ ...ONE, input: { state: 'loading' } }).join('\n')).not.toContain('y Run');
    expect(approval.press(letter('y'))).toBeUndefined();
    expect(approval.view({ ...ONE, input: { state: 'missing' } }).join('\n')).toContain('cannot be read');
    expect(approval.press(letter('y'))).toBeUndefined();
    const text = '{"command":"rm -rf build"}';
    expect(approval.view({ ...ONE, input: { state: 'here', text } }).join('\n')).toContain('command: rm -rf build');
    expect(approval.press(letter('y'))).toMatchObject({ approved: true });
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

function answered(request: Omit<ChatInputRequest, 'id'>, ...keys: { name: string; text?: string }[]) {
  const form = new Form({ id: 'q', ...request }, 'ahp-chat:/c');
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
    const questions: ChatInputRequest['questions'] = [
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
    const questions: ChatInputRequest['questions'] = [
      { kind: 'text', id: 'x', message: 'First?' },
      { kind: 'text', id: 'y', message: 'Second?' },
    ];
    const back = { name: 'tab', shift: true };
    const { last } = answered({ questions }, letter('on'), enter, letter('two'), back, letter('e'), enter, enter);
    expect(last).toMatchObject({ answers: { x: { value: { value: 'one' } }, y: { value: { value: 'two' } } } });
  });

  it('[REL-053] keeps what the host quotes indented where its line goes on below', () => {
    const message = `Do you trust this folder?\n\n    ${'word '.repeat(40)}Nothing of this is dangerous.\n\nSo?`;
    const { form } = answered({ message });
    const lines = form.view(VIEW).lines.map(withoutStyles);
    const quoted = lines.slice(2, lines.indexOf('So?') - 1);
    expect(quoted.length).toBeGreaterThan(1);
    for (const line of quoted) expect(line).toMatch(/^ {4}\S/);
  });

  it('can be declined; what is no question can also wait', () => {
    const questions: ChatInputRequest['questions'] = [{ kind: 'text', id: 'x', message: '?' }];
    expect(answered({ questions }, { name: 'escape' }).last).toMatchObject({ response: 'decline' });
    expect(answered({ message: 'Trust?' }, { name: 'escape' }).last).toBe('later');
    const trust = new Form({ id: 'q', message: 'Trust?' }, 'ahp-chat:/c');
    trust.view(VIEW);
    expect(trust.press({ name: 'enter' })).toBeUndefined();
    expect(trust.press(letter('y'))).toMatchObject({ response: 'accept' });
    expect(answered({ message: 'Trust?' }, letter('n')).last).toMatchObject({ response: 'decline' });
  });

  it('[REL-051] [REL-053] show all of a long message before a yes is taken, with nothing invisible in it', () => {
    const message = `Trust?\n${'- node a.js\n'.repeat(40)}- sh -c "\x1b]rm"`;
    const trust = new Form({ id: 'q', message }, 'ahp-chat:/c');
    const view = { ...VIEW, rows: 12 };
    expect(trust.view(view).lines.join('\n')).toMatch(/lines 1 to \d of 42: read to the end[\s\S]*n no/);
    expect(trust.press(letter('y'))).toBeUndefined();
    for (let pages = 0; pages < 8; pages += 1) trust.press({ name: 'pagedown' });
    expect(trust.view(view).lines.join('\n')).toMatch(/\\x1b\]rm"\n[\s\S]*y yes/);
    expect(trust.press(letter('y'))).toMatchObject({ response: 'accept' });
  });

  it('are shown once where the request says the same', () => {
    const question = { kind: 'text' as const, id: 'x', message: 'Which colour?' };
    const { lines } = new Form({ id: 'q', message: 'Which colour?', questions: [question] }, 'ahp-chat:/c').view(VIEW);
    expect(lines.filter((line) => line.includes('Which colour?'))).toEqual(['? Which colour?']);
  });
});

describe('a question that takes the place of another', () => {
  const chat = { resource: 'ahp-chat:/c', turns: [] };
  const trust = (id: string) => {
    const inputNeeded = [standingEntry('ahp-chat:/c', { id, message: `Trust ${id}?`, questions: [] })];
    return { session: { inputNeeded }, chat } as unknown as OpenSessionState;
  };
  const withCall = (toolCall: unknown) => {
    const activeTurn = { id: 't', responseParts: [{ kind: 'toolCall', toolCall }] };
    return { session: {}, chat: { ...chat, activeTurn } } as unknown as OpenSessionState;
  };
  const result = { ...call, status: 'pending-result-confirmation', success: true, pastTenseMessage: 'Ran ls' };

  function open() {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const sent: unknown[] = [];
    const parts = {
      dispatch: async (action: unknown) => void sent.push(action),
      note: () => {},
    } as Partial<QuestionsOptions>;
    const questions = new Questions(parts as QuestionsOptions);
    const show = (state: OpenSessionState) => {
      questions.follow(state);
      questions.view(VIEW);
    };
    return { sent, show, resized: () => questions.resized(), press: (text: string) => questions.press(letter(text)) };
  }

  it.each([
    ['about trust', trust('new'), { requestId: 'new', response: 'accept' }],
    ['about a result', withCall(result), { toolCallId: 'c', approved: true }],
  ])('[REL-051] [REL-053] %s must be seen before the same key answers it', (_, state, accepted) => {
    const { sent, show, press } = open();
    show(trust('old'));
    vi.advanceTimersByTime(1_000);
    show(state);
    press('y');
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(300);
    show(state);
    press('y');
    expect(sent).toMatchObject([accepted]);
  });

  it('[REL-051] of another size must be seen before a key that was pressed in the old window answers it', () => {
    const { sent, show, press, resized } = open();
    show(withCall(result));
    vi.advanceTimersByTime(1_000);
    resized();
    show(withCall(result));
    press('y');
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(300);
    press('y');
    expect(sent).toMatchObject([{ toolCallId: 'c', approved: true }]);
  });
});
