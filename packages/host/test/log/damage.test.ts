import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LogRepair } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import {
  closedFolder,
  cutTo,
  cutToShare,
  databaseOf,
  ENTRIES,
  garbage,
  killedFolder,
  overwrite,
  RECORDS,
  SESSIONS,
  TURNS,
  walOf,
  zeros,
} from '../support/log-damage.js';
import { copyOf, dataFolder, openLog } from '../support/log-folders.js';
import { randomFrom } from '../support/log-random.js';
import { appendSamples, sampleEntries, sampleEntry } from '../support/log-samples.js';

const PAGE = 4_096;
const RANDOM_SEED = Number(process.env.ATRIUM_SEED || 4_711);
/** `npm run prove -- damage` does more. */
const RANDOM_DAMAGES = Number(process.env.ATRIUM_DAMAGES || 20);

interface Damage {
  readonly name: string;
  readonly spoil: (file: string) => void;
  /** Entries that must have been saved at least. */
  readonly saved: number;
}

const DATABASE_DAMAGES: readonly Damage[] = [
  { name: 'an empty file', spoil: (file) => cutTo(file, 0), saved: 0 },
  { name: 'a file cut inside its header', spoil: (file) => cutTo(file, 50), saved: 0 },
  { name: 'a file cut inside its first page', spoil: (file) => cutTo(file, 1_000), saved: 0 },
  { name: 'a file cut after its first page', spoil: (file) => cutTo(file, PAGE), saved: 0 },
  { name: 'a file cut in half, inside a page', spoil: (file) => cutToShare(file, 0.5), saved: 1 },
  { name: 'a file that lacks its last bytes', spoil: (file) => cutTo(file, statSync(file).size - 10), saved: ENTRIES },
  { name: 'a first page of zeros', spoil: (file) => overwrite(file, 0, zeros(PAGE)), saved: ENTRIES },
  { name: 'a first page of garbage', spoil: (file) => overwrite(file, 0, garbage(PAGE)), saved: ENTRIES },
  { name: 'a block of zeros in the middle', spoil: (file) => spoilAt(file, 0.5, zeros(3 * PAGE)), saved: 1 },
  { name: 'a block of garbage in the middle', spoil: (file) => spoilAt(file, 0.6, garbage(3 * PAGE)), saved: 1 },
  { name: 'zeros at the root of the entries', spoil: (file) => overwrite(file, PAGE, zeros(PAGE)), saved: 0 },
  { name: 'garbage throughout', spoil: (file) => overwrite(file, 0, garbage(statSync(file).size)), saved: 0 },
];

const WAL_DAMAGES: readonly Damage[] = [
  { name: 'a write-ahead file cut inside its header', spoil: (file) => cutTo(file, 20), saved: ENTRIES },
  { name: 'a write-ahead file cut inside a page', spoil: (file) => cutToShare(file, 0.55), saved: ENTRIES + 1 },
  {
    name: 'a write-ahead file that lacks its last byte',
    spoil: (file) => cutTo(file, statSync(file).size - 1),
    saved: ENTRIES + 180,
  },
  {
    name: 'a write-ahead file with zeros in the middle',
    spoil: (file) => spoilAt(file, 0.5, zeros(5_000)),
    saved: ENTRIES + 1,
  },
  {
    name: 'a write-ahead file with garbage in the middle',
    spoil: (file) => spoilAt(file, 0.5, garbage(9_000)),
    saved: ENTRIES + 1,
  },
  {
    name: 'a write-ahead file of garbage',
    spoil: (file) => overwrite(file, 0, garbage(statSync(file).size)),
    saved: ENTRIES,
  },
];

describe('a damaged database', () => {
  it.each(DATABASE_DAMAGES)('[REL-032] is repaired once, with the bad bytes kept: $name', async ({ spoil, saved }) => {
    const dataDir = await closedFolder();
    spoil(databaseOf(dataDir));
    const bad = readFileSync(databaseOf(dataDir));

    const log = await openLog(dataDir);
    expect(log.repairs).toHaveLength(1);
    expect(log.repairs[0]?.message).toContain('atrium.db');
    expect(readFileSync(keptAt(log.repairs)).equals(bad)).toBe(true);
    await expectUsable(dataDir, { log, saved });
  });

  it('[REL-032] keeps every row that the damage did not touch', async () => {
    const dataDir = await closedFolder();
    overwrite(databaseOf(dataDir), PAGE, zeros(PAGE));
    const log = await openLog(dataDir);
    expect(await log.records('session:')).toHaveLength(RECORDS);
    for (let index = 0; index < SESSIONS; index++) {
      expect((await log.archiveHead(`ahp-session:/s${index}`))?.turnCount).toBe(TURNS);
    }
  });

  it('[REL-032] [REL-063] has a turn that says so where one is lost', async () => {
    const dataDir = await closedFolder();
    spoilAt(databaseOf(dataDir), 0.6, zeros(2 * PAGE));
    const log = await openLog(dataDir);
    let kept = 0;
    for (let index = 0; index < SESSIONS; index++) {
      const channel = `ahp-session:/s${index}`;
      const turns = await log.archivedTurns(channel, { start: 0, end: TURNS });
      const last = turns.at(-1);
      if (last !== undefined) expect(await log.findTurn(channel, last.id)).toBe(turns.length - 1);
      kept += turns.length;
    }
    expect(kept).toBeGreaterThan(SESSIONS * TURNS * 0.8);
  });

  it('[REL-032] is opened whatever was done to it, with the right entries or fewer', {
    timeout: 120_000 + RANDOM_DAMAGES * 1_000,
  }, async () => {
    const whole = await closedFolder();
    const random = randomFrom(RANDOM_SEED);
    for (let round = 0; round < RANDOM_DAMAGES; round++) {
      const dataDir = copyOf(whole);
      const file = databaseOf(dataDir);
      const at = random(statSync(file).size);
      if (random(3) === 0) cutTo(file, at);
      else overwrite(file, at, (random(2) === 0 ? zeros : garbage)(1 + random(random(2) === 0 ? 20 : 9_000)));
      const log = await openLog(dataDir);
      const entries = await log.read({ after: 0 });
      expect(
        entries.map(({ seq }) => seq),
        `round ${round}`,
      ).toEqual(entries.map((_, index) => index + 1));
      for (const entry of entries) {
        // The channel may be what was damaged. The log still finds such an entry by the channel that it was stored under.
        if (entry.isDamaged) expect(entry.action, `round ${round}`).toBe('');
        // Its time may be wrong: an action is worth more than when it was taken.
        else expect({ ...entry, time: 0 }, `round ${round}`).toEqual({ ...sampleEntry(entry.seq), time: 0 });
      }
      await log.close();
      expect((await openLog(dataDir)).repairs, `round ${round}`).toEqual([]);
    }
  });

  it('[REL-016] never uses a number again that a client may have seen', async () => {
    const dataDir = await closedFolder();
    cutToShare(databaseOf(dataDir), 0.5);
    const log = await openLog(dataDir, { clock: { now: () => 5_000, after: () => () => {} } });
    expect(log.head).toBeGreaterThanOrEqual(1_000_000);
    expect(log.oldest).toBe(log.head + 1);
  });
});

describe('a damaged write-ahead file', () => {
  it.each(WAL_DAMAGES)('[REL-032] is repaired once, with the bad bytes kept: $name', async ({ spoil, saved }) => {
    const dataDir = await killedFolder();
    spoil(walOf(dataDir));
    const bad = readFileSync(walOf(dataDir));

    const log = await openLog(dataDir);
    expect(log.repairs).toHaveLength(1);
    const kept = readFileSync(keptAt(log.repairs));
    expect(kept.length).toBeGreaterThan(0);
    expect(bad.subarray(bad.length - kept.length).equals(kept)).toBe(true);
    await expectUsable(dataDir, { log, saved });
  });

  it('[REL-032] saves what it holds when the database beside it is empty', async () => {
    const folder = dataFolder();
    const log = await openLog(folder);
    await appendSamples(log, 30);
    const killed = copyOf(folder);
    cutTo(databaseOf(killed), 0);
    const bytes = statSync(walOf(killed)).size;
    const saved = await openLog(killed);
    expect(await saved.read({ after: 0 })).toEqual(sampleEntries(1, 30));
    expect(statSync(`${keptAt(saved.repairs)}-wal`).size).toBe(bytes);
  });

  it('[REL-031] needs no repair when it is whole', async () => {
    const dataDir = await killedFolder();
    const log = await openLog(dataDir);
    expect(log.repairs).toEqual([]);
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, ENTRIES + 200));
  });
});

interface Opened {
  readonly log: Awaited<ReturnType<typeof openLog>>;
  readonly saved: number;
}

/** What was saved is right, appending works, and the next opening has nothing to repair. */
async function expectUsable(dataDir: string, { log, saved }: Opened): Promise<void> {
  const before = await log.read({ after: 0 });
  expect(before).toEqual(sampleEntries(1, before.length));
  expect(before.length).toBeGreaterThanOrEqual(saved);
  for (const { value } of await log.records('')) JSON.parse(value);
  const first = log.head + 1;
  await appendSamples(log, 70);
  await log.close();
  expect(leftovers(dataDir)).toEqual([]);

  const again = await openLog(dataDir);
  expect(again.repairs).toEqual([]);
  expect(await again.read({ after: 0, limit: before.length })).toEqual(before);
  const after = await again.read({ after: first - 1 });
  expect(after).toEqual(Array.from({ length: 70 }, (_, index) => sampleEntry(first + index)));
}

function spoilAt(file: string, share: number, bytes: Buffer): void {
  overwrite(file, Math.floor(statSync(file).size * share), bytes);
}

function keptAt(repairs: readonly LogRepair[]): string {
  const file = repairs[0]?.keptAt ?? '';
  expect(existsSync(file)).toBe(true);
  return file;
}

/** Files that belong neither to a closed log nor to what was kept. */
function leftovers(dataDir: string): string[] {
  return readdirSync(dataDir).filter(
    (name) => !['atrium.db', 'atrium.lock', 'atrium.owner'].includes(name) && !name.includes('.corrupt-'),
  );
}

describe.skipIf(process.platform === 'win32')('bytes that are kept aside', () => {
  const REPAIR = new URL('../../dist/log-sqlite/repair.js', import.meta.url).href;
  /** Copies a file in a process that no file may grow beyond 4 KiB for. */
  const copyWithLimit = (source: string, target: string) => {
    const code = `const { copyFrom } = await import(${JSON.stringify(REPAIR)}); copyFrom(process.argv[1], 0, process.argv[2])`;
    const script = `trap '' XFSZ; ulimit -f 4; exec "$0" "$@"`;
    const args = ['--input-type=module', '-e', code, source, target];
    // Without the files of the user, which bash reads when its input is a socket.
    return spawnSync('bash', ['--norc', '-c', script, process.execPath, ...args], { encoding: 'utf8' });
  };

  it('[REL-032] are all kept, or the opening fails: part of them would be lost', () => {
    const folder = dataFolder();
    const [source, target] = ['source', 'target'].map((name) => path.join(folder, name)) as [string, string];
    writeFileSync(source, Buffer.alloc(4_096, 'x'));
    expect(copyWithLimit(source, target).status).toBe(0);
    expect(statSync(target).size).toBe(4_096);
    rmSync(target);
    writeFileSync(source, Buffer.alloc(6_000, 'x'));
    expect(copyWithLimit(source, target).stderr).toContain('EFBIG');
    expect(existsSync(target)).toBe(false);
  });
});
