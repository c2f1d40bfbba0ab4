/**
 * Opens a data folder that the host of version 0.1 made: two killed hosts, sessions of every kind, edits, undone edits,
 * large results. See `test/fixtures/data-folder-0.1/README.md`. Everything in it has to be there, and to work.
 */

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as host from '../../src/index.js';
import { ChangeStorage } from '../../src/workspace/changes/change-storage.js';
import * as fixture from '../fixtures/data-folder-0.1/world.mjs';
import { failingLog } from '../support/failing-log.js';

const { DATA, folderOf, inspect, openWorld, PLACE, pause, SESSIONS, viewUri } = fixture;
type World = fixture.World;

const FIXTURE = fileURLToPath(new URL('../fixtures/data-folder-0.1/', import.meta.url));
/** Another run of this test on the same machine has the place; after this time it is taken for dead. */
const TAKEN_MAX_MS = 120_000;

const worlds: World[] = [];

/** A host forgets disposed sessions after a month: it opens the folder soon after it was left. */
const LEFT_AT = Date.parse('2026-11-16T17:02:00Z');
const STARTED_AT = Date.now();
const clock: host.Clock = { ...host.systemClock, now: () => LEFT_AT + Date.now() - STARTED_AT };

async function open(): Promise<World> {
  const world = await openWorld(host, DATA, clock);
  worlds.push(world);
  return world;
}

async function close(world: World): Promise<void> {
  worlds.splice(worlds.indexOf(world), 1);
  await world.stop();
}

beforeEach(async () => {
  for (;;) {
    try {
      await mkdir(PLACE);
      break;
    } catch {
      const age = await stat(PLACE).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > TAKEN_MAX_MS) await rm(PLACE, { recursive: true, force: true });
      await pause(100);
    }
  }
  execFileSync('tar', ['-xzf', path.join(FIXTURE, 'folder.tar.gz'), '-C', PLACE]);
}, 2 * TAKEN_MAX_MS);

afterEach(async () => {
  for (const world of [...worlds]) await close(world);
  await rm(PLACE, { recursive: true, force: true });
});

const text = (name: string, file: string) => readFile(path.join(folderOf(name), file), 'utf8');

const changesOf = (session: string) => new ChangeStorage(path.join(DATA, 'changes')).folderOf(session);

/** `a.txt`, with these second, eighth and fifth lines. */
const lines = (second: string, eighth: string, fifth = 'five') =>
  `one\n${second}\nthree\nfour\n${fifth}\nsix\nseven\n${eighth}\nnine\n`;

describe.skipIf(process.platform === 'win32')('a data folder of version 0.1', { timeout: 60_000 }, () => {
  it('opens with everything in it, the second time as well', async () => {
    const { head, ...expected } = JSON.parse(await readFile(path.join(FIXTURE, 'expected.json'), 'utf8'));
    const first = await open();
    // The 1.0 model takes more steps to end what was cut off. Numbers never go back.
    expect(first.log.head).toBeGreaterThanOrEqual(head);
    expect(await inspect(await first.client('inspector'))).toEqual(expected);
    await close(first);
    const client = await (await open()).client('inspector-2');
    await client.request('disposeSession', { channel: SESSIONS.disposed });
    // Opening a view counts its files anew, for the summary of the session.
    const counted = ({ sessions }: typeof expected) =>
      Object.entries<object>(sessions).map(([uri, session]) => [uri, { ...session, summary: undefined }]);
    expect(counted(await inspect(client))).toEqual(counted(expected));
  });

  it('takes old edits back, and puts back what was taken back', async () => {
    const client = await (await open()).client('inspector');
    const { plain, repository, undone } = SESSIONS;
    await client.invoke(viewUri(plain, 'turn/t3'), 'reapply');
    expect(await text('plain', 'taken-back.txt')).toBe('gone\n');
    await client.invoke(viewUri(plain, 'turn/t1'), 'revert');
    expect(await text('plain', 'a.txt')).toBe(lines('two', '8'));
    expect(await text('plain', 'sub/b.txt')).toBe('b\n');
    await expect(text('plain', 'new.txt')).rejects.toThrow('ENOENT');
    await client.invoke(viewUri(plain, 'session'), 'revert');
    expect(await text('plain', 'a.txt')).toBe(lines('two', 'eight'));

    await client.invoke(viewUri(repository, 'uncommitted'), 'restore');
    expect(await text('repository', 'made.txt')).toBe('made\n');

    // The host was killed while it took these back: some are back, and can be taken back in their turn.
    await client.invoke(viewUri(undone, 'session'), 'reapply');
    expect(await text('undone', '0.txt')).toBe('0.txt\nthe agent was here\n');
    await client.invoke(viewUri(undone, 'session'), 'revert');
    for (let file = 0; file < 30; file += 1) expect(await text('undone', `${file}.txt`)).toBe(`${file}.txt\n`);
  });

  it('goes on: turns, changes and numbers continue where they were', async () => {
    const world = await open();
    const client = await world.client('inspector');
    const { head } = world.log;
    const { plain } = SESSIONS;
    await client.request('subscribe', { channel: plain });
    await client.turn(plain, 't5', [['edit_file', { path: 'a.txt', oldText: 'five', newText: 'V' }]]);
    expect(world.log.head).toBeGreaterThan(head);
    const { files } = await client.view<{ files: { id: string }[] }>(viewUri(plain, 'turn/t5'));
    expect(files.map(({ id }) => path.basename(id))).toEqual(['a.txt']);
    await client.invoke(viewUri(plain, 'turn/t1'), 'revert', { kind: 'resource', resource: files[0]?.id });
    expect(await text('plain', 'a.txt')).toBe(lines('two', '8', 'V'));
  });

  it('[REL-096] has its journals in the log from the first start on, and the files aside', async () => {
    const journal = await readFile(path.join(changesOf(SESSIONS.plain), 'journal.jsonl'), 'utf8');
    const world = await open();
    const records = await world.log.records('changes:plain/');
    const kinds = records.map(({ value }) => JSON.parse(value).kind);
    expect(kinds.filter((kind) => kind === 'turn')).toHaveLength(4);
    expect(kinds.filter((kind) => kind === 'undone')).toHaveLength(2);
    // What was begun and is over needs no record.
    expect(kinds).not.toContain('begun');
    expect(kinds).not.toContain('writing');
    expect(await readFile(path.join(changesOf(SESSIONS.plain), 'journal-0.1.jsonl'), 'utf8')).toBe(journal);
    await expect(stat(path.join(changesOf(SESSIONS.plain), 'journal.jsonl'))).rejects.toThrow('ENOENT');
    for (const { value } of await world.log.records('')) expect(() => JSON.parse(value)).not.toThrow();
  });

  it.each([
    ['this host', (digest: string) => digest],
    ['an earlier one', (digest: string) => JSON.parse(digest) as string],
  ])(
    'takes nothing over twice when %s was killed between the commit and putting the journal aside',
    async (_, spelled) => {
      const folder = changesOf(SESSIONS.plain);
      const first = await open();
      const before = await first.log.records('changes:plain/');
      const value = spelled((await first.log.record('changes-taken-over:plain')) ?? '');
      await first.log.append({
        entries: [],
        records: [{ key: 'changes-taken-over:plain', value }],
        durability: 'full',
      });
      await close(first);
      await rename(path.join(folder, 'journal-0.1.jsonl'), path.join(folder, 'journal.jsonl'));
      const second = await open();
      expect(await second.log.records('changes:plain/')).toEqual(before);
      await expect(stat(path.join(folder, 'journal.jsonl'))).rejects.toThrow('ENOENT');
    },
  );

  it('loses nothing when the commit fails: the next host takes the journal over', async () => {
    const folder = changesOf(SESSIONS.plain);
    const log = failingLog(await host.openSqliteLog({ dataDir: DATA }));
    log.failRecords('"kind":"step"');
    const full = await host.createHost({ log, agents: [], dataFolder: DATA, terminals: false });
    expect(await log.records('changes:plain/')).toEqual([]);
    expect(await log.record('changes-taken-over:plain')).toBeUndefined();
    await full.stop();
    await log.close();
    expect((await stat(path.join(folder, 'journal.jsonl'))).size).toBeGreaterThan(0);
    const client = await (await open()).client('inspector');
    await client.invoke(viewUri(SESSIONS.plain, 'turn/t1'), 'revert');
    expect(await text('plain', 'a.txt')).toBe(lines('two', '8'));
  });

  it('takes over what an older host adds later', async () => {
    const folder = changesOf(SESSIONS.plain);
    const first = await open();
    const before = await first.log.records('changes:plain/');
    await close(first);
    await writeFile(path.join(folder, 'journal.jsonl'), '\n{"kind":"turn","turnId":"older"}');
    const second = await open();
    const after = await second.log.records('changes:plain/');
    expect(after.slice(0, -1)).toEqual(before);
    expect(JSON.parse(after.at(-1)?.value ?? '')).toEqual({ kind: 'turn', turnId: 'older' });
  });
});
