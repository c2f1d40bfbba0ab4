/**
 * Hosts side by side: Atrium as `atrium serve`, and opencode as `opencode serve`, each in a folder of its own, without a
 * home, with the same model on loopback. Each says how to start it, open a session, prompt it, and read it again.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { built, loadHost } from '../measure.mjs';
import { usageOf } from './process-usage.mjs';
import { RawSocket } from './raw-socket.mjs';
import { BENCH_SESSION, finishedTurn, storeSession } from './stored-session.mjs';

const SESSION = 'ahp-session:/bench';
const execute = promisify(execFile);

/** The command that `bench/peers` runs beside Atrium: `OPENCODE_BIN`, or what the path has. */
const OPENCODE = process.env.OPENCODE_BIN ?? 'opencode';

/** Which opencode there is; undefined if there is none that runs. */
export async function opencodeVersion() {
  const folder = newFolder();
  try {
    const { stdout } = await execute(OPENCODE, ['--version'], { env: homeless(folder) });
    return stdout.trim();
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A process and what it has used; `ready` is the line that it prints when it can be used. */
class HostProcess {
  static async start({ command, args, cwd, env, ready }) {
    const start = performance.now();
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    process.once('exit', () => child.kill('SIGKILL'));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    let output = '';
    const found = await new Promise((resolve, reject) => {
      exited.then((code) => reject(new Error(`${command} ended with ${code} before it was ready: ${output}`)));
      child.once('error', reject);
      child.stdout.setEncoding('utf8').on('data', (text) => {
        output += text;
        const match = ready.exec(output);
        if (match) resolve(match);
      });
    });
    const host = new HostProcess(child, exited);
    host.milliseconds = performance.now() - start;
    host.port = Number(found[1]);
    return host;
  }

  constructor(child, exited) {
    this.child = child;
    this.exited = exited;
  }

  usage() {
    return usageOf(this.child.pid);
  }

  /** What is measured is over: nobody waits for a good order. */
  async stop() {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

function newFolder() {
  return mkdtempSync(join(tmpdir(), 'atrium-bench-'));
}

/** An environment that leads nowhere but into a folder. */
function homeless(folder) {
  const folders = {
    XDG_DATA_HOME: 'data',
    XDG_CONFIG_HOME: 'config',
    XDG_CACHE_HOME: 'cache',
    XDG_STATE_HOME: 'state',
  };
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...Object.fromEntries(Object.entries(folders).map(([name, below]) => [name, join(folder, below)])),
  };
}

export const atrium = {
  kind: 'ahp',
  prepare({ modelPort }) {
    const folder = newFolder();
    const model = {
      type: 'model',
      api: 'openai-compatible',
      baseURL: `http://127.0.0.1:${modelPort}/v1`,
      models: ['bench'],
    };
    mkdirSync(join(folder, 'config', 'atrium'), { recursive: true });
    mkdirSync(join(folder, 'work'));
    const config = { discovery: { enabled: false }, defaultAgent: 'bench', agents: { bench: model } };
    writeFileSync(join(folder, 'config', 'atrium', 'config.json'), JSON.stringify(config));
    return folder;
  },
  async start(folder) {
    const ports = ['--port', '0', '--gateway-port', '0', '--without-connection-token'];
    const args = [built('cli/bin/atrium.js'), 'serve', '--quiet', ...ports, '--data-dir', join(folder, 'data')];
    const options = { cwd: join(folder, 'work'), env: homeless(folder), ready: /READY:(\d+)/ };
    return HostProcess.start({ command: process.execPath, args, ...options });
  },
  async open({ port }) {
    const socket = await RawSocket.open(port);
    const clientId = `driver-${process.pid}`;
    await socket.ask(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId });
    await socket.ask(2, 'createSession', { channel: SESSION });
    let sent = 0;
    return {
      session: SESSION,
      prompt() {
        const message = { text: 'go', origin: { kind: 'user' } };
        const action = {
          type: 'chat/turnStarted',
          turnId: `turn-${++sent}`,
          startedAt: new Date().toISOString(),
          message,
        };
        const params = { channel: defaultChatUri(SESSION), clientSeq: sent, action };
        socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
      },
    };
  },
  async store(folder, turns) {
    const { openSqliteLog } = await loadHost();
    const log = await openSqliteLog({ dataDir: join(folder, 'data') });
    await storeSession(log, turns);
    await log.close();
  },
  /** How many turns come when a client opens the stored session. */
  async reopen({ port }, last) {
    const socket = await RawSocket.open(port);
    const clientId = `reader-${process.hrtime.bigint()}`;
    await socket.ask(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId });
    const window = last === undefined ? {} : { turns: { last } };
    const { snapshot } = await socket.ask(2, 'subscribe', { channel: defaultChatUri(BENCH_SESSION), ...window });
    socket.close();
    return snapshot.state.turns.length;
  },
};

const STORED_SESSION = 'ses_e142d2399ffeAAAAAAAAAAAAAA';

export const opencode = {
  kind: 'opencode',
  prepare({ modelPort }) {
    const folder = newFolder();
    mkdirSync(join(folder, 'work'));
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'Bench',
      options: { baseURL: `http://127.0.0.1:${modelPort}/v1`, apiKey: 'none' },
      models: { bench: { name: 'Bench', tool_call: true } },
    };
    const config = { autoupdate: false, share: 'disabled', model: 'bench/bench', small_model: 'bench/bench' };
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify({ ...config, provider: { bench: provider } }));
    return folder;
  },
  async start(folder) {
    const args = ['serve', '--hostname', '127.0.0.1', '--port', String(await freePort())];
    const ready = /listening on http:\/\/127\.0\.0\.1:(\d+)/;
    return HostProcess.start({ command: OPENCODE, args, cwd: join(folder, 'work'), env: alone(folder), ready });
  },
  async open({ port }) {
    const { id } = await request(port, '/session', {});
    const model = { providerID: 'bench', modelID: 'bench' };
    return {
      session: id,
      prompt: () => void request(port, `/session/${id}/message`, { model, parts: [{ type: 'text', text: 'go' }] }),
    };
  },
  async store(folder, turns) {
    const file = join(folder, 'session.json');
    writeFileSync(file, JSON.stringify(storedSession(join(folder, 'work'), turns)));
    await execute(OPENCODE, ['import', file], { cwd: join(folder, 'work'), env: alone(folder) });
  },
  async reopen({ port }, last) {
    const limit = last === undefined ? '' : `?limit=${2 * last}`;
    const messages = await request(port, `/session/${STORED_SESSION}/message${limit}`);
    return messages.length / 2;
  },
};

/** Without what it would otherwise fetch. */
function alone(folder) {
  const switches = ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'];
  const off = Object.fromEntries(switches.map((name) => [`OPENCODE_DISABLE_${name}`, '1']));
  return { ...homeless(folder), ...off, OPENCODE_CONFIG: join(folder, 'opencode.json') };
}

/** It takes no port of its own choice. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function request(port, path, body) {
  const options = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** The same turns as those of Atrium's stored session, as a file that `opencode import` reads. */
function storedSession(directory, turns) {
  const time = Date.UTC(2026, 0, 1);
  const tokens = { input: 900, output: 120, reasoning: 0, cache: { read: 0, write: 0 } };
  const idOf = (kind, number) => `${kind}_${(0x1ebd2dd13001 + number).toString(16)}AAAAAAAAAAAAAA`;
  let parts = 0;
  const part = (messageID, more) => ({ id: idOf('prt', parts++), messageID, sessionID: STORED_SESSION, ...more });
  const messages = Array.from({ length: turns }, (_, index) => {
    const [user, assistant] = [idOf('msg', 2 * index), idOf('msg', 2 * index + 1)];
    const { message, responseParts } = finishedTurn(index);
    const created = time + 2 * index;
    const known = { sessionID: STORED_SESSION, agent: 'build' };
    const answer = {
      ...known,
      id: assistant,
      parentID: user,
      role: 'assistant',
      mode: 'build',
      path: { cwd: directory, root: '/' },
      cost: 0,
      tokens: { ...tokens, total: 1_020 },
      modelID: 'bench',
      providerID: 'bench',
      time: { created: created + 1, completed: created + 1 },
      finish: 'stop',
    };
    const [reasoning, text] = responseParts.map(({ content }) => content);
    const when = { start: created + 1, end: created + 1 };
    return [
      {
        info: { ...known, id: user, role: 'user', time: { created }, model: { providerID: 'bench', modelID: 'bench' } },
        parts: [part(user, { type: 'text', text: message.text })],
      },
      {
        info: answer,
        parts: [
          part(assistant, { type: 'step-start' }),
          part(assistant, { type: 'reasoning', text: reasoning, time: when }),
          part(assistant, { type: 'text', text, time: when }),
          part(assistant, { type: 'step-finish', reason: 'stop', cost: 0, tokens: { ...tokens, total: 1_020 } }),
        ],
      },
    ];
  }).flat();
  const info = {
    id: STORED_SESSION,
    slug: 'stored',
    projectID: 'global',
    directory,
    path: directory.slice(1),
    title: 'Stored',
    agent: 'build',
    model: { id: 'bench', providerID: 'bench', variant: 'default' },
    version: '1',
    summary: { additions: 0, deletions: 0, files: 0 },
    cost: 0,
    tokens,
    time: { created: time, updated: time },
  };
  return { info, messages };
}
