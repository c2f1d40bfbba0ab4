/** What clients that people run do beside the letter of the protocol. */
import { describe, expect, it } from 'vitest';
import { chatState, nativeClient, nativeSession, sessionState, userMessage } from '../../support/native-client.js';
import { answerTo, openFixture, refusalOf } from '../../support/session-fixture.js';
import { ROOT, settle } from '../../support/test-host.js';

const said = (type: string, members: object): { type: string } => ({ type, ...members });

async function vscode() {
  const { host } = await openFixture();
  const clientInfo = { name: 'vscode-editor-window', version: '1.130.0' };
  const _meta = { 'vscode.ahpSessionUris': true };
  const client = await nativeClient(host, 'code', { protocolVersions: ['1.0.0', '0.9.0'], clientInfo, _meta });
  return { host, client, ...(await nativeSession(client)) };
}

describe('VS Code', () => {
  it('[UP-181] [UP-182] [UP-064] does not take the host for a part of itself, and hears the names of the protocol', async () => {
    const { host, client, uri } = await vscode();
    const hello = await host.connect().initialize('again', { protocolVersions: ['0.9.0'] });
    expect(JSON.stringify(hello)).not.toContain('hostBuild');
    expect(JSON.stringify(hello)).not.toContain('vscode.agentHost');
    expect(await client.request('listSessions', { channel: ROOT })).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ resource: uri })]),
    });
    expect(uri).toMatch(/^ahp-session:/);
  });

  it('[UP-185] asks for completions on the session, and gets those of its chat', async () => {
    const { client, uri, chat } = await vscode();
    const completions = (channel: string) =>
      client.ask('completions', { channel, kind: 'userMessage', text: '/', offset: 1 });
    expect((await completions(uri)).result).toEqual((await completions(chat)).result);
    expect((await completions(uri)).error).toBeUndefined();
  });

  it('[UP-186] renames a session on the channel of its chat', async () => {
    const { client, uri, chat } = await vscode();
    const clientSeq = client.dispatch(chat, { type: 'session/titleChanged', title: 'Renamed' } as { type: string });
    expect((await answerTo(client, uri, clientSeq)).rejectionReason).toBeUndefined();
    expect((await sessionState(client, uri)).title).toBe('Renamed');
    expect(
      await refusalOf(client, chat, { type: 'session/isArchivedChanged', isArchived: true } as { type: string }),
    ).toContain('does not belong');
  });

  it('[UP-187] reconnects without naming the root', async () => {
    const { host, client, uri } = await vscode();
    client.disconnect();
    const again = host.connect();
    const back = { clientId: 'code', lastSeenServerSeq: 0, subscriptions: [uri] };
    expect(await again.request('reconnect', back)).toMatchObject({ type: expect.stringMatching(/replay|snapshot/) });
  });

  it('[UP-188] [UP-190] is answered a ping, and its private messages harm nothing', async () => {
    const { client } = await vscode();
    client.send({ method: 'setClientManagedSettingsPermissions', params: { channel: ROOT, x: 1 } });
    expect((await client.ask('vscode/private', { channel: ROOT })).error?.code).toBe(-32601);
    expect((await client.ask('ping', { channel: ROOT })).result).toBeNull();
  });

  it('[UP-188] is answered a ping before its handshake, and while a request waits', async () => {
    const { host } = await openFixture();
    const early = host.connect();
    expect((await early.ask('ping', { channel: ROOT })).result).toBeNull();
    const { client } = await vscode();
    client.send({ id: 900, method: 'listSessions', params: { channel: ROOT } });
    client.send({ id: 901, method: 'ping', params: { channel: ROOT } });
    await client.until(({ id }) => id === 900);
    const answered = client.received.flatMap(({ id }) => (id === 900 || id === 901 ? [id] : []));
    expect(answered).toEqual([901, 900]);
  });

  it('[UP-189] sends settings of its own, which change nothing and are answered', async () => {
    const { client } = await vscode();
    const before = await client.state(ROOT);
    const config = { 'telemetry.level': 'all', 'chat.tools.autoApprove': { x: true } };
    const clientSeq = client.dispatch(ROOT, { type: 'root/configChanged', config } as { type: string });
    await answerTo(client, ROOT, clientSeq);
    await settle();
    expect(await client.state(ROOT)).toEqual(before);
    expect(client.closed).toBeUndefined();
  });

  it('[UP-191] disposes a session that can be had back', async () => {
    const { client, uri } = await vscode();
    await client.request('disposeSession', { channel: uri });
    expect((await client.ask('atrium/restoreSession', { channel: uri })).error).toBeUndefined();
    expect((await sessionState(client, uri)).lifecycle).toBe('ready');
  });

  it('[UP-194] is told which versions to offer, and that there is no use in coming back as it is', async () => {
    const { host } = await openFixture();
    const client = host.connect();
    const { error } = await client.ask('initialize', { channel: ROOT, protocolVersions: ['0.10.0'], clientId: 'code' });
    expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('offer one of them') });
    expect(error?.data).toMatchObject({ supportedVersions: expect.arrayContaining(['1.0.0', '0.9.0']) });
    expect((await client.untilClosed()).reason).toContain('no common version');
  });
});

describe('agent-host-protocol-ui', () => {
  async function running(text: string) {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'ui', { clientInfo: { name: 'agent-host-protocol-ui' } });
    const { chat } = await nativeSession(client);
    client.dispatch(chat, said('chat/turnStarted', { turnId: 't1', message: userMessage(text) }));
    await client.action(chat, 'chat/turnStarted');
    return { client, chat };
  }

  it('[UP-202] lets a message wait without an id, and stops a turn without a duration', async () => {
    const { client, chat } = await running('slow');
    const waiting = said('chat/pendingMessageSet', { kind: 'queued', message: userMessage('next') });
    const first = await answerTo(client, chat, client.dispatch(chat, waiting));
    const second = await answerTo(client, chat, client.dispatch(chat, waiting));
    expect(first.action.id).toMatch(/^[\da-f-]{36}$/);
    expect(second.action.id).not.toBe(first.action.id);
    expect((await chatState(client, chat)).queuedMessages).toHaveLength(2);
    // The same action under the same number is a resend, although the host made up its id.
    const clientSeq = client.dispatch(chat, waiting);
    const { action } = await answerTo(client, chat, clientSeq);
    client.dispatch(chat, waiting, clientSeq);
    await expect
      .poll(
        () =>
          client.envelopes(chat).filter(({ origin }) => JSON.stringify(origin ?? {}).includes(`:${clientSeq}}`)).length,
      )
      .toBe(2);
    expect((await chatState(client, chat)).queuedMessages?.map(({ id }) => id)).toContain(action.id);
    expect((await chatState(client, chat)).queuedMessages).toHaveLength(3);
    client.dispatch(chat, said('chat/turnCancelled', { turnId: 't1' }));
    expect((await client.action(chat, 'chat/turnCancelled')).action.duration).toBeGreaterThanOrEqual(0);
  });

  it('[UP-202] is told what a confirmation needs, and its call goes on waiting', async () => {
    const { client, chat } = await running('tool');
    await client.action(chat, 'chat/toolCallReady');
    const reason = await refusalOf(client, chat, said('chat/toolCallConfirmed', { toolCallId: 'c1', confirmed: true }));
    expect(reason).toContain('needs turnId, and approved');
    const { activeTurn } = await chatState(client, chat);
    expect(JSON.stringify(activeTurn)).toContain('pending-confirmation');
    client.dispatch(
      chat,
      said('chat/toolCallConfirmed', { turnId: 't1', toolCallId: 'c1', approved: true, confirmed: 'user-action' }),
    );
    await client.action(chat, 'chat/turnComplete');
  });

  it('[UP-203] is sent each text once: in the part or in what is added to it, never in both', async () => {
    const { client, chat } = await running('hello');
    await client.action(chat, 'chat/turnComplete');
    const texts = new Map<unknown, string>();
    for (const { action } of client.envelopes(chat) as { action: Record<string, unknown> }[]) {
      const part = action.part as { kind: string; id: string; content: string } | undefined;
      if (action.type === 'chat/responsePart' && part?.kind === 'markdown') texts.set(part.id, part.content);
      if (action.type === 'chat/delta') texts.set(action.partId, `${texts.get(action.partId)}${action.content}`);
    }
    expect([...texts.values()]).toEqual(['Hello there']);
  });
});
