/**
 * Appends to the log of a cluster as fast as it can, as a host that may be paused at any moment. Standard input has one
 * term per line; standard output tells `started`, and how many commits were stored when the engine refused the next.
 */
import { createInterface } from 'node:readline';
import { LogFencedError } from '@atrium/core/log/log.js';
import { engineUrl } from '../../src/log-postgres/engine-url.js';
import { openPostgresLog } from '../../src/log-postgres/postgres-log.js';

const url = engineUrl(process.argv[2] ?? '');

for await (const line of createInterface({ input: process.stdin })) {
  const term = Number(line);
  const log = await openPostgresLog({ url, owner: { host: 'paused', term } });
  process.stdout.write('started\n');
  let stored = 0;
  try {
    for (;;) {
      const action = JSON.stringify({ by: 'paused', term });
      await log.append({ entries: [{ channel: 'c', time: 0, action }], durability: 'full' });
      stored++;
    }
  } catch (error) {
    process.stdout.write(`${error instanceof LogFencedError ? 'fenced' : error} ${stored}\n`);
  }
  await log.close();
}
