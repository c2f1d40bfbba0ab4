/**
 * A host that runs automations, in a process of its own, to be killed by a test. Its agent notes every turn that it is given
 * in a file. Usage: automation-host <folder> <file> <begin> <real begin>; `ATRIUM_CRASH_AT` says at which commit it dies.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { createHost } from '../../src/host.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { crashingLog, parseCrashPoint } from './crash-log.js';
import { FastClock } from './fast-clock.js';

/** Some of its turns are still going on when the next time comes. */
const TURN_MS = [20, 20, 700];

const [dataDir = '', ledger = '', begin, realBegin] = process.argv.slice(2);
let turns = 0;
const agent: AgentBackend = {
  info: { provider: 'puppet', displayName: 'Ledger', description: 'Notes its turns', models: [] },
  abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: true, cancelTool: true },
  sections: {},
  open: async ({ session }) => ({
    runTurn: async (turn) => {
      appendFileSync(ledger, `${session}\n`);
      turn.text('at work');
      await delay(TURN_MS[turns++ % TURN_MS.length]);
    },
    close: async () => {},
  }),
};

const stored = await openSqliteLog({ dataDir });
const log = crashingLog(stored, parseCrashPoint(process.env.ATRIUM_CRASH_AT), () =>
  process.kill(process.pid, 'SIGKILL'),
);
const automations = { runsAtOnce: 1 };
await createHost({ log, agents: [agent], automations, clock: new FastClock(Number(begin), Number(realBegin)) });
process.stdout.write('started\n');
process.stdin.resume().on('close', () => process.exit());
