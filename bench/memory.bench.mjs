/**
 * What sessions cost that nobody has open: 10,000 stored sessions against none, as memory of a process that runs the
 * host. Also what five stalled clients cost while 150,000 actions pass, against keeping everything for them.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report, rounded } from './measure.mjs';

const script = fileURLToPath(new URL('./support/memory-child.mjs', import.meta.url));

function run(...args) {
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', script, ...args], { encoding: 'utf8' }));
}

function idle(sessions) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  run('fill', dataDir, String(sessions));
  const figures = run('idle', dataDir);
  rmSync(dataDir, { recursive: true });
  return figures;
}

const empty = idle(0);
const many = idle(10_000);
const STALLED = 5;
const without = run('slow', '', '0');
const slow = run('slow', '', String(STALLED));

report(
  {
    idleMegabytes: rounded((many.rss - empty.rss) / 2 ** 20, 1),
    listMs: rounded(many.listMs, 1),
    slowHeapRatio: rounded(Math.max(0, slow.grown - without.grown) / (STALLED * slow.bytes), 4),
    slowClosed: slow.closed,
  },
  {
    idleMegabytes: '10,000 stored sessions, none open; at most 20',
    listMs: 'listing them all; under 100',
    slowHeapRatio: 'heap kept for 5 stalled clients against a queue of all they missed; at most 0.033',
    slowClosed: 'stalled clients that were sent away to resume later',
  },
);
