/** Many rows of text as one value: the same texts come out, and every difference to what was stored shows. */
import { describe, expect, it } from 'vitest';
import { sumOf } from '../../src/log-sqlite/damage.js';
import { joinedIn, selectJoined, selectTexts, textsIn } from '../../src/log-sqlite/summed-texts.js';
import { dataFolder, drivers } from '../support/log-folders.js';

type Row = readonly [key: string | null, text: string | null, sum: number | null];

const row = (key: string, text: string): Row => [key, text, sumOf(key, text)];

describe.each(drivers)('texts with their sums ($name)', (driver) => {
  function read(rows: readonly Row[]) {
    const db = driver.open(`${dataFolder()}/x.db`);
    db.exec('CREATE TABLE texts (row INTEGER PRIMARY KEY, key TEXT, text TEXT, sum INTEGER)');
    const insert = db.prepare('INSERT INTO texts VALUES (NULL, ?, ?, ?)');
    for (const values of rows) insert.run(...values);
    const select = 'SELECT row, key, text, sum FROM texts ORDER BY row';
    const texts = textsIn(db.prepare(selectTexts(select)).bytes());
    const joined = joinedIn(db.prepare(selectJoined(select)).bytes());
    db.close();
    return { texts, joined: joined?.toString() };
  }

  it('[REL-064] come out as they were stored, with commas between them when they are joined', () => {
    const rows = [row('a', '{"é":1}'), row('längerer', '"🚀"'), row('', '1'), row('a', '')];
    const { texts, joined } = read(rows);
    expect(texts.map(({ key, text }) => [key, text])).toEqual(rows.map(([key, text]) => [key, text]));
    expect(texts.map(({ row: id, isWhole }) => [id, isWhole])).toEqual([1, 2, 3, 4].map((id) => [id, true]));
    expect(joined).toBe('{"é":1},"🚀",1,');
    expect(read([row('only', '[1,2]')]).joined).toBe('[1,2]');
  });

  it('[REL-064] are not joined when one of them is another, has another key, or has no sum', () => {
    const [first, last] = [row('a', '{"n":1}'), row('c', '{"n":3}')];
    const bad: readonly Row[] = [
      ['b', '{"n":2}', sumOf('b', '{"n":9}')],
      ['b', '{"n":2}', sumOf('x', '{"n":2}')],
      ['b', '{"n":2}', null],
    ];
    for (const each of bad)
      for (const rows of [
        [first, each, last],
        [each, first],
        [first, each],
      ])
        expect(read(rows).joined).toBe(undefined);
    const wholes = bad.map((each) => read([first, each, last]).texts.map(({ isWhole }) => isWhole));
    expect(wholes).toEqual([
      [true, false, true],
      [true, false, true],
      [true, true, true],
    ]);
  });

  it('[REL-064] are whole under a key with a NUL, of which the sum has the beginning only', () => {
    const { texts } = read([row('a\0b', '{"n":1}'), row('c', '{"n":2}')]);
    expect(texts.map(({ text, isWhole }) => [text, isWhole])).toEqual([
      ['{"n":1}', true],
      ['{"n":2}', true],
    ]);
  });

  it('are none where there are no rows, and empty where a column is null', () => {
    expect(read([]).texts).toEqual([]);
    expect(read([[null, null, null]]).texts).toEqual([{ row: 1, key: '', text: '', isWhole: true }]);
  });
});
