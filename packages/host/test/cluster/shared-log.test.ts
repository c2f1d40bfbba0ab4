/** The log of a cluster with several hosts that write to it at the same time. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Change, ChangePosition } from '@atrium/core/log/shared-log.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { initCluster } from '../../src/log-postgres/administer.js';
import { Engine } from '../../src/log-postgres/engine.js';
import { type EngineUrl, engineUrl } from '../../src/log-postgres/engine-url.js';
import { openPostgresLog, type PostgresLog } from '../../src/log-postgres/postgres-log.js';
import { sharedLogContract } from '../../src/testing.js';
import { cutProxy } from '../support/cut-proxy.js';
import { Random } from '../support/fuzz-random.js';
import { describeWithEngine, freshCluster, freshClusterUrl, onEngine, takeOver } from '../support/postgres.js';

async function joined(url: EngineUrl, host: string): Promise<{ log: PostgresLog; term: number }> {
  const term = await onEngine(url, async (engine) => {
    const [row] = await engine.run<{ term: number }>("SELECT join_cluster($1, NULL, 'test', 2) AS term", [host]);
    return row?.term ?? 0;
  });
  return { log: await openPostgresLog({ url, owner: { host, term }, owns: 'claims' }), term };
}

async function bury(url: EngineUrl, host: string): Promise<void> {
  await onEngine(url, async (engine) => {
    const [row] = await engine.run<{ term: number; beat: number }>('SELECT term, beat FROM hosts WHERE id = $1', [
      host,
    ]);
    await engine.run('SELECT bury($1, $2, $3)', [host, row?.term ?? 0, row?.beat ?? 0]);
  });
}

const of = (channel: string, n: number) => ({ channel, time: 0, action: `{"n":${n}}` });

describeWithEngine('PostgreSQL', () => {
  sharedLogContract({ describe, it, expect }, 'PostgresLog', async () => {
    const url = await freshCluster();
    const logs: PostgresLog[] = [];
    return {
      join: async (host) => {
        const member = await joined(url, host);
        logs.push(member.log);
        return member;
      },
      bury: (host) => bury(url, host),
      close: async () => {
        for (const log of logs) await log.close();
      },
    };
  });
});

/** How often a host is declared dead in the middle of its work. */
const TRIALS = 25;

/** As people write it. */
function written(url: EngineUrl): string {
  const plain = new URL(url.connection);
  plain.searchParams.set('schema', url.schema);
  return plain.href;
}

/** Reads everything of some channels up to a number. */
async function readAll(log: PostgresLog, channels: readonly string[], upTo: number): Promise<Change[]> {
  const stop = new AbortController();
  const changes: Change[] = [];
  const wanted = { channels: () => channels, recordPrefixes: [] };
  for await (const change of log.changes({ seq: 0, records: 0 }, wanted, stop.signal)) {
    changes.push(change);
    if (change.upTo.seq >= upTo) stop.abort();
  }
  return changes;
}

describeWithEngine('several writers', () => {
  it('[CLU-002] [CLU-013] lose and double nothing while their connections are cut, and each reads the same order as it happens', async () => {
    const random = new Random(Random.seedFromEnvironment());
    const url = await freshCluster();
    const hosts = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (host) => {
        const proxy = await cutProxy(written(url));
        const { term } = await joined(url, host).then(async ({ log, term }) => {
          await log.close();
          return { term };
        });
        const log = await openPostgresLog({ url: engineUrl(proxy.url), owner: { host, term }, owns: 'claims' });
        onTestFinished(() => log.close());
        await log.claim([`ahp-session:/${host}`]);
        return { host, proxy, log };
      }),
    );
    const channels = hosts.map(({ host }) => `ahp-session:/${host}`);
    const reading = new AbortController();
    const seen = hosts.map(async ({ log }) => {
      const entries: { seq: number; key: string }[] = [];
      let position: ChangePosition = { seq: 0, records: 0 };
      const wanted = { channels: () => channels, recordPrefixes: [] };
      for await (const change of log.changes(position, wanted, reading.signal)) {
        for (const { seq, channel, action } of change.entries) entries.push({ seq, key: `${channel} ${action}` });
        position = change.upTo;
        if (position.seq >= total()) break;
      }
      return entries;
    });
    let last = Number.POSITIVE_INFINITY;
    const total = () => last;
    const commits = 25;
    const numbers = await Promise.all(
      hosts.map(async ({ host, log, proxy }, index) => {
        const channel = channels[index] ?? '';
        const own: { seq: number; key: string }[] = [];
        for (let n = 0; n < commits; n++) {
          const entries = Array.from({ length: random.between(1, 4) }, (_, part) => ({
            ...of(channel, n * 10 + part),
            ...(part === 0 && { origin: { clientId: host, epoch: 1, clientSeq: n } }),
          }));
          const commit = { entries, durability: 'full' as const };
          if (random.chance(0.2)) proxy.cutNext(random.chance(0.5) ? 'question' : 'answer');
          for (;;) {
            const stored = await log.append(commit).catch((error) => {
              if (error.kind !== 'unavailable') throw error;
            });
            if (!stored) continue;
            expect(stored.last - stored.first).toBe(entries.length - 1);
            for (const [part, { action }] of entries.entries())
              own.push({ seq: stored.first + part, key: `${channel} ${action}` });
            break;
          }
        }
        return own;
      }),
    );
    const all = numbers.flat().sort((x, y) => x.seq - y.seq);
    expect(
      all.map(({ seq }) => seq),
      `seed ${random.seed}`,
    ).toEqual(all.map((_, index) => index + 1));
    // Those who wait for more look again; those who have read everything end by themselves.
    last = all.length;
    for (const { log } of hosts) log.hint();
    const outcome = await Promise.race([Promise.all(seen), new Promise((resolve) => setTimeout(resolve, 2_000))]);
    reading.abort();
    for (const entries of (outcome as (typeof all)[] | undefined) ?? (await Promise.all(seen)))
      expect(entries).toEqual(all);
  }, 60_000);

  it('[CLU-008] [CLU-038] store nothing after they were declared dead, however often that happens in the middle of their work', async () => {
    const url = await freshCluster();
    const watcher = await joined(url, 'watcher');
    onTestFinished(() => watcher.log.close());
    let refused = 0;
    for (let trial = 0; trial < TRIALS; trial++) {
      const { log } = await joined(url, 'paused');
      await log.claim(['ahp-session:/s']);
      let answered = 0;
      const working = (async () => {
        for (let n = 0; ; n++) {
          await log.append({ entries: [of('ahp-session:/s', n)], durability: 'full' });
          answered++;
        }
      })().catch((error) => error.kind);
      while (answered < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      await bury(url, 'paused');
      const { seq: before } = await watcher.log.position();
      expect(await watcher.log.claim(['ahp-session:/s'])).toEqual({ isMine: true });
      await watcher.log.append({ entries: [of('ahp-session:/s', -1)], durability: 'full' });
      if ((await working) === 'fenced') refused++;
      expect((await watcher.log.position()).seq).toBe(before + 1);
      await watcher.log.release(['ahp-session:/s']);
      await log.close();
    }
    expect(refused).toBe(TRIALS);
  }, 60_000);

  it('[CLU-038] stop an active host of the present form when somebody has claimed what it writes to', async () => {
    const url = await freshCluster();
    const active = await openPostgresLog({ url, owner: await takeOver(url, 'active') });
    const other = await joined(url, 'other');
    for (const log of [active, other.log]) onTestFinished(() => log.close());
    await active.append({ entries: [of('ahp-session:/s', 1)], durability: 'full' });
    await other.log.claim(['ahp-session:/s']);
    await active.append({ entries: [of('ahp-session:/t', 2)], durability: 'full' });
    await expect(active.append({ entries: [of('ahp-session:/s', 3)], durability: 'full' })).rejects.toMatchObject({
      kind: 'fenced',
    });
  });

  it('[CLU-039] read piece by piece what is too much for one read, and begin anew behind what was dropped', async () => {
    const url = await freshCluster();
    const { log } = await joined(url, 'a');
    onTestFinished(() => log.close());
    await log.claim(['ahp-session:/s', 'ahp-session:/t']);
    const many = Array.from({ length: 2_500 }, (_, n) => of('ahp-session:/s', n));
    await log.append({ entries: many, durability: 'full' });
    const large = { channel: 'ahp-session:/t', time: 0, action: 'x'.repeat(5 * 2 ** 20) };
    for (let count = 0; count < 3; count++) await log.append({ entries: [large], durability: 'full' });
    const changes = await readAll(log, ['ahp-session:/s', 'ahp-session:/t'], 2_503);
    expect(changes.map(({ upTo, entries }) => [upTo.seq, entries.length])).toEqual([
      [1_000, 1_000],
      [2_000, 1_000],
      [2_502, 502],
      [2_503, 1],
    ]);
    const archive = (channel: string) => ({ channel, head: '{}', turns: { start: 0, items: [] } });
    await log.append({ entries: [], archives: ['ahp-session:/s', 'ahp-session:/t'].map(archive), durability: 'full' });
    const keeper = await openPostgresLog({ url, owner: await takeOver(url, 'keeper') });
    onTestFinished(() => keeper.close());
    await keeper.compact({ upTo: 2_000, keep: 0 });
    await expect(readAll(log, ['ahp-session:/s'], 2_503)).rejects.toMatchObject({ kind: 'fenced' });
  }, 60_000);
});

describeWithEngine('tables of level 1', () => {
  it('[CLU-027] are brought to this level, keep what they hold, and take commits of hosts of that release, also prepared ones', async () => {
    const url = engineUrl(await freshClusterUrl());
    const first = await readFile(path.join(import.meta.dirname, '../fixtures/cluster-level-1.sql'), 'utf8');
    const old = new Engine(url, 'a host of the release before');
    onTestFinished(() => old.close());
    const append = `SELECT first, last FROM append($1, $2, $3, $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
      $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[],
      $18::bigint[], $19::text[])`;
    const commit = (n: number, record: string | null = `"${n}"`) =>
      old.runPrepared<{ first: number; last: number }>('append', append, [
        ...['old', 1, n, ['ahp-session:/s'], [0], [`{"n":${n}}`], [null], [null], [null]],
        ...[[], [], [], [], [], [], ['session:1'], [record], [null], [null]],
      ] as never);
    await onEngine(url, (engine) =>
      engine.transaction('write', async (run) => {
        await run(`CREATE SCHEMA ${url.schema}; SET LOCAL search_path TO ${url.schema}; ${first}`);
        await run("INSERT INTO meta (id, level, cluster) VALUES (1, 1, 'of-level-one')");
      }),
    );
    await old.run("SELECT join_cluster('old', NULL, 'before', 1)");
    await old.run("SELECT claim('old', 1)");
    expect(await commit(1)).toEqual([{ first: 1, last: 1 }]);
    expect(await onEngine(url, (engine) => initCluster(engine))).toBe('upgraded');
    expect(await onEngine(url, (engine) => initCluster(engine))).toBe('present');
    // It goes on, until it is drained.
    expect(await commit(2)).toEqual([{ first: 2, last: 2 }]);
    expect(await commit(2)).toEqual([{ first: 2, last: 2 }]);
    const [fresh] = await old.run<{ epoch: number }>(
      "SELECT begin_client('old', 1, 'sent:c', 'sent:c:', 'client:c', 0, '{\"epoch\":', '}') AS epoch",
    );
    expect(fresh?.epoch).toBe(1);
    const log = await openPostgresLog({ url, owner: await takeOver(url, 'new') });
    onTestFinished(() => log.close());
    await expect(commit(3)).rejects.toMatchObject({ code: 'AT001' });
    expect((await log.read({ after: 0 })).map(({ action }) => action)).toEqual(['{"n":1}', '{"n":2}']);
    expect(await log.record('session:1')).toBe('"2"');
    expect(await log.append({ entries: [of('ahp-session:/s', 3)], durability: 'full' })).toEqual({ first: 3, last: 3 });
    const tables = (at: EngineUrl) =>
      onEngine(at, (engine) =>
        engine.run(
          `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
           WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`,
        ),
      );
    expect(await tables(url)).toEqual(await tables(await freshCluster()));
  });
});
