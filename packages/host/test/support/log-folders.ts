/** Data folders for tests of the log: made anew for each test, gone after it. */
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { libsqlDriver, nodeDriver, type SqliteDriver } from '../../src/log-sqlite/driver.js';
import { openSqliteLog, type SqliteLog, type SqliteLogOptions } from '../../src/log-sqlite/sqlite-log.js';

/** Every way to SQLite that this Node has. */
export const drivers: SqliteDriver[] = [await libsqlDriver(), nodeDriver()].filter((driver) => driver !== undefined);

export function dataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-log-'));
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Opens a log that is closed when the test ends, if it has not been before. */
export async function openLog(dataDir: string, options: Partial<SqliteLogOptions> = {}): Promise<SqliteLog> {
  const log = await openSqliteLog({ dataDir, ...options });
  onTestFinished(() => log.close());
  return log;
}

/**
 * The folder as another process would find it. The copy has files of its own, so nothing that SQLite still knows in
 * this process about the originals gets in the way.
 */
export function copyOf(folder: string): string {
  const copy = dataFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}
