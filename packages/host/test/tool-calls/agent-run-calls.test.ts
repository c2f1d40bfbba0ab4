import type { Gate } from '@atrium/core/contracts/extension.js';
import { INPUT_MAX_CHARACTERS } from '@atrium/core/tool-calls/arguments.js';
import { CALL_NAME_MAX_CHARACTERS } from '@atrium/core/tool-calls/shown-call.js';
import { describe, expect, it } from 'vitest';
import { openPuppetRoom, refusalOf, stateOf } from '../support/session-room.js';
import { settle } from '../support/test-host.js';
import { answer, approve, callState, DENY, extension, gate, openGate, typesOf } from './support.js';

const RESULT = { success: true, pastTenseMessage: 'Ran ls', content: [{ type: 'text' as const, text: 'a b' }] };

async function ownRoom(...gates: Gate[]) {
  const room = await openPuppetRoom({ extensions: [extension('watch', { gates })] });
  const own = room.puppet.turn.agentRunCall({ id: 'c1', name: 'Bash', displayName: 'Bash' });
  return { ...room, own, check: () => own.check({ command: 'ls' }, 'ls') };
}

describe('a tool that the agent runs itself', () => {
  it('is shown from its first letter to its result', async () => {
    const { desk, uri, own, check } = await ownRoom();
    own.delta('{"command":"ls"}');
    expect(await check()).toEqual({ kind: 'granted' });
    own.progress([{ type: 'text', text: 'a' }]);
    await settle();
    expect(await callState(desk, uri)).toMatchObject({
      status: 'running',
      toolName: 'Bash',
      toolInput: '{"command":"ls"}',
      invocationMessage: 'ls',
      content: [{ text: 'a' }],
    });
    expect(await own.complete(RESULT)).toMatchObject({ kind: 'completed', success: true, text: 'a b' });
    expect(typesOf(desk, uri)).toEqual(['Start', 'Delta', 'Ready', 'ContentChanged', 'Complete']);
  });

  it('[REL-051] does not run with input beyond the limit, is not asked about, and neither input nor name is kept whole', async () => {
    const { desk, uri, puppet } = await openPuppetRoom();
    const endless = 'x'.repeat(INPUT_MAX_CHARACTERS);
    const own = puppet.turn.agentRunCall({ id: 'c1', name: endless, displayName: endless });
    expect(await own.check({ command: endless }, 'run')).toEqual({
      kind: 'denied',
      reason: 'The arguments have 4 MiB; 4 MiB are allowed.',
    });
    const call = await callState(desk, uri);
    expect(call?.toolName).toHaveLength(CALL_NAME_MAX_CHARACTERS);
    expect(JSON.stringify(call).length).toBeLessThan(2_000);
    const asking = puppet.turn.agentRunCall({ id: 'c3', name: 'Bash', displayName: 'Bash' });
    asking.shown({ command: endless }, 'run');
    const limit = 'The arguments have 4 MiB; 4 MiB are allowed.';
    expect(await asking.confirm({ title: 'Sure?' })).toEqual({ kind: 'denied', reason: limit });
    const shown = puppet.turn.agentRunCall({ id: 'c2', name: 'Bash', displayName: 'Bash' });
    shown.shown({ command: endless }, endless);
    expect(await shown.complete(RESULT)).toMatchObject({ success: true });
    expect(JSON.stringify(await stateOf(desk, uri)).length).toBeLessThan(20_000);
  });

  it('may not begin once its turn is over, also where nobody would object', async () => {
    const { desk, uri, puppet, own, check } = await ownRoom();
    desk.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect.poll(() => puppet.turn.signal.aborted).toBe(true);
    await expect(check()).rejects.toThrow('the turn is over');
    await expect(own.confirm({ title: 'Sure?' })).rejects.toThrow('the turn is over');
  });

  it('[UNI-043] is gated: when denied, it is over, and the agent hears why', async () => {
    const { desk, uri, own, check } = await ownRoom(gate('ci-watcher', DENY));
    expect(await check()).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(await callState(desk, uri)).toMatchObject({ status: 'cancelled', reason: 'denied' });
    own.progress([{ type: 'text', text: 'late' }]);
    expect(await own.complete(RESULT)).toMatchObject({ kind: 'denied' });
    expect(typesOf(desk, uri).slice(0, 3)).toEqual(['Start', 'Ready', 'Confirmed']);
    expect(await callState(desk, uri)).toMatchObject({ status: 'cancelled' });
  });

  it('[UNI-041] needs its own question answered, also when no gate objects', async () => {
    const { desk, uri, own, check } = await ownRoom(gate('ci-watcher'));
    await check();
    const permit = own.confirm({ title: 'Run ls?' });
    await desk.action(uri, 'session/toolCallReady');
    expect(await callState(desk, uri)).toMatchObject({ status: 'pending-confirmation', confirmationTitle: 'Run ls?' });
    approve({ desk, uri });
    expect(await permit).toMatchObject({ kind: 'granted' });
    expect(await own.complete(RESULT)).toMatchObject({ success: true });
  });

  it('is asked about once: a question of a gate settles its own too', async () => {
    const { desk, uri, own, check } = await ownRoom(gate('careful', { kind: 'ask', reason: 'sure?' }));
    const checked = check();
    await desk.action(uri, 'session/toolCallReady');
    approve({ desk, uri });
    expect(await checked).toMatchObject({ kind: 'granted' });
    expect(await own.confirm({ title: 'Run ls?' })).toMatchObject({ kind: 'granted' });
    await own.complete(RESULT);
    expect(typesOf(desk, uri)).toEqual(['Start', 'Ready', 'Confirmed', 'Complete']);
  });

  it('[UNI-103] gets what a person changed, once the gates have seen that too', async () => {
    const watcher = gate('ci-watcher', ({ input }) =>
      JSON.stringify(input).includes('rm') ? DENY : { kind: 'pass', note: 'seen' },
    );
    const { desk, uri, own, check } = await ownRoom(watcher);
    await check();
    const permit = own.confirm({ title: 'Run ls?', editable: true });
    await desk.action(uri, 'session/toolCallReady');
    approve({ desk, uri }, { editedToolInput: '{"command":"rm"}' });
    expect(await permit).toMatchObject({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(watcher.asked.map(({ input }) => input)).toEqual([{ command: 'ls' }, { command: 'rm' }]);
    expect(await callState(desk, uri)).toMatchObject({ status: 'cancelled', toolInput: '{"command":"rm"}' });
  });

  it('[UNI-018] is noted about like any other', async () => {
    const { own, check } = await ownRoom(gate('ci-watcher', { kind: 'pass', note: 'the build is red' }));
    await check();
    const outcome = await own.complete(RESULT);
    expect(outcome).toMatchObject({ text: 'a b\n\n[Note of ci-watcher: the build is red]' });
  });

  it('says what a person said when they deny it', async () => {
    const { desk, uri, own, check } = await ownRoom();
    await check();
    const permit = own.confirm({ title: 'Run ls?' });
    await desk.action(uri, 'session/toolCallReady');
    await refusalOf(desk, uri, answer(false, { reasonMessage: 'not now' }));
    expect(await permit).toMatchObject({ kind: 'denied', reason: 'not now' });
  });

  it('[UNI-045] is over with the turn, whatever it still says', async () => {
    const watcher = openGate('ci-watcher');
    const { desk, uri, own, check } = await ownRoom(watcher);
    const checked = check();
    checked.catch(() => {});
    await settle();
    await refusalOf(desk, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(checked).rejects.toMatchObject({ name: 'AbortError' });
    own.progress([{ type: 'text', text: 'late' }]);
    await expect(own.complete(RESULT)).rejects.toMatchObject({ name: 'AbortError' });
    expect(typesOf(desk, uri)).toEqual(['Start', 'Delta']);
  });
});

describe('a call whose result is known beforehand', () => {
  it('[UNI-002] passes the gates like any other', async () => {
    const { desk, uri, puppet } = await openPuppetRoom({
      extensions: [extension('watch', { gates: [gate('ci-watcher', DENY)] })],
    });
    const outcome = await puppet.turn.scriptedTool({
      ...{ id: 'c1', name: 'push', displayName: 'Push', invocationMessage: 'Push', pastTenseMessage: 'Pushed' },
      ...{ input: '{"to":"main"}', output: 'done', success: true },
    });
    expect(outcome).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(await callState(desk, uri)).toMatchObject({ status: 'cancelled', toolInput: '{"to":"main"}' });
  });
});
