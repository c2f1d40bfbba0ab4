import { describe, expect, it } from 'vitest';
import { openPostgresLog } from '../../src/log-postgres/postgres-log.js';
import { logContract } from '../../src/testing.js';
import { describeWithEngine, freshCluster, takeOver } from '../support/postgres.js';

describeWithEngine('PostgreSQL', () => {
  logContract({ describe, it, expect }, 'PostgresLog', async () => {
    const url = await freshCluster();
    const log = await openPostgresLog({ url, owner: await takeOver(url) });
    const reopen = async () => {
      await log.close();
      return openPostgresLog({ url, owner: await takeOver(url) });
    };
    return { log, reopen };
  });
});
