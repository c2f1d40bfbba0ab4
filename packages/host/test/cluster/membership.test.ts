import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { checkAdmission } from '../../src/cluster/admission.js';
import { CUT_OFF_MS, LOOKS_UNTIL_DEAD, LOOKS_WHEN_REFUSED } from '../../src/cluster/limits.js';
import { askLink, linkAddress, listenForLinks } from '../../src/cluster/link.js';
import { Lookout } from '../../src/cluster/lookout.js';
import { engineUrl } from '../../src/log-postgres/engine-url.js';
import { cutProxy } from '../support/cut-proxy.js';
import { isFulfilled, joinedAs } from '../support/membership.js';
import { describeWithEngine, freshCluster, onEngine } from '../support/postgres.js';
import { tempFolder } from '../support/temp-folder.js';

const SECRET = 'secret-of-the-tests-0123456789';

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** A host that others can ask. */
async function linked(answer: () => boolean, secret = SECRET): Promise<string> {
  const server = await listenForLinks({ host: '127.0.0.1', port: 0, secret, answer });
  onTestFinished(() => server.close());
  return `127.0.0.1:${server.port}`;
}

describeWithEngine('a cluster', () => {
  it('[CLU-028] takes hosts in that start at the same time with the same token and secret, and nobody with another', async () => {
    for (let round = 0; round < 5; round++) {
      const url = await freshCluster();
      const admitted = (hostId: string, secret: string) =>
        onEngine(url, async (engine) => {
          await engine.run('SELECT 1');
          await checkAdmission({ engine, hostId, dataDir: await tempFolder(), token: 'token', secret });
        });
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      await Promise.all(ids.map((id) => admitted(id, SECRET)));
      await onEngine(url, (engine) => engine.run("SELECT join_cluster('a', NULL, 'test', 1)"));
      await expect(admitted('g', 'another-secret-of-the-tests')).rejects.toThrow('another cluster secret');
    }
  });

  it('[CLU-023] has one active host, however many start at the same time; the others stand by', async () => {
    const url = await freshCluster();
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((id) => joinedAs(id, { url })));
    const active = await Promise.all(all.map(({ member }) => isFulfilled(member.active)));
    expect(active.filter(Boolean)).toHaveLength(1);
    for (const { member } of all) await member.lookNow();
    expect(new Set(all.map(({ member }) => member.activeHost)).size).toBe(1);
  });

  it('[CLU-007] has another active one when the first falls silent for six looks, and not one earlier', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url });
    const { member: second } = await joinedAs('b', { url });
    await first.active;
    for (let look = 1; look < LOOKS_UNTIL_DEAD - 1; look++) await second.lookNow();
    expect([await isFulfilled(second.active), second.activeHost]).toEqual([false, 'a']);
    await second.lookNow();
    expect([await isFulfilled(second.active), second.activeHost]).toEqual([true, 'b']);
    await first.lookNow();
    expect(await first.lost).toMatchObject({ kind: 'fenced' });
  });

  it('[CLU-007] goes on with a host whose beat was late', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url });
    const { member: second } = await joinedAs('b', { url });
    for (let round = 0; round < 3; round++) {
      for (let look = 1; look < LOOKS_UNTIL_DEAD - 1; look++) await second.lookNow();
      await first.lookNow();
    }
    expect([await isFulfilled(second.active), await isFulfilled(first.lost)]).toEqual([false, false]);
  });

  it('[CLU-007] [CLU-046] takes no host for dead because it asks often which one is active', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url });
    const { member: second } = await joinedAs('b', { url });
    await first.active;
    const asked = Array.from({ length: 3 * LOOKS_UNTIL_DEAD }, () => second.activeNow());
    expect(await Promise.all(asked)).toEqual(asked.map(() => first.me));
    await first.lookNow();
    expect([await isFulfilled(second.active), await isFulfilled(first.lost)]).toEqual([false, false]);
    for (let look = 0; look < LOOKS_UNTIL_DEAD; look++) await second.lookNow();
    expect(await second.activeNow()).toEqual(second.me);
  });

  it('[CLU-006] needs two looks only when nobody listens at its link', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url, link: `127.0.0.1:${await unusedPort()}` });
    await first.active;
    const { member: second } = await joinedAs('b', { url });
    expect(await isFulfilled(second.active)).toBe(false);
    for (let look = 1; look < LOOKS_WHEN_REFUSED; look++) await second.lookNow();
    expect(await isFulfilled(second.active)).toBe(true);
  });

  it('[CLU-007] waits for all six where somebody listens, whether or not it answers', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url, link: await linked(() => true, 'another secret') });
    await first.active;
    const { member: second } = await joinedAs('b', { url, secret: SECRET });
    for (let look = 1; look < LOOKS_UNTIL_DEAD - 1; look++) await second.lookNow();
    expect(await isFulfilled(second.active)).toBe(false);
  });

  it('[CLU-025] has another active host as soon as the first leaves in good order', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url, secret: SECRET });
    const looked: (() => void)[] = [];
    const link = await linked(() => {
      for (const look of looked) look();
      return true;
    });
    const { member: second } = await joinedAs('b', { url, link, secret: SECRET });
    looked.push(() => void second.lookNow());
    await first.lookNow();
    await first.leave();
    await second.active;
  });

  it('[CLU-026] asks a host to leave when somebody drains it', async () => {
    const url = await freshCluster();
    const { member } = await joinedAs('a', { url });
    const { askToDrain } = await import('../../src/cluster/status.js');
    expect(await onEngine(url, (engine) => askToDrain(engine, 'nobody'))).toBe(false);
    expect(await onEngine(url, (engine) => askToDrain(engine, 'a'))).toBe(true);
    expect(await isFulfilled(member.drained)).toBe(false);
    await member.lookNow();
    expect(await isFulfilled(member.drained)).toBe(true);
  });

  it('[CLU-028] tells a host that another process has joined under its id', async () => {
    const url = await freshCluster();
    const { member: first } = await joinedAs('a', { url });
    const { member: second } = await joinedAs('a', { url });
    expect(second.me.term).toBe(first.me.term + 1);
    await first.lookNow();
    expect(await first.lost).toMatchObject({ kind: 'replaced', text: expect.stringContaining('--host-id') });
    expect(await isFulfilled(second.lost)).toBe(false);
  });
});

describeWithEngine('a host that is cut off from the engine', () => {
  /** Waits as long as a host waits that cannot raise its beat, by a clock that is moved. */
  async function cutOff(otherSays: 'yes' | 'no' | 'nothing') {
    const direct = await freshCluster();
    const plain = new URL(direct.connection);
    plain.searchParams.set('schema', direct.schema);
    const proxy = await cutProxy(plain.href);
    const link = otherSays === 'nothing' ? `127.0.0.1:${await unusedPort()}` : await linked(() => otherSays === 'yes');
    await joinedAs('b', { url: direct, link, secret: SECRET });
    const { member } = await joinedAs('a', { url: engineUrl(proxy.url), secret: SECRET });
    proxy.close();
    await member.lookNow();
    expect([member.isReached, await isFulfilled(member.lost)]).toEqual([false, false]);
    const now = performance.now.bind(performance);
    performance.now = () => now() + CUT_OFF_MS;
    onTestFinished(() => {
      performance.now = now;
    });
    await member.lookNow();
    return { member, proxy };
  }

  it('[CLU-010] gives up its work after six seconds when the engine answers another', async () => {
    const { member } = await cutOff('yes');
    expect(await member.lost).toMatchObject({ kind: 'fenced' });
  });

  it('[CLU-010] gives up its work, too, when it reaches no other', async () => {
    const { member } = await cutOff('nothing');
    expect(await member.lost).toMatchObject({ kind: 'fenced' });
  });

  it('[CLU-012] waits with all others when the engine answers nobody, and goes on with its term', async () => {
    const { member, proxy } = await cutOff('no');
    expect(await isFulfilled(member.lost)).toBe(false);
    proxy.open();
    await member.lookNow();
    expect([member.isReached, await isFulfilled(member.lost)]).toEqual([true, false]);
  });
});

describeWithEngine('clocks', () => {
  it('[CLU-030] that jump by a day bury nobody: only looks are counted', async () => {
    const lookout = new Lookout(async () => false);
    const realNow = Date.now;
    onTestFinished(() => {
      Date.now = realNow;
    });
    for (const [beat, day] of [1, -1, 2, 0].entries()) {
      Date.now = () => realNow() + day * 86_400_000;
      for (let look = 1; look < LOOKS_UNTIL_DEAD; look++)
        expect(await lookout.look([{ id: 'a', term: 1, beat, link: null }])).toEqual([]);
    }
  });
});

describeWithEngine('the link between hosts', () => {
  it('[CLU-028] answers those who know the secret, and tells the others apart', async () => {
    const address = await linked(() => true);
    expect(await askLink(address, SECRET, 'engine')).toBe('yes');
    expect(await askLink(address, 'another', 'engine')).toBe('stranger');
    expect(await askLink(await linked(() => false), SECRET, 'engine')).toBe('no');
    expect(await askLink(`127.0.0.1:${await unusedPort()}`, SECRET, 'engine')).toBe('refused');
    const mute = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void mute.close());
    const { port } = mute.address() as { port: number };
    expect(await askLink(`127.0.0.1:${port}`, SECRET, 'engine')).toBe('silent');
  });

  it('[CLU-028] takes names and addresses with a port, and nothing else', () => {
    expect(linkAddress('a.internal:9500')).toEqual({ host: 'a.internal', port: 9500 });
    expect(linkAddress('[fd00::1]:9500')).toEqual({ host: 'fd00::1', port: 9500 });
    for (const text of ['a.internal', 'a:99999', 'http://a:1', 'fd00::1:9500', 'a b:1', ''])
      expect(linkAddress(text)).toBe(undefined);
  });
});
