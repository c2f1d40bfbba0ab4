/** Every request and every action of every dialect, for every role: none gets further than the table says. */
import { hasRole, ROLES } from '@atrium/core/contracts/access.js';
import {
  CLIENT_DISPATCHABLE,
  defaultChatUri,
  leastForAction,
  leastForRequest,
  REQUEST_RULES,
} from '@atrium/protocol/ahp-1';
import { clientRequests, stateActions } from '@atrium/protocol/ahp-1/schemas';
import { stateActions as olderActions, clientRequests as olderRequests } from '@atrium/protocol/schemas';
import Value from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { componentsOf } from '../../support/host-components.js';
import {
  access,
  type Reached,
  type RoleHost,
  roleHost,
  WIRES,
  type Wire,
  watched,
} from '../../support/role-fixture.js';
import type { RawClient } from '../../support/test-host.js';

const SESSION = 'ahp-session:/walked';
const CHAT = defaultChatUri(SESSION);

/** Whoever adds a method says here that it is the owner's, or puts it into the table. */
const OF_THE_OWNER = [
  ...['authenticate', 'disposeChat', 'disposeSession', 'fetchAutomationRuns', 'listAutomationTriggerDefinitions'],
  ...['runAutomation', 'atrium/annotations', 'atrium/chatTurns', 'atrium/chats', 'atrium/declinePairing'],
  ...['atrium/findImports', 'atrium/importFound', 'atrium/importSession', 'atrium/keepContent', 'atrium/listDisposed'],
  ...['atrium/pairings', 'atrium/restoreSession', 'atrium/setBudget', 'atrium/settings'],
  ...['atrium/addDevice', 'atrium/cancelDevice', 'atrium/changeDevice', 'atrium/devices', 'atrium/releaseClient'],
  ...['atrium/removeDevice', 'atrium/rotateToken', 'atrium/shareSession', 'atrium/shares', 'atrium/endShare'],
  ...['atrium/reach', 'atrium/addPermission', 'atrium/removePermission'],
];

/** Actions of the sessions-v1 wire, which has a vocabulary of its own. */
const V1_ACTIONS = [
  ...['ready', 'creationFailed', 'titleChanged', 'modelChanged', 'turnStarted', 'delta', 'reasoning', 'responsePart'],
  ...['toolStart', 'toolComplete', 'permissionRequest', 'permissionResolved', 'usage', 'turnComplete', 'turnCancelled'],
  ...['error', 'reasoningChanged'],
].map((name) => `session/${name}`);

/** Members that make a wire action pass the schema of its version. */
const MEMBERS = {
  ...{
    session: SESSION,
    turnId: 't',
    toolCallId: 'c',
    requestId: 'r',
    questionId: 'q',
    title: 'x',
    id: 'x',
    content: 'x',
  },
  ...{ model: { id: 'small' }, agent: null, approved: true, confirmed: 'user-action', isRead: true, isDone: true },
  ...{ userMessage: { text: 'hello' }, message: { text: 'hello', origin: { kind: 'user' } }, response: 'accept' },
  ...{ isArchived: true, config: {}, kind: 'queued', order: [], directory: 'file:///', replacement: 'file:///' },
};

describe('the table of roles', () => {
  let host: RoleHost;
  let reached: Reached;
  let methods: string[];

  beforeAll(async () => {
    host = await roleHost();
    const owner = await host.client();
    await owner.session(SESSION);
    methods = componentsOf(host.host).wire.requests.methods();
    reached = watched(host);
  });

  afterAll(() => host.stop());

  it('[DEV-020] names every method that somebody but the owner may use, and no method is undecided', () => {
    const undecided = methods.filter((method) => !Object.hasOwn(REQUEST_RULES, method));
    expect(undecided).toEqual(OF_THE_OWNER.filter((method) => undecided.includes(method)).sort());
    for (const method of undecided) expect(leastForRequest(method, {})).toBe('owner');
    expect(leastForRequest('atrium/inventedTomorrow', {})).toBe('owner');
    expect(leastForAction({ type: 'session/inventedTomorrow' })).toBe('owner');
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(leastForRequest(name, {})).toBe('owner');
      expect(leastForAction({ type: name })).toBe('owner');
    }
  });

  it.each(WIRES)('[DEV-020] [DEV-022] holds for every request on the wire %s', async (wire) => {
    const answered = new Set<string>();
    for (const role of ROLES) {
      const client = await host.as(access(role), wire);
      const names = new Set([...methods, ...Object.keys(olderRequests), ...Object.keys(clientRequests)]);
      for (const method of names) {
        if (method === 'reconnect' || method === 'initialize') continue;
        reached.methods.length = 0;
        const { error } = await client.ask(method, paramsFor(method, wire));
        for (const got of reached.methods)
          expect([role, method, hasRole(role, leastForRequest(got, { uri: 'atrium-content:/x' }))]).toEqual([
            role,
            method,
            true,
          ]);
        for (const got of reached.methods) answered.add(`${role} ${got}`);
        const needed = leastForRequest(method, paramsFor(method, wire));
        if (hasRole(role, needed)) expect(error?.message ?? '').not.toMatch(/^not allowed: .* needs the role/);
        else expect(reached.methods).toEqual([]);
      }
    }
    // The walk got somewhere: the owner to the handlers, and fewer of them with each role below.
    const counts = ROLES.map((role) => [...answered].filter((each) => each.startsWith(role)).length);
    expect(counts[3]).toBeGreaterThan(wire === '1' ? 15 : 30);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBeGreaterThan(2);
  });

  it.each(WIRES)('[DEV-020] [DEV-022] holds for every action on the wire %s', async (wire) => {
    const taken = new Map<string, Set<string>>(ROLES.map((role) => [role, new Set()]));
    for (const role of ROLES) {
      const client = await host.as(access(role), wire);
      const types = new Set([...Object.keys(CLIENT_DISPATCHABLE), ...Object.keys(olderActions), ...V1_ACTIONS]);
      for (const type of types)
        for (const channel of channelsFor(wire)) {
          reached.actions.length = 0;
          dispatch(client, wire, channel, actionOf(type));
          // Waits in line behind the action, which a ping does not.
          await client.ask('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
          for (const { type: got } of reached.actions) taken.get(role)?.add(got);
          for (const action of reached.actions)
            expect([role, type, hasRole(role, leastForAction(action))]).toEqual([role, type, true]);
        }
      expect(client.closed).toBeUndefined();
    }
    const counts = ROLES.map((role) => taken.get(role)?.size ?? 0);
    expect(counts[0]).toBe(0);
    expect(counts[2]).toBeGreaterThan(wire === '1' ? 1 : 10);
    expect(counts[1]).toBeLessThan(counts[2] ?? 0);
  });

  it('[DEV-022] a denied request says which role would be needed, and a denied action is echoed with the reason', async () => {
    const viewer = await host.as(access('viewer'));
    const { error } = await viewer.ask('createSession', { channel: 'ahp-session:/denied' });
    expect(error).toMatchObject({ code: -32009, data: { role: 'driver' } });
    expect(error?.message).toContain('needs the role driver');
    expect((await viewer.ask('disposeSession', { channel: SESSION })).error?.data).toEqual({ role: 'owner' });
    const seq = viewer.dispatch(SESSION, { type: 'session/titleChanged', title: 'mine' } as never);
    const echo = await viewer.action(SESSION, 'session/titleChanged');
    expect(echo).toMatchObject({
      origin: { clientId: viewer.clientId, clientSeq: seq },
      rejectionReason: 'not allowed: this needs the role driver',
    });
  });

  it('[DEV-022] the same action is echoed with the reason in every dialect that can say so', async () => {
    for (const wire of WIRES.filter((name) => name !== '1')) {
      const viewer = await host.as(access('viewer'), wire);
      await viewer.request('subscribe', { channel: SESSION });
      viewer.dispatch(SESSION, { type: 'session/titleChanged', title: 'mine' } as never);
      expect((await viewer.action(SESSION, 'session/titleChanged')).rejectionReason).toContain('role driver');
    }
  });
});

function channelsFor(wire: Wire): readonly string[] {
  return ['0.3.0', '0.2.0', '1'].includes(wire) ? [SESSION] : [SESSION, CHAT];
}

function dispatch(client: RawClient, wire: Wire, channel: string, action: { type: string }): void {
  if (wire !== '1') return void client.dispatch(channel, action);
  numbers += 1;
  client.send({ method: 'dispatchAction', params: { clientSeq: numbers, action } });
}

let numbers = 0;

function actionOf(type: string): { type: string } {
  const schema = (stateActions as Record<string, unknown>)[type] ?? (olderActions as Record<string, unknown>)[type];
  const made = schema ? (Value.Create(schema as never) as object) : {};
  return { ...MEMBERS, ...made, ...{ session: SESSION, type } };
}

function paramsFor(method: string, wire: Wire): Record<string, unknown> {
  const isOlder = ['0.3.0', '0.2.0', '1'].includes(wire);
  const schemas: Record<string, { params?: unknown } | undefined> = isOlder ? olderRequests : clientRequests;
  const schema = schemas[method]?.params;
  const made = schema ? (Value.Create(schema as never) as object) : {};
  const named = { channel: SESSION, session: SESSION, resource: SESSION, uri: 'file:///etc/hostname' };
  return { ...made, ...named };
}
