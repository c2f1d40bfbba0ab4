import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import { TurnRunner } from '@atrium/core/sessions/turn.js';
import type { StateAction, ToolCallState, ToolDefinition } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import {
  callsIn,
  openPuppetFixture,
  type PuppetFixture,
  refusalOf,
  runningCall,
  stateOf,
} from '../support/session-fixture.js';
import { type RawClient, settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const LOOK: ToolDefinition = { name: 'look', title: 'Look', annotations: { readOnlyHint: true } };
const DIG: ToolDefinition = { name: 'dig', title: 'Dig' };

const claim = (clientId: string, tools: ToolDefinition[] = [LOOK, DIG]): StateAction => ({
  type: 'session/activeClientChanged',
  activeClient: { clientId, tools },
});
const release: StateAction = { type: 'session/activeClientChanged', activeClient: null };
const complete = (toolCallId: string, text = 'a tree'): StateAction => ({
  type: 'session/toolCallComplete',
  turnId: 't1',
  toolCallId,
  result: { success: true, pastTenseMessage: 'Looked', content: [{ type: 'text', text }] },
});
const answer = (toolCallId: string, approved: boolean): StateAction => ({
  type: 'session/toolCallConfirmed',
  turnId: 't1',
  toolCallId,
  ...(approved ? { approved, confirmed: 'user-action' } : { approved, reason: 'denied' }),
});

/** A running turn whose active client is the first one, while phone watches. */
async function ownedFixture(options: Parameters<typeof openPuppetFixture>[0] = {}) {
  const fixture = await openPuppetFixture({
    ...options,
    session: { activeClient: { clientId: 'desk', tools: [LOOK, DIG] } },
  });
  return { ...fixture, phone: await fixture.join('phone') };
}

/** The agent calls a tool; nobody minds if the turn ends before the tool does. */
function callIn({ puppet }: PuppetFixture, name: string, id = 'c1') {
  const outcome = puppet.turn.callTool({ id, name, input: { at: 'garden' } });
  outcome.catch(() => {});
  return outcome;
}

async function calls(client: RawClient, uri: string): Promise<ToolCallState[]> {
  return callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
}

/** The owner of a running call has left, and a client with a new id has its role and its tools. */
async function reloadedFixture(tool: ToolDefinition, afterMs = CLIENT_GRACE_MS - 1) {
  const fixture = await ownedFixture();
  const outcome = callIn(fixture, tool.name);
  await runningCall(fixture.phone, fixture.uri, 'running');
  fixture.client.disconnect();
  await fixture.clock.advance(afterMs);
  const fresh = await fixture.join('desk-2');
  await refusalOf(fresh, fixture.uri, claim('desk-2'));
  await settle();
  return { ...fixture, outcome, fresh };
}

describe('an owner that comes back as a new client', () => {
  it('[REL-027] gets the call again, as one of its own, and completes it', async () => {
    const { fresh, uri, outcome } = await reloadedFixture(LOOK);
    const [old, again] = await calls(fresh, uri);
    expect(old).toMatchObject({ status: 'completed', success: false, error: { code: 'HANDED_OVER' } });
    expect(again).toMatchObject({
      ...{ status: 'running', toolName: 'look', toolClientId: 'desk-2' },
      ...{ toolInput: '{"at":"garden"}', confirmed: 'not-needed' },
    });
    expect(await refusalOf(fresh, uri, complete(again?.toolCallId ?? ''))).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'a tree' });
  });

  it('[REL-027] keeps it when the time of the old client is up', async () => {
    const { fresh, uri, clock } = await reloadedFixture(LOOK);
    await clock.advance(CLIENT_GRACE_MS * 2);
    expect((await calls(fresh, uri))[1]).toMatchObject({ status: 'running' });
  });

  it('[REL-027] does not do twice what may have been done, unless a person says so', async () => {
    const { fresh, phone, uri, outcome } = await reloadedFixture(DIG);
    const again = (await calls(phone, uri))[1];
    expect(again).toMatchObject({ status: 'pending-confirmation', toolClientId: 'desk-2' });
    const toolCallId = again?.toolCallId ?? '';
    expect(await refusalOf(phone, uri, answer(toolCallId, true))).toBeUndefined();
    expect((await calls(phone, uri))[1]).toMatchObject({ status: 'running' });
    expect(await refusalOf(fresh, uri, complete(toolCallId, 'a hole'))).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'a hole' });
  });

  it('[REL-027] does nothing when the person says no', async () => {
    const { phone, uri, outcome } = await reloadedFixture(DIG);
    await refusalOf(phone, uri, answer((await calls(phone, uri))[1]?.toolCallId ?? '', false));
    expect(await outcome).toMatchObject({ kind: 'denied' });
  });

  it('[REL-027] may say that it was done already, before anybody is asked', async () => {
    const { fresh, uri, outcome } = await reloadedFixture(DIG);
    const toolCallId = (await calls(fresh, uri))[1]?.toolCallId ?? '';
    expect(await refusalOf(fresh, uri, complete(toolCallId, 'a hole'))).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'a hole' });
  });

  it('[REL-027] is given thirty seconds of its own when it leaves too', async () => {
    const { fresh, phone, uri, clock, outcome } = await reloadedFixture(LOOK);
    fresh.disconnect();
    await clock.advance(CLIENT_GRACE_MS - 1);
    expect((await calls(phone, uri))[1]).toMatchObject({ status: 'running' });
    await clock.advance(1);
    expect(await outcome).toMatchObject({ success: false });
  });

  it('[REL-027] comes too late after thirty seconds', async () => {
    const { fresh, uri, outcome } = await reloadedFixture(LOOK, CLIENT_GRACE_MS);
    expect(await outcome).toMatchObject({ success: false });
    expect(await calls(fresh, uri)).toMatchObject([{ error: { code: 'DISCONNECTED' } }]);
  });

  it('[REL-027] gets nothing without the tool: the call fails in time, not at once', async () => {
    const fixture = await ownedFixture();
    const outcome = callIn(fixture, 'look');
    fixture.client.disconnect();
    await refusalOf(fixture.phone, fixture.uri, claim('phone', [DIG]));
    await fixture.clock.advance(CLIENT_GRACE_MS - 1);
    expect(await calls(fixture.phone, fixture.uri)).toMatchObject([{ status: 'running' }]);
    await fixture.clock.advance(1);
    expect(await outcome).toMatchObject({ success: false });
  });

  it('[REL-029] leaves nothing to complete for the old one', async () => {
    const { fresh, host, uri } = await reloadedFixture(LOOK);
    const old = await host.client('desk');
    expect(await refusalOf(old, uri, complete('c1'))).toContain('completed');
    const toolCallId = (await calls(fresh, uri))[1]?.toolCallId ?? '';
    expect(await refusalOf(old, uri, complete(toolCallId))).toContain('another client');
  });
});

describe('an owner that vanishes', () => {
  it('[REL-028] before the call begins is not called', async () => {
    const fixture = await ownedFixture();
    fixture.client.disconnect();
    expect(await callIn(fixture, 'look')).toMatchObject({ success: false, text: 'there is no tool look' });
  });

  it('[REL-028] while its input is still on its way has thirty seconds', async () => {
    const { client, phone, uri, clock, puppet } = await ownedFixture();
    if (!(puppet.turn instanceof TurnRunner)) throw new Error('not a turn of the host');
    const contributor = { kind: 'client', clientId: 'desk' } as const;
    const call = { toolCallId: 'c1', toolName: 'look', displayName: 'Look', contributor };
    puppet.turn.write({ type: 'chat/toolCallStart', turnId: 't1', ...call });
    await settle();
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS - 1);
    expect(await calls(phone, uri)).toMatchObject([{ status: 'streaming' }]);
    await clock.advance(1);
    expect(await calls(phone, uri)).toMatchObject([{ status: 'completed', error: { code: 'DISCONNECTED' } }]);
  });

  it('[REL-028] in the very moment that the call is ready has thirty seconds', async () => {
    const fixture = await ownedFixture();
    const outcome = callIn(fixture, 'look');
    fixture.client.disconnect();
    await fixture.clock.advance(CLIENT_GRACE_MS - 1);
    expect(await calls(fixture.phone, fixture.uri)).toMatchObject([{ status: 'running' }]);
    await fixture.clock.advance(1);
    expect(await outcome).toMatchObject({ success: false });
  });

  it('[REL-028] while the call runs has thirty seconds', async () => {
    const fixture = await ownedFixture();
    const outcome = callIn(fixture, 'look');
    await runningCall(fixture.phone, fixture.uri, 'running');
    await fixture.clock.advance(CLIENT_GRACE_MS * 2);
    fixture.client.disconnect();
    await fixture.clock.advance(CLIENT_GRACE_MS - 1);
    expect(await calls(fixture.phone, fixture.uri)).toMatchObject([{ status: 'running' }]);
    await fixture.clock.advance(1);
    expect(await outcome).toMatchObject({ success: false });
  });

  it('[REL-028] once it has completed the call takes nothing back', async () => {
    const fixture = await ownedFixture();
    const outcome = callIn(fixture, 'look');
    await refusalOf(fixture.client, fixture.uri, complete('c1'));
    fixture.client.disconnect();
    await fixture.clock.advance(CLIENT_GRACE_MS * 2);
    expect(await outcome).toMatchObject({ success: true, text: 'a tree' });
  });
});

describe('a completion', () => {
  it('[REL-029] is refused from anybody but the owner, whoever has the role', async () => {
    const fixture = await ownedFixture();
    callIn(fixture, 'look');
    await runningCall(fixture.phone, fixture.uri, 'running');
    expect(await refusalOf(fixture.phone, fixture.uri, complete('c1'))).toContain('another client');
    await refusalOf(fixture.client, fixture.uri, release);
    await refusalOf(fixture.phone, fixture.uri, claim('phone'));
    expect(await refusalOf(fixture.phone, fixture.uri, complete('c1'))).toContain('another client');
  });

  it('[REL-029] that is there before the agent looks for it is kept', async () => {
    const fixture = await ownedFixture();
    const first = callIn(fixture, 'look', 'c1');
    const second = callIn(fixture, 'look', 'c2');
    await settle();
    expect(await refusalOf(fixture.client, fixture.uri, complete('c2', 'second'))).toBeUndefined();
    expect(await refusalOf(fixture.client, fixture.uri, complete('c1', 'first'))).toBeUndefined();
    await settle();
    expect(await first).toMatchObject({ text: 'first' });
    expect(await second).toMatchObject({ text: 'second' });
  });

  it('[REL-029] sent together with the start of the call is kept', async () => {
    const fixture = await ownedFixture();
    fixture.client.dispatch(fixture.uri, complete('c1'));
    const outcome = callIn(fixture, 'look');
    expect(await outcome).toMatchObject({ success: true, text: 'a tree' });
  });
});

describe('a tool that changes while it is called', () => {
  it.each([
    ['removed', []],
    ['renamed', [{ ...LOOK, name: 'stare' }]],
  ])('[REL-030] by being %s lets the call go on, but is not there for the next', async (_how, tools) => {
    const fixture = await ownedFixture();
    const outcome = callIn(fixture, 'look');
    await runningCall(fixture.phone, fixture.uri, 'running');
    await refusalOf(fixture.client, fixture.uri, { type: 'session/activeClientToolsChanged', tools });
    await callIn(fixture, 'look', 'c2');
    expect(await calls(fixture.phone, fixture.uri)).toMatchObject([
      { toolCallId: 'c1', status: 'running' },
      { toolCallId: 'c2', status: 'completed', success: false, error: { code: 'NOT_FOUND' } },
    ]);
    expect(await refusalOf(fixture.client, fixture.uri, complete('c1'))).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'a tree' });
  });
});

describe("a client's tool with the name of one of the host's", () => {
  it("[AHP-180] [UNI-025] leaves the name to the host's, and is called by a longer one", async () => {
    const host = echoTool('look');
    const fixture = await ownedFixture({ tools: [host] });
    expect(await callIn(fixture, 'look', 'c1')).toMatchObject({ text: '{"at":"garden"}' });
    expect(host.runs).toHaveLength(1);
    const outcome = callIn(fixture, 'client_look', 'c2');
    await settle();
    expect((await calls(fixture.phone, fixture.uri))[1]).toMatchObject({ toolName: 'look', toolClientId: 'desk' });
    await refusalOf(fixture.client, fixture.uri, complete('c2'));
    expect(await outcome).toMatchObject({ text: 'a tree' });
    expect(host.runs).toHaveLength(1);
  });
});
