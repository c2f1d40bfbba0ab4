/**
 * A process that opens a log, makes commits of every kind, and dies at one step: before something that it does to the
 * database, or before, inside or after a change or a sync of the journal file.
 * Usage: log-steps.ts <folder> <which step, from 1; 0 for none>. It writes `stored <head>` for every commit, and `steps
 * <count>` at the end.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Commit, Log } from '@atrium/core/log/log.js';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { steppingDriver } from './log-drivers.js';
import { HEAD_RECORD, sampleEntries } from './log-samples.js';

const [dataDir = '', fatal = '0'] = process.argv.slice(2);
const say = (line: string) => write(1, `${line}\n`);
const { writeSync: write, ftruncateSync: truncate, fdatasyncSync: sync, rmSync: remove } = fs;
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === Number(fatal)) process.kill(process.pid, 'SIGKILL');
}

/** Only the journal is written as text at a position. A kill may leave the front of what was to be written. */
function steppingWrite(file: number, text: string | Buffer, position?: number): number {
  if (typeof text !== 'string' || typeof position !== 'number') return write(file, text as string, position);
  const bytes = Buffer.from(text);
  step();
  const half = write(file, bytes, 0, Math.floor(bytes.length / 2), position);
  step();
  const rest = write(file, bytes, half, bytes.length - half, position + half);
  step();
  return half + rest;
}

fs.writeSync = steppingWrite as typeof fs.writeSync;
fs.ftruncateSync = (file, length) => {
  step();
  truncate(file, length);
  step();
};
fs.fdatasyncSync = (file) => {
  step();
  sync(file);
  step();
};
fs.rmSync = (path, options) => {
  if (String(path).endsWith('.journal')) step();
  remove(path, options);
};
syncBuiltinESMExports();

const log = await openSqliteLog({ dataDir, driver: steppingDriver(await loadDriver(), step) });
await appendAll(log);
await log.close();
say(`steps ${steps}`);

async function appendAll(log: Log): Promise<void> {
  await append(log, 2);
  await append(log, 1);
  await append(log, 1, { durability: 'full' });
  await append(log, 1);
  // The database is synced, so this one is a line.
  await append(log, 1, { durability: 'full' });
  await append(log, 3, { records: [{ key: HEAD_RECORD, value: '1' }] });
  await append(log, 1);
  await log.copyTurns('ahp-session:/a', 'ahp-session:/b', { start: 0, end: 1 });
  await append(log, 1);
}

async function append(log: Log, count: number, more: Partial<Commit> = {}): Promise<void> {
  const entries = sampleEntries(log.head + 1, log.head + count);
  await log.append({ entries, durability: 'normal', ...more });
  say(`stored ${log.head}`);
}
