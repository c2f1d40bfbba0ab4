/**
 * What finding costs among 100,000 turns. `find`: the first page of a query, over words that are rare and words that are
 * everywhere, phrases and beginnings, on the index against reading every turn; `find.worst` is the dearest of them. `fill`:
 * putting a turn into the index against writing its text to a file. `growth`: the size of the index over that of the text.
 */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absolute, load, paired, ratio, report, size } from './measure.mjs';
import { numbersFrom, piecesOf } from './support/written-text.mjs';

const TURNS = size(100_000, 400);
const TURNS_OF_SESSION = 200;
const PAGE = 21;
/** Reading all of them takes too long to be done often: a share of them is read, and counted as such. */
const READ = size(2_000, 100);
const FILLED = size(2_000, 100);
const AT_ONCE = 25;
const MINUTE_MS = 60_000;

/** The same text in every process: a few pieces for each turn, and a word of its own. */
function textOf(index) {
  const next = numbersFrom(index + 1);
  return `${piecesOf(next, 3 + (next() % 8))}\nturn${index}`;
}

const turnOf = (index) => ({
  ...{ id: `turn-${index.toString(16).padStart(36, '0')}`, startedAt: new Date(index * 3 * MINUTE_MS).toISOString() },
  message: { text: textOf(index), origin: { kind: 'user' } },
  responseParts: [],
  state: 'complete',
});
const documentOf = (index) => ({
  ...{ id: turnOf(index).id, time: index * 3 * MINUTE_MS, text: textOf(index), files: '', model: 'm-1' },
});

const phrase = (words, isPrefix = false) => ({ words: words.split(' '), isPrefix });
const QUERIES = [
  [phrase('the')],
  [phrase('session'), phrase('turn')],
  [phrase(`turn${Math.floor(TURNS / 2)}`)],
  [phrase('the session')],
  [phrase('ses', true)],
].map((all) => ({ all, none: [], limit: PAGE }));

const { find, fill } = await paired(import.meta.url, {
  find: { atrium: { index: finding }, limits: { scan: reading } },
  fill: { atrium: { index: filling }, limits: { write: writing } },
});

report([
  ratio(find, {
    name: 'search.find',
    of: 'index',
    to: 'scan',
    limit: 'reading every turn',
    target: { atMost: 0.01 },
    worse: 'ranking',
  }),
  absolute(find, {
    name: 'search.find.worst',
    of: 'index',
    pick: ({ worst }) => worst,
    unit: 'ms',
    target: { atMost: 50 },
    worse: 'sorting',
  }),
  absolute(find, {
    name: 'search.growth',
    of: 'index',
    pick: ({ growth }) => growth,
    unit: 'x',
    limit: 'the text',
    target: { atMost: 0.6 },
    worse: 'copies',
  }),
  ratio(fill, {
    name: 'search.fill',
    of: 'index',
    to: 'write',
    limit: 'a bare write of the same text',
    worse: 'merging',
  }),
  absolute(fill, { name: 'search.fill.one', of: 'index', unit: 'µs', worse: 'merging' }),
]);

async function opened(folder) {
  const { openTextIndex } = await load('host/dist/log-sqlite/text-index.js');
  const { loadDriver } = await load('host/dist/log-sqlite/driver.js');
  const path = join(folder, 'search.db');
  const index = openTextIndex({ driver: await loadDriver(), path });
  const close = async () => {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { index, path, close };
}

/** Puts turns into sessions, the newest session first, as a host does that begins anew. Says how many bytes of text that were. */
async function filled(index, from, count, documentAt = documentOf) {
  let bytes = 0;
  for (let end = from + count; end > from; end -= TURNS_OF_SESSION) {
    const start = Math.max(from, end - TURNS_OF_SESSION);
    for (let at = start; at < end; at += AT_ONCE) {
      const documents = Array.from({ length: Math.min(AT_ONCE, end - at) }, (_, step) => documentAt(at + step));
      for (const { text } of documents) bytes += text.length;
      await index.replace(`session:/${start}`, { seq: 1, start: at - start, documents });
      while (await index.tidy());
    }
  }
  return bytes;
}

async function finding() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const made = await opened(folder);
  const bytes = await filled(made.index, 0, TURNS);
  // What stands beside the file comes into it when it is closed.
  await made.index.close();
  const growth = statSync(made.path).size / bytes;
  const { index, close } = await opened(folder);
  const slice = async () => {
    let worst = 0;
    for (const query of QUERIES) {
      const before = process.cpuUsage();
      const hits = await index.find(query);
      const { user, system } = process.cpuUsage(before);
      worst = Math.max(worst, (user + system) / 1_000);
      if (hits.length === 0) throw new Error(`nothing was found for ${JSON.stringify(query.all)}`);
    }
    return { operations: QUERIES.length, worst, growth };
  };
  return { slice, close };
}

async function reading() {
  const { ScanFinder } = await load('host/dist/search/scan.js');
  const turns = Array.from({ length: READ }, (_, index) => {
    const turn = turnOf(index);
    return { id: turn.id, json: JSON.stringify(turn) };
  });
  const scan = new ScanFinder({
    log: {
      archiveHead: async () => ({ seq: 1, head: '', turnCount: READ }),
      archivedTurns: async (_channel, { start, end }) => turns.slice(start, Math.min(end, start + 100)),
    },
    channels: () => ['session:/0'],
    titleOf: () => undefined,
  });
  const slice = async () => {
    await scan.find(QUERIES[1]);
    return READ / TURNS;
  };
  return { slice };
}

/** Without the making of the text. */
function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function filling() {
  const { index, close } = await opened(mkdtempSync(join(tmpdir(), 'atrium-bench-')));
  let from = 0;
  const slice = async () => {
    const documents = Array.from({ length: FILLED }, (_, at) => documentOf(from + at));
    const before = process.cpuUsage();
    await filled(index, from, FILLED, (at) => documents[at - from]);
    from += FILLED;
    return { operations: FILLED, cpu: cpuSince(before) };
  };
  return { slice, close };
}

async function writing() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const file = openSync(join(folder, 'text'), 'w');
  let from = 0;
  const slice = async () => {
    const documents = Array.from({ length: FILLED }, (_, at) => documentOf(from + at));
    const before = process.cpuUsage();
    for (const { text } of documents) writeSync(file, text);
    from += FILLED;
    return { operations: FILLED, cpu: cpuSince(before) };
  };
  const close = () => {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  };
  return { slice, close };
}
