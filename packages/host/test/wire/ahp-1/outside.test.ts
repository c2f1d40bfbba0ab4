/** What is not in the versions that the host speaks: private names, unreleased versions and codes, our own request. */
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { nativeClient, nativeSession, nativeTurn } from '../../support/native-client.js';
import { refusalOf, startHost } from '../../support/session-fixture.js';
import { ROOT } from '../../support/test-host.js';

const NATIVE = ['1.0.0', '0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'];

describe('private names', () => {
  it('[UP-004] of others begin with `x-`: as methods they do not exist, as actions they are refused, as schemes they name nothing', async () => {
    const host = await startHost();
    const client = await nativeClient(host, 'desk');
    const { uri } = await nativeSession(client);
    expect((await client.ask('x-acme/do', { channel: ROOT })).error?.code).toBe(-32601);
    client.send({ method: 'x-acme/said', params: { channel: ROOT } });
    expect(await refusalOf(client, uri, { type: 'x-acme/done' })).toBeDefined();
    expect((await client.ask('subscribe', { channel: 'x-acme:/1' })).error?.code).toBe(-32001);
    expect(client.closed).toBeUndefined();
  });

  it('[UP-004] [UP-014] of ours are in no action that a client of the public protocol gets', async () => {
    const host = await startHost();
    const older = await host.client('older');
    const uri = await older.session();
    for (const version of NATIVE) {
      const client = await nativeClient(host, version, { protocolVersions: [version] });
      const { chat } = { chat: (await client.state<{ defaultChat: string }>(uri)).defaultChat };
      await client.request('subscribe', { channel: chat });
      older.dispatch(uri, { type: 'session/modelChanged', model: { id: 'small' } });
      older.dispatch(uri, { type: 'session/activeClientChanged', activeClient: { clientId: 'older', tools: [] } });
      await nativeTurn(client, chat, 'hello');
      const actions = client.received.filter(({ method }) => method === 'action');
      expect(actions.length).toBeGreaterThan(3);
      expect(JSON.stringify(actions)).not.toContain('x-atrium');
    }
  });
});

describe('versions', () => {
  const offer = async (...protocolVersions: string[]) => {
    const host = await startHost();
    return host.connect().ask('initialize', { channel: ROOT, protocolVersions, clientId: 'desk' });
  };

  it('[UP-005] 1.0.0 and 0.9.0 are what the host names as its own; the number of a tree under development is not', async () => {
    const { error } = await offer('7.0.0');
    const { supportedVersions } = (error?.data ?? {}) as { supportedVersions: string[] };
    expect(supportedVersions.slice(0, 2)).toEqual(['1.0.0', '0.9.0']);
    expect(supportedVersions).not.toContain('1.1.0');
  });

  it.each([
    ['[UP-227] 0.4, where sessions have a summary and one active client', ['0.4.0']],
    ["[UP-228] upstream's 0.3, which has no chats, offered beside a later one", ['0.4.0', '0.3.0']],
  ])('%s, is not served', async (_title, offered) => {
    const { error } = await offer(...offered);
    expect(error?.code).toBe(-32005);
  });

  it('[UP-060] the host never says -32012, which only a development tree has', () => {
    expect(Object.values(ErrorCode)).not.toContain(-32012);
  });
});

describe('systemMessageTransform', () => {
  it.each(NATIVE)(
    '[UP-230] is nothing that a client of %s knows: it is sent nothing unless it asked for that',
    async (version) => {
      const host = await startHost();
      const client = await nativeClient(host, 'desk', { protocolVersions: [version] });
      const { uri, chat } = await nativeSession(client);
      const activeClient = { clientId: 'desk', tools: [] };
      expect(
        await refusalOf(client, uri, { type: 'session/activeClientSet', activeClient } as { type: string }),
      ).toBeUndefined();
      await nativeTurn(client, chat, 'hello');
      const requests = client.received.filter(({ id, method }) => id !== undefined && method !== undefined);
      expect(requests).toEqual([]);
    },
  );
});
