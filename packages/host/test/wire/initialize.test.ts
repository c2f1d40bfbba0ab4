import { SUPPORTED_PROTOCOL_VERSIONS } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { SlowLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

interface Result {
  readonly protocolVersion: string;
  readonly serverSeq: number;
  readonly snapshots: { resource: string; fromSeq: number; state: Record<string, unknown> }[];
  readonly turns?: Record<string, { start: number; total: number }>;
}

async function initialize(host: TestHost, params: object = {}): Promise<Result> {
  const client = host.connect();
  const hello = { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk', ...params };
  return (await client.request('initialize', hello)) as unknown as Result;
}

async function versionFor(protocolVersions: string[]): Promise<string | number> {
  const host = await startHost();
  const client = host.connect();
  const { result, error } = await client.ask('initialize', { channel: ROOT, clientId: 'desk', protocolVersions });
  return (result as Result | undefined)?.protocolVersion ?? error?.code ?? 0;
}

describe('the version', () => {
  it.each([
    [['0.3.0', '0.2.0'], '0.3.0'],
    [['0.2.0'], '0.2.0'],
    [['0.3.0'], '0.3.0'],
    [['2.0.0', '0.10.0', '0.2.0'], '0.2.0'],
    [['0.2.0', '0.3.0'], '0.3.0'],
    [['0.9.0', '1.0.0', '0.2.0'], '1.0.0'],
  ])('[AHP-017][AHP-196] of %j is %s: one that was offered, the highest that is spoken', async (offered, chosen) => {
    expect(await versionFor(offered)).toBe(chosen);
  });

  it.each([
    [['0.8.0', '0.3.0', '0.2.0'], '0.2.0'],
    [['0.4.0', '0.3.0'], -32005],
    [['2.0.0', '0.3.0'], -32005],
    [['0.9.0', '0.3.0'], '0.9.0'],
    [['1.0.0', '0.9.0', '0.3.0', '0.2.0'], '1.0.0'],
  ])('[AHP-196] an offer that upstream would make, %j, is never answered with our 0.3.0', async (offered, outcome) => {
    expect(await versionFor(offered)).toBe(outcome);
  });

  it("[UP-013] a client of upstream's 0.3.0 is told what the number means here, and what to offer", async () => {
    const host = await startHost();
    const offer = { channel: ROOT, clientId: 'a', protocolVersions: ['0.8.0', '0.3.0'] };
    const { error } = await host.connect().ask('initialize', offer);
    const others = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== '0.3.0');
    expect(error).toMatchObject({ code: -32005, data: { supportedVersions: others } });
    expect(error?.message).toMatch(/0\.3\.0 is 0\.2\.0 plus systemMessageTransform.*offer 1\.0\.0, .*0\.2\.0/);
  });

  it.each(['0.3', '0.3.0-beta', '0.3.0+build', 'v0.3.0', ' 0.3.0', '^0.3.0', ''])(
    '[AHP-195] %j is not a version',
    async (version) => {
      expect(await versionFor([version])).toBe(-32602);
    },
  );

  it.each([
    [['0.3.1'], -32005],
    [['0.4.0'], -32005],
    [['0.8.0'], -32005],
    [['0.10.0'], -32005],
    [['2.0.0'], -32005],
    [[], -32005],
  ])('[AHP-198] [UP-006] %j is another line, or none at all', async (offered, code) => {
    expect(await versionFor(offered)).toBe(code);
  });

  it.each([
    [['1.1.0'], '1.1.0'],
    [['2.0.0', '1.5.3', '0.9.7'], '1.5.3'],
    [['0.5.2', '0.5.0'], '0.5.2'],
    [['0.2.1'], '0.2.1'],
  ])('[UP-006] [UP-007] [UP-008] of %j is %s: the same line, answered as it was offered', async (offered, chosen) => {
    expect(await versionFor(offered)).toBe(chosen);
  });

  it('[AHP-201] 0.1.0 had another wire, and is refused', async () => {
    expect(await versionFor(['0.1.0'])).toBe(-32005);
    expect(await versionFor(['0.2.0', '0.1.0'])).toBe('0.2.0');
  });

  it('[AHP-199] [UP-010] [UP-012] what the host says it speaks is the one list, newest first', async () => {
    const host = await startHost();
    const { error } = await host.connect().ask('initialize', { channel: ROOT, clientId: 'a', protocolVersions: [] });
    expect(error?.data).toEqual({ supportedVersions: SUPPORTED_PROTOCOL_VERSIONS });
    for (const version of SUPPORTED_PROTOCOL_VERSIONS) expect(await versionFor([version])).toBe(version);
  });

  it('[AHP-197] is fixed: a second offer on the connection is refused', async () => {
    const host = await startHost();
    const client = await host.client('desk', { protocolVersions: ['0.2.0'] });
    const again = { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk' };
    expect((await client.ask('initialize', again)).error).toMatchObject({ code: -32600 });
    expect(await host.log.record('client:desk')).toContain('"dialect":"0.2.0"');
  });

  it('[AHP-200] members that nobody knows are ignored', async () => {
    const host = await startHost();
    expect(await initialize(host, { capabilities: { x: 1 }, turns: 'all', _meta: null })).toMatchObject({
      protocolVersion: '0.3.0',
    });
  });
});

describe('the result', () => {
  it('[AHP-020] has the current number of the host', async () => {
    const host = await startHost();
    const client = await host.client();
    const uri = await client.session();
    await client.turn(uri, 'hello');
    await settle();
    const newest = Math.max(...client.received.map(({ params }) => Number(params?.serverSeq ?? 0)));
    expect(newest).toBeGreaterThan(4);
    // The newest step may be one that this wire does not show.
    const { serverSeq } = await initialize(host, { clientId: 'phone' });
    expect(serverSeq).toBe(host.log.head);
    expect(serverSeq).toBeGreaterThanOrEqual(newest);
  });

  it('[AHP-021][AHP-022] has one snapshot per channel that exists, asked for once or twice, and none for others', async () => {
    const host = await startHost();
    const uri = await (await host.client()).session();
    const gone = ['ahp-session:/none', 'ahp-terminal:/none', 'ahp-otlp:/logs', 'nonsense'];
    const { snapshots } = await initialize(host, {
      clientId: 'phone',
      initialSubscriptions: [ROOT, ...gone, uri, uri, ROOT],
    });
    expect(snapshots.map(({ resource }) => resource)).toEqual([ROOT, uri]);
    expect(snapshots[0]?.state).toMatchObject({ agents: [{ provider: 'mock' }], activeSessions: 1 });
    expect(snapshots[1]?.state).toMatchObject({ lifecycle: 'ready', turns: [] });
  });

  it('[AHP-021] has no snapshots when none were asked for, and then nothing is subscribed', async () => {
    const host = await startHost();
    const quiet = await host.client('quiet', { initialSubscriptions: undefined });
    const client = await host.client();
    await client.turn(await client.session(), 'hello');
    await settle();
    expect(quiet.received).toHaveLength(1);
    expect(quiet.received[0]?.result).toMatchObject({ snapshots: [] });
  });

  it('[AHP-021] what was subscribed is followed from there on', async () => {
    const host = await startHost();
    const client = await host.client();
    const uri = await client.session();
    const phone = await host.client('phone', { initialSubscriptions: [uri] });
    await client.turn(uri, 'hello');
    await phone.action(uri, 'session/turnComplete');
    expect(new Mirror().takeAll(phone.received).state(uri)).toEqual(comparable(await client.state(uri)));
  });
});

describe('a window', () => {
  it('of the last turns is ours alone: the result says which they are', async () => {
    const host = await startHost();
    const client = await host.client();
    const uri = await client.session();
    for (let turn = 0; turn < 5; turn++) await client.turn(uri, 'hello', `t${turn}`);
    const { snapshots, turns } = await initialize(host, {
      clientId: 'phone',
      initialSubscriptions: [ROOT, uri],
      turns: { last: 2 },
    });
    expect(snapshots[1]?.state.turns).toMatchObject([{ id: 't3' }, { id: 't4' }]);
    expect(turns).toEqual({ [uri]: { start: 3, total: 5 } });
  });

  it('that nobody asked for is not there', async () => {
    const host = await startHost();
    const uri = await (await host.client()).session();
    const result = await initialize(host, { clientId: 'phone', initialSubscriptions: [uri] });
    expect(Object.keys(result)).not.toContain('turns');
  });
});

describe('a slow handshake', () => {
  /** Someone watches a busy session and one that has to be read from a slow disk first. */
  async function slowHandshake(during: (busy: string, client: RawClient, newcomer: RawClient) => Promise<void>) {
    const log = new SlowLog();
    const first = await startHost({ log });
    const resting = await (await first.client()).session();
    await first.stop();
    const host = await startHost({ log });
    const client = await host.client('desk');
    const busy = await client.session();
    const letThrough = log.hold('openChannel');
    const newcomer = host.connect();
    const handshake = newcomer.initialize('newcomer', { initialSubscriptions: [ROOT, busy, resting] });
    await settle();
    await during(busy, client, newcomer);
    letThrough();
    const result = (await handshake) as unknown as Result;
    await settle();
    return { result, busy, resting, client, newcomer };
  }

  it('[AHP-020][AHP-107] is true of one moment: all snapshots carry the number of the answer', async () => {
    const { result, busy, client, newcomer } = await slowHandshake(async () => {});
    expect(result.snapshots.map(({ fromSeq }) => fromSeq)).toEqual(result.snapshots.map(() => result.serverSeq));
    expect(result.snapshots).toHaveLength(3);
    await client.turn(busy, 'hello');
    await newcomer.action(busy, 'session/turnComplete');
    expect(new Mirror().takeAll(newcomer.received).state(busy)).toEqual(comparable(await client.state(busy)));
  });

  it('[AHP-020][AHP-107][REL-017] misses nothing that happens meanwhile', async () => {
    const { result, busy, client, newcomer } = await slowHandshake(async (uri, client) => {
      await client.turn(uri, 'hello');
    });
    const answer = newcomer.received.findIndex((message) => message.result === (result as unknown));
    expect(newcomer.received.slice(0, answer)).toEqual([]);
    const later = newcomer.received.slice(answer + 1).map(({ params }) => Number(params?.serverSeq));
    expect(later.filter((seq) => seq <= result.serverSeq)).toEqual([]);
    expect(new Mirror().takeAll(newcomer.received).state(busy)).toEqual(comparable(await client.state(busy)));
  });

  it('[AHP-022] has nothing for a session that was disposed meanwhile', async () => {
    const { result, resting } = await slowHandshake(async (uri, client) => {
      await client.request('disposeSession', { channel: uri });
    });
    expect(result.snapshots.map(({ resource }) => resource)).toEqual([ROOT, resting]);
  });

  it('[AHP-027] says nothing of a channel before its snapshot, even when the client sends rubbish meanwhile', async () => {
    const { result, newcomer } = await slowHandshake(async (uri, client, rude) => {
      rude.sendText('rubbish');
      await settle();
      await client.turn(uri, 'hello');
      rude.sendText('more rubbish');
      await settle();
    });
    const answer = newcomer.received.findIndex((message) => message.result === (result as unknown));
    expect(newcomer.received.slice(0, answer).map(({ error }) => error?.code)).toEqual([-32700, -32700]);
  });
});
