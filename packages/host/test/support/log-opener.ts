/**
 * A process that opens a log, and dies before one of the things that it does to the database.
 * Usage: log-opener.ts <folder> <which one, from 1; 0 for none>. It writes how many there were.
 */
import { writeSync } from 'node:fs';
import { loadDriver, type SqliteDriver } from '../../src/log-sqlite/driver.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';

const [dataDir = '', fatal = '0'] = process.argv.slice(2);
let count = 0;

function work(): void {
  count += 1;
  if (count === Number(fatal)) process.kill(process.pid, 'SIGKILL');
}

function mortal(inner: SqliteDriver): SqliteDriver {
  return {
    name: inner.name,
    open(path) {
      const db = inner.open(path);
      const exec = (sql: string) => {
        work();
        db.exec(sql);
      };
      return {
        ...db,
        exec,
        prepare: (sql) => {
          const statement = db.prepare<never>(sql);
          const run: typeof statement.run = (...values) => {
            work();
            statement.run(...values);
          };
          return { ...statement, run };
        },
        transaction(run) {
          exec('BEGIN IMMEDIATE');
          const result = run();
          exec('COMMIT');
          return result;
        },
      };
    },
  };
}

const log = await openSqliteLog({ dataDir, driver: mortal(await loadDriver()) });
writeSync(1, String(count));
await log.close();
