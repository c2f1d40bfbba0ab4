/**
 * What it costs to show the output of a program to ten people: a file is written to a terminal, and goes over the whole
 * path (pty, marks taken out, scrollback, commit, frames) to ten WebSocket clients in another process. Held against
 * reading the same file from `cat` over one pipe, and from a bare pty.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, openSqliteLog, startServer } from '@atrium/host';
import { WebSocket } from 'ws';
import { report, rounded } from './measure.mjs';

const WATCHERS = 10;
const MEGABYTES = 24;
const ROUNDS = 3;
const TERMINAL = 'ahp-terminal:/bench';
const LINE = 'warning: the quick brown \u001b[31mfox\u001b[0m jumps over the lazy dog 0123456789\n';
/** Not in the command itself, which is shown, too. */
const END = 'the-very-end';

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const file = join(folder, 'output.txt');
const text = LINE.repeat(Math.ceil((MEGABYTES * 2 ** 20) / LINE.length));
writeFileSync(file, text);

const watchers = fork(new URL('./support/terminal-watchers.mjs', import.meta.url), {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
watchers.once('exit', (code) => code && process.exit(code));

const best = {};
for (let round = 0; round < ROUNDS; round++) {
  keep('pipe', await measured(pipe));
  keep('pty', await measured(barePty));
  keep('host', await hostRun());
}
watchers.kill();
rmSync(folder, { recursive: true });

const megabytes = text.length / 2 ** 20;
report(
  {
    timesPipe: rounded(best.host.seconds / best.pipe.seconds, 1),
    timesBarePty: rounded(best.host.seconds / best.pty.seconds),
    megabytesPerSecond: rounded(megabytes / best.host.seconds, 1),
    deliveredMegabytesPerSecond: rounded((WATCHERS * megabytes) / best.host.seconds, 1),
    cpuMsPerDeliveredMegabyte: rounded((1_000 * best.host.cpu) / (WATCHERS * megabytes)),
    pipeMegabytesPerSecond: rounded(megabytes / best.pipe.seconds, 1),
    barePtyMegabytesPerSecond: rounded(megabytes / best.pty.seconds, 1),
  },
  {
    timesPipe: 'time to ten watchers against `cat` to one pipe',
    timesBarePty: 'time to ten watchers against one reader of a bare pty; at most 10, on a quiet machine 3',
    megabytesPerSecond: 'output per second, ten watchers; at least 8, on a quiet machine 25',
    cpuMsPerDeliveredMegabyte: "the host's own CPU per MB that one watcher got; at most 6",
  },
);

function keep(name, figure) {
  if (!best[name] || figure.seconds < best[name].seconds) best[name] = figure;
}

async function measured(run) {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await run();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - began) / 1_000, cpu: (user + system) / 1e6 };
}

async function pipe() {
  const cat = spawn('cat', [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let characters = 0;
  cat.stdout.setEncoding('utf8').on('data', (chunk) => {
    characters += chunk.length;
  });
  await once(cat, 'close');
  if (characters !== text.length) throw new Error(`the pipe gave ${characters} characters`);
}

function barePty() {
  const require = createRequire(new URL('../packages/host/package.json', import.meta.url));
  const command = `stty -opost; cat '${file}'; printf '${END}'; sleep 5`;
  const terminal = require('@lydell/node-pty').spawn('/bin/sh', ['-c', command], {});
  let tail = '';
  return new Promise((resolve) => {
    terminal.onData((chunk) => {
      tail = (tail + chunk.slice(-END.length)).slice(-END.length);
      if (tail !== END) return;
      terminal.kill('SIGKILL');
      resolve();
    });
  });
}

async function hostRun() {
  const log = await openSqliteLog({ dataDir: mkdtempSync(join(folder, 'data-')) });
  const host = await createHost({ log, agents: [agent()], terminals: { shell: '/bin/sh' } });
  const onConnection = (transport) => host.connect(transport);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  const url = `ws://127.0.0.1:${server.port}`;
  const driver = await openTerminal(url);
  await tell({ command: 'connect', url, count: WATCHERS, terminal: TERMINAL, end: END });
  const arrived = tell({ command: 'wait' });
  const input = `stty -echo -opost; cat '${file}'; printf 'the-very-%s' end\r`;
  const figure = await measured(async () => {
    driver({ type: 'terminal/input', data: input });
    const { least } = await arrived;
    if (least < text.length) throw new Error(`a watcher got only ${least} of ${text.length} characters`);
  });
  await tell({ command: 'close' });
  await host.stop();
  await server.close();
  return figure;
}

/** Opens the terminal; the returned function acts on it. */
async function openTerminal(url) {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const send = (message) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const root = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: 'driver' };
  send({ id: 1, method: 'initialize', params: root });
  send({
    id: 2,
    method: 'createTerminal',
    params: { channel: TERMINAL, claim: { kind: 'client', clientId: 'driver' } },
  });
  for (;;) {
    const [data] = await once(socket, 'message');
    const { id, error } = JSON.parse(data);
    if (error) throw new Error(error.message);
    if (id === 2) break;
  }
  return (action) => send({ method: 'dispatchAction', params: { channel: TERMINAL, clientSeq: 1, action } });
}

function agent() {
  return {
    info: { provider: 'bench', displayName: 'Bench', description: 'Does nothing.', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: async () => ({ runTurn: async () => {}, close: async () => {} }),
  };
}

function tell(message) {
  return new Promise((resolve) => {
    watchers.once('message', resolve);
    watchers.send(message);
  });
}
