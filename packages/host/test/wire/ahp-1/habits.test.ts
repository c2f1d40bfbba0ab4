/** What clients that people run do beside the letter of the protocol. */
import { describe, expect, it } from 'vitest';
import { nativeClient, nativeSession, sessionState } from '../../support/native-client.js';
import { answerTo, openFixture, refusalOf } from '../../support/session-fixture.js';
import { ROOT, settle } from '../../support/test-host.js';

async function vscode() {
  const { host } = await openFixture();
  const clientInfo = { name: 'vscode', version: '1.130.0' };
  const client = await nativeClient(host, 'code', { protocolVersions: ['1.0.0', '0.9.0'], clientInfo });
  return { host, client, ...(await nativeSession(client)) };
}

describe('VS Code', () => {
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
});
