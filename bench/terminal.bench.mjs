/**
 * What it costs to show the output of a program to ten people: a file is written to a terminal, and goes over the whole
 * path (pty, marks taken out, scrollback, commit, frames) to ten WebSocket clients in another process. CPU of the host,
 * against a process that reads the same file from a bare pty.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absolute, loadHost, paired, ratio, report, size } from './measure.mjs';
import { startHelper } from './support/helper.mjs';

const WATCHERS = 10;
const MEGABYTES = size(8, 0.1);
const TERMINAL = 'ahp-terminal:/bench';
const LINE = 'warning: the quick brown \u001b[31mfox\u001b[0m jumps over the lazy dog 0123456789\n';
/** Not in the command itself, which is shown, too. */
const END = 'the-very-end';

const { terminal } = await paired(import.meta.url, {
  terminal: { atrium: { host: hosted }, limits: { pty: barePty } },
});

report([
  ratio(terminal, {
    name: 'terminal.watched',
    of: 'host',
    to: 'pty',
    limit: 'one reader of a bare pty; here ten watchers',
    target: { atMost: 10 },
    worse: 'escapes',
  }),
  absolute(terminal, {
    name: 'terminal.delivered',
    of: 'host',
    pick: ({ cost }) => cost / 1_000 / WATCHERS,
    unit: 'ms/MB',
    limit: 'for each MB that one watcher gets',
    target: { atMost: 6 },
    worse: 'frames',
  }),
  absolute(terminal, {
    name: 'terminal.speed',
    of: 'host',
    pick: ({ seconds }) => MEGABYTES / seconds,
    unit: 'MB/s',
    limit: 'wall time',
    worse: 'load',
  }),
]);

/** The file that is shown, and the folder of this variant. */
function output() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const file = join(folder, 'output.txt');
  const text = LINE.repeat(Math.ceil((MEGABYTES * 2 ** 20) / LINE.length));
  writeFileSync(file, text);
  return { folder, file, characters: text.length };
}

function barePty() {
  const require = createRequire(new URL('../packages/host/package.json', import.meta.url));
  const { spawn } = require('@lydell/node-pty');
  const { folder, file } = output();
  const command = `stty -opost; cat '${file}'; printf '${END}'; sleep 5`;
  return {
    async slice() {
      const pty = spawn('/bin/sh', ['-c', command], {});
      let tail = '';
      await new Promise((resolve) => {
        pty.onData((chunk) => {
          tail = (tail + chunk.slice(-END.length)).slice(-END.length);
          if (tail !== END) return;
          pty.kill('SIGKILL');
          resolve();
        });
      });
      return MEGABYTES;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** A terminal for each slice: its scrollback begins empty. Opening it is not counted. */
async function hosted() {
  const { createHost, openSqliteLog, startServer } = await loadHost();
  const { folder, file, characters } = output();
  const log = await openSqliteLog({ dataDir: join(folder, 'data') });
  const host = await createHost({ log, agents: [agent()], terminals: { shell: '/bin/sh' } });
  const onConnection = (transport) => host.connect(transport);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  const watchers = startHelper('./terminal-watchers.mjs');
  let opened = 0;
  return {
    async slice() {
      const id = `${TERMINAL}-${opened++}`;
      await watchers.ask('open', { port: server.port, count: WATCHERS, terminal: id, end: END });
      const input = `stty -echo -opost; cat '${file}'; printf 'the-very-%s' end\r`;
      const before = process.cpuUsage();
      const began = performance.now();
      const least = await watchers.ask('shown', { input });
      const seconds = (performance.now() - began) / 1_000;
      const { user, system } = process.cpuUsage(before);
      if (least < characters) throw new Error(`a watcher got only ${least} of ${characters} characters`);
      await watchers.ask('close');
      return { operations: MEGABYTES, cpu: user + system, seconds };
    },
    async close() {
      watchers.stop();
      await host.stop();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function agent() {
  return {
    info: { provider: 'bench', displayName: 'Bench', description: 'Does nothing.', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: async () => ({ runTurn: async () => {}, close: async () => {} }),
  };
}
