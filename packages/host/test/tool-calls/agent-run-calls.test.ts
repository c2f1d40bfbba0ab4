import type { Gate } from '@atrium/core/contracts/extension.js';
import { INPUT_MAX_CHARACTERS } from '@atrium/core/tool-calls/arguments.js';
import { CALL_NAME_MAX_CHARACTERS } from '@atrium/core/tool-calls/shown-call.js';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture, refusalOf, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { answer, approve, callState, DENY, extension, gate, openGate, typesOf } from './support.js';

const RESULT = { success: true, pastTenseMessage: 'Ran ls', content: [{ type: 'text' as const, text: 'a b' }] };

async function ownFixture(...gates: Gate[]) {
  const fixture = await openPuppetFixture({ extensions: [extension('watch', { gates })] });
  const own = fixture.puppet.turn.agentRunCall({ id: 'c1', name: 'Bash', displayName: 'Bash' });
  return { ...fixture, own, check: () => own.check({ command: 'ls' }, 'ls') };
}

describe('a tool that the agent runs itself', () => {
  it('is shown from its first letter to its result', async () => {
    const { client, uri, own, check } = await ownFixture();
    own.delta('{"command":"ls"}');
    expect(await check()).toEqual({ kind: 'granted' });
    own.progress([{ type: 'text', text: 'a' }]);
    await settle();
    expect(await callState(client, uri)).toMatchObject({
      status: 'running',
      toolName: 'Bash',
      toolInput: '{"command":"ls"}',
      invocationMessage: 'ls',
      content: [{ text: 'a' }],
    });
    expect(await own.complete(RESULT)).toMatchObject({ kind: 'completed', success: true, text: 'a b' });
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta', 'Ready', 'ContentChanged', 'Complete']);
  });

  it('[REL-051] does not run with input beyond the limit, is not asked about, and neither input nor name is kept whole', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const endless = 'x'.repeat(INPUT_MAX_CHARACTERS);
    const own = puppet.turn.agentRunCall({ id: 'c1', name: endless, displayName: endless });
    expect(await own.check({ command: endless }, 'run')).toEqual({
      kind: 'denied',
      reason: 'The arguments have 4 MiB; 4 MiB are allowed.',
    });
    const call = await callState(client, uri);
    expect(call?.toolName).toHaveLength(CALL_NAME_MAX_CHARACTERS);
    expect(JSON.stringify(call).length).toBeLessThan(2_000);
    const asking = puppet.turn.agentRunCall({ id: 'c3', name: 'Bash', displayName: 'Bash' });
    asking.shown({ command: endless }, 'run');
    const limit = 'The arguments have 4 MiB; 4 MiB are allowed.';
    expect(await asking.confirm({ title: 'Sure?' })).toEqual({ kind: 'denied', reason: limit });
    const shown = puppet.turn.agentRunCall({ id: 'c2', name: 'Bash', displayName: 'Bash' });
    shown.shown({ command: endless }, endless);
    expect(await shown.complete(RESULT)).toMatchObject({ success: true });
    expect(JSON.stringify(await stateOf(client, uri)).length).toBeLessThan(20_000);
  });

  it('may not begin once its turn is over, also where nobody would object', async () => {
    const { client, uri, puppet, own, check } = await ownFixture();
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect.poll(() => puppet.turn.signal.aborted).toBe(true);
    await expect(check()).rejects.toThrow('the turn is over');
    await expect(own.confirm({ title: 'Sure?' })).rejects.toThrow('the turn is over');
  });

  it('[UNI-043] is gated: when denied, it is over, and the agent hears why', async () => {
    const { client, uri, own, check } = await ownFixture(gate('ci-watcher', DENY));
    expect(await check()).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', reason: 'denied' });
    own.progress([{ type: 'text', text: 'late' }]);
    expect(await own.complete(RESULT)).toMatchObject({ kind: 'denied' });
    expect(typesOf(client, uri).slice(0, 3)).toEqual(['Start', 'Ready', 'Confirmed']);
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled' });
  });

  it('[UNI-041] needs its own question answered, also when no gate objects', async () => {
    const { client, uri, own, check } = await ownFixture(gate('ci-watcher'));
    await check();
    const permit = own.confirm({ title: 'Run ls?' });
    await client.action(uri, 'session/toolCallReady');
    expect(await callState(client, uri)).toMatchObject({
      status: 'pending-confirmation',
      confirmationTitle: 'Run ls?',
    });
    approve({ client, uri });
    expect(await permit).toMatchObject({ kind: 'granted' });
    expect(await own.complete(RESULT)).toMatchObject({ success: true });
  });

  it('is asked about once: a question of a gate settles its own too', async () => {
    const { client, uri, own, check } = await ownFixture(gate('careful', { kind: 'ask', reason: 'sure?' }));
    const checked = check();
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri });
    expect(await checked).toMatchObject({ kind: 'granted' });
    expect(await own.confirm({ title: 'Run ls?' })).toMatchObject({ kind: 'granted' });
    await own.complete(RESULT);
    expect(typesOf(client, uri)).toEqual(['Start', 'Ready', 'Confirmed', 'Complete']);
  });

  it('[UNI-103] gets what a person changed, once the gates have seen that too', async () => {
    const watcher = gate('ci-watcher', ({ input }) =>
      JSON.stringify(input).includes('rm') ? DENY : { kind: 'pass', note: 'seen' },
    );
    const { client, uri, own, check } = await ownFixture(watcher);
    await check();
    const permit = own.confirm({ title: 'Run ls?', editable: true });
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri }, { editedToolInput: '{"command":"rm"}' });
    expect(await permit).toMatchObject({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(watcher.asked.map(({ input }) => input)).toEqual([{ command: 'ls' }, { command: 'rm' }]);
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', toolInput: '{"command":"rm"}' });
  });

  it('[UNI-018] is noted about like any other', async () => {
    const { own, check } = await ownFixture(gate('ci-watcher', { kind: 'pass', note: 'the build is red' }));
    await check();
    const outcome = await own.complete(RESULT);
    expect(outcome).toMatchObject({ text: 'a b\n\n[Note of ci-watcher: the build is red]' });
  });

  it('says what a person said when they deny it', async () => {
    const { client, uri, own, check } = await ownFixture();
    await check();
    const permit = own.confirm({ title: 'Run ls?' });
    await client.action(uri, 'session/toolCallReady');
    await refusalOf(client, uri, answer(false, { reasonMessage: 'not now' }));
    expect(await permit).toMatchObject({ kind: 'denied', reason: 'not now' });
  });

  it('[UNI-045] is over with the turn, whatever it still says', async () => {
    const watcher = openGate('ci-watcher');
    const { client, uri, own, check } = await ownFixture(watcher);
    const checked = check();
    checked.catch(() => {});
    await settle();
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(checked).rejects.toMatchObject({ name: 'AbortError' });
    own.progress([{ type: 'text', text: 'late' }]);
    await expect(own.complete(RESULT)).rejects.toMatchObject({ name: 'AbortError' });
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta']);
  });
});

describe('a call whose result is known beforehand', () => {
  it('[UNI-002] passes the gates like any other', async () => {
    const { client, uri, puppet } = await openPuppetFixture({
      extensions: [extension('watch', { gates: [gate('ci-watcher', DENY)] })],
    });
    const outcome = await puppet.turn.scriptedTool({
      ...{ id: 'c1', name: 'push', displayName: 'Push', invocationMessage: 'Push', pastTenseMessage: 'Pushed' },
      ...{ input: '{"to":"main"}', output: 'done', success: true },
    });
    expect(outcome).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', toolInput: '{"to":"main"}' });
  });
});
