import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { callsIn, openPuppetFixture, refusalOf, runningCall, stateOf } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const target = { turnId: 't1', toolCallId: 'c1' };
const SUCCESS = { success: true, pastTenseMessage: 'Looked', content: [{ type: 'text' as const, text: 'a tree' }] };

const complete = (more: object = {}): StateAction => ({
  type: 'session/toolCallComplete',
  ...target,
  result: SUCCESS,
  ...more,
});
const progress = (more: object = {}): StateAction => ({
  type: 'session/toolCallContentChanged',
  ...target,
  content: [{ type: 'text', text: 'half a tree' }],
  ...more,
});
const denial = (more: object = {}): StateAction => ({
  type: 'session/toolCallConfirmed',
  ...target,
  approved: false,
  reason: 'denied',
  ...more,
});
const claim = (clientId: string): StateAction => ({
  type: 'session/activeClientChanged',
  activeClient: { clientId, tools: [{ name: 'look', title: 'Look' }] },
});

/** A turn that has called a tool of the first client, while phone watches. */
async function calledFixture() {
  const fixture = await openPuppetFixture({
    session: { activeClient: { clientId: 'desk', tools: [{ name: 'look', title: 'Look' }] } },
  });
  const phone = await fixture.join('phone');
  const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'look', input: { at: 'garden' } });
  outcome.catch(() => {});
  await fixture.client.action(fixture.uri, 'session/toolCallReady');
  return { ...fixture, phone, outcome };
}

/** The same client on a new connection. */
async function comeBack(host: TestHost, older: RawClient, uri: string): Promise<RawClient> {
  const client = host.connect();
  client.continue(older);
  const { clientId } = client;
  const lastSeenServerSeq = host.log.head;
  await client.request('reconnect', { channel: ROOT, clientId, lastSeenServerSeq, subscriptions: [uri] });
  return client;
}

describe("a client's tools", () => {
  it('[AHP-181] run at the client: the call names its owner and is running at once', async () => {
    const { client, uri } = await calledFixture();
    const call = await runningCall(client, uri, 'running');
    expect(call).toMatchObject({
      toolName: 'look',
      displayName: 'Look',
      toolClientId: 'desk',
      toolInput: '{"at":"garden"}',
      confirmed: 'not-needed',
    });
  });

  it('[AHP-148] [AHP-181] show output on the way, and resume the agent with the result', async () => {
    const { client, phone, uri, outcome } = await calledFixture();
    expect(await refusalOf(client, uri, progress())).toBeUndefined();
    const [running] = callsIn((await stateOf(phone, uri)).activeTurn?.responseParts);
    expect(running).toMatchObject({ status: 'running', content: [{ text: 'half a tree' }] });
    expect(await refusalOf(client, uri, complete())).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'a tree' });
  });

  it('hand data to the agent as JSON when there is no text', async () => {
    const { client, uri, outcome } = await calledFixture();
    const result = { success: true, pastTenseMessage: 'Looked', structuredContent: { trees: 3 } };
    expect(await refusalOf(client, uri, complete({ result }))).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: '{"trees":3}', content: [] });
  });

  it('[AHP-182] that the client does not know after all fail with its error', async () => {
    const { client, uri, outcome } = await calledFixture();
    const result = { success: false, pastTenseMessage: 'Did not look', error: { message: 'no such tool' } };
    expect(await refusalOf(client, uri, complete({ result }))).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', success: false, text: 'no such tool' });
  });

  it('[AHP-182] can be denied by their owner, though they run already: the host ends them', async () => {
    const { client, uri, outcome } = await calledFixture();
    expect(await refusalOf(client, uri, denial())).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', success: false });
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'completed', success: false, error: { code: 'NOT_FOUND' } });
    expect(await refusalOf(client, uri, denial())).toContain('completed');
  });

  it('[AHP-182] are denied with the words of their owner', async () => {
    const { client, uri, outcome } = await calledFixture();
    await refusalOf(client, uri, denial({ reasonMessage: 'I cannot look' }));
    expect(await outcome).toMatchObject({ text: 'I cannot look' });
  });

  it('[AHP-182] [AHP-124] can be denied by nobody else, nor approved a second time', async () => {
    const { client, phone, uri } = await calledFixture();
    expect(await refusalOf(phone, uri, denial())).toContain('running');
    const approval = { type: 'session/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' };
    expect(await refusalOf(client, uri, approval)).toContain('running');
    await runningCall(client, uri, 'running');
  });

  it('are those of the active client, as they are at the moment of the call', async () => {
    const { client, uri, puppet, outcome } = await calledFixture();
    await refusalOf(client, uri, complete());
    await outcome;
    await refusalOf(client, uri, { type: 'session/activeClientToolsChanged', tools: [{ name: 'listen' }] });
    expect(await puppet.turn.callTool({ name: 'look', input: {} })).toMatchObject({ success: false });
    puppet.turn.callTool({ id: 'c3', name: 'listen', input: {} }).catch(() => {});
    await settle();
    const call = callsIn((await stateOf(client, uri)).activeTurn?.responseParts).at(-1);
    expect(call).toMatchObject({ toolCallId: 'c3', toolClientId: 'desk', status: 'running' });
  });

  it('stay with their owner when the role has gone to somebody else', async () => {
    const { client, phone, uri, outcome } = await calledFixture();
    await refusalOf(client, uri, { type: 'session/activeClientChanged', activeClient: null });
    await refusalOf(phone, uri, claim('phone'));
    expect(await refusalOf(phone, uri, complete())).toContain('another client');
    expect(await refusalOf(client, uri, complete())).toBeUndefined();
    expect(await outcome).toMatchObject({ text: 'a tree' });
  });

  it('[AHP-124] can be completed and added to by nobody else', async () => {
    const { phone, uri } = await calledFixture();
    expect(await refusalOf(phone, uri, complete())).toContain('another client');
    expect(await refusalOf(phone, uri, progress())).toContain('another client');
    await runningCall(phone, uri, 'running');
  });

  it("[AHP-125] are not the host's: nobody completes those but the host", async () => {
    const tool = echoTool('write', { confirmation: { title: 'Run it?' } });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    puppet.turn.callTool({ id: 'c1', name: 'write', input: {} }).catch(() => {});
    await runningCall(client, uri, 'pending-confirmation');
    expect(await refusalOf(client, uri, complete())).toContain('run by the host');
    expect(await refusalOf(client, uri, progress())).toContain('run by the host');
  });

  it('[AHP-126] cannot be completed twice, nor added to afterwards, nor when unknown', async () => {
    const { client, uri, outcome } = await calledFixture();
    expect(await refusalOf(client, uri, complete({ toolCallId: 'nowhere' }))).toContain('nowhere');
    expect(await refusalOf(client, uri, complete())).toBeUndefined();
    await outcome;
    expect(await refusalOf(client, uri, complete())).toContain('completed');
    expect(await refusalOf(client, uri, progress())).toContain('completed');
  });

  it('are skipped when the turn is cancelled', async () => {
    const { client, uri, outcome } = await calledFixture();
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect(await refusalOf(client, uri, complete())).toBeDefined();
    const [call] = callsIn((await stateOf(client, uri)).turns[0]?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', reason: 'skipped' });
  });
});

describe('a result that a person must see first', () => {
  const unchecked = complete({ requiresResultConfirmation: true });
  const verdict = (approved: boolean): StateAction => ({
    type: 'session/toolCallResultConfirmed',
    ...target,
    approved,
  });

  it('[AHP-123] waits, and goes to the agent when it is approved', async () => {
    const { client, phone, uri, outcome } = await calledFixture();
    expect(await refusalOf(phone, uri, verdict(true))).toContain('running');
    expect(await refusalOf(client, uri, unchecked)).toBeUndefined();
    await runningCall(client, uri, 'pending-result-confirmation');
    expect((await stateOf(phone, uri)).summary.status & 31).toBe(24);
    expect(await refusalOf(client, uri, verdict(true))).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', text: 'a tree' });
    expect(await refusalOf(client, uri, verdict(false))).toContain('completed');
  });

  it('[AHP-123] does not go to the agent when it is turned down', async () => {
    const { client, uri, outcome } = await calledFixture();
    await refusalOf(client, uri, unchecked);
    expect(await refusalOf(client, uri, verdict(false))).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'denied' });
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', reason: 'result-denied' });
  });

  it('[AHP-123] [REL-021] is decided by the first of two answers in the same tick', async () => {
    const { client, phone, uri, outcome } = await calledFixture();
    await refusalOf(client, uri, unchecked);
    const reasons = await Promise.all([refusalOf(client, uri, verdict(true)), refusalOf(phone, uri, verdict(false))]);
    expect(reasons).toEqual([undefined, expect.stringContaining('somebody answered already')]);
    expect(await outcome).toMatchObject({ kind: 'completed' });
  });
});

describe('an active client that leaves', () => {
  it('[AHP-184] gives up the role at once, and others may have it', async () => {
    const { client, phone, uri } = await calledFixture();
    client.disconnect();
    const released = await phone.action(uri, 'session/activeClientChanged');
    expect(released.action.activeClient).toBeNull();
    expect(released).not.toHaveProperty('origin');
    expect(await refusalOf(phone, uri, claim('phone'))).toBeUndefined();
  });

  it('[AHP-184] gives up the role in every session where it had it', async () => {
    const { client, phone, uri } = await calledFixture();
    const other = await client.session(undefined, { activeClient: { clientId: 'desk', tools: [] } });
    client.disconnect();
    await settle();
    expect((await stateOf(phone, other)).activeClient).toBeUndefined();
    expect((await stateOf(phone, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-183] [AHP-185] has thirty seconds before its calls fail, and not a millisecond less', async () => {
    const { client, phone, uri, clock, outcome } = await calledFixture();
    await clock.advance(60_000);
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS - 1);
    await runningCall(phone, uri, 'running');
    await clock.advance(1);
    expect(await outcome).toMatchObject({ kind: 'completed', success: false });
    const [call] = callsIn((await stateOf(phone, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'completed', success: false, error: { code: 'DISCONNECTED' } });
  });

  it('[AHP-186] keeps its calls when it returns in time, but must claim the role again', async () => {
    const { client, uri, clock, host, outcome } = await calledFixture();
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS - 1);
    const again = await comeBack(host, client, uri);
    await clock.advance(CLIENT_GRACE_MS * 2);
    const { activeClient, activeTurn } = await stateOf(again, uri);
    expect(activeClient).toBeUndefined();
    expect(callsIn(activeTurn?.responseParts)).toMatchObject([{ status: 'running', toolClientId: 'desk' }]);
    expect(await refusalOf(again, uri, complete())).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'a tree' });
    expect(await refusalOf(again, uri, claim('desk'))).toBeUndefined();
  });

  it('[AHP-185] is given thirty seconds anew, from when it was last seen', async () => {
    const { client, phone, uri, clock, host } = await calledFixture();
    client.disconnect();
    await clock.advance(20_000);
    (await comeBack(host, client, uri)).disconnect();
    await clock.advance(20_000);
    await runningCall(phone, uri, 'running');
    await clock.advance(10_000);
    const [call] = callsIn((await stateOf(phone, uri)).activeTurn?.responseParts);
    expect(call?.status).toBe('completed');
  });

  it("[AHP-185] does not take other clients' calls with it", async () => {
    const { client, phone, uri, clock } = await calledFixture();
    phone.disconnect();
    await clock.advance(CLIENT_GRACE_MS * 2);
    await runningCall(client, uri, 'running');
  });

  it('[AHP-185] is not waited for when its call is over', async () => {
    const { client, phone, uri, clock, outcome } = await calledFixture();
    await refusalOf(client, uri, complete());
    await outcome;
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS * 2);
    const completions = phone.types(uri).filter((type) => type === 'session/toolCallComplete');
    expect(completions).toHaveLength(1);
  });
});
