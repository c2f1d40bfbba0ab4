/** Ways to spoil a file, and a log worth spoiling. */
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '@atrium/core/log/log.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { copyOf, dataFolder } from './log-folders.js';
import { appendSamples } from './log-samples.js';

export const ENTRIES = 400;
export const RECORDS = 300;
export const SESSIONS = 20;
export const TURNS = 30;

/** A folder that was closed in order: one database file. */
export async function closedFolder(): Promise<string> {
  const dataDir = dataFolder();
  const log = await openSqliteLog({ dataDir });
  await fill(log);
  await log.close();
  return copyOf(dataDir);
}

/** A folder as a killed process leaves it: everything behind the first half is in the write-ahead file. */
export async function killedFolder(): Promise<string> {
  const dataDir = dataFolder();
  const before = await openSqliteLog({ dataDir });
  await fill(before);
  await before.close();
  const log = await openSqliteLog({ dataDir });
  for (let round = 0; round < 10; round++) await appendSamples(log, 20);
  const copy = copyOf(dataDir);
  await log.close();
  return copy;
}

async function fill(log: Log): Promise<void> {
  for (let round = 0; round < 4; round++) await appendSamples(log, ENTRIES / 4);
  const records = Array.from({ length: RECORDS }, (_, index) => {
    return { key: `session:${index}`, value: JSON.stringify({ title: 'A title '.repeat(10), index }) };
  });
  const items = Array.from({ length: TURNS }, (_, index) => {
    return { id: `t${index}`, json: JSON.stringify({ id: `t${index}`, text: 'An answer '.repeat(20) }) };
  });
  const archives = Array.from({ length: SESSIONS }, (_, index) => {
    return {
      channel: `ahp-session:/s${index}`,
      head: '{"title":"A session"}',
      turns: { start: 0, items },
    };
  });
  await log.append({ entries: [], archives, records, durability: 'full' });
}

export function databaseOf(folder: string): string {
  return path.join(folder, 'atrium.db');
}

export function walOf(folder: string): string {
  return path.join(folder, 'atrium.db-wal');
}

export function cutTo(file: string, bytes: number): void {
  truncateSync(file, bytes);
}

/** Cuts by a share of the file's size, to the very byte. */
export function cutToShare(file: string, share: number): void {
  truncateSync(file, Math.floor(statSync(file).size * share));
}

export function overwrite(file: string, at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

export function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}

export function garbage(count: number): Buffer {
  return Buffer.from('not what was here '.repeat(Math.ceil(count / 18))).subarray(0, count);
}
