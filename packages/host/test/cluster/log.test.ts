import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Commit, Log } from '@atrium/core/log/log.js';
import { expect, it, onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { type EngineUrl, engineUrl } from '../../src/log-postgres/engine-url.js';
import { EphemeralChannels } from '../../src/log-postgres/ephemeral-channels.js';
import { openPostgresLog, type PostgresLog } from '../../src/log-postgres/postgres-log.js';
import { cutProxy } from '../support/cut-proxy.js';
import { describeWithEngine, freshCluster, onEngine, takeOver } from '../support/postgres.js';

const CHANNEL = 'ahp-session:/s';

function commitOf(n: number, origin?: { clientId: string; clientSeq: number }): Commit {
  const entry = { channel: CHANNEL, time: n, action: `{"n":${n}}` };
  return { entries: [{ ...entry, ...(origin && { origin: { ...origin, epoch: 1 } }) }], durability: 'full' };
}

async function opened(): Promise<{ log: PostgresLog; url: EngineUrl }> {
  const url = await freshCluster();
  const log = await openPostgresLog({ url, owner: await takeOver(url) });
  onTestFinished(() => log.close());
  return { log, url };
}

/** As people write it. */
function written(url: EngineUrl): string {
  const plain = new URL(url.connection);
  plain.searchParams.set('schema', url.schema);
  return plain.href;
}

/** A log behind a way to the engine that breaks when it is told to. */
async function distantLog() {
  const direct = await freshCluster();
  const proxy = await cutProxy(written(direct));
  const owner = await takeOver(direct);
  const log = await openPostgresLog({ url: engineUrl(proxy.url), owner });
  onTestFinished(() => log.close());
  return { log, proxy, direct };
}

const actions = async (log: Log) => (await log.read({ after: 0 })).map(({ action }) => JSON.parse(action).n);

describeWithEngine('the log of a cluster', () => {
  it('[CLU-008] takes nothing from a host that is not the active one', async () => {
    const url = await freshCluster();
    const first = await openPostgresLog({ url, owner: await takeOver(url, 'a') });
    onTestFinished(() => first.close());
    await first.append(commitOf(1));
    const second = await openPostgresLog({ url, owner: await takeOver(url, 'b') });
    onTestFinished(() => second.close());
    await expect(first.append(commitOf(2))).rejects.toMatchObject({ kind: 'fenced' });
    await expect(first.forget(CHANNEL)).rejects.toMatchObject({ kind: 'fenced' });
    await expect(first.beginClient('c', { above: 0, known: { before: '', after: '' } })).rejects.toMatchObject({
      kind: 'fenced',
    });
    expect(await second.append(commitOf(3))).toEqual({ first: 2, last: 2 });
    expect(await actions(second)).toEqual([1, 3]);
  });

  it('[CLU-008] refuses a host that is paused, declared dead and woken, a hundred times', {
    timeout: 120_000,
  }, async () => {
    const url = await freshCluster();
    const child = spawn(process.execPath, [programFile('cluster-appender'), written(url)]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const said = async () => String((await lines.next()).value);
    await onEngine(url, async (engine) => {
      const join = async () => {
        await engine.run('DELETE FROM owners');
        const [row] = await engine.run<{ term: number }>("SELECT join_cluster('paused', NULL, 'test', 1) AS term");
        await engine.run("SELECT claim('paused', $1)", [row?.term ?? 0]);
        return row?.term ?? 0;
      };
      const count = async (term: number) => {
        const like = `%"term":${term}}`;
        const [row] = await engine.run<{ count: number }>(
          'SELECT count(*) AS count FROM entries WHERE action LIKE $1',
          [like],
        );
        return row?.count ?? 0;
      };
      let stored = 0;
      for (let trial = 0; trial < 100; trial++) {
        const term = await join();
        child.stdin.write(`${term}\n`);
        expect(await said()).toBe('started');
        while ((await count(term)) < 3);
        child.kill('SIGSTOP');
        await engine.run("UPDATE hosts SET beat = beat + 1 WHERE id = 'paused'");
        const [buried] = await engine.run<{ done: boolean }>("SELECT bury('paused', $1, 1) AS done", [term]);
        expect(buried?.done).toBe(true);
        const before = await count(term);
        child.kill('SIGCONT');
        const [word, own] = (await said()).split(' ');
        expect(word).toBe('fenced');
        expect(await count(term)).toBe(before);
        // Its last commit may have been stored while it was paused: then it was told so when it woke.
        expect(Number(own)).toBe(before);
        stored += before;
      }
      expect(stored).toBeGreaterThan(300);
    });
  });

  it('[CLU-013] stores a commit once when its question or its answer is lost, and tells the same numbers', async () => {
    const { log, proxy } = await distantLog();
    await log.append(commitOf(1));
    for (const [at, where] of (['answer', 'question', 'answer', 'answer'] as const).entries()) {
      const commit = commitOf(at + 2, { clientId: 'c', clientSeq: at });
      proxy.cutNext(where);
      await expect(log.append(commit)).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await log.append(commit)).toEqual({ first: at + 2, last: at + 2 });
    }
    expect(await actions(log)).toEqual([1, 2, 3, 4, 5]);
    expect(log.head).toBe(5);
  });

  it('[CLU-013] goes on without a commit that was given up and never arrived', async () => {
    const { log, proxy } = await distantLog();
    await log.append(commitOf(1));
    proxy.cutNext('question');
    await expect(log.append(commitOf(2))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await log.append(commitOf(3))).toEqual({ first: 2, last: 2 });
    expect(await actions(log)).toEqual([1, 3]);
  });

  it('[CLU-013] stops a host that gave up a commit which was stored all the same', async () => {
    const { log, proxy } = await distantLog();
    await log.append(commitOf(1));
    proxy.cutNext('answer');
    await expect(log.append(commitOf(2))).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(log.append(commitOf(3))).rejects.toMatchObject({ kind: 'fenced' });
    await expect(log.append(commitOf(4))).rejects.toMatchObject({ kind: 'fenced' });
    expect(await actions(log)).toEqual([1, 2]);
  });

  it('[CLU-012] cannot be reached while the way to it is closed, and goes on when it is open', async () => {
    const { log, proxy } = await distantLog();
    await log.append(commitOf(1));
    proxy.close();
    const commit = commitOf(2);
    await expect(log.append(commit)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(log.append(commit)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(log.record('k')).rejects.toMatchObject({ kind: 'unavailable' });
    proxy.open();
    expect(await log.append(commit)).toEqual({ first: 2, last: 2 });
    expect(await actions(log)).toEqual([1, 2]);
  });

  it('[CLU-014] stops a host whose newest commit the engine has lost', async () => {
    const { log, url } = await opened();
    for (const n of [1, 2, 3]) await log.append(commitOf(n));
    await onEngine(url, async (engine) => {
      await engine.run('DELETE FROM entries WHERE seq > 1');
      await engine.run('DELETE FROM commits WHERE n > 1');
    });
    await expect(log.append(commitOf(4))).rejects.toMatchObject({ kind: 'fenced' });
    expect(await actions(log)).toEqual([1]);
  });

  it('[CLU-014] [REL-016] gives snapshots behind a leap of the numbers, never a wrong replay', async () => {
    const { log, url } = await opened();
    const limits = { entries: 2_000_000, bytes: 1_000_000 };
    await log.append(commitOf(1));
    await onEngine(url, (engine) => engine.run('SELECT skip_numbers(5)'));
    const { first } = await log.append(commitOf(2));
    expect(first).toBe(1_000_006);
    expect([await log.missed(0, [CHANNEL], limits), await log.missed(1, [CHANNEL], limits)]).toEqual([
      undefined,
      undefined,
    ]);
    expect((await log.missed(first - 1, [CHANNEL], limits))?.map(({ seq }) => seq)).toEqual([first]);
    expect(log.oldest).toBe(first);
  });

  it('[CLU-004] [REL-015] gives a client a thousand actions of its own channels, however many others there were', async () => {
    const { log, url } = await opened();
    const limits = { entries: 1_000, bytes: 8 * 2 ** 20 };
    const of = (channel: string, count: number): Commit => ({
      entries: Array.from({ length: count }, (_, n) => ({ channel, time: 0, action: `{"n":${n}}` })),
      durability: 'normal',
    });
    const { last: seen } = await log.append(of(CHANNEL, 3));
    await log.append(of('ahp-session:/other', 3_000));
    await log.append(of(CHANNEL, 999));
    await log.append(of('ahp-session:/other', 3_000));
    await log.append(of('ahp-session:/second', 1));
    const own = [CHANNEL, 'ahp-session:/second'];
    const missed = await log.missed(seen, own, limits);
    expect(missed?.map(({ seq }) => seq)).toEqual([...Array.from({ length: 999 }, (_, n) => seen + 3_001 + n), 7_003]);
    expect(missed?.at(-1)).toMatchObject({ channel: 'ahp-session:/second', action: '{"n":0}' });
    expect(await log.missed(seen - 1, own, limits)).toBeUndefined();
    expect(await log.missed(seen - 1, [CHANNEL], limits)).toHaveLength(1_000);
    expect(await log.missed(7_003, own, limits)).toEqual([]);
    expect([await log.missed(7_004, own, limits), await log.missed(-1, own, limits)]).toEqual([undefined, undefined]);
    const next = await openPostgresLog({ url, owner: await takeOver(url, 'b') });
    onTestFinished(() => next.close());
    expect(await next.missed(seen, own, limits)).toEqual(missed);
    // Only what was dropped is not known any more.
    await next.append({
      ...of(CHANNEL, 0),
      archives: [...own, 'ahp-session:/other'].map((channel) => ({
        channel,
        head: '{}',
        turns: { start: 0, items: [] },
      })),
    });
    await next.compact({ upTo: 4_000, keep: 0 });
    expect(await next.missed(4_000, own, limits)).toHaveLength(3);
    expect(await next.missed(3_999, own, limits)).toBeUndefined();
  });

  it('[CLU-004] [REL-015] gives a client 8 MiB of its own channels, and not a byte more', async () => {
    const { log } = await opened();
    const limits = { entries: 1_000, bytes: 8 * 2 ** 20 };
    const add = (channel: string, bytes: number) =>
      log.append({ entries: [{ channel, time: 0, action: 'x'.repeat(bytes) }], durability: 'normal' });
    await add('ahp-session:/other', 9 * 2 ** 20);
    for (let count = 0; count < 8; count++) await add(CHANNEL, 2 ** 20);
    await add('ahp-session:/other', 9 * 2 ** 20);
    expect((await log.missed(0, [CHANNEL], limits))?.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    await add(CHANNEL, 1);
    expect(await log.missed(0, [CHANNEL], limits)).toBeUndefined();
    expect(await log.missed(2, [CHANNEL], limits)).toHaveLength(8);
  });

  it('[CLU-004] tells of what ends with its host only while it remembers all of it', async () => {
    const { log } = await opened();
    const limits = { entries: 1_000, bytes: 8 * 2 ** 20 };
    const terminal = { channel: 'ahp-terminal:/t', time: 0, action: '{"n":1}', isEphemeral: true };
    await log.append({ entries: [terminal], durability: 'normal' });
    expect(await log.missed(0, ['ahp-terminal:/t'], limits)).toMatchObject([{ seq: 1, action: '{"n":1}' }]);
    const others = Array.from({ length: 1_500 }, () => ({ channel: CHANNEL, time: 0, action: '{}' }));
    await log.append({ entries: others, durability: 'normal' });
    expect(await log.missed(0, ['ahp-terminal:/t'], limits)).toBeUndefined();
    expect(await log.missed(1, ['ahp-terminal:/t', 'ahp-session:/quiet'], limits)).toEqual([]);
    expect(await log.missed(0, ['ahp-session:/quiet'], limits)).toEqual([]);
  });

  it('[CLU-004] remembers of many such channels how far they went', () => {
    const channels = new EphemeralChannels(2);
    for (const [index, channel] of ['a', 'b', 'a', 'c'].entries())
      channels.add([{ channel, time: 0, action: '', isEphemeral: true }], { first: index + 1, last: index + 1 });
    // b is the one that was quiet for the longest.
    expect([1, 2].map((after) => channels.isLostBehind(after, ['x']))).toEqual([true, false]);
    expect([2, 3].map((after) => channels.isLostBehind(after, ['a']))).toEqual([true, false]);
    expect([3, 4].map((after) => channels.isLostBehind(after, ['c']))).toEqual([true, false]);
  });

  it('[CLU-032] changes no row to give a number, so that a snapshot which is held open leaves nothing behind to be read over', async () => {
    const { log, url } = await opened();
    const sizes = () =>
      onEngine(url, async (engine) => {
        const [row] = await engine.run<{ head: number; numbers: number; updated: number }>(
          `SELECT pg_relation_size('head') AS head, pg_relation_size('numbers') AS numbers,
             (SELECT coalesce(sum(n_tup_upd), 0) FROM pg_stat_user_tables WHERE relid IN ('head'::regclass, 'numbers'::regclass)) AS updated`,
        );
        return row;
      });
    const before = await sizes();
    await onEngine(url, (engine) =>
      engine.transaction('snapshot', async (run) => {
        await run('SELECT last_number()');
        for (let n = 0; n < 500; n++) await log.append(commitOf(n));
        expect((await run<{ head: number }>('SELECT last_number() AS head'))[0]?.head).toBe(0);
      }),
    );
    expect(await sizes()).toEqual(before);
    expect(log.head).toBe(500);
  });

  it('[CLU-016] says that the disk of the engine is full, and is not there while the engine takes no writes', async () => {
    const { log, url } = await opened();
    await onEngine(url, async (engine) => {
      const full = "BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END";
      await engine.run(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ ${full} $$`);
      await engine.run('CREATE TRIGGER full_disk BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION full_disk()');
      await expect(log.append(commitOf(1))).rejects.toMatchObject({ kind: 'refused', reason: 'disk-full' });
      await engine.run('DROP TRIGGER full_disk ON entries');
      const readOnly = "BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END";
      await engine.run(`CREATE FUNCTION read_only() RETURNS trigger LANGUAGE plpgsql AS $$ ${readOnly} $$`);
      await engine.run('CREATE TRIGGER read_only BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION read_only()');
      const commit = commitOf(2);
      await expect(log.append(commit)).rejects.toMatchObject({ kind: 'unavailable' });
      await engine.run('DROP TRIGGER read_only ON entries');
      expect(await log.append(commit)).toEqual({ first: 1, last: 1 });
    });
  });

  it('[CLU-001] keeps names with any character, also those that the engine cannot hold', async () => {
    const { log } = await opened();
    const names = ['a\0b', 'a\x01b', 'a\0\x01', 'ab', 'a\x01\x01b', 'a\x02'];
    for (const [n, name] of names.entries()) {
      const origin = { clientId: name, epoch: 1, clientSeq: n };
      await log.append({
        entries: [{ channel: name, time: 0, action: '{}', origin }],
        records: [{ key: name, value: `"${n}"` }],
        archives: [{ channel: name, head: '{}', turns: { start: 0, items: [{ id: name, json: '{}' }] } }],
        durability: 'normal',
      });
    }
    expect((await log.read({ after: 0 })).map(({ channel, origin }) => [channel, origin?.clientId])).toEqual(
      names.map((name) => [name, name]),
    );
    expect((await log.records('a')).map(({ key }) => key)).toEqual([...names].sort());
    expect((await log.records('a\0')).map(({ key }) => key)).toEqual(['a\0\x01', 'a\0b']);
    for (const name of names) expect(await log.findTurn(name, name)).toBe(0);
    expect([...(await log.channels())].sort()).toEqual([...names].sort());
  });
});
