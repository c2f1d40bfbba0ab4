/**
 * A process that opens a log, and dies before one of the things that it does to the database.
 * Usage: log-opener.ts <folder> <which one, from 1; 0 for none>. It writes how many there were.
 */
import { writeSync } from 'node:fs';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { steppingDriver } from './log-drivers.js';

const [dataDir = '', fatal = '0'] = process.argv.slice(2);
let count = 0;

function work(): void {
  count += 1;
  if (count === Number(fatal)) process.kill(process.pid, 'SIGKILL');
}

const log = await openSqliteLog({ dataDir, driver: steppingDriver(await loadDriver(), work) });
writeSync(1, String(count));
await log.close();
