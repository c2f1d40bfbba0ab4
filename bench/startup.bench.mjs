/** How long a newcomer waits: from starting the process to READY, against Node with a bare `ws` server. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report, rounded } from './measure.mjs';

const ROUNDS = 5;
const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.js', import.meta.url));
const bare = fileURLToPath(new URL('./support/bare-server.mjs', import.meta.url));

let [host, limit] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let round = 0; round < ROUNDS; round++) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  limit = Math.min(limit, await untilReady([bare]));
  host = Math.min(host, await untilReady([atrium, 'serve', '--quiet', '--port', '0', '--data-dir', dataDir]));
  rmSync(dataDir, { recursive: true, force: true });
}

report(
  { startup: rounded(host / limit), milliseconds: rounded(host, 0) },
  { startup: 'process start to READY against node with a bare ws server; at most 4' },
);

function untilReady(args) {
  const start = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let milliseconds;
    child.stdout.on('data', (data) => {
      if (!String(data).includes('READY:')) return;
      milliseconds = performance.now() - start;
      child.kill('SIGTERM');
    });
    child.once('exit', (code) =>
      milliseconds ? resolve(milliseconds) : reject(new Error(`exit ${code} before READY`)),
    );
  });
}
