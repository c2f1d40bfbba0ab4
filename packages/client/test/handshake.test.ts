import { describe, expect, it } from 'vitest';
import { connect, memoryPair, RequestError } from '../src/index.js';
import { connected, newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { drafted, ONE, ROOT, TWO } from './support/states.js';

describe('connect', () => {
  it('[CLI-023] offers its own list of versions, most preferred first', async () => {
    const { host, client } = await connected({ locale: 'de-CH' });
    expect(host.params('initialize')).toEqual([
      {
        channel: ROOT,
        protocolVersions: ['1.0.0', '0.9.0'],
        clientId: 'me',
        clientInfo: { name: 'atrium-client' },
        initialSubscriptions: [ROOT],
        locale: 'de-CH',
      },
    ]);
    expect(client.status).toEqual({ at: 'open', began: 'initialize', protocolVersion: '1.0.0' });
  });

  it('[CLI-023] offers what it is told to', async () => {
    const clientInfo = { name: 'my-program', version: '2' };
    const { host, client } = await connected({ protocolVersions: ['0.9.1'], clientInfo });
    expect(host.params('initialize')[0]).toMatchObject({ protocolVersions: ['0.9.1'], clientInfo });
    expect(client.host.protocolVersion).toBe('0.9.1');
  });

  it.each(['0.3.0', '0.7.0', '0.10.0', '2.0.0', 'one'])(
    '[CLI-023] does not offer %s, which it cannot speak',
    async (version) => {
      await expect(connected({ protocolVersions: ['1.0.0', version] })).rejects.toThrow(
        `1.x and 0.9.x, not ${version}`,
      );
    },
  );

  it.each(['0.7.0', '2.0.0'])('[CLI-023] does not take %s for an answer', async (protocolVersion) => {
    const host = newHost();
    host.scripts.set('initialize', () => ({ protocolVersion, serverSeq: 0, snapshots: [] }));
    await expect(connected({}, host)).rejects.toThrow(`nobody offered to speak version ${protocolVersion}`);
  });

  it('gives itself an id that nobody else has', async () => {
    const ids = await Promise.all([connected({ clientId: undefined }), connected({ clientId: undefined })]);
    const [first, second] = ids.map(({ client }) => client.clientId);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(first).not.toBe(second);
  });

  it('rejects with the error of the host, and does not try again', async () => {
    const host = newHost();
    host.scripts.set('initialize', () => {
      throw new Refusal(-32005, 'no such version', { supportedVersions: ['9.0.0'] });
    });
    const failed = connected({}, host);
    await expect(failed).rejects.toBeInstanceOf(RequestError);
    await expect(failed).rejects.toMatchObject({
      name: 'UnsupportedProtocolVersion',
      code: -32005,
      data: { supportedVersions: ['9.0.0'] },
    });
    expect(host.connections).toHaveLength(1);
  });

  it('rejects when there is nobody, or when the other side hangs up', async () => {
    const nobody = () => Promise.reject(new Error('connection refused'));
    await expect(connect({ transport: nobody })).rejects.toThrow('connection refused');
    const hangUp = () => {
      const [near, far] = memoryPair();
      far.onMessage(() => far.close());
      return near;
    };
    await expect(connect({ transport: hangUp })).rejects.toThrow('initialize: not connected to the host');
  });
});

describe('initial subscriptions', () => {
  it('come with the handshake, and are there when they are asked for', async () => {
    const { client, host } = await connected({ initialSubscriptions: [ROOT, ONE, ONE] });
    const one = await client.subscribe(ONE);
    expect(one.state.resource).toBe(ONE);
    expect(host.params('subscribe')).toEqual([]);
    one.close();
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: ONE }]);
  });

  it('that do not exist reject every request for them', async () => {
    const { client } = await connected({ initialSubscriptions: ['ahp-session:/none'] });
    await expect(client.subscribe('ahp-session:/none')).rejects.toMatchObject({ name: 'SessionNotFound' });
  });
});

describe('[CLI-004] the last number seen', () => {
  const lastSeen = async (options: object, live: (scene: Awaited<ReturnType<typeof connected>>) => unknown) => {
    const host = newHost();
    host.seq = 40;
    const scene = await connected(options, host);
    await live(scene);
    await settle();
    await scene.bounce();
    return host.params('reconnect')[0]?.lastSeenServerSeq;
  };

  it('is that of initialize', async () => {
    expect(await lastSeen({}, () => {})).toBe(40);
  });

  it('or that of a later snapshot', async () => {
    const seen = await lastSeen({}, async ({ host, client }) => {
      host.act(TWO, drafted('A'));
      await client.subscribe(ONE);
    });
    expect(seen).toBe(41);
  });

  it('or that of a later envelope, also of a rejected one and of one on no channel of ours', async () => {
    const seen = await lastSeen({}, ({ host, client }) => {
      host.judge = () => 'no';
      client.dispatch(ONE, drafted('A')).catch(() => {});
    });
    expect(seen).toBe(41);
  });
});
