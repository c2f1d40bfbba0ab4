/**
 * What it costs to look at files through the host: listing a folder of 10,000 and reading a megabyte, over the whole path
 * (client library, WebSocket, checks, disk and back), against asking the disk directly. The host and the client share
 * this process, so that both of their shares are counted.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect } from '@atrium/client';
import { createHost, MemoryLog, scriptedAgent, startServer } from '@atrium/host';
import { report, rounded } from './measure.mjs';

const FILES = 10_000;
const TEXT_BYTES = 1_000_000;
const ROUNDS = 15;

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const many = join(folder, 'many');
const text = join(folder, 'text.txt');
const binary = join(folder, 'picture.png');
mkdirSync(many);
for (let index = 0; index < FILES; index++) writeFileSync(join(many, `file-${index}.txt`), '');
writeFileSync(text, 'The parser reads one token at a time. '.repeat(TEXT_BYTES / 38).padEnd(TEXT_BYTES, 'x'));
writeFileSync(binary, Buffer.alloc(TEXT_BYTES, 200));

const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'x' }] });
const host = await createHost({ log: new MemoryLog(), agents: [agent] });
const server = await startServer({
  host: '127.0.0.1',
  policy: {},
  onConnection: (transport) => host.connect(transport),
});
const client = await connect({ url: `ws://127.0.0.1:${server.port}` });
await client.createSession({ workingDirectories: [pathToFileURL(folder).href] });

const uriOf = (path) => pathToFileURL(path).href;
const { list, names, read, bytes, base64, small, stat } = await bestTimes({
  list: async () => check((await client.request('resourceList', { uri: uriOf(many) })).entries.length, FILES),
  names: async () => check((await readdir(many, { withFileTypes: true })).length, FILES),
  read: async () => check((await client.request('resourceRead', { uri: uriOf(text) })).data.length, TEXT_BYTES),
  base64: async () => check((await client.request('resourceRead', { uri: uriOf(binary) })).encoding, 'base64'),
  bytes: async () => check((await readFile(text, 'utf8')).length, TEXT_BYTES),
  small: async () => check((await client.request('resourceResolve', { uri: uriOf(many) })).type, 'directory'),
  stat: async () => client.request('ping', {}),
});
client.close();
await host.stop();
await server.close();
rmSync(folder, { recursive: true });

report(
  {
    list10000: rounded(list / names),
    read1MB: rounded(read / bytes),
    readBinary1MB: rounded(base64 / bytes),
    resolve: rounded(small / stat),
    listMs: rounded(list),
    readMs: rounded(read),
    resolveMs: rounded(small),
  },
  {
    list10000: `${FILES} entries through the client against fs.readdir; at most 6`,
    read1MB: 'a text of a megabyte through the client against fs.readFile; at most 15',
    readBinary1MB: 'the same for other bytes, which travel as base64',
    resolve: 'what a folder is, with every check on the way, against a ping; at most 12',
  },
);

function check(found, expected) {
  if (found !== expected) throw new Error(`expected ${expected}, got ${found}`);
}

/** In turn, several rounds, the best of each: noise only ever adds time. */
async function bestTimes(candidates) {
  const best = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, work] of Object.entries(candidates)) {
      const start = performance.now();
      await work();
      if (round > 0) best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, performance.now() - start);
    }
  }
  return best;
}
