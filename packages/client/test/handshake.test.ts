import { SUPPORTED_PROTOCOL_VERSIONS } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { connect, memoryPair, RequestError } from '../src/index.js';
import { connected, newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { ONE, ROOT, TWO, titled } from './support/states.js';

describe('connect', () => {
  it('[CLI-023] offers its own list of versions, most preferred first', async () => {
    const { host, client } = await connected({ locale: 'de-CH' });
    expect(host.params('initialize')).toEqual([
      {
        channel: ROOT,
        protocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS],
        clientId: 'me',
        initialSubscriptions: [ROOT],
        locale: 'de-CH',
      },
    ]);
    expect(client.status).toEqual({ at: 'open', began: 'initialize', protocolVersion: SUPPORTED_PROTOCOL_VERSIONS[0] });
  });

  it('[CLI-023] offers what it is told to', async () => {
    const { host, client } = await connected({ protocolVersions: ['0.2.0'] });
    expect(host.params('initialize')[0]?.protocolVersions).toEqual(['0.2.0']);
    expect(client.host.protocolVersion).toBe('0.2.0');
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
    expect(one.state.summary.resource).toBe(ONE);
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
      host.act(TWO, titled('A'));
      await client.subscribe(ONE);
    });
    expect(seen).toBe(41);
  });

  it('or that of a later envelope, also of a rejected one and of one on no channel of ours', async () => {
    const seen = await lastSeen({}, ({ host, client }) => {
      host.judge = () => 'no';
      client.dispatch(ONE, titled('A')).catch(() => {});
    });
    expect(seen).toBe(41);
  });
});
