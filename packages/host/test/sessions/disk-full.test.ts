/** A disk without room: people can come and read, writing says what is the matter, and it goes on when there is room. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import { CLIENT_ID_MAX_CHARACTERS } from '@atrium/core/wire/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/log-sqlite/driver.js';
import { FakeClock } from '../support/fake-clock.js';
import { spyingDriver } from '../support/log-drivers.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';
import { lastText, openFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { ROOT } from '../support/test-host.js';

interface Disk {
  readonly log: Awaited<ReturnType<typeof openLog>>;
  fill(): Promise<void>;
  makeRoom(): void;
}

/** A disk of its own, of 8 MiB. */
async function realDisk(): Promise<Disk> {
  const dataDir = dataFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dataDir]);
  onTestFinished(() => void execFileSync('umount', ['-l', dataDir]));
  const filler = path.join(dataDir, 'filler');
  return {
    log: await openLog(dataDir),
    async fill() {
      for (let bytes = 2 ** 20; bytes > 0; bytes = Math.floor(bytes / 2)) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
        } catch {}
      }
    },
    makeRoom: () => rmSync(filler),
  };
}

/** SQLite is told that there are no more pages, and its journal is filled, too. */
async function limitedDatabase(): Promise<Disk> {
  const databases: Database[] = [];
  const [driver] = drivers;
  if (!driver) throw new Error('no driver');
  const log = await openLog(dataFolder(), { driver: spyingDriver(driver, (_, db) => databases.push(db)) });
  const db = databases.at(-1);
  return {
    log,
    async fill() {
      db?.exec('PRAGMA max_page_count = 1');
      const commit = (count: number) =>
        log.append({ entries: [], records: [{ key: `filler:${count}`, value: '1' }], durability: 'normal' });
      for (let count = 0, isFull = false; !isFull; count++) isFull = await commit(count).then(isStored, isRefused);
    },
    makeRoom: () => db?.exec('PRAGMA max_page_count = 1000000'),
  };
}

const isStored = () => false;
const isRefused = () => true;

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const disks = [{ name: 'SQLite has no more pages', make: limitedDatabase, isPossible: true }];
disks.unshift({ name: 'a small disk', make: realDisk, isPossible: canMount() });

describe.each(disks)('a full disk ($name)', ({ make, isPossible }) => {
  it.skipIf(!isPossible)(
    '[REL-066] lets a new client connect and read, refuses to write, and goes on later',
    async () => {
      const disk = await make();
      const clock = new FakeClock();
      const { host, client, uri } = await openFixture({ log: disk.log, clock });
      client.dispatch(uri, turnStarted('t1', 'hello'));
      await client.until(({ params }) => (params?.action as { type?: string })?.type === 'session/turnComplete');
      await disk.fill();

      const phone = await host.client('phone');
      const { items } = await phone.request<{ items: { resource: string }[] }>('listSessions', { channel: ROOT });
      expect(items.map(({ resource }) => resource)).toEqual([uri]);
      await phone.request('subscribe', { channel: uri });
      const { turns } = await phone.request<{ turns: unknown[] }>('fetchTurns', { channel: uri });
      expect(turns).toHaveLength(1);

      const large = 'x'.repeat(200_000);
      // What is left of the last pages may still hold some.
      let refused: string | undefined;
      for (let count = 0; refused === undefined && count < 200; count++) {
        const params = { channel: `ahp-session:/new-${count}`, provider: 'mock' };
        refused = (await phone.ask('createSession', params)).error?.message;
      }
      expect(refused).toContain('disk is full');
      phone.dispatch(uri, turnStarted('t2', large));
      await expect.poll(() => phone.closed).toMatchObject({ code: CloseCode.NotStored });
      expect(phone.closed?.reason).toContain('disk is full');

      const again = host.connect();
      again.continue(phone);
      const resumed = { channel: ROOT, clientId: 'phone', lastSeenServerSeq: 0, subscriptions: [uri], pending: [1] };
      expect(await again.request('reconnect', resumed)).toMatchObject({ settled: [] });

      disk.makeRoom();
      await clock.advance(STORE_RETRY_MS);
      again.dispatch(uri, { type: 'session/titleChanged', title: 'there is room' }, 1);
      await again.until(({ params }) => (params?.action as { type?: string })?.type === 'session/titleChanged');
      expect(await disk.log.record('client:phone')).toBeDefined();
      expect(lastText(await stateOf(again, uri))).toBe('Hello there');
    },
  );
});

describe('a client that came while the disk was full', () => {
  it('[REL-066] is known after a restart, once there was room', async () => {
    const disk = await limitedDatabase();
    const clock = new FakeClock();
    const host = await startHost({ log: disk.log, clock });
    await disk.fill();
    // What is left of the last pages may still hold some.
    let key: string;
    let count = 0;
    do {
      await host.client(`phone-${++count}`, { locale: 'x'.repeat(CLIENT_ID_MAX_CHARACTERS) });
      key = `client:phone-${count}`;
    } while (count < 200 && (await disk.log.record(key)) !== undefined);
    await clock.advance(STORE_RETRY_MS);
    expect(await disk.log.record(key)).toBeUndefined();
    disk.makeRoom();
    await clock.advance(STORE_RETRY_MS);
    await expect.poll(() => disk.log.record(key)).toBeDefined();
  });
});
