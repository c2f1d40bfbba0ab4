/**
 * Opens a data folder that the last host of the 0.3.0 model left behind: sessions of every kind, most of them cut off by its
 * death. See `test/fixtures/data-folder-0.3/README.md`. Clients of the 0.3.0 wire have to see what they saw before.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionState } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import * as host from '../../src/index.js';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { currentBoot } from '../../src/log-sqlite/folder.js';
import * as fixture from '../fixtures/data-folder-0.3/world.mjs';

const { DATA, IMPORTED, inspect, openWorld, PLACE, pause, ROOT, SESSIONS } = fixture;
type World = fixture.World;

const FIXTURE = fileURLToPath(new URL('../fixtures/data-folder-0.3/', import.meta.url));
/** Without the tools and settings that a host offers: those are of the host that runs, not of the folder. */
function asStored(state: Readonly<Record<string, unknown>>): unknown {
  const isOffered = (key: string, value: unknown) =>
    key === 'serverTools' || (key === 'mode' && typeof value === 'object');
  return JSON.parse(JSON.stringify(state, (key, value) => (isOffered(key, value) ? undefined : value)));
}

const { head: _recovered, ...EXPECTED } = JSON.parse(readFileSync(path.join(FIXTURE, 'expected.json'), 'utf8'));
const BACKUP = path.join(DATA, 'atrium.db.backup-0.3.0');
/** Another run of this test on the same machine has the place; after this time it is taken for dead. */
const TAKEN_MAX_MS = 120_000;
/** Where a host dies while it moves the log: among all that it does to the database. */
const DEATHS = 8;

const worlds: World[] = [];
const lines: string[] = [];
const logger: host.Logger = { log: (_level, message) => void lines.push(message) };

/** A host forgets unfinished imports after a day, and disposed sessions after a month: it opens the folder soon after it was left. */
const LEFT_AT = Date.parse('2026-11-16T21:56:00Z');
const STARTED_AT = Date.now();
const clock: host.Clock = { ...host.systemClock, now: () => LEFT_AT + Date.now() - STARTED_AT };

async function open(options: fixture.WorldOptions = {}): Promise<World> {
  const world = await openWorld(host, { log: { logger }, clock, ...options });
  worlds.push(world);
  return world;
}

async function close(world: World): Promise<void> {
  worlds.splice(worlds.indexOf(world), 1);
  await world.stop();
}

/** The host that left the folder behind died on this machine, which did not stop since then. */
function unpack(): void {
  execFileSync('tar', ['-xzf', path.join(FIXTURE, 'folder.tar.gz'), '-C', PLACE]);
  const note = path.join(DATA, 'atrium.owner');
  writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), boot: currentBoot() }));
}

/** Opens the log in another process, which dies before the given thing that it does to the database. */
function openAndDie(at: number): number {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [programFile('log-opener'), DATA, String(at)]);
  if (at > 0) expect(`${signal} ${stderr}`).toBe('SIGKILL ');
  return Number(stdout.toString());
}

async function rows<Row>(file: string, sql: string): Promise<Row[]> {
  const db = (await loadDriver()).open(file);
  try {
    return db.prepare<Row>(sql).all();
  } finally {
    db.close();
  }
}

beforeEach(async () => {
  lines.length = 0;
  for (;;) {
    try {
      mkdirSync(PLACE);
      break;
    } catch {
      const age = Date.now() - (statSync(PLACE, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > TAKEN_MAX_MS) rmSync(PLACE, { recursive: true, force: true });
      await pause(100);
    }
  }
  unpack();
}, 2 * TAKEN_MAX_MS);

afterEach(async () => {
  for (const world of [...worlds]) await close(world);
  rmSync(PLACE, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')('a data folder of the 0.3.0 model', { timeout: 120_000 }, () => {
  it('[REL-074] shows clients of 0.3.0 what the host of that time showed, and the second time does nothing more', async () => {
    const first = await open();
    expect(asStored(await inspect(await first.client('inspector')))).toEqual(asStored(EXPECTED));
    expect(lines.filter((line) => line.includes('older model'))).toHaveLength(1);
    await close(first);
    const backup = statSync(BACKUP).mtimeMs;
    lines.length = 0;
    const second = await open();
    const client = await second.client('inspector-2');
    await client.request('disposeSession', { channel: SESSIONS.disposed });
    const { sessions } = await inspect(client);
    const states = (seen: unknown) =>
      Object.entries(seen as Record<string, { state: SessionState }>).map(([uri, { state }]) => [uri, state.turns]);
    expect(states(sessions)).toEqual(states(EXPECTED.sessions));
    expect(lines.filter((line) => line.includes('model'))).toEqual([]);
    expect(readdirSync(DATA).filter((name) => name.includes('backup'))).toEqual([path.basename(BACKUP)]);
    expect(statSync(BACKUP).mtimeMs).toBe(backup);
  });

  it('[REL-074] leaves a copy of the log as it was: one file with everything, which opens again', async () => {
    const before = path.join(PLACE, 'before');
    cpSync(DATA, before, { recursive: true });
    await close(await open());
    expect(existsSync(`${BACKUP}-wal`)).toBe(false);
    const isNotOpen = statSync(BACKUP).mode & 0o077;
    expect(isNotOpen).toBe(0);
    expect(await rows(BACKUP, 'SELECT * FROM pragma_integrity_check, pragma_user_version')).toEqual([
      { integrity_check: 'ok', user_version: 2 },
    ]);
    for (const table of ['entries', 'archives', 'turns', 'records', 'client_marks', 'compaction', 'skips']) {
      const all = `SELECT * FROM ${table}`;
      expect(await rows(BACKUP, all), table).toEqual(await rows(path.join(before, 'atrium.db'), all));
    }
    // Somebody puts it back.
    rmSync(path.join(DATA, 'atrium.db'));
    cpSync(BACKUP, path.join(DATA, 'atrium.db'));
    expect(asStored(await inspect(await (await open()).client('inspector')))).toEqual(asStored(EXPECTED));
    expect(readdirSync(DATA).filter((name) => name.includes('backup'))).toEqual([path.basename(BACKUP)]);
  });

  it('[REL-074] loses and doubles nothing when hosts are killed while they move it', async () => {
    const total = openAndDie(0);
    expect(total).toBeGreaterThan(100);
    rmSync(DATA, { recursive: true });
    unpack();
    for (let death = 0; death < DEATHS; death += 1) {
      openAndDie(1 + Math.round(((total - 1) * death) / (DEATHS - 1)));
    }
    const world = await open();
    expect(world.log.repairs).toEqual([]);
    expect(asStored(await inspect(await world.client('inspector')))).toEqual(asStored(EXPECTED));
    expect(readdirSync(DATA).filter((name) => name.includes('backup'))).toEqual([path.basename(BACKUP)]);
  });

  it('[REL-074] [REL-033] stays as it was when the disk is full, and is moved when there is room', async () => {
    const script = `trap '' XFSZ; ulimit -f 490; exec "$0" "$@"`;
    const full = spawnSync('bash', ['-c', script, process.execPath, programFile('log-opener'), DATA, '0']);
    expect(full.status).toBe(1);
    expect(full.stderr.toString()).toContain('LogOpenError');
    const files = readdirSync(DATA).filter((name) => /backup|corrupt|upcast/.test(name));
    expect(files).toEqual([path.basename(BACKUP)]);
    expect(await rows(path.join(DATA, 'atrium.db'), 'SELECT user_version AS v FROM pragma_user_version')).toEqual([
      { v: 2 },
    ]);
    expect(asStored(await inspect(await (await open()).client('inspector')))).toEqual(asStored(EXPECTED));
  });

  it('[REL-074] goes on with greater numbers, gives returning clients snapshots, and knows what they have sent', async () => {
    const world = await open();
    const [{ last } = { last: 0 }] = await rows<{ last: number }>(BACKUP, 'SELECT max(seq) AS last FROM entries');
    expect(last).toBeGreaterThan(100);
    expect(world.log.oldest).toBeGreaterThan(last);
    const sent = `SELECT client_seq AS clientSeq, action FROM entries WHERE client_id = 'desk-2' AND action LIKE '%"q2"%'`;
    const [resend] = await rows<{ clientSeq: number; action: string }>(BACKUP, sent);
    if (!resend) throw new Error('the client sent no such action');

    const client = world.stranger();
    const { running, plain } = SESSIONS;
    const state = async () => (await client.state<SessionState>(running)).queuedMessages ?? [];
    const answer = await client.request<{ type: string; snapshots?: { resource: string }[] }>('reconnect', {
      ...{ channel: ROOT, clientId: 'desk-2', lastSeenServerSeq: last, subscriptions: [ROOT, running, plain] },
    });
    expect(answer.type).toBe('snapshot');
    expect(answer.snapshots?.map(({ resource }) => resource)).toEqual([ROOT, running, plain]);
    const before = await state();
    client.dispatch(running, JSON.parse(resend.action), resend.clientSeq);
    await client.turn(plain, 't3', [['text', 'On we go.']]);
    expect(await state()).toEqual(before);
    const { turns } = await client.state<SessionState>(plain);
    expect(turns.map(({ id }) => id)).toEqual(['t1', 't2', 't3']);
    expect(world.log.head).toBeGreaterThan(last);
  });

  it('keeps the turns of a session that is being imported for the rest of it', async () => {
    const client = await (await open()).client('importer');
    const { long, archived } = SESSIONS;
    const { turns } = await client.request<{ turns: { id: string }[] }>('fetchTurns', { channel: archived });
    const { summary } = await client.state<SessionState>(long);
    const state = { summary: { ...summary, resource: IMPORTED } };
    await client.request('atrium/importSession', { channel: IMPORTED, start: 3, turns, state });
    const imported = await client.state<SessionState>(IMPORTED);
    expect(imported.turns.map(({ id }) => id)).toEqual(['l127', 'l128', 'l129', 'a1']);
  });
});
