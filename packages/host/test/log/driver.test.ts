/** The way to SQLite: what each driver gives back, and what its errors say. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { SQLITE, SqliteError } from '../../src/log-sqlite/driver.js';
import { dataFolder, drivers } from '../support/log-folders.js';

describe.each(drivers)('SQLite ($name)', (driver) => {
  function opened(folder = dataFolder()) {
    const db = driver.open(`${folder}/x.db`);
    onTestFinished(() => db.close());
    return { db, folder };
  }

  function filled() {
    const { db, folder } = opened();
    db.exec(
      `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO things VALUES (1, 'é'), (2, 'b')`,
    );
    return { db, folder };
  }

  it('gives rows, one row or none, and bytes', () => {
    const { db } = filled();
    const select = `SELECT id, ${db.text('name')} AS name FROM things`;
    expect(db.prepare(`${select} ORDER BY id`).all()).toEqual([
      { id: 1, name: 'é' },
      { id: 2, name: 'b' },
    ]);
    const one = db.prepare(`${select} WHERE id = ? AND name = ?`);
    expect(one.get(2, 'b')).toMatchObject({ id: 2, name: 'b' });
    expect(one.get(2, 'é')).toBe(undefined);
    expect(one.all(9, '')).toEqual([]);
    const bytes = db.prepare('SELECT CAST(name AS BLOB) AS bytes FROM things WHERE id = ?');
    expect([bytes.bytes(1).toString(), bytes.bytes(9).length]).toEqual(['é', 0]);
    expect(db.prepare('SELECT CAST(NULL AS BLOB) AS bytes').bytes().length).toBe(0);
  });

  it('[REL-031] stores all of a transaction, or nothing', () => {
    const { db } = filled();
    const count = () => db.prepare<{ count: number }>('SELECT count(*) AS count FROM things').get()?.count;
    const insert = db.prepare('INSERT INTO things VALUES (?, ?)');
    const stored = db.transaction(() => {
      insert.run(3, 'c');
      return 'done';
    });
    expect([stored, count()]).toEqual(['done', 3]);
    const broken = new Error('broken');
    const work = () => {
      insert.run(4, 'd');
      throw broken;
    };
    expect(() => db.transaction(work)).toThrow(broken);
    expect(count()).toBe(3);
    // SQLite itself may have ended the transaction: its error is the one that counts.
    const ended = () => {
      db.exec('ROLLBACK');
      throw broken;
    };
    expect(() => db.transaction(ended)).toThrow(broken);
    expect(db.transaction(() => 'again')).toBe('again');
  });

  it('[REL-033] says which kind of error it is, whatever SQLite adds to it', () => {
    const { db, folder } = filled();
    const codeOf = (work: () => void) => {
      try {
        work();
        return undefined;
      } catch (error) {
        expect(error).toBeInstanceOf(SqliteError);
        const { code, message, cause } = error as SqliteError;
        expect([message.length > 0, cause instanceof Error]).toEqual([true, true]);
        return code;
      }
    };
    expect(codeOf(() => db.exec(`INSERT INTO things VALUES (9, 'b')`))).toBe(SQLITE.constraint);
    expect(codeOf(() => db.prepare('INSERT INTO things VALUES (?, ?)').run(9, 'b'))).toBe(SQLITE.constraint);
    expect(codeOf(() => void db.prepare('SELECT * FROM nothing'))).toBe(1);
    const other = opened(folder).db;
    db.exec('BEGIN EXCLUSIVE');
    expect(codeOf(() => other.exec('BEGIN IMMEDIATE'))).toBe(SQLITE.busy);
    db.exec('ROLLBACK');
    // libsql gives no code for this one.
    expect([0, 14]).toContain(codeOf(() => driver.open(`${folder}/no/x.db`).exec('BEGIN')));
  });
});
