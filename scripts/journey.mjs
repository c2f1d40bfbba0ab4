/**
 * Which files a message passes on its way through the host. Runs three journeys against the built packages, in one process
 * and over a real WebSocket, and prints every source file whose functions ran meanwhile:
 *   a turn that a client dispatches, up to the frame that a subscriber gets;
 *   a piece of text that an agent says, up to 100 subscribers;
 *   a tool call, from the agent's request to its result.
 * Beside each stands how many files docs/architecture.md names for it; a named file that did not run is an error, and so are
 * more than twenty. All subscribers speak 1.0: a file of an older version that ran is an error, too.
 * `node scripts/journey.mjs [--files] [--root <another built clone, to compare>]`
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bold, dim, headComment, isHelpAsked, ROOT, red } from './process.mjs';

if (isHelpAsked()) {
  console.log(headComment());
  process.exit(0);
}

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: ROOT },
    files: { type: 'boolean', default: false },
    /** Only for the process of the clients. */
    clients: { type: 'string' },
  },
});
const SUBSCRIBERS = 100;
const root = path.resolve(values.root);
/** @param {string} name */
const load = (name) => import(pathToFileURL(path.join(root, 'packages', name, 'dist', 'index.js')).href);
if (values.clients !== undefined) await beClients(values.clients);

/** The clients live in a process of their own, so that their code is not counted. @param {string} url */
async function beClients(url) {
  const { connect } = await load('client');
  const clients = [];
  // One after the other: a host lets in few strangers at once.
  while (clients.length < SUBSCRIBERS) clients.push(await connect({ url }));
  const uri = await clients[0].createSession({ provider: 'puppet' });
  const opened = await Promise.all(clients.map((client) => client.open(uri)));
  process.send?.('ready');
  process.on('message', () => opened[0].dispatch({ type: 'chat/turnStarted', turnId: 't1', message: { text: 'go' } }));
  await new Promise(() => {});
}

const { createHost, MemoryLog, startServer } = await load('host');
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Source files of the host and the protocol in which a function has run since the last call. */
async function filesThatRan() {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const prefix = pathToFileURL(path.join(root, 'packages')).href;
  return result
    .filter(({ url }) => url.startsWith(prefix) && /\/packages\/(host|core|agents|protocol|link)\/dist\//.test(url))
    .filter(({ functions }) =>
      functions.some(({ ranges, functionName }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
    )
    .map(({ url }) =>
      url
        .slice(prefix.length + 1)
        .replace('/dist/', '/')
        .replace(/\.js$/, ''),
    )
    .sort();
}

/** An agent that this script plays: it waits in the middle of its turn. */
function puppet() {
  /** @type {(turn: any) => void} */
  let begun = () => {};
  /** @type {Promise<any>} */
  const turn = new Promise((resolve) => {
    begun = resolve;
  });
  return {
    turn,
    backend: {
      info: { provider: 'puppet', displayName: 'Puppet', description: 'Played by a script', models: [] },
      abilities: { tools: 'live', toolIntent: 'all', render: 'sections', steer: false, cancelTool: true },
      open: async () => ({
        /** @param {any} running */
        runTurn: (running) => {
          begun(running);
          return new Promise((resolve) => running.signal.addEventListener('abort', resolve));
        },
        close: async () => {},
      }),
    },
  };
}

const agent = puppet();
const echo = {
  definition: { name: 'echo', description: 'Repeats', inputSchema: { type: 'object', properties: {} } },
  displayName: 'Echo',
  invocationMessage: () => 'Echo',
  run: async () => ({ success: true, pastTenseMessage: 'Echoed', content: [{ type: 'text', text: 'done' }] }),
};
const host = await createHost({ log: new MemoryLog(), agents: [agent.backend], tools: [echo] });
const server = await startServer({
  host: '127.0.0.1',
  policy: {},
  onConnection: (/** @type {unknown} */ transport) => host.connect(transport),
});
const args = ['--root', root, '--clients', `ws://127.0.0.1:${server.port}`];
const clients = fork(fileURLToPath(import.meta.url), args);
await once(clients, 'message');
const settled = () => new Promise((resolve) => setTimeout(resolve, 300));
await settled();

const NAMED_MAX = 20;
const OLDER_VERSIONS = /^protocol\/dialects\/(ahp-0|model-0|sessions-v1)/;
const page = readFileSync(path.join(ROOT, 'docs', 'architecture.md'), 'utf8');

/** The files that a section of docs/architecture.md names. @param {string} heading */
function namedIn(heading) {
  const section = page.split(`### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '';
  const names = [...section.matchAll(/`(\w+)\/src\/([\w./-]+)\.ts`/g)].map(([, name, file]) => `${name}/${file}`);
  return [...new Set(names)];
}

/** @param {string} title @param {() => Promise<unknown>} walk */
async function journey(title, walk) {
  await filesThatRan();
  await walk();
  await settled();
  const files = await filesThatRan();
  const named = root === ROOT ? namedIn(title) : [];
  const absent = named.filter((file) => !files.includes(file));
  console.log(
    `${bold(title)}: ${files.length} files ran${named.length > 0 ? `, ${named.length} are on the path` : ''}`,
  );
  if (absent.length > 0) console.log(red(`  docs/architecture.md names files that did not run: ${absent.join(', ')}`));
  if (named.length > NAMED_MAX) console.log(red(`  the path may have ${NAMED_MAX} files`));
  const older = files.filter((file) => OLDER_VERSIONS.test(file));
  if (older.length > 0) console.log(red(`  files of versions that nobody speaks ran: ${older.join(', ')}`));
  if (absent.length > 0 || named.length > NAMED_MAX || older.length > 0) process.exitCode = 1;
  if (values.files) for (const file of files) console.log(dim(`  ${file}`));
}

await journey('A dispatched turn', async () => clients.send('dispatch'));
const turn = await agent.turn;
await journey('A piece of text', async () => turn.text('hello'));
await journey('A tool call', () => turn.callTool({ name: 'echo', input: {} }));

clients.kill();
await host.stop();
await server.close();
