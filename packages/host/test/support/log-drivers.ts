/** Drivers that fail, count or hand out what they opened, around a real one. */
import type { Database, SqliteDriver, Statement } from '../../src/log-sqlite/driver.js';

/** Hands out every database as it is opened. */
export function spyingDriver(driver: SqliteDriver, opened: (path: string, db: Database) => void): SqliteDriver {
  return {
    name: driver.name,
    open(path) {
      const db = driver.open(path);
      opened(path, db);
      return db;
    },
  };
}

/** Dies at the nth call of any kind, and at every one after it, as a killed process does nothing more. */
export function dyingDriver(driver: SqliteDriver, calls: number): SqliteDriver {
  let left = calls;
  const step = (): void => {
    if (left-- <= 0) throw new Error('the process died here');
  };
  const wrap = (db: Database): Database => ({
    ...db,
    exec(sql) {
      step();
      db.exec(sql);
    },
  });
  return {
    name: driver.name,
    open(path) {
      step();
      return wrap(driver.open(path));
    },
  };
}

/** Calls back before everything that changes the database, and before the end of each transaction. */
export function steppingDriver(driver: SqliteDriver, step: () => void): SqliteDriver {
  return {
    name: driver.name,
    open(path) {
      const db = driver.open(path);
      const exec = (sql: string) => {
        step();
        db.exec(sql);
      };
      return {
        ...db,
        exec,
        prepare: (sql) => {
          const statement = db.prepare<never>(sql);
          const run: typeof statement.run = (...values) => {
            step();
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

/** Counts the characters that statements give back. */
export function countingDriver(driver: SqliteDriver, count: (characters: number) => void): SqliteDriver {
  const wrap = <Row>(statement: Statement<Row>): Statement<Row> => ({
    run: (...values) => statement.run(...values),
    get(...values) {
      const row = statement.get(...values);
      count(JSON.stringify(row ?? '').length);
      return row;
    },
    all(...values) {
      const rows = statement.all(...values);
      count(JSON.stringify(rows).length);
      return rows;
    },
    bytes(...values) {
      const bytes = statement.bytes(...values);
      count(bytes.length);
      return bytes;
    },
  });
  return {
    name: driver.name,
    open(path) {
      const db = driver.open(path);
      return { ...db, prepare: <Row>(sql: string) => wrap(db.prepare<Row>(sql)) };
    },
  };
}
