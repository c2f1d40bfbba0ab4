import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GUESS_TIMEOUT_MS, MODEL_LIST_MAX_BYTES, MODELS_MAX } from '../../src/discovery/candidate.js';
import { LOCAL_SERVERS } from '../../src/discovery/model-servers.js';
import { closedPort, discover, listen, modelList } from './support.js';

const on = (port: number) => ({ provider: 'local', displayName: 'Local', port, start: 'local serve' });

async function lookAt(listener: RequestListener) {
  const port = await listen(listener);
  const { of, modelsOf } = await discover({ localServers: [on(port)] });
  const { found, why, backend } = of('local');
  return { found, why: why.replaceAll(String(port), 'N'), models: modelsOf('local'), info: backend?.info };
}

const json =
  (body: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

describe('local model servers', () => {
  it('are looked for where they usually are', () => {
    expect(LOCAL_SERVERS.map(({ provider, port }) => [provider, port])).toEqual([
      ['ollama', 11_434],
      ['llama-cpp', 8080],
      ['lm-studio', 1234],
      ['vllm', 8000],
    ]);
  });

  it('become agents with their models, and are asked without any key', async () => {
    const asked: unknown[] = [];
    const { found, why, models, info } = await lookAt((request, response) => {
      asked.push([request.method, request.url, Object.keys(request.headers).sort()]);
      json(modelList('llama', 'nomic-embed-text', 'text-embedding-3', 'qwen'))(request, response);
    });
    expect({ found, why, models }).toEqual({ found: true, why: 'answers on port N', models: ['llama', 'qwen'] });
    expect(info).toMatchObject({ provider: 'local', displayName: 'Local' });
    expect(asked).toEqual([['GET', '/v1/models', ['accept', 'connection', 'host']]]);
  });

  it('are absent without noise when nothing listens', async () => {
    const port = await closedPort();
    const { of } = await discover({ localServers: [on(port)] });
    const why = `nothing listens on port ${port}: start it with local serve`;
    expect(of('local')).toMatchObject({ found: false, isNamed: false, why });
  });

  it.each<[string, RequestListener, RegExp]>([
    ['a page', json('<html>'), /not JSON/],
    ['other JSON', json('{"data":[{"id":"order-1"}]}'), /not a list of models/],
    ['a list of other things', json('{"object":"list","data":[{"id":"order-1","object":"order"}]}'), /not a list/],
    ['a number', json('1'), /not a list/],
    ['too much', json(`[${' '.repeat(MODEL_LIST_MAX_BYTES)}]`), /too large/],
    ['an error', (_, response) => void response.writeHead(401).end(modelList('m')), /answered 401/],
    // On a busy machine the whole look may take too long before the request does.
    ['nothing', () => {}, new RegExp(`no answer within ${GUESS_TIMEOUT_MS} ms|took longer than`)],
    [
      'nothing more after a start',
      (_, response) => void response.writeHead(200).write('{'),
      /no answer within|took longer than/,
    ],
  ])('are not a web server that answers with %s', async (_, listener, why) => {
    expect(await lookAt(listener)).toMatchObject({ found: false, why: expect.stringMatching(why) });
  });

  it('are not followed to another address', async () => {
    let visited = 0;
    const elsewhere = await listen((request, response) => {
      visited++;
      json(modelList('m'))(request, response);
    });
    const location = `http://127.0.0.1:${elsewhere}/v1/models`;
    const { found } = await lookAt((_, response) => void response.writeHead(302, { location }).end(modelList('m')));
    expect({ found, visited }).toEqual({ found: false, visited: 0 });
  });

  it('are not something that does not speak HTTP', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}).end('220 mail.test ESMTP\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect((await discover({ localServers: [on(port)] })).found).toEqual([]);
  });

  it('without models say so; null is an empty list', async () => {
    for (const body of [modelList(), '{"object":"list","data":null}']) {
      expect(await lookAt(json(body))).toMatchObject({ found: false, why: expect.stringContaining('no models yet') });
    }
  });

  it('offer a bounded number of models, and only names that can be shown', async () => {
    const many = Array.from({ length: MODELS_MAX + 5 }, (_, index) => `m-${index}`);
    expect((await lookAt(json(modelList('', '\u001b[2J', 'x'.repeat(201), ...many)))).models).toEqual(
      many.slice(0, MODELS_MAX),
    );
  });

  it('are all asked at the same time, so that the start waits once', async () => {
    const waiting: (() => void)[] = [];
    const answer: RequestListener = (request, response) => {
      waiting.push(() => json(modelList('m'))(request, response));
      // None is answered before all are asked.
      if (waiting.length === 4) for (const say of waiting) say();
    };
    const ports = await Promise.all([1, 2, 3, 4].map(() => listen(answer)));
    const { of } = await discover({ localServers: ports.map((port) => ({ ...on(port), provider: `p-${port}` })) });
    expect(ports.map((port) => of(`p-${port}`).found)).toEqual([true, true, true, true]);
  });
});
