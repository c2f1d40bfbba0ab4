/**
 * A process that appends to a log for ever and reports each commit once it is stored, to be killed by a test.
 * Usage: log-appender.ts <folder> <seed>. It writes `open <head>`, `stored <head> <head of the last whole commit>` and
 * `failed <reason>` lines. A whole commit has a record and an archive; the others are lines of the journal.
 */
import { writeSync } from 'node:fs';
import { type Commit, type Log, LogWriteError, type NewArchive } from '@atrium/core/log/log.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { randomFrom } from './log-random.js';
import { HEAD_RECORD, sampleEntry, TURNS_CHANNEL } from './log-samples.js';

const [dataDir = '', seed = '1'] = process.argv.slice(2);
const random = randomFrom(Number(seed));
const log = await openSqliteLog({ dataDir });
let recorded = Number((await log.record(HEAD_RECORD)) ?? 0);
say(`open ${log.head}`);
for (;;) {
  await (random(2) === 0 ? appendFew(log) : appendSome(log));
  say(`stored ${log.head} ${recorded}`);
  // Timers get their turn, so that checkpoints run too.
  if (random(4) === 0) await new Promise((resolve) => setTimeout(resolve, random(3) * 30));
}

/** Commits as a stream of text makes them. */
async function appendFew(log: Log): Promise<void> {
  for (let commits = 1 + random(40); commits > 0; commits--) {
    const count = 1 + random(2);
    const entries = Array.from({ length: count }, (_, index) => sampleEntry(log.head + 1 + index));
    await append(log, { entries, durability: 'normal' });
    say(`stored ${log.head} ${recorded}`);
  }
}

/** The record and the turn say which head they were stored with: they must never differ from it. */
async function appendSome(log: Log): Promise<void> {
  const count = 1 + random(random(3) === 0 ? 400 : 20);
  const head = log.head + count;
  const entries = Array.from({ length: count }, (_, index) => sampleEntry(log.head + 1 + index));
  const start = (await log.archiveHead(TURNS_CHANNEL))?.turnCount ?? 0;
  const items = [{ id: `t${start}`, json: String(head) }];
  const archive: NewArchive = { channel: TURNS_CHANNEL, head: String(head), turns: { start, items } };
  const records = [{ key: HEAD_RECORD, value: String(head) }];
  const durability = random(3) === 0 ? 'full' : 'normal';
  await append(log, { entries, archives: [archive], records, durability });
  recorded = head;
}

async function append(log: Log, commit: Commit): Promise<void> {
  try {
    await log.append(commit);
  } catch (error) {
    say(`failed ${error instanceof LogWriteError ? error.reason : String(error)}`);
    process.exit(1);
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
