import { describe, expect, it } from 'vitest';
import { callsIn, lastText, openFixture, openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { DEFAULT_SCRIPT, settle, startTestHost } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

describe("the host's tools", () => {
  it('run at once when they need not ask, and their output goes to the agent', async () => {
    const prompts = { use: [{ callTool: { name: 'echo', input: { n: 1 } } }, { text: 'got ${lastResult}' }] };
    const { client, uri } = await openFixture({ scripts: [{ ...DEFAULT_SCRIPT, prompts }], tools: [echoTool('echo')] });
    await client.turn(uri, 'use');
    const state = await stateOf(client, uri);
    expect(lastText(state)).toBe('got {"n":1}');
    expect(callsIn(state.turns[0]?.responseParts)).toMatchObject([
      { toolName: 'echo', status: 'completed', success: true, confirmed: 'not-needed', toolInput: '{"n":1}' },
    ]);
    expect(client.types(uri).slice(2, 5)).toEqual([
      'session/toolCallStart',
      'session/toolCallReady',
      'session/toolCallComplete',
    ]);
  });

  it('show their output while they run', async () => {
    let finish = (_text: string) => {};
    const tool = echoTool('slow', {
      work: (_input, { progress }) => {
        progress([{ type: 'text', text: 'half' }]);
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const outcome = puppet.turn.callTool({ name: 'slow', input: {} });
    await client.action(uri, 'session/toolCallContentChanged');
    const [running] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(running).toMatchObject({ status: 'running', content: [{ text: 'half' }] });
    finish('whole');
    expect(await outcome).toMatchObject({ text: 'whole' });
  });

  it('that fail are a result for the agent, not the end of the turn', async () => {
    const work = () => Promise.reject(new Error('no such file'));
    const { client, uri, puppet } = await openPuppetFixture({ tools: [echoTool('bad', { work })] });
    const outcome = await puppet.turn.callTool({ name: 'bad', input: {} });
    expect(outcome).toMatchObject({ kind: 'completed', success: false, text: 'no such file' });
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
  });

  it('are told when the turn is cancelled, and what they still say is dropped', async () => {
    let signal: AbortSignal | undefined;
    let finish = (_text: string) => {};
    const tool = echoTool('slow', {
      work: (_input, context) => {
        signal = context.signal;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const outcome = puppet.turn.callTool({ name: 'slow', input: {} });
    outcome.catch(() => {});
    await client.action(uri, 'session/toolCallReady');
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await client.action(uri, 'session/turnCancelled');
    expect(signal?.aborted).toBe(true);
    finish('too late');
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    await settle();
    // The host says once that the call was stopped.
    const ends = client.types(uri).filter((type) => type === 'session/toolCallComplete');
    expect(ends).toHaveLength(1);
  });

  it('take arguments as a model writes them: as JSON text, and nothing else', async () => {
    const tool = echoTool('echo');
    const { puppet } = await openPuppetFixture({ tools: [tool] });
    await puppet.turn.callTool({ name: 'echo', input: '{"a":1}' });
    const outcome = await puppet.turn.callTool({ name: 'echo', input: 'not json' });
    expect(outcome).toMatchObject({ success: false, text: 'The arguments must be a JSON object, but are not json.' });
    expect(tool.runs).toEqual([{ a: 1 }]);
  });

  it('that do not exist are a failed call that says so', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const outcome = await puppet.turn.callTool({ name: 'teleport', input: {} });
    expect(outcome).toMatchObject({ kind: 'completed', success: false, text: 'there is no tool teleport' });
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'completed', success: false, error: { code: 'NOT_FOUND' } });
  });

  it('come between two texts as a part of their own', async () => {
    const { client, uri, puppet } = await openPuppetFixture({ tools: [echoTool('echo')] });
    puppet.turn.text('before');
    await puppet.turn.callTool({ name: 'echo', input: {} });
    puppet.turn.text('after');
    await settle();
    const kinds = (await stateOf(client, uri)).activeTurn?.responseParts.map(({ kind }) => kind);
    expect(kinds).toEqual(['markdown', 'toolCall', 'markdown']);
  });

  it('of one turn can run side by side', async () => {
    const { client, uri, puppet } = await openPuppetFixture({
      tools: [echoTool('echo'), echoTool('write', { confirmation: { title: 'Sure?' } })],
    });
    const asked = puppet.turn.callTool({ id: 'c1', name: 'write', input: {} });
    expect(await puppet.turn.callTool({ id: 'c2', name: 'echo', input: {} })).toMatchObject({ success: true });
    client.dispatch(uri, {
      type: 'session/toolCallConfirmed',
      turnId: 't1',
      toolCallId: 'c1',
      approved: true,
      confirmed: 'user-action',
    });
    expect(await asked).toMatchObject({ success: true });
  });
});

it('two calls of one turn never share an id, whatever the agent says', async () => {
  const tool = {
    id: 'same',
    name: 'write',
    displayName: 'Write',
    invocationMessage: 'Write',
    pastTenseMessage: 'Wrote',
    output: 'ok',
    success: true,
  };
  const script = { provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ tool }, { tool }] };
  const client = await (await startTestHost({ scripts: [script] })).client();
  const uri = await client.session();
  await client.turn(uri, 'go');
  const started = client.envelopes(uri).filter(({ action }) => action.type === 'session/toolCallStart');
  const ids = started.map(({ action }) => (action as unknown as { toolCallId: string }).toolCallId);
  expect(ids[0]).toBe('same');
  expect(new Set(ids).size).toBe(2);
});
