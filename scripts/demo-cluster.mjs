/**
 * `npm run demo:cluster`: hosts that share their work, and a failover, on this machine and in one command. Starts PostgreSQL,
 * three hosts and a load balancer, opens sessions whose agents run on all hosts, and one with a client at each host that stands
 * by, kills the active host in the middle of a turn, and shows that all go on. `--keep`: leaves everything running for the page in a browser, until Ctrl+C.
 */
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { activePort, readiness, startBalancer } from './balancer.mjs';
import { startPostgres } from './postgres.mjs';
import { bold, dim, green, Problem, ROOT, runMain } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

const ATRIUM = path.join(ROOT, 'packages', 'cli', 'bin', 'atrium.js');
const IDS = ['a', 'b', 'c'];
const TIMEOUT_MS = 60_000;
const STORY = 'Once upon a time a machine died in the middle of a sentence, and nobody had to begin again. '.repeat(40);
const SCRIPT = {
  provider: 'storyteller',
  displayName: 'Storyteller',
  models: [{ id: 'story-1', name: 'Story' }],
  prompts: {
    story: [{ text: STORY, chunk: 6, everyMs: 40 }],
    'go on': [
      { text: 'And here we are again, on another machine, with everything that was said.', chunk: 8, everyMs: 20 },
    ],
  },
};

/** An agent behind a command, in the Agent Client Protocol. It says on which host it runs. */
const WORKER = `
import readline from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const say = (sessionId, text) => send({ method: 'session/update', params: {
  sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
const METHODS = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: String(process.pid) }),
  'session/prompt': ({ sessionId }) => {
    say(sessionId, process.env.DEMO_HOST);
    return { stopReason: 'end_turn' };
  },
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined && method) send({ id, result: METHODS[method]?.(params) ?? {} });
});
`;
const WORKING_SESSIONS = 6;

await runMain(main);

async function main() {
  checkNode();
  await ensureInstalled();
  await ensureBuilt({ force: false });
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-demo-'));
  /** @type {(() => unknown)[]} */
  const endings = [() => rmSync(folder, { recursive: true, force: true })];
  const end = async () => {
    for (const ending of endings.splice(0).reverse()) await ending();
  };
  process.once('SIGINT', () => void end().then(() => process.exit(0)));
  try {
    await play(folder, endings);
  } finally {
    await end();
  }
}

/** @param {string} folder @param {(() => unknown)[]} endings */
async function play(folder, endings) {
  say('PostgreSQL starts, with three hosts and a load balancer before them.');
  const engine = await startPostgres({ isSafe: true });
  endings.push(() => engine.stop());
  const files = filesIn(folder);
  const env = { ...process.env, ATRIUM_CLUSTER_URL: engine.url, ATRIUM_DISCOVERY: '0' };
  await command(['cluster', 'init'], env);
  /** @type {Awaited<ReturnType<typeof startHost>>[]} */
  const hosts = [];
  for (const [at, id] of IDS.entries()) {
    const host = await startHost({ id, folder, files, env, link: await freePort() });
    endings.push(() => host.child.kill('SIGKILL'));
    hosts.push(host);
    if (at === 0) await until('a host is active', async () => (await activePort([host.port])) !== undefined);
  }
  const ports = () => hosts.map(({ port }) => port);
  const balancer = await startBalancer(ports);
  endings.push(() => balancer.close());
  const active = await activeOf(hosts);
  print(await command(['cluster', 'status'], env));
  print(dim(`The page: http://127.0.0.1:${balancer.port}/#token=${files.tokenText}`));

  say(`${WORKING_SESSIONS} sessions with an agent that is a program of its own: the hosts share them.`);
  const worked = await workingSessions(active, folder, files.tokenText, endings);
  print(`  ${dim('Their agents run on:')} ${await placesOf(worked)}`);
  print(await command(['cluster', 'status'], env));

  const left = hosts.filter((host) => host !== active);
  const [one, other] = left;
  if (!one || !other) throw new Problem('two hosts have to stand by');
  const here = await clientAt(one, files.tokenText, endings);
  const there = await clientAt(other, files.tokenText, endings);
  const session = await here.open(await here.createSession({ workingDirectories: [pathToFileURL(folder).href] }));
  const watched = await there.open(session.session.uri);
  const names = [one.id, other.id];
  say(
    `A client at ${names[0]}, which stands by, asks for a story. ${active.id} tells it; a client at ${names[1]} reads along.`,
  );
  const story = await ask(session.chat, 'story');
  const read = follow(watched.chat, story.turnId);
  await until('the story begins', () => story.text().length > 120 && read.text().length > 120);
  print(`  ${dim(`${names[0]}:`)} ${story.text().slice(0, 100)}…`);
  print(`  ${dim(`${names[1]}:`)} ${read.text().slice(0, 100)}…`);
  print(await command(['cluster', 'status'], env));

  const killedAt = performance.now();
  active.child.kill('SIGKILL');
  say(`kill -9 ${active.child.pid}: ${active.id} is dead in the middle of the sentence.`);
  const next = await activeOf(left);
  say(`${next.id} is active after ${((performance.now() - killedAt) / 1_000).toFixed(1)} s.`);
  await until('the cut turn is over for both', () => story.isOver() && read.isOver());
  print(`  ${dim('The turn ended with:')} ${story.error()}`);
  const again = await ask(watched.chat, 'go on');
  const seen = follow(session.chat, again.turnId);
  await until('the next turn is over for both', () => again.isOver() && seen.isOver());
  print(`  ${dim(`${names[0]}:`)} ${seen.text()}`);
  print(`  ${dim(`${names[1]}:`)} ${again.text()}`);
  const isSame = JSON.stringify(session.chat.confirmed) === JSON.stringify(watched.chat.confirmed);
  if (!isSame) throw new Problem('the two clients do not see the same');
  say(`The clients are the same, and both see the same session with ${session.chat.state.turns.length} turns.`);
  const uris = worked.map(({ uri }) => uri);
  const others = await Promise.all(uris.map(async (uri) => ({ uri, opened: await there.open(uri) })));
  say('The other sessions go on as well.');
  print(`  ${dim('Their agents run on:')} ${await placesOf(others)}`);
  print(await command(['cluster', 'status'], env));
  if (!process.argv.includes('--keep')) return;
  say(`Everything stays until Ctrl+C. The page: http://127.0.0.1:${balancer.port}/#token=${files.tokenText}`);
  await new Promise(() => {});
}

/**
 * Sessions with the agent that is a program.
 * @param {{ port: number, id: string }} host @param {string} folder @param {string} token @param {(() => unknown)[]} endings
 */
async function workingSessions(host, folder, token, endings) {
  const client = await clientAt(host, token, endings);
  const workingDirectories = [pathToFileURL(folder).href];
  const sessions = [];
  for (let made = 0; made < WORKING_SESSIONS; made++) {
    const uri = await client.createSession({ provider: 'worker', workingDirectories });
    sessions.push({ uri, opened: await client.open(uri) });
  }
  return sessions;
}

/** Asks each agent where it runs. @param {readonly { opened: any }[]} sessions */
async function placesOf(sessions) {
  const turns = await Promise.all(sessions.map(({ opened }) => ask(opened.chat, 'Where are you?')));
  await until('every agent has answered', () => turns.every((turn) => turn.isOver()));
  return turns.map((turn) => turn.text() || turn.error()).join(', ');
}

/** @param {string} folder */
function filesIn(folder) {
  const tokenText = randomBytes(24).toString('base64url');
  const files = {
    token: path.join(folder, 'token'),
    secret: path.join(folder, 'secret'),
    script: path.join(folder, 'story.json'),
  };
  writeFileSync(files.token, tokenText, { mode: 0o600 });
  writeFileSync(files.secret, randomBytes(24).toString('base64url'), { mode: 0o600 });
  writeFileSync(files.script, JSON.stringify(SCRIPT));
  writeFileSync(path.join(folder, 'worker.mjs'), WORKER);
  const worker = { type: 'acp', command: process.execPath, args: [path.join(folder, 'worker.mjs')] };
  writeFileSync(path.join(folder, 'atrium.json'), JSON.stringify({ agents: { worker } }));
  return { ...files, tokenText };
}

/** @param {{ id: string, folder: string, files: ReturnType<typeof filesIn>, env: NodeJS.ProcessEnv, link: number }} options */
async function startHost({ id, folder, files, env, link }) {
  const args = [
    ...['serve', '--cluster', '--quiet', '--port', '0', '--gateway-port', '0', '--host-id', id],
    ...['--data-dir', path.join(folder, `data-${id}`), '--shared-dir', path.join(folder, 'shared')],
    ...['--connection-token-file', files.token, '--cluster-secret-file', files.secret, '--script', files.script],
    ...['--link-address', `127.0.0.1:${link}`, '--behind-proxy', '127.0.0.1', '--work', '--trust', folder],
  ];
  const own = { cwd: folder, env: { ...env, DEMO_HOST: id } };
  const child = spawn(process.execPath, [ATRIUM, ...args], { ...own, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  await until(`host ${id} starts`, () => {
    if (child.exitCode !== null) throw new Problem(`host ${id} did not start:\n${said}`);
    return /READY:\d+/.test(said);
  });
  return { id, child, port: Number(/READY:(\d+)/.exec(said)?.[1]) };
}

/** @param {readonly { id: string, port: number, child: import('node:child_process').ChildProcess }[]} hosts */
async function activeOf(hosts) {
  let port = await activePort(hosts.map((host) => host.port));
  await until('a host is active', async () => {
    port = await activePort(hosts.map((host) => host.port));
    return port !== undefined;
  });
  const active = hosts.find((host) => host.port === port);
  if (!active) throw new Problem('no host is active');
  return active;
}

/**
 * A client of one host, which comes back there.
 * @param {{ port: number, id: string }} host @param {string} token @param {(() => unknown)[]} endings
 */
async function clientAt(host, token, endings) {
  const { connect } = await import('@atrium/client');
  await until(`${host.id} serves clients`, async () => (await readiness(host.port)).isReady);
  const client = await connect({ url: `ws://127.0.0.1:${host.port}`, token });
  endings.push(() => client.close());
  return client;
}

/** @param {any} chat @param {string} text */
async function ask(chat, text) {
  const turnId = randomUUID();
  await chat.dispatch({ type: 'chat/turnStarted', turnId, message: { text } });
  return follow(chat, turnId);
}

/** A turn as a client sees it. @param {any} chat @param {string} turnId */
function follow(chat, turnId) {
  const parts = () => {
    const { activeTurn, turns } = chat.state;
    const turn =
      activeTurn?.id === turnId ? activeTurn : turns.find((/** @type {{ id: string }} */ { id }) => id === turnId);
    return /** @type {any[]} */ (turn?.responseParts ?? []);
  };
  return {
    turnId,
    text: () =>
      parts()
        .flatMap((part) => (part.kind === 'markdown' ? part.content : []))
        .join(''),
    error: () =>
      parts()
        .flatMap((part) => (part.kind === 'error' ? part.error.message : []))
        .join(' '),
    isOver: () => chat.state.turns.some((/** @type {{ id: string }} */ { id }) => id === turnId),
  };
}

/** @param {readonly string[]} args @param {NodeJS.ProcessEnv} env @returns {Promise<string>} */
async function command(args, env) {
  const child = spawn(process.execPath, [ATRIUM, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Problem(`atrium ${args.join(' ')} failed`);
  return said;
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** @param {string} what @param {() => unknown} isDone */
async function until(what, isDone) {
  for (const end = Date.now() + TIMEOUT_MS; !(await isDone()); await sleep(20))
    if (Date.now() > end) throw new Problem(`waited in vain until ${what}`);
}

/** @param {string} text */
function say(text) {
  print(`${green('▸')} ${bold(text)}`);
}

/** @param {string} text */
function print(text) {
  process.stdout.write(`${text}\n`);
}
