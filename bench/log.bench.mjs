/**
 * What the log costs. `append`: one entry at a time, as tokens come, against writing the same line to a file, and against
 * the least that can be done without giving up a promise: the same line, and the bare SQLite adapter taking them in groups.
 * `append.full` has each survive a power cut, as the results of calls do, against the same line with a sync. `group`:
 * 64 entries at a time against the bare SQLite adapter doing the same inserts in one transaction; `group.full` syncs
 * each of them. `open`: head, newest turns and tail of a session of 10,000 turns, against reading the same rows with the
 * bare adapter and parsing them.
 */
import { closeSync, fdatasyncSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { absolute, load, loadHost, paired, ratio, report, size } from './measure.mjs';
import { BENCH_SESSION, storeSession } from './support/stored-session.mjs';

const APPENDS = size(4_000, 20);
const APPENDS_SYNCED = size(100, 2);
const GROUP = 64;
/** As the log does it: lines in one transaction, and rows in one statement. */
const FLOOR_LINES = 1_024;
const FLOOR_ROWS = 32;
const GROUPS = size(100, 2);
const OPENS = size(40, 1);
const TURNS = size(10_000, 60);
/** Finished turns that an open session keeps in memory. */
const WINDOW = 50;
const CHAT = defaultChatUri(BENCH_SESSION);

const { append, appendFull, group, groupFull, open } = await paired(import.meta.url, {
  append: {
    atrium: { log: () => appending(logIn, 'normal', 1) },
    limits: { write: () => appending(fileIn, 'normal', 1), floor: () => appending(floorIn, '', 1) },
  },
  appendFull: {
    atrium: { log: () => appending(logIn, 'full', 1) },
    limits: { write: () => appending(fileIn, 'full', 1) },
  },
  group: {
    atrium: { log: () => appending(logIn, 'normal', GROUP) },
    limits: { adapter: () => appending(adapterIn, 'NORMAL', GROUP) },
  },
  groupFull: {
    atrium: { log: () => appending(logIn, 'full', GROUP) },
    limits: { adapter: () => appending(adapterIn, 'FULL', GROUP) },
  },
  open: { atrium: { log: openingLog }, limits: { adapter: openingAdapter } },
});

const line = 'a bare write of the same line';
const adapter = 'the bare SQLite adapter';
report([
  ratio(append, { name: 'log.append', of: 'log', to: 'write', limit: line, target: { atMost: 3 }, worse: 'SQL' }),
  ratio(append, {
    name: 'log.append.stored',
    of: 'log',
    to: 'floor',
    limit: `${line}, and ${adapter} taking ${FLOOR_LINES} at once`,
    target: { atMost: 1.5 },
    worse: 'checks',
  }),
  ratio(append, { name: 'log.floor', of: 'floor', to: 'write', limit: line, worse: 'SQL' }),
  absolute(append, { name: 'log.append.one', of: 'log', unit: 'µs', worse: 'SQL' }),
  ratio(appendFull, {
    name: 'log.append.full',
    of: 'log',
    to: 'write',
    limit: `${line}, synced`,
    target: { atMost: 1.5 },
    worse: 'syncs',
  }),
  absolute(appendFull, { name: 'log.append.full.one', of: 'log', unit: 'µs', worse: 'syncs' }),
  ratio(group, {
    name: 'log.group',
    of: 'log',
    to: 'adapter',
    limit: `${adapter}, ${GROUP} entries at once`,
    target: { atMost: 1.25 },
    worse: 'copies',
  }),
  ratio(groupFull, {
    name: 'log.group.full',
    of: 'log',
    to: 'adapter',
    limit: `${adapter}, ${GROUP} entries at once, synced`,
    target: { atMost: 1.25 },
    worse: 'syncs',
  }),
  ratio(open, {
    name: 'log.open',
    of: 'log',
    to: 'adapter',
    limit: `${adapter} reading and parsing the same rows`,
    target: { atMost: 1.5 },
    worse: 'reads',
  }),
]);

/** Appends entries of eight sessions; every sixteenth was sent by a client. */
async function appending(openIn, durability, entriesAtOnce) {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const { write, close } = await openIn(folder, durability);
  const appends = durability === 'full' ? APPENDS_SYNCED : APPENDS;
  const count = entriesAtOnce === 1 ? appends : GROUPS;
  let next = 1;
  return {
    async slice() {
      for (let step = 0; step < count; step++) {
        await write(entriesFrom(next, entriesAtOnce));
        next += entriesAtOnce;
      }
      return count * entriesAtOnce;
    },
    async close() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function entriesFrom(first, count) {
  return Array.from({ length: count }, (_, index) => {
    const seq = first + index;
    const action = `{"type":"chat/delta","turnId":"t1","partId":"p1","content":"token ${seq} "}`;
    const origin = seq % 16 === 0 ? { clientId: 'bench', epoch: 1, clientSeq: seq } : undefined;
    return { seq, channel: `${BENCH_SESSION}-${seq % 8}`, time: seq, action, origin };
  });
}

async function logIn(dataDir, durability) {
  const { openSqliteLog } = await loadHost();
  const log = await openSqliteLog({ dataDir });
  return { write: (entries) => log.append({ entries, durability }), close: () => log.close() };
}

function fileIn(folder, durability) {
  const file = openSync(join(folder, 'lines'), 'a');
  return {
    write([{ seq, channel, time, action }]) {
      writeSync(file, `${seq} ${channel} ${time} ${action}\n`);
      if (durability === 'full') fdatasyncSync(file);
    },
    close: () => closeSync(file),
  };
}

/** The line of each entry, without a checksum; then many rows in one transaction, of many rows in one statement. */
async function floorIn(folder) {
  const db = await bareDatabase(folder, 'NORMAL');
  const rows = Array(FLOOR_ROWS).fill('(?, ?, ?, ?)').join(', ');
  const insert = db.prepare(`INSERT INTO entries (seq, channel, time, action) VALUES ${rows}`);
  const file = openSync(join(folder, 'lines'), 'a');
  let waiting = [];
  const fold = () => {
    db.transaction(() => {
      for (let at = 0; at < waiting.length; at += FLOOR_ROWS) {
        const group = waiting.slice(at, at + FLOOR_ROWS);
        insert.run(...group.flatMap(({ seq, channel, time, action }) => [seq, channel, time, action]));
      }
    });
    ftruncateSync(file, 0);
    waiting = [];
  };
  const write = ([entry]) => {
    writeSync(file, `${entry.seq} ${entry.channel} ${entry.time} ${entry.action}\n`);
    waiting.push(entry);
    if (waiting.length === FLOOR_LINES) fold();
  };
  return { write, close: () => db.close() };
}

async function bareDatabase(folder, synchronous) {
  const { driver, createDatabase } = await adapterModules();
  const file = join(folder, 'bare.db');
  createDatabase(driver, file);
  const db = driver.open(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0`);
  return db;
}

/** The adapter, the same tables and statements, and nothing else. */
async function adapterIn(folder, synchronous) {
  const db = await bareDatabase(folder, synchronous);
  const columns = 'seq, channel, time, action, client_id, epoch, client_seq';
  const insert = db.prepare(`INSERT INTO entries (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const write = (entries) =>
    db.transaction(() => {
      for (const { seq, channel, time, action, origin } of entries) {
        const sender = [origin?.clientId ?? null, origin?.epoch ?? null, origin?.clientSeq ?? null];
        insert.run(seq, channel, time, action, ...sender);
      }
    });
  return { write, close: () => db.close() };
}

async function adapterModules() {
  const { loadDriver } = await load('host/dist/log-sqlite/driver.js');
  const { createDatabase } = await load('host/dist/log-sqlite/schema.js');
  return { driver: await loadDriver(), createDatabase };
}

async function storedLog(dataDir) {
  const { openSqliteLog } = await loadHost();
  const log = await openSqliteLog({ dataDir });
  await storeSession(log, TURNS);
  return log;
}

/** What a host reads to open a session: the head, the newest turns, and the entries behind. */
async function openingLog() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const log = await storedLog(folder);
  return opening(folder, async () => {
    const { seq, head, turnCount } = await log.archiveHead(CHAT);
    const turns = await log.archivedTurnsText(CHAT, { start: turnCount - WINDOW, end: turnCount });
    await log.read({ after: seq, channel: CHAT });
    return { head: JSON.parse(head), turns: JSON.parse(`[${turns}]`) };
  });
}

async function openingAdapter() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  await (await storedLog(folder)).close();
  const { driver } = await adapterModules();
  const db = driver.open(join(folder, 'atrium.db'));
  const headOf = db.prepare(`SELECT seq, ${db.text('head')} AS head FROM archives WHERE channel = ?`);
  const countOf = db.prepare('SELECT count(*) AS count FROM turns WHERE channel = ?');
  const turnsOf = db.prepare(
    `SELECT ${db.text('json')} AS json FROM turns WHERE channel = ? AND idx >= ? ORDER BY idx`,
  );
  const tailOf = db.prepare(`SELECT ${db.text('action')} AS action FROM entries WHERE channel = ? AND seq > ?`);
  const text = (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString());
  const { count } = countOf.get(CHAT);
  return opening(folder, () => {
    const { seq, head } = headOf.get(CHAT);
    const turns = turnsOf.all(CHAT, count - WINDOW).map(({ json }) => JSON.parse(text(json)));
    tailOf.all(CHAT, seq);
    return { head: JSON.parse(text(head)), turns };
  });
}

function opening(folder, open) {
  return {
    async slice() {
      for (let step = 0; step < OPENS; step++) {
        const { turns } = await open();
        if (turns.length !== WINDOW) throw new Error(`${turns.length} turns came instead of ${WINDOW}`);
      }
      return OPENS;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
