/** The tool calls of one turn: which tool a name leads to, and the call that it starts. */
import { describe, expect, it, vi } from 'vitest';
import { CALL_NAME_MAX_CHARACTERS, ShownCall } from '../../src/tool-calls/shown-call.js';
import { ToolCalls } from '../../src/tool-calls/tool-calls.js';
import { result, TOOL, tick, turn, turnId } from './support.js';

function hostTool(name: string, more: object = {}) {
  return { definition: { name }, displayName: name, invocationMessage: () => name, run: async () => result, ...more };
}

function scene({ tools = [] as object[], clients = [] as object[], hidden = [] as string[] } = {}) {
  const offer = { tools, clients };
  const extensions = {
    ...{ all: () => [], gates: () => [], tools: () => offer.tools },
    hidden: (chat: string) => (name: string) => chat === 'c' && hidden.includes(name),
  };
  const one = turn({
    ...{ extensions, activeClients: () => offer.clients },
    ...{ runningCommand: () => ({ forget: () => {} }), toolContext: () => ({}) },
  });
  return { ...one, offer, calls: new ToolCalls(one.context) };
}

describe('the tools of a turn', () => {
  it('[UNI-025] are those of the host and of clients, without hidden ones, whose names stay taken', () => {
    const tools = [hostTool('read'), hostTool('secret')];
    const clients = [{ clientId: 'desk', tools: [{ name: 'secret' }, { name: 'look' }] }];
    const { calls } = scene({ tools, clients, hidden: ['read'] });
    expect(calls.offered().map(({ name }) => name)).toEqual(['secret', 'client_secret', 'look']);
  });

  it('[CUS-128] are made anew only when the host, a client, or the tools of a client are others', () => {
    const look = { name: 'look' };
    const one = scene({ tools: [hostTool('read')], clients: [{ clientId: 'desk', tools: [look] }] });
    const last = () => one.calls.offered().at(-1);
    const first = last();
    one.offer.clients = [{ clientId: 'desk', tools: [look] }];
    expect(last()).toBe(first);
    one.offer.clients = [{ clientId: 'desk', tools: [{ name: 'see' }] }];
    expect(last()).toEqual({ name: 'see' });
    one.offer.clients = [{ clientId: 'desk', tools: [look, { name: 'see' }] }];
    expect(one.calls.offered().map(({ name }) => name)).toEqual(['read', 'look', 'see']);
    one.offer.tools = [hostTool('write')];
    expect(one.calls.offered()[0]?.name).toBe('write');
    one.offer.tools = [];
    expect(one.calls.offered()[0]?.name).toBe('look');
  });

  it('[CUS-128] of another client are called at that client', async () => {
    const look = { name: 'look' };
    const one = scene({ clients: [{ clientId: 'desk', tools: [look] }] });
    one.calls.offered();
    one.offer.clients = [{ clientId: 'phone', tools: [look] }];
    void one.calls.call({ name: 'look', input: '{}' });
    expect(one.written.at(-1)).toMatchObject({ contributor: { kind: 'client', clientId: 'phone' } });
  });
});

describe('a call by name', () => {
  it('[UNI-026] of a tool that does not exist fails with its name, and shows what the model wrote', async () => {
    const { calls, call, types } = scene();
    const outcome = await calls.call({ id: 'k', name: 'nowhere', input: '{"a":1}' });
    expect(outcome).toMatchObject({ kind: 'completed', success: false, text: 'there is no tool nowhere' });
    expect(call()).toMatchObject({
      ...{ toolName: 'nowhere', toolInput: '{"a":1}', invocationMessage: 'Use nowhere', confirmed: 'not-needed' },
      error: { message: 'there is no tool nowhere', code: 'NOT_FOUND' },
    });
    expect(types()).toEqual(['Start', 'Ready', 'Complete']);
  });

  it('[REL-098] shows no more of a made-up name than fits', () => {
    const { calls, written } = scene();
    const name = 'n'.repeat(CALL_NAME_MAX_CHARACTERS + 1);
    calls.begin({ name });
    const shown = written.at(-1) as { toolName?: string };
    expect(shown.toolName?.length).toBeLessThanOrEqual(CALL_NAME_MAX_CHARACTERS);
    calls.beginAgentRun({ name, displayName: name });
    const own = written.at(-1) as { toolName?: string; displayName?: string };
    expect([own.toolName, own.displayName]).toEqual([shown.toolName, shown.toolName]);
  });

  it('[AHP-134] has the id that was asked for, unless a call of the turn has it', () => {
    const { calls } = scene();
    const [first, second, third] = [{ id: 'k' }, { id: 'k' }, {}].map((id) => calls.begin({ ...id, name: 'x' }).id);
    expect([first, second, third]).toEqual(['k', expect.stringMatching(/^call-/), expect.stringMatching(/^call-/)]);
    expect(second).not.toBe(third);
  });

  it('[UNI-014] names whose tool of the host it is, and shows its input as it comes', async () => {
    const tool = hostTool('look', { displayName: 'Look', customizationId: 'm', callMeta: { of: 'p' } });
    const { calls, written, types } = scene({ tools: [tool] });
    const begun = calls.begin({ id: 'k', name: 'look' });
    expect(written.at(-1)).toMatchObject({
      ...{ toolName: 'look', displayName: 'Look', _meta: { of: 'p' } },
      contributor: { kind: 'mcp', customizationId: 'm' },
    });
    begun.delta('{"a"');
    begun.delta('');
    expect(await begun.run('{"a":1}')).toMatchObject({ kind: 'completed', text: 'seen' });
    expect(types()).toEqual(['Start', 'Delta', 'Ready', 'Complete']);
  });

  it('that the agent gives up fails with its words', async () => {
    const { calls, call } = scene({ tools: [hostTool('look')] });
    await calls.begin({ id: 'k', name: 'look' }).fail('the input never came');
    expect(call()).toMatchObject({ status: 'completed', success: false, error: { message: 'the input never came' } });
  });

  it('that is scripted has no input unless the script has one', async () => {
    const script = { name: 'x', displayName: 'X', invocationMessage: 'Do x', pastTenseMessage: 'Did', output: 'out' };
    const run = async (more: object) => {
      const { calls, call } = scene();
      const outcome = await calls.runScripted({ ...script, id: 'k', success: true, ...more });
      expect(outcome).toMatchObject({ kind: 'completed', text: 'out' });
      return call();
    };
    expect(await run({})).toMatchObject({ toolInput: '', invocationMessage: 'Do x', pastTenseMessage: 'Did' });
    expect(await run({ input: 'words' })).toMatchObject({ toolInput: 'words' });
  });
});

describe('a call as the session shows it', () => {
  it('[UP-120] takes no assessment any more when it is answered', () => {
    const { context, apply, answer, written } = turn();
    const shown = new ShownCall(context, TOOL);
    const assessment = { kind: 'judge', status: 'complete', safety: 1, reason: 'fine' } as const;
    shown.assessed(assessment);
    expect(written.at(-1)?.type).toBe('chat/toolCallStart');
    shown.asking({ title: 'May it?' });
    shown.assessed(assessment);
    expect(written.at(-1)).toMatchObject({ type: 'chat/toolCallReady', riskAssessment: assessment });
    answer({});
    const { length } = written;
    shown.assessed(assessment);
    apply({ type: 'chat/activityChanged', activity: 'x' });
    expect(written).toHaveLength(length + 1);
  });

  it('[UNI-042] names the gates that it waits for only while its input is being written', () => {
    const { context, written } = turn();
    const shown = new ShownCall(context, TOOL);
    shown.waitingFor(['a', 'b']);
    expect(written.at(-1)).toMatchObject({
      ...{ type: 'chat/toolCallDelta', content: '', invocationMessage: 'Waiting for a, b', turnId, toolCallId: 'k' },
    });
    shown.running('not-needed');
    const { length } = written;
    shown.waitingFor(['a']);
    expect(written).toHaveLength(length);
  });

  it('[UNI-045] that is over already is neither denied nor completed again', async () => {
    const { context, apply, written } = turn();
    const shown = new ShownCall(context, TOOL);
    shown.running('not-needed');
    apply({ type: 'chat/toolCallComplete', turnId, toolCallId: 'k', result });
    const { length } = written;
    expect(await shown.deny('too late')).toEqual({ kind: 'denied', reason: 'too late' });
    expect(await shown.complete({ success: false, pastTenseMessage: 'No' })).toMatchObject({ text: 'seen' });
    expect(written).toHaveLength(length);
  });

  it('says anew why it waits for a token, and goes on only if it waits', () => {
    const { context, types } = turn();
    const shown = new ShownCall(context, { ...TOOL, customizationId: 'm' });
    shown.running('not-needed');
    shown.authResolved();
    const auth = { resource: 'https://x', reason: 'required' } as never;
    shown.authRequired(auth);
    shown.authRequired(auth);
    shown.authResolved();
    expect(types()).toEqual(['Start', 'Ready', 'AuthRequired', 'AuthResolved', 'AuthRequired', 'AuthResolved']);
  });

  it('[UNI-045] of a client that ends it while extensions hear of its begin is not shown as running', async () => {
    const look = { name: 'look', title: 'Look' };
    const begins = vi.fn(async () => {
      one.apply({
        type: 'chat/toolCallReady',
        turnId,
        toolCallId: 'k',
        invocationMessage: 'x',
        confirmed: 'not-needed',
      });
      one.apply({ type: 'chat/toolCallComplete', turnId, toolCallId: 'k', result });
    });
    const extensions = {
      ...{ all: () => [{ name: 'e', outsideCallBegins: begins }], gates: () => [], tools: () => [] },
      hidden: () => () => false,
    };
    const one = turn({ extensions, activeClients: () => [{ clientId: 'desk', tools: [look] }] });
    const outcome = await new ToolCalls(one.context).call({ id: 'k', name: 'look', input: '{}' });
    await tick();
    expect(outcome).toMatchObject({ kind: 'completed', text: 'seen' });
    expect(one.types()).toEqual(['Start', 'Ready', 'Complete']);
    expect(begins).toHaveBeenCalledOnce();
  });
});
