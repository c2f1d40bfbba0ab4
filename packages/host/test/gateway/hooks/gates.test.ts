import { GATE_TIMEOUT_MS, RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import {
  answerNext,
  call,
  callsOf,
  decide,
  openProviderFixture,
  type ProviderFixture,
  tool,
  updated,
  YES,
} from '../../support/provider-fixture.js';
import { envelopesOf, type FixtureOptions, runningCall, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const SILENT = { kind: 'denied', reason: 'ci: did not answer, so the call does not run' };

const CAREFUL = echoTool('careful', { confirmation: { title: 'Sure?', editable: true } });

const gate = (match: object = { tool: 'echo' }, more: object = {}) => ({ match, action: 'gate', gateId: 'g', ...more });

function hooks(...onPreToolUse: object[]): object {
  return { hooks: { onPreToolUse } };
}

function gated(rules: object[] = [gate()], options: FixtureOptions = {}): Promise<ProviderFixture> {
  return openProviderFixture(hooks(...rules), { tools: [echoTool('echo')], ...options });
}

async function decideNext(provider: TestProvider, answer: object) {
  const check = await provider.next('gate.check');
  provider.send({ type: 'gate.result', gateId: check.gateId, callId: check.callId, ...answer });
  return check;
}

describe('a gate', () => {
  it('[GW-137] [GW-138] asks the provider, which allows, denies, or allows with a note', async () => {
    const fixture = await gated();
    const allowed = call(fixture, 'echo', { text: 'hi' });
    const check = await decideNext(fixture.provider, { decision: 'allow', reason: 'not shown' });
    const { callId } = check;
    const expected = {
      type: 'gate.check',
      gateId: 'g',
      callId,
      sessionId: fixture.sessionId,
      tool: 'echo',
      args: { text: 'hi' },
    };
    expect(check).toEqual(expected);
    expect(await allowed).toMatchObject({ kind: 'completed', text: expect.not.stringContaining('not shown') });
    const denied = call(fixture, 'echo');
    await decideNext(fixture.provider, { decision: 'deny', reason: 'CI is red' });
    expect(await denied).toEqual({ kind: 'denied', reason: 'ci: CI is red' });
    const noted = call(fixture, 'echo');
    await decideNext(fixture.provider, { decision: 'context', reason: 'CI is slow' });
    expect(await noted).toMatchObject({ kind: 'completed', text: expect.stringContaining('[Note of ci: CI is slow]') });
  });

  it('[GW-139] takes an answer that it does not understand for a no, and one about another gate for none', async () => {
    const fixture = await gated();
    for (const answer of [{ decision: 'maybe' }, {}, { decision: true, reason: 'well' }]) {
      const outcome = call(fixture, 'echo');
      await decideNext(fixture.provider, answer);
      expect((await outcome).kind).toBe('denied');
    }
    const outcome = call(fixture, 'echo');
    const { callId } = await fixture.provider.next('gate.check');
    fixture.provider.send({ type: 'gate.result', gateId: 'other', callId, decision: 'deny' });
    fixture.provider.send({ type: 'gate.result', gateId: 'g', callId: 'nobody', decision: 'deny' });
    const stranger = await TestProvider.bound(fixture.host, { name: 'other' });
    stranger.send({ type: 'gate.result', gateId: 'g', callId, decision: 'deny' });
    await settle();
    fixture.provider.send({ type: 'gate.result', gateId: 'g', callId, decision: 'allow' });
    expect(await outcome).toMatchObject({ kind: 'completed' });
  });

  it('[GW-140] [REL-045] that nobody answers denies after five seconds, and says whose it is once', async () => {
    const fixture = await gated();
    const outcome = call(fixture, 'echo');
    const { callId } = await fixture.provider.next('gate.check');
    await fixture.clock.advance(GATE_TIMEOUT_MS - 1);
    expect((await callsOf(fixture))[0]?.status).toBe('streaming');
    await fixture.clock.advance(1);
    expect(await outcome).toEqual(SILENT);
    fixture.provider.send({ type: 'gate.result', gateId: 'g', callId, decision: 'allow' });
    await settle();
    expect((await callsOf(fixture))[0]).toMatchObject({ status: 'cancelled', reasonMessage: SILENT.reason });
  });

  it('[GW-141] [REL-045] that fails open allows then', async () => {
    const fixture = await gated([gate({ tool: 'echo' }, { failOpen: true })]);
    const outcome = call(fixture, 'echo');
    await fixture.provider.next('gate.check');
    await fixture.clock.advance(GATE_TIMEOUT_MS);
    expect(await outcome).toMatchObject({ kind: 'completed', success: true });
  });

  it('[GW-142] [REL-045] whose provider is lost denies at once, or allows when it fails open', async () => {
    for (const failOpen of [false, true]) {
      const fixture = await gated([gate({ tool: 'echo' }, { failOpen })]);
      const outcome = call(fixture, 'echo');
      await fixture.provider.next('gate.check');
      fixture.provider.drop();
      expect((await outcome).kind).toBe(failOpen ? 'completed' : 'denied');
    }
  });

  it('[GW-143] stays armed while its provider may come back, and people hear when that is over', async () => {
    const deny = { match: { tool: 'b' }, action: 'deny', reason: 'never' };
    const context = { match: {}, action: 'context', content: 'from beyond' };
    const rules = [gate(), gate({ tool: 'c' }, { failOpen: true }), deny, context];
    const fixture = await gated(rules, { tools: ['echo', 'b', 'c'].map((name) => echoTool(name)) });
    fixture.provider.drop();
    await settle();
    await fixture.clock.advance(10_000);
    expect(await call(fixture, 'echo')).toEqual({
      kind: 'denied',
      reason: 'ci: is not connected, so the call does not run',
    });
    expect(await call(fixture, 'b')).toEqual({ kind: 'denied', reason: 'ci: never' });
    expect(await call(fixture, 'c')).toMatchObject({ kind: 'completed', text: expect.not.stringContaining('beyond') });
    await fixture.clock.advance(RECONNECT_WINDOW_MS - 10_000);
    for (const name of ['echo', 'b']) expect((await call(fixture, name)).kind).toBe('completed');
    await fixture.clock.advance(1_000);
    const parts = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts;
    expect(JSON.stringify(parts)).toContain('checks on tools no longer apply');
  });

  it('[GW-143] goes at once when its provider says goodbye', async () => {
    const fixture = await gated();
    fixture.provider.send({ type: 'goodbye' });
    await settle();
    expect((await call(fixture, 'echo')).kind).toBe('completed');
  });

  it('[GW-143] asks again when its provider is back', async () => {
    const fixture = await openProviderFixture({}, { tools: [echoTool('echo')] });
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ name: 'other', ...hooks(gate()) });
    provider.drop();
    await settle();
    expect((await call(fixture, 'echo')).kind).toBe('denied');
    const back = await TestProvider.bound(fixture.host, { name: 'other', reconnectToken });
    const outcome = call(fixture, 'echo');
    await decideNext(back, { decision: 'allow' });
    expect((await outcome).kind).toBe('completed');
  });

  it('[GW-153] [REL-045] stands beside others: all are asked at once, one no is enough, and rules come first', async () => {
    const fixture = await gated();
    const other = await TestProvider.bound(fixture.host, { name: 'other', ...hooks(gate({}, { gateId: 'o' })) });
    const denied = call(fixture, 'echo');
    const check = await fixture.provider.next('gate.check');
    await decideNext(other, { decision: 'deny', reason: 'no' });
    expect(await denied).toEqual({ kind: 'denied', reason: 'other: no' });
    fixture.provider.send({ type: 'gate.result', gateId: 'g', callId: check.callId, decision: 'allow' });
    const silent = call(fixture, 'echo');
    await fixture.provider.next('gate.check');
    await fixture.clock.advance(GATE_TIMEOUT_MS - 1_000);
    await decideNext(other, { decision: 'allow' });
    await fixture.clock.advance(1_000);
    expect(await silent).toEqual(SILENT);
    const rule = { match: { tool: 'echo' }, action: 'deny', reason: 'rule' };
    await updated(other, { type: 'hooks.update', onPreToolUse: [rule] });
    const counts = fixture.provider.of('gate.check').length;
    expect(await call(fixture, 'echo')).toEqual({ kind: 'denied', reason: 'other: rule' });
    expect(fixture.provider.of('gate.check')).toHaveLength(counts);
  });

  it('[GW-153] notes stand in the order of registration, whichever provider answers first', async () => {
    const rule = { match: {}, action: 'context', content: 'first' };
    const fixture = await gated([gate(), rule]);
    const other = await TestProvider.bound(fixture.host, { name: 'other', ...hooks(gate()) });
    const outcome = call(fixture, 'echo');
    await decideNext(other, { decision: 'context', reason: 'third' });
    await settle();
    await decideNext(fixture.provider, { decision: 'context', reason: 'second' });
    const { text } = (await outcome) as { text: string };
    expect(text.slice(text.indexOf('[Note'))).toBe(
      '[Note of ci: first]\n\n[Note of ci: second]\n\n[Note of other: third]',
    );
  });

  it('[GW-155] [UNI-019] [UNI-041] [UNI-103] does not speak for people: what they must confirm still waits', async () => {
    const fixture = await gated([gate({ tool: 'careful' })], { tools: [CAREFUL] });
    const outcome = call(fixture, 'careful', { text: 'one' });
    await decideNext(fixture.provider, { decision: 'allow' });
    const pending = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    const ready = envelopesOf(fixture.client, fixture.uri).find(
      ({ action }) => action.type === 'session/toolCallReady',
    );
    expect(ready?.action).not.toHaveProperty('confirmed');
    decide(fixture, pending.toolCallId, { ...YES, editedToolInput: '{"text":"two"}' });
    expect((await decideNext(fixture.provider, { decision: 'deny', reason: 'not two' })).args).toEqual({ text: 'two' });
    expect(await outcome).toEqual({ kind: 'denied', reason: 'ci: not two' });
  });

  it('[GW-136] [UNI-103] leaves its note once when a person edits the input', async () => {
    const rule = { match: { tool: 'careful' }, action: 'context', content: 'mind the gap' };
    const fixture = await gated([rule], { tools: [CAREFUL] });
    const outcome = call(fixture, 'careful', { text: 'one' });
    const pending = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    decide(fixture, pending.toolCallId, { ...YES, editedToolInput: '{"text":"two"}' });
    const { text } = (await outcome) as { text: string };
    expect(text).toContain('two');
    expect(text.split('mind the gap')).toHaveLength(2);
  });

  it('[UNI-040] refuses before anybody is bothered', async () => {
    const fixture = await gated([gate({ tool: 'careful' })], { tools: [CAREFUL] });
    const outcome = call(fixture, 'careful');
    await decideNext(fixture.provider, { decision: 'deny', reason: 'no' });
    expect((await outcome).kind).toBe('denied');
    const statuses = envelopesOf(fixture.client, fixture.uri).map(({ action }) => action.type);
    expect(statuses).not.toContain('session/inputRequested');
    const [ready] = envelopesOf(fixture.client, fixture.uri).filter(
      ({ action }) => action.type === 'session/toolCallReady',
    );
    expect(ready?.action).not.toHaveProperty('confirmationTitle');
  });

  it('[UNI-042] leaves the call streaming, and people see for whom it waits', async () => {
    const fixture = await gated();
    void call(fixture, 'echo');
    await fixture.provider.next('gate.check');
    await settle();
    expect(await callsOf(fixture)).toMatchObject([{ status: 'streaming', invocationMessage: 'Waiting for ci' }]);
    const deltas = envelopesOf(fixture.client, fixture.uri).filter(
      ({ action }) => action.type === 'session/toolCallDelta',
    );
    expect(deltas.map(({ action }) => action)).toMatchObject([{ content: '', invocationMessage: 'Waiting for ci' }]);
  });

  it('[UNI-043] denies in one go, with the reason', async () => {
    const fixture = await gated();
    const outcome = call(fixture, 'echo');
    await decideNext(fixture.provider, { decision: 'deny', reason: 'CI is failing' });
    await outcome;
    const envelopes = envelopesOf(fixture.client, fixture.uri);
    const ready = envelopes.findIndex(({ action }) => action.type === 'session/toolCallReady');
    expect(envelopes[ready]?.action).not.toHaveProperty('confirmed');
    expect(envelopes[ready + 1]?.action).toMatchObject({
      type: 'session/toolCallConfirmed',
      approved: false,
      reason: 'denied',
      reasonMessage: 'ci: CI is failing',
    });
    expect(envelopes[ready + 1]?.origin).toBeUndefined();
    expect(await callsOf(fixture)).toMatchObject([{ status: 'cancelled', reason: 'denied' }]);
  });

  it('[UNI-045] is too late when somebody ended the turn meanwhile', async () => {
    const fixture = await gated();
    const timers = fixture.clock.pending;
    const outcome = call(fixture, 'echo');
    const { callId } = await fixture.provider.next('gate.check');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(outcome).rejects.toThrow();
    const count = envelopesOf(fixture.client, fixture.uri).length;
    fixture.provider.send({ type: 'gate.result', gateId: 'g', callId, decision: 'allow' });
    await settle();
    expect(envelopesOf(fixture.client, fixture.uri)).toHaveLength(count);
    expect(fixture.clock.pending).toBe(timers);
  });

  it('[UNI-046] holds for tools of the client, which never sees a refused call run', async () => {
    const fixture = await gated([gate({ tool: 'lookup' })]);
    const activeClient = { clientId: 'desk', tools: [{ name: 'lookup' }] };
    fixture.client.dispatch(fixture.uri, { type: 'session/activeClientChanged', activeClient });
    await fixture.client.action(fixture.uri, 'session/activeClientChanged');
    const outcome = call(fixture, 'lookup', { word: 'x' });
    expect(await decideNext(fixture.provider, { decision: 'deny', reason: 'no' })).toMatchObject({
      args: { word: 'x' },
    });
    expect(await outcome).toEqual({ kind: 'denied', reason: 'ci: no' });
    const ready = envelopesOf(fixture.client, fixture.uri).filter(
      ({ action }) => action.type === 'session/toolCallReady',
    );
    expect(ready.map(({ action }) => action.confirmed)).toEqual([undefined]);
    expect(await callsOf(fixture)).toMatchObject([{ status: 'cancelled', toolClientId: 'desk' }]);
  });

  it('of an instance names the instance', async () => {
    const fixture = await openProviderFixture(
      { name: 'p', instance: 'one', ...hooks(gate()) },
      { tools: [echoTool('echo')] },
    );
    const outcome = call(fixture, 'echo');
    await fixture.provider.next('gate.check');
    await fixture.clock.advance(GATE_TIMEOUT_MS);
    expect(await outcome).toEqual({ kind: 'denied', reason: 'p: one did not answer, so the call does not run' });
  });

  it("holds for a provider's own tools, too", async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')], ...hooks(gate({ provider: 'ci' })) });
    const outcome = call(fixture, 'a');
    await decideNext(fixture.provider, { decision: 'allow' });
    await answerNext(fixture.provider);
    expect(await outcome).toMatchObject({ kind: 'completed', success: true });
  });
});
