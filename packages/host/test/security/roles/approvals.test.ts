/** Attacks on roles: who may answer what, who may lend something, and what happens when a role is lowered. */

import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { ALLOW_IN_SESSION } from '@atrium/core/contracts/tool.js';
import { ANSWERED_BY, type ChatState, defaultChatUri } from '@atrium/protocol/ahp-1';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { componentsOf } from '../../support/host-components.js';
import { chatState, nativeClient, nativeSession, userMessage } from '../../support/native-client.js';
import { access, type RoleHost, roleHost } from '../../support/role-fixture.js';
import { signal } from '../../support/signal.js';
import { DEFAULT_SCRIPT, RawClient } from '../../support/test-host.js';

const tool = {
  ...{ id: 'c1', name: 'write', displayName: 'Write', invocationMessage: 'Write a file', pastTenseMessage: 'Wrote it' },
  ...{ input: { command: 'ls' }, output: 'done', success: true, confirm: true },
};

describe('approvals by roles', () => {
  let host: RoleHost;
  let owner: RawClient;
  let uri: string;
  let chat: string;

  beforeEach(async () => {
    host = await roleHost({
      scripts: [{ ...DEFAULT_SCRIPT, prompts: { ...DEFAULT_SCRIPT.prompts, run: [{ tool }, { text: 'end' }] } }],
    });
    owner = await nativeClient(host, 'owner');
    ({ uri, chat } = await nativeSession(owner));
  });
  afterEach(() => host.stop());

  const confirm = (more: object = {}) =>
    ({
      type: 'chat/toolCallConfirmed',
      turnId: 't1',
      toolCallId: 'c1',
      approved: true,
      confirmed: 'user-action',
      ...more,
    }) as never;

  async function asked(text = 'run'): Promise<void> {
    owner.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage(text) } as never);
    await owner.action(chat, ({ type }) => type === 'chat/toolCallReady' || type === 'chat/inputRequested');
  }

  async function refusal(client: RawClient, action: object, channel = chat): Promise<string | undefined> {
    const seq = client.dispatch(channel, action as never);
    const mine = await client.until(
      ({ method, params }) =>
        method === 'action' &&
        JSON.stringify(params?.origin) === JSON.stringify({ clientId: client.clientId, clientSeq: seq }),
    );
    return mine.params?.rejectionReason as string | undefined;
  }

  const callIn = ({ activeTurn, turns }: ChatState) =>
    [...(activeTurn?.responseParts ?? []), ...turns.flatMap(({ responseParts }) => responseParts)].flatMap((part) =>
      part.kind === 'toolCall' ? [part.toolCall] : [],
    )[0];

  it('[DEV-024] an approver answers, and the record says who, by the name of the credential, whatever the client claims', async () => {
    await asked();
    const approver = await host.as(access('approver'));
    expect(await refusal(approver, confirm({ _meta: { [ANSWERED_BY]: 'the boss' } }))).toBeUndefined();
    await owner.action(chat, 'chat/turnComplete');
    expect(callIn(await chatState(owner, chat))?._meta?.[ANSWERED_BY]).toBe("approver's phone");
    const viewer = await host.as(access('viewer'));
    expect(JSON.stringify(await chatState(viewer, chat))).not.toContain("approver's phone");
  });

  it('[DEV-024] a client of the owner cannot claim that another answered', async () => {
    await asked();
    expect(await refusal(owner, confirm({ _meta: { [ANSWERED_BY]: 'somebody else' } }))).toBeUndefined();
    await owner.action(chat, 'chat/turnComplete');
    expect(JSON.stringify(await chatState(owner, chat))).not.toContain('somebody else');
  });

  it('[DEV-024] the answer to a question says who gave it, too', async () => {
    await asked('ask');
    const approver = await host.as(access('approver'));
    const answers = { name: { state: 'submitted', value: { kind: 'text', value: 'me' } } };
    expect(
      await refusal(approver, { type: 'chat/inputCompleted', requestId: 'q', response: 'accept', answers }),
    ).toBeUndefined();
    const completed = await owner.action(chat, 'chat/inputCompleted');
    expect(completed.action._meta).toEqual({ [ANSWERED_BY]: "approver's phone" });
  });

  it('[DEV-020] a viewer answers nothing, and the call still waits', async () => {
    await asked();
    const viewer = await host.as(access('viewer'));
    expect(await refusal(viewer, confirm())).toContain('role approver');
    expect(await refusal(viewer, confirm({ approved: false, reason: 'denied', confirmed: undefined }))).toContain(
      'role approver',
    );
    expect(await refusal(viewer, { type: 'chat/inputCompleted', requestId: 'q', response: 'decline' })).toContain(
      'role approver',
    );
    expect(callIn(await chatState(owner, chat))?.status).toBe('pending-confirmation');
  });

  it('[DEV-020] an approver starts no turn, steers none, cancels none and writes no draft', async () => {
    const approver = await host.as(access('approver'));
    const message = userMessage('rm -rf');
    for (const action of [
      { type: 'chat/turnStarted', turnId: 'x', startedAt: '', message },
      { type: 'chat/pendingMessageSet', kind: 'queued', id: 'x', message },
      { type: 'chat/pendingMessageSet', kind: 'steering', id: 'x', message },
      { type: 'chat/turnCancelled', turnId: 'x', duration: 1 },
      { type: 'chat/draftChanged', draft: message },
      { type: 'chat/truncated' },
    ])
      expect(await refusal(approver, action)).toContain('role driver');
  });

  it('[DEV-020] an approver cannot slip another command into an approval, nor advice for the agent into a denial', async () => {
    await asked();
    const approver = await host.as(access('approver'));
    expect(await refusal(approver, confirm({ editedToolInput: '{"command":"curl evil"}' }))).toContain('role driver');
    const suggestion = {
      approved: false,
      confirmed: undefined,
      reason: 'denied',
      userSuggestion: userMessage('do this instead'),
    };
    expect(await refusal(approver, confirm(suggestion))).toContain('role driver');
    expect(await refusal(approver, confirm({ confirmed: 'setting' }))).toContain('role owner');
  });

  it('[DEV-024] "allow in this session" is the owner\'s, also by an option of the agent that lasts', async () => {
    const sessions = componentsOf(host.host).sessions;
    await asked();
    const state = await sessions.openChat(chat);
    const call = callIn(state?.state as ChatState) as { options?: object[] };
    const options = [
      { id: 'once', label: 'Once', kind: 'approve' },
      { id: 'for-ever', label: 'For ever', kind: 'approve', lasting: true },
      { id: ALLOW_IN_SESSION, label: 'Here', kind: 'approve' },
    ];
    state?.write({
      type: 'chat/toolCallReady',
      turnId: 't1',
      toolCallId: 'c1',
      invocationMessage: 'x',
      options,
    } as never);
    expect(call).toBeDefined();
    const driver = await host.as(access('driver'));
    expect(await refusal(driver, confirm({ selectedOptionId: ALLOW_IN_SESSION }))).toContain('role owner');
    expect(await refusal(driver, confirm({ selectedOptionId: 'for-ever' }))).toContain('role owner');
    expect(await refusal(driver, confirm({ selectedOptionId: 'once' }))).toBeUndefined();
  });

  it('[DEV-024] nobody but the owner switches the questions off: neither in a session nor when one is made', async () => {
    const driver = await host.as(access('driver'));
    const changed = (config: object, more = {}) => ({ type: 'session/configChanged', config, ...more });
    expect(await refusal(driver, changed({ autoApprove: true }), uri)).toContain('role owner');
    expect(await refusal(driver, changed({ autoApprove: false }), uri)).toContain('role owner');
    expect(await refusal(driver, changed({}, { replace: true }), uri)).toContain('role owner');
    for (const mode of ['auto', 'accept-edits', 'invented'])
      expect(await refusal(driver, changed({ mode }), uri)).toContain('role owner');
    expect(await refusal(driver, changed({ mode: 'ask' }), uri)).toBeUndefined();
    const made = await driver.ask('createSession', { channel: 'ahp-session:/quiet', config: { autoApprove: true } });
    expect(made.error).toMatchObject({ code: -32009, data: { role: 'owner' } });
    expect(
      await refusal(driver, { type: 'root/configChanged', config: { autoApprove: true } }, 'ahp-root://'),
    ).toContain('role owner');
  });

  it('[DEV-024] a mode that only the owner may choose is not proposed to others for their next session [DAY-123]', async () => {
    const folder = pathToFileURL(tmpdir()).href;
    await nativeSession(owner, { workingDirectories: [folder], config: { mode: 'accept-edits' } });
    const driver = await host.as(access('driver'));
    const proposed = (client: RawClient) => client.request('atrium/lastChoice', { folder });
    expect(await proposed(owner)).toMatchObject({ config: { mode: 'accept-edits' } });
    expect(await proposed(driver)).toMatchObject({ config: { mode: 'ask' } });
  });

  it('[DEV-024] questions about trust are shown to others and answered by the owner; others may be opened to less', async () => {
    const session = await componentsOf(host.host).sessions.open(uri);
    const heard: string[] = [];
    session?.standing.ask({ id: 'trust-1', message: 'Trust it?', questions: [] }, (response) => heard.push(response));
    session?.standing.ask(
      { id: 'open-1', message: 'Which?', questions: [] },
      (response) => heard.push(`open ${response}`),
      { least: 'approver' },
    );
    const driver = await host.as(access('driver'));
    expect(JSON.stringify(await driver.request('subscribe', { channel: uri }))).toContain('Trust it?');
    const answer = (requestId: string) => ({ type: 'chat/inputCompleted', requestId, response: 'accept' });
    expect(await refusal(driver, answer('trust-1'))).toContain('role owner');
    const approver = await host.as(access('approver'));
    expect(await refusal(approver, answer('open-1'))).toBeUndefined();
    expect(await refusal(owner, answer('trust-1'))).toBeUndefined();
    expect(heard).toEqual(['open accept', 'accept']);
  });

  it('[DEV-025] viewer and approver lend neither tools nor plugins nor a transform of the prompt; a driver does', async () => {
    const claim = (clientId: string) => ({
      type: 'session/activeClientSet',
      activeClient: {
        ...{ clientId, displayName: 'X', tools: [{ name: 'mine', description: '', inputSchema: { type: 'object' } }] },
        systemMessageTransform: { sections: ['tone'] },
      },
    });
    for (const role of ['viewer', 'approver'] as const) {
      const client = await host.as(access(role));
      expect(await refusal(client, claim(client.clientId), uri)).toContain('role driver');
      const made = await client.ask('createSession', {
        channel: 'ahp-session:/lent',
        activeClient: claim(client.clientId).activeClient,
      });
      expect(made.error?.code).toBe(-32009);
    }
    const driver = await host.as(access('driver'));
    expect(await refusal(driver, claim(driver.clientId), uri)).toBeUndefined();
  });

  it('[DEV-023] [DEV-025] a role that is lowered takes effect on open connections: what was lent is given back, and files are out of reach', async () => {
    const credential = { kind: 'device' as const, id: 'lowered', name: 'Phone' };
    const driver = await host.as(access('driver', { credential }));
    const tools = [{ name: 'mine', description: '', inputSchema: { type: 'object' } }];
    const activeClient = { clientId: driver.clientId, tools };
    expect(await refusal(driver, { type: 'session/activeClientSet', activeClient }, uri)).toBeUndefined();
    componentsOf(host.host).connections.changeAccess('lowered', access('viewer', { credential }));
    await owner.action(uri, 'session/activeClientRemoved');
    expect(driver.closed).toMatchObject({ code: 4008 });
    const back = await host.as(access('viewer', { credential }));
    const message = userMessage('hello');
    expect(await refusal(back, { type: 'chat/turnStarted', turnId: 'late', startedAt: '', message })).toContain(
      'role driver',
    );
    expect((await back.ask('resourceList', { channel: 'ahp-root://', uri: 'file:///' })).error?.data).toEqual({
      role: 'driver',
    });
  });

  it('[DEV-023] what is under way or in line when a role is lowered is neither answered nor done', async () => {
    const credential = { kind: 'device' as const, id: 'under-way', name: 'Phone' };
    const driver = await host.as(access('driver', { credential }));
    const { connections, wire } = componentsOf(host.host);
    const { requests } = wire;
    const answer = requests.answer.bind(requests);
    const held = signal();
    const isHeld = signal();
    onTestFinished(() => void Object.assign(requests, { answer }));
    requests.answer = async (...asked) => {
      const result = await answer(...asked);
      if (asked[1] !== 'listSessions') return result;
      isHeld.give();
      await held.given;
      return result;
    };
    const asked = driver.ask('listSessions', { channel: 'ahp-root://' }).catch(() => {});
    await isHeld.given;
    // In line behind the request.
    driver.dispatch(uri, { type: 'session/titleChanged', title: 'by a viewer' } as never);
    connections.changeAccess('under-way', access('viewer', { credential }));
    held.give();
    await owner.request('listSessions', { channel: 'ahp-root://' });
    expect(driver.closed).toMatchObject({ code: 4008 });
    expect(JSON.stringify(driver.received)).not.toContain('"items"');
    expect(JSON.stringify(await owner.state(uri))).not.toContain('by a viewer');
    driver.disconnect();
    await asked;
  });

  it('[DEV-023] a name or another end leaves connections open, and a device that was away begins anew with what it may do now', async () => {
    const credential = { kind: 'device' as const, id: 'away', name: 'Phone' };
    const { connections } = componentsOf(host.host);
    const client = await host.as(access('driver', { credential }));
    const named = { ...credential, name: 'Other' };
    connections.changeAccess('away', access('driver', { credential: named, until: Date.now() + 3_600_000 }));
    expect(client.closed).toBeUndefined();
    expect((await client.ask('listSessions', { channel: 'ahp-root://' })).error).toBeUndefined();
    client.disconnect();
    const back = new RawClient();
    host.host.connect(back.transport, access('viewer', { credential }));
    const { clientId } = client;
    const resume = { channel: 'ahp-root://', clientId, lastSeenServerSeq: 0, subscriptions: [uri] };
    expect((await back.ask('reconnect', resume)).error?.message).toContain('send initialize instead');
    await back.initialize(clientId, { protocolVersions: ['1.0.0'] });
    expect(JSON.stringify(back.received)).toContain('"role":"viewer"');
    // Who is still the same is taken up where it was.
    back.disconnect();
    const again = new RawClient();
    host.host.connect(again.transport, access('viewer', { credential }));
    expect((await again.ask('reconnect', resume)).error).toBeUndefined();
  });

  it('[DEV-023] neither a reconnect nor another dialect brings a role back', async () => {
    const credential = { kind: 'device' as const, id: 'again', name: 'Phone' };
    const before = await host.as(access('owner', { credential }), '1.0.0');
    before.disconnect();
    const after = new RawClient();
    host.host.connect(after.transport, access('viewer', { credential }));
    const resumed = await after.ask('reconnect', {
      channel: 'ahp-root://',
      clientId: before.clientId,
      lastSeenServerSeq: 0,
      subscriptions: [uri],
    });
    expect(resumed.error?.message).toContain('send initialize instead');
    await after.initialize(before.clientId, { protocolVersions: ['1.0.0'] });
    expect((await after.ask('disposeSession', { channel: uri })).error?.data).toEqual({ role: 'owner' });
    for (const wire of ['0.9.0', '0.5.0', '0.3.0', '0.2.0', '1'] as const) {
      const client = await host.as(access('viewer', { credential }), wire);
      const named = wire === '1' ? { session: uri.replace('ahp-session', 'mock') } : { channel: uri };
      expect([wire, (await client.ask('disposeSession', named)).error !== undefined]).toEqual([wire, true]);
    }
    expect(JSON.stringify(await owner.request('listSessions', { channel: 'ahp-root://' }))).toContain(uri);
  });

  it('[DEV-023] an access that ends closes its connections with a code of its own', async () => {
    const credential = { kind: 'device' as const, id: 'ending' };
    const client = await host.as(access('viewer', { credential, until: Date.now() + 50 }));
    expect(await client.untilClosed()).toMatchObject({ code: 4007 });
    const late = await host.as(access('viewer', { credential }));
    componentsOf(host.host).connections.changeAccess('ending', undefined);
    expect(late.closed).toMatchObject({ code: 4007 });
  });

  it("[DEV-020] telemetry, the settings of the host and names of other clients are the owner's", async () => {
    const tools = [{ name: 'mine', description: '', inputSchema: { type: 'object' } }];
    const activeClient = { clientId: owner.clientId, displayName: "Ada's laptop", tools };
    expect(await refusal(owner, { type: 'session/activeClientSet', activeClient }, uri)).toBeUndefined();
    for (const role of ['viewer', 'approver', 'driver'] as const) {
      const client = await host.as(access(role));
      expect((await client.ask('subscribe', { channel: 'ahp-otlp://logs' })).error?.data).toEqual({ role: 'owner' });
      expect((await client.ask('atrium/settings', {})).error?.data).toEqual({ role: 'owner' });
      await client.request('subscribe', { channel: uri });
      expect(JSON.stringify(client.received)).not.toMatch(/Ada's laptop|autoApprove.*config|"telemetry"/);
    }
    expect(defaultChatUri(uri)).toBe(chat);
  });
});
