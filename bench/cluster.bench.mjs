/**
 * What the log of a cluster costs, on a PostgreSQL that the benchmark starts itself. `append64`: 64 entries at a time against a
 * bare INSERT of the same rows by the same driver. `snapshotHeld`: a commit after 20,000 others while a snapshot is held open, as a
 * backup does, against the same without. Most of the work is the engine's, so these are times, not CPU of this process.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { findPostgres, startPostgres } from '../scripts/postgres.mjs';
import { absolute, load, paired, ratio, report, size, skipped } from './measure.mjs';

const GROUP = 64;
const GROUPS = size(150, 3);
const COMMITS_BEFORE = size(20_000, 20);
const COMMITS = size(400, 5);
const FIGURES = {
  append64: { name: 'cluster.append64', limit: 'a bare INSERT of the same rows', target: { atMost: 1.34 } },
  held: { name: 'cluster.snapshotHeld', limit: 'the same without a snapshot', target: { atMost: 1.5 } },
};

// Variants run in processes of their own, on the engine of the first.
const isFirst = process.env.ATRIUM_BENCH_POSTGRES === undefined;
if (isFirst && !findPostgres()) {
  report(Object.values(FIGURES).map((each) => skipped({ ...each, skipped: 'there is no PostgreSQL server' })));
  process.exit(0);
}
const engine = isFirst ? await startPostgres({ isSafe: true }) : undefined;
if (engine) process.env.ATRIUM_BENCH_POSTGRES = engine.url;

try {
  const { append64, held } = await paired(import.meta.url, {
    append64: { atrium: { log: () => appending(openLog) }, limits: { insert: () => appending(openBare) } },
    held: { atrium: { held: () => committing(true), free: () => committing(false) } },
  });
  report([
    ratio(append64, { ...FIGURES.append64, of: 'log', to: 'insert', worse: 'checks' }),
    absolute(append64, { name: 'cluster.append64.one', of: 'log', unit: 'µs', worse: 'checks' }),
    ratio(held, { ...FIGURES.held, of: 'held', to: 'free', worse: 'dead rows' }),
  ]);
} finally {
  await engine?.stop();
}

/** Groups of entries of eight sessions; every sixteenth was sent by a client. */
async function appending(open) {
  const { write, close } = await open();
  let next = 1;
  return {
    async slice() {
      const start = performance.now();
      for (let group = 0; group < GROUPS; group++, next += GROUP) await write(entriesFrom(next, GROUP));
      return { operations: GROUPS * GROUP, cpu: 1_000 * (performance.now() - start) };
    },
    close,
  };
}

/** Single commits, behind many others. */
async function committing(isHeld) {
  const { write, close, hold } = await openLog();
  const release = isHeld ? await hold() : async () => {};
  let next = 1;
  for (; next <= COMMITS_BEFORE; next++) await write(entriesFrom(next, 1));
  return {
    async slice() {
      const times = [];
      for (let commit = 0; commit < COMMITS; commit++, next++) {
        const start = performance.now();
        await write(entriesFrom(next, 1));
        times.push(performance.now() - start);
      }
      times.sort((a, b) => a - b);
      return { operations: 1, cpu: 1_000 * times[times.length >> 1] };
    },
    async close() {
      await release();
      await close();
    },
  };
}

async function openLog() {
  const { Engine, engineUrl, initCluster, openPostgresLog } = await load('host/dist/cluster/index.js');
  const address = new URL(process.env.ATRIUM_BENCH_POSTGRES);
  address.searchParams.set('schema', `b${randomBytes(8).toString('hex')}`);
  const url = engineUrl(address.href);
  const admin = new Engine(url, 'bench');
  await initCluster(admin);
  const [{ term }] = await admin.run("SELECT join_cluster('bench', NULL, 'bench', 1) AS term");
  await admin.run("SELECT claim('bench', $1)", [term]);
  const log = await openPostgresLog({ url, owner: { host: 'bench', term } });
  return {
    write: (entries) => log.append({ entries, durability: 'full' }),
    hold: () => heldSnapshot(address.href),
    close: async () => {
      await log.close();
      await admin.close();
    },
  };
}

async function heldSnapshot(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM pg_class');
  return () => client.end();
}

/** The driver, one table with the same columns and indexes, and nothing else. */
async function openBare() {
  const client = new pg.Client({ connectionString: process.env.ATRIUM_BENCH_POSTGRES });
  await client.connect();
  const table = `bare_${randomBytes(8).toString('hex')}`;
  await client.query(`CREATE TABLE ${table} (seq bigint PRIMARY KEY, channel text COLLATE "C" NOT NULL, time bigint NOT NULL,
    action text NOT NULL, client_id text COLLATE "C", epoch bigint, client_seq bigint)`);
  await client.query(`CREATE INDEX ON ${table} (channel, seq)`);
  const text = `INSERT INTO ${table} SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])`;
  return {
    write: (entries) =>
      client.query({
        name: 'insert',
        text,
        values: [
          entries.map(({ seq }) => seq),
          entries.map(({ channel }) => channel),
          entries.map(({ time }) => time),
          entries.map(({ action }) => action),
          entries.map(({ origin }) => origin?.clientId ?? null),
          entries.map(({ origin }) => origin?.epoch ?? null),
          entries.map(({ origin }) => origin?.clientSeq ?? null),
        ],
      }),
    close: () => client.end(),
  };
}

function entriesFrom(first, count) {
  return Array.from({ length: count }, (_, index) => {
    const seq = first + index;
    const action = JSON.stringify({
      type: 'chat/delta',
      turnId: 't1',
      partId: 'p1',
      content: `word ${seq} and another `,
    });
    const origin = { clientId: 'c1', epoch: 1, clientSeq: seq };
    return { seq, channel: `ahp-session:/${seq % 8}`, time: seq, action, ...(seq % 16 === 0 && { origin }) };
  });
}
