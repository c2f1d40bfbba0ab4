import { describe, expect, it } from 'vitest';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { logContract, MemoryLog } from '../../src/testing.js';
import { dataFolder, drivers } from '../support/log-folders.js';

logContract({ describe, it, expect }, 'MemoryLog', async () => ({ log: new MemoryLog() }));

for (const driver of drivers) {
  logContract({ describe, it, expect }, `SqliteLog on ${driver.name}`, async () => {
    const dataDir = dataFolder();
    const log = await openSqliteLog({ dataDir, driver });
    const reopen = async () => {
      await log.close();
      return openSqliteLog({ dataDir, driver });
    };
    return { log, reopen };
  });
}
