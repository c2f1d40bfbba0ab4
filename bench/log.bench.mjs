/**
 * What the log adds to the bare SQLite adapter, and what archives spare when a session is opened. `append`: groups of
 * 64 against the adapter alone doing the same inserts in one transaction. `open`: head and tail against reading,
 * parsing and reducing every entry.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sessionReducer } from '@atrium/protocol';
import { loadDriver } from '../packages/host/dist/log-sqlite/driver.js';
import { createDatabase } from '../packages/host/dist/log-sqlite/schema.js';
import { openSqliteLog } from '../packages/host/dist/log-sqlite/sqlite-log.js';
import { report, rounded } from './measure.mjs';

const GROUP = 64;
const GROUPS = 400;
const ROUNDS = 3;
const SLICE = 20;
const TURNS = 10_000;
const ENTRIES_PER_TURN = 20;
/** An archive is written when a turn ends: the tail is never longer than one turn. */
const TAIL_ENTRIES = ENTRIES_PER_TURN - 1;
/** Finished turns that an open session keeps in memory. */
const WINDOW = 50;
const CHANNEL = 'ahp-session:/bench';
const context = { now: 1 };
const driver = await loadDriver();
const folder = mkdtempSync(path.join(tmpdir(), 'atrium-bench-'));

try {
  const append = await measureAppend();
  const open = await measureOpen();
  report(
    {
      append: rounded(append.bare / append.log),
      appendFull: rounded(append.bareFull / append.logFull),
      open: rounded(open.archive / open.replay, 4),
      entriesPerSecond: Math.round((1e9 * GROUP) / append.log),
      bareEntriesPerSecond: Math.round((1e9 * GROUP) / append.bare),
      openMilliseconds: rounded(open.archive / 1e6),
      replayMilliseconds: rounded(open.replay / 1e6),
      replayedEntries: TURNS * ENTRIES_PER_TURN,
      driver: driver.name,
    },
    {
      append: "of the bare adapter's speed; at least 0.8",
      appendFull: 'the same, synced at every group',
      open: `archive and tail against replay of ${TURNS} turns; at most 0.2`,
    },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureAppend() {
  const candidates = {
    bare: () => bareAppend('NORMAL'),
    log: () => logAppend('normal'),
    bareFull: () => bareAppend('FULL'),
    logFull: () => logAppend('full'),
  };
  return bestOfAsync(candidates, GROUPS);
}

/** The adapter, the same tables and statements, and nothing else. */
async function bareAppend(synchronous) {
  const file = path.join(mkdtempSync(path.join(folder, 'bare-')), 'bare.db');
  createDatabase(driver, file);
  const db = driver.open(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0`);
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, NULL)');
  return {
    step(group) {
      db.transaction(() => {
        for (const { seq, channel, time, action, origin } of entriesOf(group)) {
          insert.run(
            seq,
            channel,
            time,
            action,
            origin?.clientId ?? null,
            origin?.epoch ?? null,
            origin?.clientSeq ?? null,
          );
        }
      });
    },
    close: () => db.close(),
  };
}

async function logAppend(durability) {
  const log = await openSqliteLog({ dataDir: mkdtempSync(path.join(folder, 'log-')), driver });
  return {
    step: (group) => log.append({ entries: entriesOf(group), durability }),
    close: () => log.close(),
  };
}

/** Deltas of eight sessions, every sixteenth entry sent by a client. */
function entriesOf(group) {
  return Array.from({ length: GROUP }, (_, index) => {
    const seq = group * GROUP + index + 1;
    const action = `{"type":"session/delta","turnId":"t${group}","partId":"p1","content":"token ${seq} "}`;
    const origin = seq % 16 === 0 ? { clientId: 'bench', epoch: 1, clientSeq: seq } : undefined;
    return { seq, channel: `${CHANNEL}-${seq % 8}`, time: seq, action, origin };
  });
}

/** The candidates take turns slice by slice, so that noise meets all of them; the best of several rounds counts. */
async function bestOfAsync(candidates, count) {
  const best = {};
  for (let round = 0; round < ROUNDS; round++) {
    const running = [];
    for (const [name, prepare] of Object.entries(candidates))
      running.push({ name, nanoseconds: 0, ...(await prepare()) });
    for (let start = 0; start < count; start += SLICE) {
      for (const candidate of running)
        candidate.nanoseconds += await timeSlice(candidate, start, Math.min(SLICE, count));
    }
    for (const { name, nanoseconds, close } of running) {
      await close();
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, nanoseconds / count);
    }
  }
  return best;
}

async function timeSlice({ step }, first, steps) {
  const start = process.hrtime.bigint();
  for (let index = 0; index < steps; index++) await step(first + index);
  return Number(process.hrtime.bigint() - start);
}

async function measureOpen() {
  const log = await openSqliteLog({ dataDir: path.join(folder, 'open'), driver });
  await fillSession(log);
  const open = (step) => async () => ({ step, close: () => {} });
  const replayed = await replay(log);
  const opened = await openArchive(log);
  if (replayed.turns.length !== TURNS || replayed.activeTurn?.id !== opened.activeTurn?.id) {
    throw new Error('the two ways to open the session do not agree');
  }
  const best = await bestOfAsync({ archive: open(() => openArchive(log)), replay: open(() => replay(log)) }, 1);
  await log.close();
  return best;
}

/** What a host needs in memory: the head, the newest turns, and the entries behind. */
async function openArchive(log) {
  const { seq, head, turnCount } = await log.archiveHead(CHANNEL);
  const turns = JSON.parse(`[${await log.archivedTurnsText(CHANNEL, { start: turnCount - WINDOW, end: turnCount })}]`);
  const tail = await log.read({ after: seq, channel: CHANNEL });
  return reduce({ ...JSON.parse(head), turns }, tail);
}

async function replay(log) {
  const entries = await log.read({ after: 0, channel: CHANNEL });
  return reduce(freshSession(), entries);
}

function reduce(start, entries) {
  return entries.reduce((state, entry) => sessionReducer(state, JSON.parse(entry.action), context), start);
}

/** Whole turns, the archive of all of them, and the tail: a turn that is not over. */
async function fillSession(log) {
  let state = freshSession();
  for (let turn = 0; turn < TURNS; turn++) {
    const actions = turnActions(turn);
    for (const action of actions) state = sessionReducer(state, action, context);
    await appendActions(log, actions);
  }
  const { turns, ...head } = state;
  const items = turns.map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
  const archive = {
    channel: CHANNEL,
    head: JSON.stringify(head),
    turns: { start: 0, items },
  };
  await log.append({ entries: [], archives: [archive], durability: 'full' });
  await appendActions(log, turnActions(TURNS).slice(0, TAIL_ENTRIES));
}

async function appendActions(log, actions) {
  const entries = actions.map((action) => ({ channel: CHANNEL, time: 1, action: JSON.stringify(action) }));
  await log.append({ entries, durability: 'normal' });
}

function turnActions(turn) {
  const turnId = `t${turn}`;
  const deltas = Array.from({ length: ENTRIES_PER_TURN - 3 }, (_, index) => {
    return { type: 'session/delta', turnId, partId: 'm', content: `token ${index} of the answer ` };
  });
  return [
    { type: 'session/turnStarted', turnId, userMessage: { text: `Question ${turn}` } },
    { type: 'session/responsePart', turnId, part: { kind: 'markdown', id: 'm', content: '' } },
    ...deltas,
    { type: 'session/turnComplete', turnId },
  ];
}

function freshSession() {
  return {
    summary: { resource: CHANNEL, provider: 'offline', title: 'Bench', status: 1, createdAt: 0, modifiedAt: 0 },
    lifecycle: 'ready',
    serverTools: [],
    config: { schema: { type: 'object', properties: {} }, values: {} },
    customizations: [],
    turns: [],
  };
}
