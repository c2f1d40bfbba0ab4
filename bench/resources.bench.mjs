/**
 * What it costs to look at files through the host: listing a folder of 10,000 and reading a megabyte, over the whole path
 * (client library, WebSocket, checks, disk and back), against asking the disk directly.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { load, loadHost, paired, ratio, report, size } from './measure.mjs';

const FILES = size(10_000, 20);
const TEXT_BYTES = 1_000_000;
const TIMES = size(10, 1);

const { resources } = await paired(import.meta.url, {
  resources: {
    atrium: {
      list: () =>
        asked(
          ({ many }) => ['resourceList', { uri: many }],
          ({ entries }) => entries.length === FILES,
        ),
      read: () =>
        asked(
          ({ text }) => ['resourceRead', { uri: text }],
          ({ data }) => data.length === TEXT_BYTES,
        ),
      binary: () =>
        asked(
          ({ picture }) => ['resourceRead', { uri: picture }],
          ({ encoding }) => encoding === 'base64',
        ),
      resolve: () =>
        asked(
          ({ many }) => ['resourceResolve', { uri: many }],
          ({ type }) => type === 'directory',
          50,
        ),
      ping: () =>
        asked(
          () => ['ping', {}],
          () => true,
          50,
        ),
    },
    limits: {
      readdir: () => onDisk(({ many }) => readdir(fileURLToPath(many), { withFileTypes: true })),
      readFile: () => onDisk(({ text }) => readFile(fileURLToPath(text), 'utf8')),
    },
  },
});

report([
  ratio(resources, {
    name: 'resources.list',
    of: 'list',
    to: 'readdir',
    limit: `fs.readdir of ${FILES} files`,
    target: { atMost: 6 },
    worse: 'checks',
  }),
  ratio(resources, {
    name: 'resources.read',
    of: 'read',
    to: 'readFile',
    limit: 'fs.readFile of a text of a megabyte',
    target: { atMost: 15 },
    worse: 'escaping',
  }),
  ratio(resources, {
    name: 'resources.binary',
    of: 'binary',
    to: 'readFile',
    limit: 'the same; here other bytes, which travel as base64',
    worse: 'encoding',
  }),
  ratio(resources, {
    name: 'resources.resolve',
    of: 'resolve',
    to: 'ping',
    limit: 'a ping; here what a folder is, with every check on the way',
    target: { atMost: 12 },
    worse: 'checks',
  }),
]);

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const many = join(folder, 'many');
  const text = join(folder, 'text.txt');
  const picture = join(folder, 'picture.png');
  mkdirSync(many);
  for (let index = 0; index < FILES; index++) writeFileSync(join(many, `file-${index}.txt`), '');
  writeFileSync(text, 'The parser reads one token at a time. '.repeat(TEXT_BYTES / 38).padEnd(TEXT_BYTES, 'x'));
  writeFileSync(picture, Buffer.alloc(TEXT_BYTES, 200));
  const uris = Object.entries({ folder, many, text, picture }).map(([name, path]) => [name, pathToFileURL(path).href]);
  return { folder, uris: Object.fromEntries(uris) };
}

/** The host and its client are both in this process, so that both of their shares are counted. */
async function asked(request, isRight, times = TIMES) {
  const { createHost, MemoryLog, scriptedAgent, startServer } = await loadHost();
  const { connect } = await load('client/dist/index.js');
  const { folder, uris } = makeFolder();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'x' }] });
  const host = await createHost({ log: new MemoryLog(), agents: [agent] });
  const onConnection = (transport) => host.connect(transport);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  const client = await connect({ url: `ws://127.0.0.1:${server.port}` });
  await client.createSession({ workingDirectories: [uris.folder] });
  const [method, params] = request(uris);
  return {
    async slice() {
      for (let time = 0; time < times; time++) {
        if (!isRight(await client.request(method, params))) throw new Error(`${method} answered something else`);
      }
      return times;
    },
    async close() {
      client.close();
      await host.stop();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function onDisk(work) {
  const { folder, uris } = makeFolder();
  return {
    async slice() {
      for (let time = 0; time < TIMES; time++) await work(uris);
      return TIMES;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
