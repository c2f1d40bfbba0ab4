/**
 * What a word of a model costs on its way to one client: CPU of the whole host for each token, from the model's socket to the
 * client's, at the pace of a fast model and as fast as it goes. The limit is a program that only reads the same stream with
 * Node's own HTTP; then one that also does what no host can do without: a line in a file for each word, and a frame to a client.
 * And how long the first turn of a fresh host takes from the message to the model's server, against later ones.
 */
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { absolute, figure, paired, ratio, report, size } from './measure.mjs';
import { startHelper } from './support/helper.mjs';

const PACED = { everyMs: 5, tokens: size(400, 10) };
const FULL_SPEED = { everyMs: 0, tokens: size(5_000, 100) };
const ONE = { everyMs: 0, tokens: 1 };
const LATER_TURNS = size(5, 1);
/** A host that has just started is left alone for so long, as by a person who opens a page. */
const IDLE_MS = size(2_000, 0);

const { paced, full, first } = await paired(import.meta.url, {
  paced: { atrium: { host: hostWith(PACED) }, limits: { reader: readerOf(PACED), relay: relayOf(PACED) } },
  full: {
    atrium: { host: hostWith(FULL_SPEED) },
    limits: { reader: readerOf(FULL_SPEED), relay: relayOf(FULL_SPEED) },
  },
  first: { atrium: { fresh: () => ({ slice: firstTurns }) }, warmups: 0 },
});

const limit = 'node:http and a bare reader of events';
const firstOverLater = (samples) => samples.map(({ firstMs, laterMs }) => firstMs / laterMs);
report([
  ratio(paced, { name: 'model.token', of: 'host', to: 'reader', limit, target: { atMost: 2.5 }, worse: 'commits' }),
  ratio(paced, {
    ...{
      name: 'model.token.relayed',
      of: 'host',
      to: 'relay',
      limit: 'the reader, a bare write of a line, a bare ws frame',
    },
    ...{ target: { atMost: 2 }, worse: 'commits' },
  }),
  ratio(paced, { name: 'model.relay', of: 'relay', to: 'reader', limit, worse: 'writes' }),
  absolute(paced, { name: 'model.tokenCpu', of: 'host', unit: 'µs', worse: 'commits' }),
  ratio(full, {
    ...{ name: 'model.tokenFullSpeed', of: 'host', to: 'reader', limit: `${limit}, as fast as it goes` },
    ...{ target: { atMost: 2.5 }, worse: 'layers' },
  }),
  absolute(full, { name: 'model.tokenFullSpeedCpu', of: 'host', unit: 'µs', worse: 'layers' }),
  figure({
    name: 'first.token',
    samples: firstOverLater(first.fresh),
    limit: 'later turns, message to model request',
    target: { atMost: 2 },
    worse: 'loading',
  }),
  absolute(first, { name: 'first.tokenMs', of: 'fresh', pick: ({ firstMs }) => firstMs, unit: 'ms', worse: 'loading' }),
]);

/** A host with a client, each in a process of its own. */
async function openHost(model, work) {
  const host = startHelper('./model-host.mjs');
  const client = startHelper('./model-client.mjs');
  const { port } = await host.ask('open', { url: addressOf(await model.ask('port'), work) });
  await client.ask('connect', { port });
  const stop = async () => {
    client.stop();
    await host.ask('close');
    host.stop();
  };
  return { host, client, stop };
}

function addressOf(port, { everyMs, tokens }) {
  return `http://127.0.0.1:${port}/${everyMs}/${tokens}/v1`;
}

function hostWith(work) {
  return async () => {
    const model = startHelper('./model-server.mjs');
    const { host, client, stop } = await openHost(model, work);
    return {
      async slice() {
        const before = await host.ask('cpu');
        const { tokens } = await client.ask('turn');
        if (tokens !== work.tokens) throw new Error(`${tokens} tokens came, not ${work.tokens}`);
        return { operations: tokens, cpu: (await host.ask('cpu')) - before };
      },
      async close() {
        await stop();
        model.stop();
      },
    };
  };
}

/** Reads the events, parses them, counts the words. */
function readerOf(work) {
  return async () => {
    const model = startHelper('./model-server.mjs');
    const url = addressOf(await model.ask('port'), work);
    return { slice: () => readBare(`${url}/chat/completions`), close: () => model.stop() };
  };
}

/** Every word is a line in a file, as a host stores it, and then a frame to one client. */
function relayOf(work) {
  return async () => {
    const model = startHelper('./model-server.mjs');
    const url = addressOf(await model.ask('port'), work);
    const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
    const file = openSync(join(folder, 'lines'), 'w');
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const client = startHelper('./echo-provider.mjs');
    await client.ask('connect', { port: server.address().port });
    const [peer] = await accepted;
    let words = 0;
    const relay = (content) => {
      const action = JSON.stringify({ type: 'chat/delta', turnId: 'turn-1', partId: 'turn-1-1', content });
      writeSync(file, `${Date.now()}\tahp-chat:/bench\t${action}\n`);
      peer.send(
        `{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-chat:/bench","serverSeq":${++words},"action":${action}}}`,
      );
    };
    return {
      slice: () => readBare(`${url}/chat/completions`, relay),
      close() {
        client.stop();
        model.stop();
        closeSync(file);
        rmSync(folder, { recursive: true });
      },
    };
  };
}

function readBare(url, take = () => {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST' });
    request.on('error', reject);
    request.on('response', (response) => {
      let [rest, count] = ['', 0];
      response.setEncoding('utf8');
      response.on('data', (text) => {
        const events = (rest + text).split('\n\n');
        rest = events.pop();
        for (const data of events) {
          const content = data !== 'data: [DONE]' && JSON.parse(data.slice(6)).choices[0].delta.content;
          if (!content) continue;
          count += 1;
          take(content);
        }
      });
      response.on('end', () => resolve(count));
    });
    request.end('{}');
  });
}

async function firstTurns() {
  const model = startHelper('./model-server.mjs');
  const { client, stop } = await openHost(model, ONE);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const waits = [];
  for (let turn = 0; turn <= LATER_TURNS; turn++) {
    const { asked } = await client.ask('turn');
    waits.push((await model.ask('arrived')) - asked);
  }
  await stop();
  model.stop();
  const [firstMs, ...later] = waits;
  return { operations: 1, firstMs, laterMs: later.toSorted((a, b) => a - b)[later.length >> 1] };
}
