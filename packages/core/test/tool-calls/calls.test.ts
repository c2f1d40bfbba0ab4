/** Tool calls by themselves: the real reducer, and everything around it played. */
import { PERMISSION_META_KEY, type ToolResultContent } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { ToolOutcome } from '../../src/contracts/agent.js';
import { ALLOW_IN_SESSION } from '../../src/contracts/tool.js';
import {
  AgentRunToolCall,
  CALL_TEXT_MAX_CHARACTERS,
  ScriptedToolRunner,
} from '../../src/tool-calls/agent-run-calls.js';
import { INPUT_MAX_CHARACTERS } from '../../src/tool-calls/arguments.js';
import { ClientToolRunner, calledClientTool } from '../../src/tool-calls/client-tools.js';
import { passGates } from '../../src/tool-calls/gates.js';
import { HostToolRunner } from '../../src/tool-calls/host-tools.js';
import {
  bounded,
  canReadResults,
  cutForModel,
  outcomeForModel,
  outcomeOf,
  progressContent,
  RESULT_TEXT_MAX_CHARACTERS,
  reasonOf,
  storedResult,
  turnsForModel,
} from '../../src/tool-calls/results.js';
import type { CalledTool } from '../../src/tool-calls/shown-call.js';
import { ToolCall, type ToolRunner } from '../../src/tool-calls/tool-call.js';
import { OverdueError } from '../../src/util/waiting.js';
import { asking, result, runner, STAGES, TOOL, tick, turn, turnId } from './support.js';

describe('a call of a tool', () => {
  it('[UNI-039] that asks nobody runs, and settles once', async () => {
    const { context, types, call } = turn();
    const settled = vi.fn();
    const outcome = await new ToolCall(context, TOOL, STAGES).run('{"a":1}', runner({ settled }));
    expect(outcome).toEqual({ kind: 'completed', success: true, text: 'seen', content: result.content, callId: 'k' });
    expect([types(), settled.mock.calls.length]).toEqual([['Start', 'Ready', 'Complete'], 1]);
    expect(call()).toMatchObject({ status: 'completed', confirmed: 'not-needed', invocationMessage: 'Look there' });
  });

  it('[AHP-139] that is allowed by a setting says so', async () => {
    const { context, call, allowed } = turn();
    allowed.add(TOOL.name);
    await new ToolCall(context, TOOL, STAGES).run('{}', asking());
    expect(call()).toMatchObject({ status: 'completed', confirmed: 'setting' });
  });

  it('shows what would change, and everything else that a person is to know, with the question', async () => {
    const { context, written, answer } = turn();
    const options = [{ id: ALLOW_IN_SESSION, label: 'Always', kind: 'approve' }];
    const edits = [{ before: {}, after: {} }];
    const asked = { ...asking({ options, editable: true }), preview: async () => ({ edits }) } as unknown as ToolRunner;
    const running = new ToolCall(context, TOOL, STAGES).run('{}', asked);
    await tick();
    expect(written.at(-1)).toMatchObject({
      confirmationTitle: 'May it?',
      editable: true,
      options,
      edits: { items: edits },
    });
    answer({});
    await running;
    const plain = turn();
    void new ToolCall(plain.context, TOOL, STAGES).run('{}', asking());
    await tick();
    for (const member of ['editable', 'options', 'edits', 'riskAssessment'])
      expect(plain.written.at(-1)).not.toHaveProperty(member);
  });

  it('[DAY-005] offers to write a rule behind the plain yes, and not where only a person may answer', async () => {
    const yes = { id: 'yes', label: 'Yes', kind: 'approve' };
    const no = { id: 'no', label: 'No', kind: 'deny' };
    const always = { id: 'allow-always:project', label: 'Always', kind: 'approve' };
    const decide = async () => ({ effect: 'none', proposes: ['look(a)'], options: [always] });
    const asked = async (more: object) => {
      const { context, written } = turn({ permissions: { decide } });
      void new ToolCall(context, TOOL, STAGES).run('{}', asking(more));
      await tick();
      return (written.at(-1) as { options?: object[] }).options;
    };
    expect(await asked({ options: [yes, no] })).toEqual([yes, always, no]);
    expect(await asked({ options: [yes] })).toEqual([yes, always]);
    expect(await asked({ options: [no] })).toEqual([always, no]);
    expect(await asked({ options: [yes, no], isForPerson: true })).toEqual([yes, no]);
    expect(await asked({})).toBeUndefined();
  });

  it('[DAY-005] is judged by the rules once, and once more when the agent that runs it asks by itself', async () => {
    const decide = vi.fn(async () => ({ effect: 'none', proposes: [], options: [] }));
    const { context, answer } = turn({ permissions: { decide } });
    const running = new ToolCall(context, TOOL, STAGES).run('{}', asking());
    await tick();
    answer({});
    await running;
    expect(decide).toHaveBeenCalledOnce();
    decide.mockClear();
    const scene = turn({ permissions: { decide } });
    const own = new AgentRunToolCall(scene.context, TOOL);
    await own.check('{}', 'Look');
    expect(decide).toHaveBeenCalledOnce();
    const permit = own.confirm({ title: 'May it?' });
    await tick();
    scene.answer({});
    await permit;
    expect(decide).toHaveBeenCalledTimes(2);
    decide.mockClear();
    const silent = new AgentRunToolCall(turn({ permissions: { decide } }).context, TOOL);
    silent.shown('{}', 'Look');
    silent.progress([]);
    await tick();
    expect(decide).not.toHaveBeenCalled();
  });

  it('[DAY-005] offers the whole tool for the session once: the option of the tool says what a rule for it would say', async () => {
    const own = { id: ALLOW_IN_SESSION, label: 'Look for this session', kind: 'approve' };
    const [session, project] = ['session', 'project'].map((scope) => ({
      ...{ id: `always-${scope}`, label: scope, kind: 'approve' },
    }));
    const offered = async (proposes: readonly string[], options: readonly object[]) => {
      const decide = async () => ({ effect: 'none', proposes, options: [session, project] });
      const { context, written } = turn({ permissions: { decide } });
      void new ToolCall(context, TOOL, STAGES).run('{}', asking({ options } as never));
      await tick();
      return (written.at(-1) as { options?: object[] }).options;
    };
    expect(await offered(['look'], [own])).toEqual([own, project]);
    expect(await offered(['look(a)'], [own])).toEqual([own, session, project]);
    expect(await offered(['look'], [{ ...own, id: 'yes' }])).toEqual([{ ...own, id: 'yes' }, session, project]);
  });

  it('[UNI-039] tells its gates the folders that it works in', async () => {
    const check = vi.fn(() => ({ kind: 'pass' }));
    const gates = () => [{ name: 'watch', concerns: () => true, check }];
    const { context } = turn({ extensions: { all: () => [], gates, tools: () => [], hidden: () => () => false } });
    await new ToolCall(context, TOOL, STAGES).run('{}', runner());
    expect(check.mock.calls[0]).toMatchObject([{ workingDirectory: '/w', workingDirectories: ['/w'] }, {}]);
  });

  it('that would fail anyway is not worth a question, nor a look ahead where nobody is asked', async () => {
    const failed = { success: false, pastTenseMessage: 'No', error: { message: 'gone' } };
    const preview = vi.fn(async () => ({ failed }));
    const { context, types } = turn();
    const outcome = await new ToolCall(context, TOOL, STAGES).run('{}', { ...asking(), preview });
    expect([outcome, types()]).toMatchObject([{ success: false, text: 'gone' }, ['Start', 'Ready', 'Complete']]);
    await new ToolCall(turn().context, TOOL, STAGES).run('{}', runner({ preview }));
    expect(preview).toHaveBeenCalledOnce();
  });

  it('a person allows for the session, denies with words, or changes', async () => {
    const run = async (how: (scene: ReturnType<typeof turn>) => void) => {
      const scene = turn();
      const ran = vi.fn(
        async (call: ToolCall) =>
          ({ result: { ...result, content: [{ type: 'text', text: JSON.stringify(call.gateCall.input) }] } }) as never,
      );
      const outcome = new ToolCall(scene.context, TOOL, STAGES).run('{"a":1}', {
        ...asking({ editable: true, options: [{ id: ALLOW_IN_SESSION, label: 'x', kind: 'approve' }] }),
        run: ran,
      });
      await tick();
      how(scene);
      return { outcome: await outcome, ran: ran.mock.calls.length, allowed: [...scene.allowed], types: scene.types() };
    };
    expect(await run(({ answer }) => answer({ selectedOptionId: ALLOW_IN_SESSION }))).toMatchObject({
      ran: 1,
      allowed: ['look'],
    });
    expect(await run(({ answer }) => answer({}))).toMatchObject({ ran: 1, allowed: [], outcome: { text: '{"a":1}' } });
    expect(await run(({ answer }) => answer({ editedToolInput: '{"a":2}' }))).toMatchObject({
      ran: 1,
      outcome: { text: '{"a":2}' },
    });
    expect(await run(({ answer }) => answer({ editedToolInput: '[' }))).toMatchObject({
      ran: 0,
      outcome: { kind: 'denied' },
    });
    const no = { approved: false, confirmed: undefined, reason: 'denied' };
    expect(await run(({ answer }) => answer({ ...no, reasonMessage: 'never' }))).toMatchObject({
      ran: 0,
      outcome: { kind: 'denied', reason: 'never' },
    });
  });

  it('[UNI-039] cannot run with input that does not fit, or that its tool cannot describe', async () => {
    const { context, types } = turn();
    const bad = await new ToolCall(context, TOOL, STAGES).run('[1]', runner());
    expect([bad, types()]).toMatchObject([{ success: false }, ['Start', 'Ready', 'Complete']]);
    const describe = () => {
      throw new OverdueError('too slow');
    };
    const scene = turn();
    const failed = await new ToolCall(scene.context, TOOL, STAGES).run('{}', runner({ describe }));
    expect(failed).toMatchObject({ success: false, text: 'too slow' });
    expect(scene.call()).toMatchObject({
      pastTenseMessage: 'Look failed',
      error: { code: 'TIMEOUT' },
      invocationMessage: 'Look',
    });
  });

  it('[UNI-014] names whose it is', () => {
    const start = (tool: Partial<CalledTool>) => {
      const { context, written } = turn();
      new ToolCall(context, { ...TOOL, ...tool }, STAGES);
      return written.at(-1);
    };
    expect(start({})).not.toHaveProperty('contributor');
    expect(start({ toolClientId: 'desk', customizationId: 'm' })).toMatchObject({
      contributor: { kind: 'client', clientId: 'desk' },
    });
    expect(start({ customizationId: 'm', meta: { a: 1 } })).toMatchObject({
      contributor: { kind: 'mcp', customizationId: 'm' },
      _meta: { a: 1 },
    });
  });
});

describe('a call that an agent runs itself', () => {
  const long = 'x'.repeat(CALL_TEXT_MAX_CHARACTERS + 1);
  const cut = `${'x'.repeat(CALL_TEXT_MAX_CHARACTERS)}…`;

  it('[UNI-041] asks once, in words of bounded length, and not about half an input', async () => {
    const { context, call, answer, written } = turn();
    const own = new AgentRunToolCall(context, TOOL);
    own.shown('{"a":1}', long);
    const permit = own.confirm({ title: long });
    await tick();
    expect(call()).toMatchObject({
      status: 'pending-confirmation',
      confirmationTitle: cut,
      invocationMessage: cut,
      toolInput: '{"a":1}',
    });
    own.shown('{"a":2}', 'other');
    const again = own.confirm({ title: 'again' });
    answer({});
    expect([await permit, await again]).toEqual([{ kind: 'granted' }, { kind: 'granted' }]);
    expect(written.filter(({ type }) => type === 'chat/toolCallReady')).toHaveLength(1);
    const half = new AgentRunToolCall(turn().context, TOOL);
    half.shown('y'.repeat(20 * 2 ** 20), 'w');
    expect(await half.confirm({ title: 'May it?' })).toMatchObject({ kind: 'denied' });
  });

  it('[UNI-043] shows its output and its result, and runs without a word where nobody objects', async () => {
    const begins = vi.fn(async () => {});
    const extensions = {
      all: () => [{ name: 'e', outsideCallBegins: begins, outsideCallEnds: begins }],
      gates: () => [],
      tools: () => [],
      hidden: () => () => false,
    };
    const { context, call, types } = turn({ extensions });
    const own = new AgentRunToolCall(context, TOOL);
    expect(own.id).toBe('k');
    own.delta('{"a"');
    expect(await own.check('{"a":1}', 'Look')).toEqual({ kind: 'granted' });
    expect(begins).toHaveBeenCalledOnce();
    own.progress([{ type: 'text', text: 'so far' }]);
    await tick();
    expect(call()).toMatchObject({ status: 'running', content: [{ text: 'so far' }] });
    expect(await own.complete(result)).toMatchObject({ kind: 'completed', text: 'seen' });
    expect([types(), begins.mock.calls.length]).toEqual([['Start', 'Delta', 'Ready', 'ContentChanged', 'Complete'], 2]);
  });

  it('scripted asks with what it says, and has its output', async () => {
    const script = {
      toolName: 'x',
      success: false,
      invocationMessage: long,
      pastTenseMessage: 'Did',
      output: 'out',
      confirm: true,
    };
    const scripted = new ScriptedToolRunner(script as never);
    expect(scripted.describe()).toEqual({ invocationMessage: cut, confirmation: { title: cut } });
    expect(new ScriptedToolRunner({ ...script, confirm: false } as never).describe().confirmation).toBeUndefined();
    expect(await scripted.run()).toEqual({
      result: { success: false, pastTenseMessage: 'Did', content: [{ type: 'text', text: 'out' }] },
    });
    const exact = { ...script, invocationMessage: long.slice(1) };
    expect(new ScriptedToolRunner(exact as never).describe().invocationMessage).toBe(long.slice(1));
  });
});

describe('a call as it is shown', () => {
  it('[REL-098] has its input as it is written, up to the limit', () => {
    const { context, written, call } = turn();
    const shown = new ToolCall(context, TOOL, STAGES);
    const deltas = () => written.flatMap((each) => (each.type === 'chat/toolCallDelta' ? [each.content?.length] : []));
    shown.delta('x'.repeat(INPUT_MAX_CHARACTERS - 1));
    shown.delta('yz');
    shown.delta('more');
    expect(deltas()).toEqual([INPUT_MAX_CHARACTERS - 1, 1]);
    expect(call().status).toBe('streaming');
  });

  it('[DAY-007] says what the rules said, also about input that a person changed, beside what its tool says', async () => {
    const permission = { by: 'rule', rule: 'look(a)' };
    const decide = async () => ({ effect: 'allow', proposes: [], options: [], permission });
    const allowed = turn({ permissions: { decide } });
    await new ToolCall(allowed.context, { ...TOOL, meta: { a: 1 } }, STAGES).run('{}', runner());
    expect(allowed.call()._meta).toEqual({ a: 1, [PERMISSION_META_KEY]: permission });
    const changed = turn({ permissions: { decide } });
    const asked = new ToolCall(changed.context, TOOL, STAGES).run('{}', asking({ isForPerson: true, editable: true }));
    await tick();
    changed.answer({ editedToolInput: '{"a":2}' });
    await asked;
    expect(changed.call()._meta).toEqual({ [PERMISSION_META_KEY]: { ...permission, isChangedByPerson: true } });
    const plain = turn();
    await new ToolCall(plain.context, TOOL, STAGES).run('{}', runner());
    expect(plain.call()).not.toHaveProperty('_meta');
  });

  it('[DAY-007] asks a person when the rules say so, with its own question or with what it is about to do', async () => {
    const decide = async () => ({ effect: 'ask', proposes: ['look(a)'], options: [] });
    const asked = async (more: ToolRunner) => {
      const { context, call, answer } = turn({ permissions: { decide } });
      const outcome = new ToolCall(context, TOOL, STAGES).run('{}', more);
      await tick();
      const { status, confirmationTitle } = call() as { status: string; confirmationTitle?: string };
      answer({});
      return [status, confirmationTitle, (await outcome).kind];
    };
    expect(await asked(runner())).toEqual(['pending-confirmation', 'Look there?', 'completed']);
    expect(await asked(asking())).toEqual(['pending-confirmation', 'May it?', 'completed']);
    const { context, call, answer } = turn({ permissions: { decide } });
    const permit = new AgentRunToolCall(context, TOOL).check('{}', 'Look');
    await tick();
    expect(call()).toMatchObject({ status: 'pending-confirmation', confirmationTitle: 'Look?' });
    answer({});
    expect(await permit).toEqual({ kind: 'granted' });
  });

  it('[DAY-007] is denied when the rules say so, also when its agent asks by itself, with the words of the rule or ours', async () => {
    const denied = async (reason?: string) => {
      const decision = { effect: 'deny', proposes: [], options: [], ...(reason !== undefined && { reason }) };
      const { context, types } = turn({ permissions: { decide: async () => decision } });
      const own = new AgentRunToolCall(context, TOOL);
      own.shown('{}', 'Look');
      const permit = await own.confirm({ title: 'May it?' });
      const before = turn({ permissions: { decide: async () => decision } });
      const checked = await new AgentRunToolCall(before.context, TOOL).check('{}', 'Look');
      const stages = await new ToolCall(
        turn({ permissions: { decide: async () => decision } }).context,
        TOOL,
        STAGES,
      ).run(...(['{}', runner()] as const));
      expect([types(), before.types()]).toEqual(Array(2).fill(['Start', 'Ready', 'Confirmed']));
      return [permit, checked, stages];
    };
    expect(await denied('never')).toMatchObject(Array(3).fill({ kind: 'denied', reason: 'never' }));
    expect(await denied()).toMatchObject(Array(3).fill({ kind: 'denied', reason: 'a rule forbids it' }));
  });
});

describe('what an agent hears of a call', () => {
  it('is which option a person chose, with a yes and with a no', async () => {
    const options = [
      { id: 'once', label: 'Once', kind: 'approve' as const },
      { id: 'never', label: 'Never', kind: 'deny' as const },
    ];
    const chosen = async (answered: object) => {
      const { context, answer } = turn();
      const own = new AgentRunToolCall(context, TOOL);
      own.shown('{}', 'Look');
      const permit = own.confirm({ title: 'May it?', options });
      await tick();
      answer(answered);
      return permit;
    };
    expect(await chosen({ selectedOptionId: 'once' })).toEqual({ kind: 'granted', option: 'once' });
    expect(
      await chosen({ approved: false, confirmed: undefined, reason: 'denied', selectedOptionId: 'never' }),
    ).toMatchObject({
      kind: 'denied',
      option: 'never',
    });
  });

  it('is all of the output where the agent knows it already, and the beginning and the end elsewhere', async () => {
    const text = 'line\n'.repeat(1_000);
    const run = async () => ({ result: { ...result, content: [{ type: 'text' as const, text }] } });
    const outcome = async (output: 'cut' | 'whole') => {
      const { context } = turn({ outputMaxCharacters: 1_000 });
      const given = await new ToolCall(context, TOOL, { ...STAGES, output }).run('{}', runner({ run }));
      return given.kind === 'completed' && given.text === text;
    };
    expect([await outcome('whole'), await outcome('cut')]).toEqual([true, false]);
  });

  it('[UNI-026] is why it could not run', async () => {
    const failed = async (code?: 'NOT_FOUND' | 'BAD_INPUT') => {
      const { context, call } = turn();
      await new ToolCall(context, TOOL, STAGES).fail('why', code);
      return call();
    };
    expect(await failed('NOT_FOUND')).toMatchObject({
      pastTenseMessage: 'There is no tool look',
      error: { message: 'why', code: 'NOT_FOUND' },
    });
    expect(await failed('BAD_INPUT')).toMatchObject({
      pastTenseMessage: 'Could not use Look',
      error: { code: 'BAD_INPUT' },
    });
    expect((await failed()) as { error?: object }).toMatchObject({
      pastTenseMessage: 'Could not use Look',
      error: { message: 'why' },
    });
  });
});

describe('a call of a tool of a client', () => {
  const DESK = calledClientTool('k', 'desk', { name: 'look', title: 'Look' } as never);

  function scene(tool: object = {}, changes: object = {}) {
    const [begins, ends] = [vi.fn(async () => {}), vi.fn(async () => {})];
    const extensions = {
      all: () => [{ name: 'e', outsideCallBegins: begins, outsideCallEnds: ends }],
      gates: () => [],
      tools: () => [],
      hidden: () => () => false,
    };
    const one = turn({ extensions, ...changes });
    const client = new ClientToolRunner(one.context, { name: 'look', title: 'Look', ...tool } as never);
    const outcome = new ToolCall(one.context, DESK, client.stages).run('{}', client);
    const complete = (toolCallId = 'k') => one.apply({ type: 'chat/toolCallComplete', turnId, toolCallId, result });
    return { ...one, client, outcome, complete, begins, ends };
  }

  it('[CUS-129] [CUS-132] runs at the client, which completes it, and extensions hear of both', async () => {
    const { outcome, complete, begins, ends, call, client } = scene();
    expect(client.describe()).toEqual({ invocationMessage: 'Use Look' });
    await tick();
    expect([call().status, begins.mock.calls.length, ends.mock.calls.length]).toEqual(['running', 1, 0]);
    complete();
    expect(await outcome).toMatchObject({ kind: 'completed', text: 'seen' });
    expect([begins.mock.calls.length, ends.mock.calls.length]).toEqual([1, 1]);
  });

  it('[CUS-131] that a gate wants a person to allow begins when the person has', async () => {
    const gate = { name: 'g', concerns: () => true, check: () => ({ kind: 'ask', reason: 'sure?' }) };
    const [begins, ends] = [vi.fn(async () => {}), vi.fn(async () => {})];
    const extensions = {
      ...{ all: () => [{ name: 'e', outsideCallBegins: begins, outsideCallEnds: ends }], gates: () => [gate] },
      ...{ tools: () => [], hidden: () => () => false },
    };
    const { outcome, complete, call, answer } = scene({}, { extensions });
    await tick();
    expect([call(), begins.mock.calls.length]).toMatchObject([
      { status: 'pending-confirmation', confirmationTitle: 'g: sure?' },
      0,
    ]);
    answer({});
    await tick();
    expect([call().status, begins.mock.calls.length]).toEqual(['running', 1]);
    complete();
    expect(await outcome).toMatchObject({ kind: 'completed' });
    expect(begins).toHaveBeenCalledOnce();
  });

  it('[CUS-132] whose input does not fit is not shown to it as running', async () => {
    const ready = async (called: CalledTool) => {
      const { context, written } = turn();
      await new ToolCall(context, called, STAGES).run('[1]', runner());
      return written.find(({ type }) => type === 'chat/toolCallReady');
    };
    expect(await ready(TOOL)).toHaveProperty('confirmed', 'not-needed');
    expect(await ready(DESK)).not.toHaveProperty('confirmed');
  });

  it('[CUS-133] is not moved once it has run, though a person has yet to release its result', async () => {
    let isGone = false;
    const changes = {
      isConnected: () => !isGone,
      activeClients: () => [{ clientId: 'phone', tools: [{ name: 'look', annotations: { readOnlyHint: true } }] }],
    };
    const { apply, call, written } = scene({}, changes);
    await tick();
    const released = { ...result, pastTenseMessage: 'Looked' };
    apply({
      type: 'chat/toolCallComplete',
      turnId,
      toolCallId: 'k',
      result: released,
      requiresResultConfirmation: true,
    });
    isGone = true;
    apply({ type: 'chat/activityChanged', activity: 'x' });
    await tick();
    expect(call().status).toBe('pending-result-confirmation');
    expect(written.filter(({ type }) => type === 'chat/toolCallStart')).toHaveLength(1);
  });

  it('[UNI-045] is not turned down by the answer to another call', async () => {
    const { outcome, answer, complete, call } = scene();
    await tick();
    answer({ toolCallId: 'other', approved: false, confirmed: undefined, reason: 'denied' });
    await tick();
    expect(call().status).toBe('running');
    complete();
    expect(await outcome).toMatchObject({ kind: 'completed', success: true });
  });

  it('[UNI-045] that the client does not know fails with its words, or with ours', async () => {
    const down = async (more: object) => {
      const { outcome, answer, written } = scene();
      await tick();
      answer({ approved: false, confirmed: undefined, reason: 'denied', ...more });
      await tick();
      const told = written.find(({ type }) => type === 'chat/toolCallComplete');
      expect(told).toMatchObject({ result: { error: { code: 'NOT_FOUND' }, pastTenseMessage: 'Did not use Look' } });
      return outcome;
    };
    expect(await down({ reasonMessage: 'what?' })).toMatchObject({
      success: false,
      text: expect.stringContaining('what?'),
    });
  });

  it.each<[string, object, boolean]>([
    ['is asked about again', {}, true],
    ['goes on where it only reads', { annotations: { readOnlyHint: true } }, false],
    ['goes on where twice is as once', { annotations: { idempotentHint: true } }, false],
  ])('[CUS-133] whose client left %s', async (_, tool, isAsked) => {
    const gone = { isConnected: (clientId: string) => clientId !== 'desk' };
    const offered = [
      { clientId: 'idle', tools: [{ name: 'other' }] },
      { clientId: 'phone', tools: [{ name: 'look', title: 'Look', ...tool }] },
    ];
    let isGone = false;
    const changes = {
      isConnected: (clientId: string) => !isGone || gone.isConnected(clientId),
      activeClients: () => (isGone ? offered : []),
    };
    const { apply, written, ends, context, outcome } = scene(tool, changes);
    await tick();
    isGone = true;
    apply({ type: 'chat/activityChanged', activity: 'x' });
    await tick();
    const starts = written.flatMap((action) => (action.type === 'chat/toolCallStart' ? action : []));
    expect(starts.map(({ contributor }) => contributor)).toEqual([
      { kind: 'client', clientId: 'desk' },
      { kind: 'client', clientId: 'phone' },
    ]);
    expect(written.find(({ type }) => type === 'chat/toolCallComplete')).toMatchObject({
      toolCallId: 'k',
      result: {
        ...{ success: false, pastTenseMessage: expect.stringMatching(/\w/) },
        error: { code: 'HANDED_OVER', message: expect.stringMatching(/desk.* left.* phone/) },
      },
    });
    expect(ends).toHaveBeenCalledOnce();
    const second = starts[1]?.toolCallId ?? '';
    expect(context.call(second)?.status).toBe(isAsked ? 'pending-confirmation' : 'running');
    if (isAsked) {
      expect(context.call(second)).toMatchObject({
        confirmationTitle: expect.stringContaining('Run "Look" again?'),
        options: [
          { id: 'approve', kind: 'approve' },
          { id: 'deny', kind: 'deny' },
        ],
      });
      apply({ type: 'chat/toolCallConfirmed', turnId, toolCallId: second, approved: true, confirmed: 'user-action' });
    }
    apply({ type: 'chat/toolCallComplete', turnId, toolCallId: second, result });
    expect(await outcome).toMatchObject({ kind: 'completed', text: 'seen', callId: second });
  });
});

describe('what a model reads of a result', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1} ${'x'.repeat(90)}`);
  const shownIn = (text: string) => text.split('\n').filter((line) => line.startsWith('line'));

  it('[UNI-026] is all of it, up to the limit', () => {
    const text = 'x'.repeat(1_000);
    expect(cutForModel(text, { maxCharacters: 1_000, readable: 'k' })).toBe(text);
    expect(cutForModel(`${text}x`, { maxCharacters: 1_000, readable: 'k' })).not.toBe(`${text}x`);
  });

  it('is the beginning and the end, in about equal parts and whole lines, and how to read the rest', () => {
    const all = lines(100);
    const cut = cutForModel(all.join('\n'), { maxCharacters: 2_400, readable: 'k' });
    const shown = shownIn(cut);
    expect(cut.length).toBeLessThanOrEqual(2_400);
    expect(shown.length).toBeGreaterThan(15);
    const head = shown.filter((line) => all.indexOf(line) < 50).length;
    const tail = shown.length - head;
    expect(shown).toEqual([...all.slice(0, head), ...all.slice(100 - tail)]);
    expect(Math.abs(head - tail)).toBeLessThanOrEqual(1);
    expect(cut).toContain(
      `[… ${100 - head - tail} lines left out here, lines ${head + 1} to ${100 - tail} of 100. Read them with read_file`,
    );
    const { startLine, endLine, path } = JSON.parse(/\{.*\}/.exec(cut)?.[0] ?? '{}');
    expect([startLine, path]).toEqual([head + 1, expect.stringContaining('k')]);
    expect(endLine).toBeGreaterThan(startLine);
    expect(endLine).toBeLessThanOrEqual(head + 21);
    expect(cutForModel(all.join('\n'), { maxCharacters: 2_400, readable: undefined })).toContain('Call the tool again');
  });

  it.each([
    ['1000 lines', 1_000, 2_400, 'lines 101 to 900 of 1000', { startLine: 101, endLine: 300 }],
    ['an odd limit', 1_000, 2_419, 'lines 101 to 899 of 1000', { startLine: 101, endLine: 301 }],
    ['a line less', 1_000, 2_399, 'lines 100 to 900 of 1000', { startLine: 100, endLine: 298 }],
    ['few lines', 250, 2_400, 'lines 101 to 150 of 250', { startLine: 101, endLine: 150 }],
  ])('is as many whole lines as fit in each half, and so are those to read next: %s', (_, count, max, range, input) => {
    const cut = cutForModel(Array(count).fill('x'.repeat(9)).join('\n'), { maxCharacters: max, readable: 'k' });
    expect(cut).toContain(`lines left out here, ${range}.`);
    expect(JSON.parse(/\{.*\}/.exec(cut)?.[0] ?? '')).toMatchObject(input);
    expect(cut.length).toBeLessThanOrEqual(max);
  });

  it('ends with as many lines as fit there, whatever those in the middle are like', () => {
    const all = [...lines(10), ...Array.from({ length: 40 }, () => 'y'.repeat(500)), ...lines(30)];
    const cut = cutForModel(all.join('\n'), { maxCharacters: 2_400, readable: 'k' });
    expect(cut.length).toBeLessThanOrEqual(2_400);
    expect(shownIn(cut.slice(cut.indexOf(']'))).length).toBeGreaterThan(8);
  });

  it('[REL-098] has data for programs up to a limit', () => {
    const structured = (length: number) => ({
      ...result,
      structuredContent: { a: 'x'.repeat(length - '{"a":""}'.length) },
    });
    expect(bounded(structured(RESULT_TEXT_MAX_CHARACTERS))).toHaveProperty('structuredContent');
    expect(bounded(structured(RESULT_TEXT_MAX_CHARACTERS + 1))).toEqual(result);
    expect(bounded(result)).toEqual(result);
  });

  it('is only how to read it where not even a line fits', () => {
    const cut = cutForModel(lines(20).join('\n'), { maxCharacters: 500, readable: 'k' });
    expect(cut).toMatch(/^\[… 20 lines left out here, lines 1 to 20 of 20\..*\]$/);
  });

  it('is cut for an agent that gets it, and names the result where it can be read', () => {
    const tool = { definition: { name: 'read_file' } };
    const outcome: ToolOutcome = {
      ...{ kind: 'completed', success: true, text: lines(100).join('\n'), content: [], callId: 'k' },
    };
    const forModel = (tools: object[], hidden = false) => {
      const extensions = { tools: () => tools, hidden: () => () => hidden };
      const { context } = turn({ outputMaxCharacters: 2_400, extensions });
      const cut = outcomeForModel(context, outcome);
      return cut.kind === 'completed' && cut.text.includes('read_file');
    };
    expect([forModel([tool]), forModel([]), forModel([{ ...tool, owner: 'x' }]), forModel([tool], true)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const denied = { kind: 'denied', reason: 'no' } as const;
    expect(outcomeForModel(turn().context, denied)).toBe(denied);
    expect(canReadResults({ tools: () => [tool] as never, hidden: (chat) => () => chat === 'other' }, 'c')).toBe(true);
  });

  it('is cut in stored turns as well, with what is no text beside it', () => {
    const image = { type: 'embeddedResource', data: 'd', contentType: 'image/png' };
    const long = [{ type: 'text', text: lines(60).join('\n') }, image, { type: 'text', text: lines(60).join('\n') }];
    const part = (content: object[], more: object = {}) => ({
      kind: 'toolCall',
      toolCall: { toolCallId: 'k', status: 'completed', content, structuredContent: { a: 1 }, ...more },
    });
    const remembered = (given: object) =>
      (turnsForModel([{ responseParts: [given] } as never], { maxCharacters: 2_400, canRead: true })[0]
        ?.responseParts ?? [])[0];
    const cut = remembered(part(long)) as unknown as { toolCall: { content: { type: string; text?: string }[] } };
    expect(cut.toolCall.content.map(({ type }) => type)).toEqual(['text', 'embeddedResource']);
    expect(cut.toolCall.content[0]?.text).toContain('read_file');
    expect(cut.toolCall).not.toHaveProperty('structuredContent');
    for (const same of [
      part([{ type: 'text', text: 'short' }]),
      part(long, { status: 'cancelled' }),
      { kind: 'markdown', content: 'x' },
    ])
      expect(remembered(same)).toBe(same);
  });

  it('[UNI-026] is text, or data, or the error', () => {
    const done = (more: object) => outcomeOf({ toolCallId: 'k', status: 'completed', success: true, ...more } as never);
    const text = (value: string) => ({ type: 'text', text: value });
    expect(done({ content: [text('a'), { type: 'embeddedResource' }, text('b')] })).toMatchObject({ text: 'a\nb' });
    expect(done({ content: [text('')], structuredContent: { a: 1 } })).toMatchObject({ text: '{"a":1}' });
    expect([done({ error: { message: 'no' } }), done({})]).toMatchObject([{ text: 'no' }, { text: '', content: [] }]);
    const reason = (more: object) => reasonOf({ status: 'cancelled', reason: 'denied', ...more } as never);
    expect([
      reason({}),
      reason({ reason: 'skipped' }),
      reason({ reasonMessage: 'no' }),
      reason({ reasonMessage: { markdown: '*no*' } }),
    ]).toEqual([...['the person said no', 'the person skipped it', 'no'], '*no*']);
    expect(reason({ reasonMessage: 'no', userSuggestion: { text: 'rather' } })).toBe('rather');
    expect(reasonOf({ status: 'running' } as never)).toBe('the call is over');
  });

  it('[REL-098] is shown by its end while a tool runs, in all its blocks together', () => {
    const text = (value: string) => ({ type: 'text', text: value }) as ToolResultContent;
    const max = 64 * 2 ** 10;
    const [first, second, third] = progressContent([text('a'.repeat(max - 2)), text('bcd'), text('e')]) as {
      text: string;
    }[];
    expect([first?.text.length, second?.text, third?.text]).toEqual([max - 2, '[…]\ncd', '[…]\n']);
    const data = (length: number) =>
      ({ type: 'embeddedResource', data: 'd'.repeat(length), contentType: 'image/png' }) as ToolResultContent;
    const shown = progressContent([data(max), data(1)]);
    expect(shown.map(({ type }) => type)).toEqual(['embeddedResource', 'text']);
    expect(shown[1]).toMatchObject({ text: expect.stringContaining('image/png of 1 byte') });
  });

  it('of an earlier call is found in the running turn, in memory, and in the log, the newest first', async () => {
    const done = (text: string, more: object = {}) => ({
      responseParts: [
        {
          kind: 'toolCall',
          toolCall: { toolCallId: 'k', status: 'completed', content: [{ type: 'text', text }], ...more },
        },
      ],
    });
    const find = (state: object, unloaded: object[] = []) =>
      storedResult(
        { state: { turns: [], ...state }, unloadedTurns: async () => unloaded, blobs: undefined } as never,
        'k',
      );
    expect(await find({ turns: [done('old'), done('new')] }, [done('log')])).toBe('new');
    expect(await find({ turns: [done('old')], activeTurn: done('now') })).toBe('now');
    expect(
      await find({ turns: [done('x', { status: 'running' }), done('y', { toolCallId: 'l' })] }, [done('log')]),
    ).toBe('log');
    expect(await find({})).toBeUndefined();
  });
});

describe('gates of a call', () => {
  const CALL = { session: 's', chat: 'c', turnId, toolCallId: 'k', toolName: 'look', input: {} };
  const gate = (name: string, check: () => unknown) => ({ name, concerns: () => true, check });
  const pass = async (gates: object[]) => {
    const extensions = { all: () => [], gates: () => gates, tools: () => [], hidden: () => () => false };
    const waiting = vi.fn();
    const clearance = await passGates(turn({ extensions }).context, CALL as never, waiting);
    await tick();
    return [clearance, waiting.mock.calls] as const;
  };

  it('[UNI-039] that object at once spare it the wait for others', async () => {
    const never = gate('slow', () => new Promise(() => {}));
    const [clearance] = await pass([never, gate('no', () => ({ kind: 'deny', reason: 'never' }))]);
    expect(clearance).toEqual({ kind: 'denied', reason: 'no: never' });
  });

  it('[UNI-042] are named only while it waits for them', async () => {
    const soon = () =>
      gate('soon', () =>
        tick()
          .then(tick)
          .then(() => ({ kind: 'pass', note: 'seen' })),
      );
    expect(await pass([gate('now', () => ({ kind: 'pass' }))])).toEqual([{ kind: 'cleared', notes: [] }, []]);
    expect(await pass([soon(), soon(), gate('now', () => ({ kind: 'pass' }))])).toEqual([
      { kind: 'cleared', notes: ['soon: seen', 'soon: seen'] },
      [[['soon']]],
    ]);
  });
});

describe('a tool that the host runs', () => {
  function hosted(tool: object, changes: object = {}) {
    const definition = { name: 'look' };
    const own = { definition, displayName: 'Look', invocationMessage: () => 'Look', run: async () => result, ...tool };
    const command = { forget: vi.fn() };
    const extensions = { all: () => [], gates: () => [], tools: () => [own], hidden: () => () => false };
    const scene = turn({ extensions, runningCommand: () => command, toolContext: () => ({}), ...changes });
    const host = new HostToolRunner(scene.context, own as never);
    const called = { ...TOOL, customizationId: 'm' };
    const outcome = new ToolCall(scene.context, called, host.stages).run('{}', host);
    return { ...scene, outcome, command, own };
  }

  it.each([
    ['is gone', []],
    ['is of another extension', [{ owner: 'other' }]],
    ['is of another program with the name of its owner', [{ identity: 'two' }]],
    ['has another name', [{ definition: { name: 'see' } }]],
  ])('[UNI-099] does not run when the tool %s by then', async (_, others) => {
    const run = vi.fn(async () => result);
    const tool = { owner: 'ext', identity: 'one', run };
    const now = others.map((other) => ({ definition: { name: 'look' }, ...tool, ...other }));
    const extensions = { all: () => [], gates: () => [], tools: () => now, hidden: () => () => false };
    const { outcome, call } = hosted(tool, { extensions });
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('was removed') });
    expect(call()).toMatchObject({ pastTenseMessage: 'Could not use Look', error: { code: 'NOT_FOUND' } });
    expect(run).not.toHaveBeenCalled();
    expect(await hosted(tool).outcome).toMatchObject({ success: true });
  });

  it('[DAY-007] only reads as far as its owner is believed', () => {
    const reads = (tool: object) => new HostToolRunner(turn().context, tool as never).isReadOnly;
    const hint = (readOnlyHint: boolean) => ({ definition: { name: 'look', annotations: { readOnlyHint } } });
    const asks = { confirmation: () => undefined };
    const plain = { definition: { name: 'look' } };
    expect(
      [plain, { ...plain, ...asks }, hint(true), { ...hint(true), ...asks }, { ...hint(false), ...asks }].map(reads),
    ).toEqual([...[true, false, true, true, false]]);
    const owned = [plain, hint(true), { ...hint(true), ...asks }, hint(false)].map((tool) => ({
      ...tool,
      owner: 'ext',
    }));
    expect(owned.map(reads)).toEqual([false, true, false, false]);
    const ofClient = (annotations?: object) =>
      new ClientToolRunner(turn().context, {
        name: 'look',
        inputSchema: { type: 'object' },
        ...(annotations && { annotations }),
      } as never);
    expect(
      [undefined, {}, { readOnlyHint: false }, { readOnlyHint: true }].map((each) => ofClient(each).isReadOnly),
    ).toEqual([...[false, false, false, true]]);
  });

  it('is told what its preview was about, and its command is forgotten when the result is stored', async () => {
    const run = vi.fn(async (_input: unknown, _context: { basis?: unknown }) => result);
    const confirmation = () => ({ title: 'May it?' });
    const { outcome, answer, command } = hosted({
      run,
      confirmation,
      preview: async () => ({ kind: 'edits', edits: [], basis: 'b' }),
    });
    await tick();
    answer({});
    await outcome;
    expect(run.mock.calls[0]?.[1].basis).toBe('b');
    expect(command.forget).toHaveBeenCalledOnce();
    const plain = hosted({ run });
    await plain.outcome;
    expect(run.mock.calls[1]?.[1]).not.toHaveProperty('basis');
  });

  it('knows its session and folders, keeps the list of tasks, and begins workers under its call', async () => {
    const [plan, openWorker, ask] = [vi.fn(), vi.fn(async () => 'worker'), vi.fn(async () => 'answer')];
    const tasks = [{ title: 'one', status: 'pending' }];
    let told: object = {};
    const run = async (_input: unknown, context: Record<string, (value: unknown) => unknown>) => {
      context.plan?.(tasks);
      const [worker, answer] = [await context.openWorker?.({ prompt: 'go' }), await context.ask?.({ title: 'Which?' })];
      told = { ...context, worker, answer };
      return result;
    };
    const { outcome, context } = hosted({ run }, { plan, openWorker, ask, toolContext: (id: string) => ({ of: id }) });
    expect(await outcome).toMatchObject({ success: true });
    expect(plan).toHaveBeenCalledExactlyOnceWith(tasks);
    expect(openWorker.mock.calls).toEqual([[{ prompt: 'go', toolCallId: 'k', signal: expect.any(AbortSignal) }]]);
    expect(ask.mock.calls).toEqual([[{ title: 'Which?' }]]);
    const { session, workingDirectory: cwd, workingDirectories: folders } = context;
    expect(told).toMatchObject({ session, cwd, folders, worker: 'worker', answer: 'answer', of: 'k' });
    expect(told).not.toHaveProperty('option');
  });

  it('knows the input of its earlier calls that succeeded, the newest first', async () => {
    const call = (toolInput: string, more: object = {}) => ({
      ...{ kind: 'toolCall', toolCall: { toolName: 'look', status: 'completed', success: true, toolInput, ...more } },
    });
    const turns = [
      { responseParts: [call('{"a":1}'), call('{"a":2}')] },
      {
        responseParts: [
          call('{"a":3}'),
          { kind: 'markdown' },
          call('{"a":4}', { success: false }),
          call('{"a":5}', { toolName: 'x' }),
        ],
      },
      {
        responseParts: [call('{"a":6}', { contributor: { kind: 'client' } }), call('{"a":7}', { status: 'cancelled' })],
      },
    ];
    let earlier: unknown[] = [];
    const run = async (_input: unknown, { earlier: all }: { earlier(): Iterable<unknown> }) => {
      earlier = [...all()];
      return result;
    };
    const scene = hosted({ run });
    Object.assign(scene.context.state, { turns });
    await scene.outcome;
    expect(earlier).toEqual([{ a: 3 }, { a: 2 }, { a: 1 }]);
  });

  it('waits for a token, and goes on with it', async () => {
    let signIn = () => {};
    const signedIn = new Promise<void>((resolve) => (signIn = resolve));
    const auth = { resource: 'https://x', reason: 'required' };
    const run = async (_input: unknown, context: { signIn(auth: object, signedIn: Promise<void>): Promise<void> }) => {
      await context.signIn(auth, signedIn);
      return result;
    };
    const { outcome, call } = hosted({ run });
    await tick();
    expect(call()).toMatchObject({ status: 'auth-required' });
    signIn();
    await outcome;
    expect(call().status).toBe('completed');
  });

  it('[UP-120] is assessed with the question that is shown', async () => {
    const judge = vi.fn(async () => ({ safety: 1, reason: 'fine' }));
    const { outcome, answer, call } = hosted({ confirmation: () => ({ title: 'May it?' }) }, { judge });
    await tick();
    expect((judge.mock.calls as unknown[][])[0]?.[0]).toEqual({ toolName: 'look', question: 'May it?', input: '{}' });
    await tick();
    expect(call()).toMatchObject({ status: 'pending-confirmation', riskAssessment: { status: 'complete', safety: 1 } });
    answer({});
    await outcome;
  });
});
