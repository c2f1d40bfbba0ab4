/**
 * What a host keeps in memory: for 10,000 stored sessions that nobody has open, against none; and for clients on real
 * sockets that stop reading while an answer streams, against a queue of all that they missed. As many clients that do read
 * are what those are compared with: text is joined the more the more clients watch, and then the state itself is smaller.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { absolute, figure, paired, report, size } from './measure.mjs';

const SESSIONS = size(10_000, 20);
const STALLED = size(20, 2);
const MEGABYTE = 2 ** 20;
const execute = promisify(execFile);
const script = fileURLToPath(new URL('./support/memory-child.mjs', import.meta.url));

const { idle, slow } = await paired(import.meta.url, {
  idle: { atrium: { many: () => stored(SESSIONS), none: () => stored(0) }, warmups: 0 },
  slow: { atrium: { stalled: () => streamed(STALLED, 0), none: () => streamed(0, STALLED) }, warmups: 0 },
});

const missed = ({ missedBytes }) => STALLED * missedBytes;
const sent = ({ sentBytes }) => STALLED * sentBytes;
report([
  more(idle, {
    name: 'memory.idle',
    of: 'many',
    pick: ({ rss }) => rss / MEGABYTE,
    unit: 'MB more',
    limit: `no session; here ${SESSIONS} stored ones`,
    target: { atMost: 20 },
    worse: 'summaries',
  }),
  absolute(idle, {
    name: 'memory.list',
    of: 'many',
    pick: ({ listCpu }) => listCpu / 1_000,
    unit: 'ms',
    limit: `listing ${SESSIONS} sessions`,
    target: { atMost: 100 },
    worse: 'parsing',
  }),
  more(slow, {
    name: 'slow.memory',
    of: 'stalled',
    pick: ({ heap }) => heap,
    per: missed,
    limit: `a queue with a frame for each token that ${STALLED} stalled clients missed; heap and buffers`,
    target: { atMost: 0.005 },
    worse: 'copies',
  }),
  more(slow, {
    name: 'slow.memory.sent',
    of: 'stalled',
    pick: ({ heap }) => heap,
    per: sent,
    limit: 'a queue of the frames that a reading client got, in which text is joined',
    worse: 'copies',
  }),
  more(slow, {
    name: 'slow.memory.rss',
    of: 'stalled',
    pick: ({ rss }) => rss,
    per: missed,
    limit: 'the first; memory of the process, with what its allocator holds back',
    worse: 'fragmentation',
  }),
  absolute(slow, {
    name: 'slow.closed',
    of: 'stalled',
    pick: ({ closed }) => closed,
    unit: 'clients',
    limit: 'sent away to resume later',
    worse: 'limits',
  }),
]);

/** What a variant has more than `none`, round by round. */
function more(samples, { of, pick, per = () => 1, ...rest }) {
  const none = (build) => samples[`none${build}`].map(pick);
  const values = (build) =>
    samples[`${of}${build}`].map((sample, round) => (pick(sample) - none(build)[round]) / per(sample));
  const other = ' of the other build';
  const hasOther = samples[`none${other}`] !== undefined;
  const own = values('');
  return figure({
    ...rest,
    samples: own,
    ...(hasOther && { others: values(other), changes: values(other).map((value, round) => own[round] / value) }),
  });
}

async function run(...args) {
  const { stdout } = await execute(process.execPath, ['--expose-gc', script, ...args]);
  return JSON.parse(stdout);
}

/** The sessions are stored once, and a new process opens them in each slice. */
async function stored(sessions) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  await run('fill', dataDir, String(sessions));
  return {
    slice: async () => ({ operations: 1, ...(await run('idle', dataDir)) }),
    close: () => rmSync(dataDir, { recursive: true }),
  };
}

async function streamed(stalled, readers) {
  return { slice: async () => ({ operations: 1, ...(await run('slow', '', String(stalled), String(readers))) }) };
}
