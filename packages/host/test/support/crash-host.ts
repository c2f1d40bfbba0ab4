/**
 * A real host in a process of its own, to be killed by a test. Usage: crash-host <folder>. It says `{ port }` once it
 * serves, and answers every line on standard input, a number, with the log's entries behind it. It ends with its parent.
 */
import { createInterface } from 'node:readline';
import type { Logger } from '@atrium/core/util/logger.js';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import { createHost } from '../../src/host.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { startServer } from '../../src/server/server.js';
import { shellTool } from '../../src/workspace/tools/shell.js';
import { crashingLog, parseCrashPoint } from './crash-log.js';
import { CRASH_SCRIPT } from './crash-script.js';

const [dataDir = ''] = process.argv.slice(2);
const logger: Logger = {
  log(level, message, fields) {
    if (level === 'warn' || level === 'error') console.error(level, message, JSON.stringify(fields ?? {}));
  },
};

const stored = await openSqliteLog({ dataDir, logger });
const log = crashingLog(stored, parseCrashPoint(process.env.ATRIUM_CRASH_AT), () =>
  process.kill(process.pid, 'SIGKILL'),
);
const host = await createHost({ log, agents: [scriptedAgent(CRASH_SCRIPT)], tools: [shellTool()], logger });
const { port } = await startServer({
  host: '127.0.0.1',
  policy: {},
  onConnection: (transport) => host.connect(transport),
});
say({ port, repairs: log.repairs.map(({ message }) => message) });

const lines = createInterface({ input: process.stdin });
lines.on('line', async (after) => say({ entries: await log.read({ after: Number(after) }) }));
lines.on('close', () => process.exit());

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
