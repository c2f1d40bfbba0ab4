import type { Extension, Gate } from '@atrium/core/contracts/extension.js';
import { describe, expect, it } from 'vitest';
import { type Answer, approve, deny, REASON, textIn } from '../../src/agent-acceptance/test-session.js';
import { ACP_TEST_MAX_MS, acpFixture, callsIn, notesIn } from '../support/acp-fixture.js';

const patience = { timeout: ACP_TEST_MAX_MS };
const text = (text: string) => ({ type: 'content', content: { type: 'text', text } });
const told = (toolCallId: string, more: object) => ({ sessionUpdate: 'tool_call', toolCallId, ...more });
const toldMore = (toolCallId: string, more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId, ...more });

describe('what an agent tells of its own calls', patience, () => {
  it('[UNI-094] shows a call with its input, its output as it grows, and how it ended', async () => {
    const { fixture } = await acpFixture([
      {
        updates: [
          told('c-1', { title: 'npm test', kind: 'execute', status: 'pending', rawInput: { command: 'npm test' } }),
          toldMore('c-1', { status: 'in_progress', content: [text('1 passed')] }),
          toldMore('c-1', { status: 'completed', content: [text('1 passed'), text('2 passed')] }),
        ],
        text: ['Done.'],
      },
    ]);
    const { responseParts } = await fixture.turn('test it');
    expect(callsIn(responseParts)).toMatchObject([
      {
        status: 'completed',
        toolName: 'execute',
        displayName: 'npm test',
        toolInput: '{"command":"npm test"}',
        confirmed: 'not-needed',
        success: true,
        content: [{ type: 'text', text: '1 passed\n2 passed' }],
      },
    ]);
    const grown = fixture.actions.filter(({ type }) => type === 'session/toolCallContentChanged');
    expect(grown.map(({ content }) => content)).toEqual([[{ type: 'text', text: '1 passed' }]]);
  });

  it('takes calls that begin with an update, that fail, that change a file, that never end', async () => {
    const { fixture } = await acpFixture([
      {
        updates: [
          toldMore('c-1', { title: 'Read a file', status: 'completed', rawOutput: { output: 'plums' } }),
          told('c-2', { title: 'Fetch', kind: 'fetch', status: 'failed', content: [text('no network')] }),
          told('c-3', {
            title: 'Edit',
            kind: 'edit',
            status: 'completed',
            content: [{ type: 'diff', path: '/a/plums.txt', oldText: 'one\n', newText: 'one\ntwo\n' }],
          }),
          told('c-4', { title: 'Wait', status: 'in_progress' }),
        ],
        text: ['Done.'],
      },
    ]);
    const turn = await fixture.turn('go');
    const shown = callsIn(turn.responseParts).map((call) => ({
      name: call.displayName,
      success: call.status === 'completed' && call.success,
      text:
        call.status === 'completed' && call.content?.map((block) => (block.type === 'text' ? block.text : '')).join(),
    }));
    expect(shown).toEqual([
      { name: 'Read a file', success: true, text: 'plums' },
      { name: 'Fetch', success: false, text: 'no network' },
      { name: 'Edit', success: true, text: '/a/plums.txt: 1 line added, 0 lines removed' },
      { name: 'Wait', success: false, text: '' },
    ]);
    expect(turn.state).toBe('complete');
  });

  it('shows plans, notices and titles, and passes over what it does not know', async () => {
    const plan = (status: string) => ({
      sessionUpdate: 'plan',
      entries: [
        { content: 'pick', priority: 'high', status },
        { content: 'eat', priority: 'low', status: 'pending' },
      ],
    });
    const { fixture } = await acpFixture([
      {
        updates: [
          plan('in_progress'),
          plan('completed'),
          plan('completed'),
          { sessionUpdate: 'notice', severity: 'info', title: 'Ripe', description: 'mostly' },
          { sessionUpdate: 'session_info_update', title: 'Plums' },
          { sessionUpdate: 'current_mode_update', currentModeId: 'ask' },
          { sessionUpdate: 'something_new', content: 7 },
          { sessionUpdate: 'tool_call', title: 'without an id' },
          { sessionUpdate: 'agent_message_chunk', content: 'not a block' },
        ],
        text: ['Yes.'],
        end: { stopReason: 'max_tokens' },
      },
    ]);
    const { responseParts } = await fixture.turn('is it?');
    const thoughts = responseParts.flatMap((part) => (part.kind === 'reasoning' ? part.content : [])).join('');
    const lines = thoughts.split('\n').filter((line) => line.startsWith('-'));
    expect(lines).toEqual(['- [~] pick', '- [ ] eat', '- [x] pick']);
    expect(notesIn(responseParts)).toEqual([
      'Ripe: mostly',
      "The answer was cut off at the model's limit. Ask it to go on.",
    ]);
    expect((await fixture.state()).summary.title).toBe('Plums');
  });
});

describe('questions of an agent', patience, () => {
  const options = [
    { optionId: 'once', name: 'Yes', kind: 'allow_once' },
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
    { optionId: 'never', name: 'Never', kind: 'reject_always' },
  ];
  const toolCall = {
    toolCallId: 'c-1',
    title: 'rm plums.txt',
    kind: 'execute',
    content: [{ type: 'diff', path: '/a/plums.txt', oldText: 'one\n', newText: '' }],
    rawInput: { command: 'rm plums.txt' },
  };
  const asks = { method: 'session/request_permission', params: { toolCall, options } };
  const choose =
    (id: string, approved: boolean): Answer =>
    (toolCallId, turnId) => ({
      type: 'session/toolCallConfirmed',
      turnId,
      toolCallId,
      approved,
      selectedOptionId: id,
      ...(approved ? { confirmed: 'user-action' } : { reason: 'denied' }),
    });
  const outcome = (optionId: string) => [{ result: { outcome: { outcome: 'selected', optionId } } }];

  it('[UNI-088] puts the buttons of the agent to a person, with what would change, and hands the choice back', async () => {
    const { fixture, subject } = await acpFixture([{ requests: [asks], text: ['Gone.'] }]);
    const turn = await fixture.turn('remove it', choose('always', true));
    expect(await subject.notes()).toMatchObject(outcome('always'));
    const question = fixture.actions.find(({ type }) => type === 'session/toolCallReady');
    expect(question).toMatchObject({
      confirmationTitle: 'rm plums.txt',
      toolInput: '{"command":"rm plums.txt"}',
      options: [
        { id: 'once', label: 'Yes', kind: 'approve' },
        { id: 'always', label: 'Always', kind: 'approve', lasting: true },
        { id: 'always-session', label: 'Always allow shell(rm plums.txt) in this session', kind: 'approve' },
        { id: 'always-project', label: 'Always allow shell(rm plums.txt) in this project', kind: 'approve' },
        { id: 'no', label: 'No', kind: 'deny' },
        { id: 'never', label: 'Never', kind: 'deny' },
      ],
      edits: { items: [{ after: { uri: 'file:///a/plums.txt' } }] },
    });
    expect(textIn(turn)).toBe('Gone.');
  });

  it.each([
    ['approved without a choice', approve, 'once'],
    ['denied without a choice', deny, 'no'],
    ['denied for ever', choose('never', false), 'never'],
  ] as const)('[UNI-088] tells the agent that a call was %s', async (_how, answer, optionId) => {
    const { fixture, subject } = await acpFixture([{ requests: [asks], updates: [], text: ['Well.'] }]);
    await fixture.turn('remove it', answer);
    expect(await subject.notes()).toMatchObject(outcome(optionId));
  });

  it('[UNI-089] tells the reason of a denial with the next prompt, once', async () => {
    const { fixture } = await acpFixture([
      { requests: [asks], text: ['Well.'] },
      { text: ['I see.'] },
      { text: ['Yes.'] },
    ]);
    const turn = await fixture.turn('remove it', deny);
    expect(callsIn(turn.responseParts).map(({ status }) => status)).toEqual(['cancelled']);
    expect(await fixture.receivedMessages()).not.toContain(REASON);
    await fixture.turn('why?');
    await fixture.turn('is it?');
    expect((await fixture.receivedMessages()).split(REASON).length).toBe(2);
  });

  it('[UNI-088] lets gates decide before anybody is asked', async () => {
    const gate: Gate = {
      name: 'orchard-rules',
      concerns: ({ toolName }) => toolName === 'execute',
      check: ({ input }) => ({ kind: 'deny', reason: `not ${JSON.stringify(input)}` }),
    };
    const plan = [{ requests: [asks], text: ['Well.'] }];
    const { fixture, subject } = await acpFixture(plan, { extras: { gates: [gate] } });
    const turn = await fixture.turn('remove it');
    expect([fixture.questions, await subject.notes()]).toMatchObject([0, outcome('no')]);
    expect(callsIn(turn.responseParts)).toMatchObject([
      { status: 'cancelled', reasonMessage: 'orchard-rules: not {"command":"rm plums.txt"}' },
    ]);
  });

  it('asks about a call that seems to run already, too', async () => {
    const runs = told('c-1', { ...toolCall, status: 'in_progress', content: [text('…')] });
    const { fixture, subject } = await acpFixture([{ updates: [runs], requests: [asks], text: ['Well.'] }]);
    await fixture.turn('remove it', deny);
    expect([fixture.questions, await subject.notes()]).toMatchObject([1, outcome('no')]);
  });

  it('asks about a call that began under the name of a tool of the host', async () => {
    const began = told('c-1', { title: 'mcp__atrium__note', kind: 'other', status: 'pending' });
    const { fixture, subject } = await acpFixture([{ updates: [began], requests: [asks], text: ['Well.'] }]);
    await fixture.turn('remove it', deny);
    expect([fixture.questions, await subject.notes()]).toMatchObject([1, outcome('no')]);
  });

  it('keeps the result of an agent that does not wait for the answer', async () => {
    const laterUpdates = [toldMore('c-1', { status: 'completed', content: [text('removed')] })];
    const { fixture } = await acpFixture([{ requests: [asks], isHasty: true, laterUpdates, text: ['Done.'] }]);
    const turn = await fixture.turn('remove it', approve);
    expect(callsIn(turn.responseParts)).toMatchObject([
      { status: 'completed', confirmed: 'user-action', content: [{ type: 'text', text: 'removed' }] },
    ]);
  });

  it('[UNI-088] gets no permission between two turns', async () => {
    const { fixture, subject } = await acpFixture([{ text: ['Well.'], lateRequests: [asks] }]);
    await fixture.turn('remove it');
    await expect.poll(() => subject.notes()).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }]);
  });

  it('[UNI-093] hears that a question was cancelled with the turn', async () => {
    const { fixture, subject } = await acpFixture([{ requests: [asks], text: ['Well.'] }]);
    const turnId = fixture.begin('remove it');
    await fixture.question(turnId);
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    expect(await fixture.stopsWithin(1_000)).toBe(true);
    await expect.poll(() => subject.notes()).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }]);
  });
});

describe('what goes with a prompt', patience, () => {
  it('[UNI-090] [UNI-091] puts rules before it, once until they change, and context beside it each time', async () => {
    let rule = 'Plural only.';
    const extras: Omit<Extension, 'id' | 'name'> = {
      prompt: { rules: () => [rule] },
      beforeTurn: async ({ text }) => ({ context: `context of ${text}` }),
    };
    const { fixture } = await acpFixture([{ text: ['a'] }, { text: ['b'] }, { text: ['c'] }], { extras });
    await fixture.turn('one');
    await fixture.turn('two');
    rule = 'Singular only.';
    await fixture.turn('three');
    const heard = await fixture.receivedMessages();
    expect(heard.split('Plural only.').length).toBe(2);
    expect(heard.indexOf('Plural only.')).toBeLessThan(heard.indexOf('context of one'));
    expect(heard).toContain('context of two\ntwo\nb\n');
    expect(heard.slice(heard.indexOf('Singular only.'))).toMatch(/context of three\nthree\nc$/);
  });
});

describe('the tools that an agent is lent', patience, () => {
  it('[UNI-087] are those of the session, with their descriptions', async () => {
    const { fixture, subject } = await acpFixture([
      { call: { name: 'note', input: { text: 'plums' } } },
      { text: ['Noted.'] },
    ]);
    const turn = await fixture.turn('note it', approve);
    expect(await subject.notes()).toMatchObject([{ tools: [{ name: 'note', description: 'Notes a text.' }] }]);
    expect(callsIn(turn.responseParts)).toMatchObject([{ toolName: 'note', displayName: 'Note', success: true }]);
  });
});
