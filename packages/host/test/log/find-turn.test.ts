/** A turn is found by its id through an index: SQLite says how it looks, so that nothing has to be timed. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIND_TURN } from '../../src/log-sqlite/archives.js';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { dataFolder } from '../support/log-folders.js';

const CHANNEL = 'ahp-chat:/c';

describe('finding a turn', () => {
  it('[GRO-002] reads the rows that have its id and no others, also after the statistics of 2,000 turns', async () => {
    const dataDir = dataFolder();
    const log = await openSqliteLog({ dataDir });
    const items = Array.from({ length: 2_000 }, (_, index) => ({ id: `t${index}`, json: '{}' }));
    const archive = { channel: CHANNEL, head: '{}', turns: { start: 0, items } };
    await log.append({ entries: [], archives: [archive], records: [], durability: 'full' });
    expect(await log.findTurn(CHANNEL, 't1999')).toBe(1_999);
    expect(await log.findTurn(CHANNEL, 'none')).toBeUndefined();
    await log.close();
    const db = (await loadDriver()).open(path.join(dataDir, 'atrium.db'));
    const planOf = () =>
      db
        .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${FIND_TURN}`)
        .all(CHANNEL, 't5')
        .map(({ detail }) => detail);
    const before = planOf();
    db.exec('ANALYZE');
    for (const plan of [before, planOf()]) {
      expect(plan[0]).toMatch(/USING (COVERING )?INDEX turns_by_id \(channel=\? AND id=\?\)/);
    }
    db.close();
  });
});
