/** Chat completions as servers really write them: cut anywhere, numbered or not, whole or in pieces. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventReader } from '../src/model/event-stream.js';
import { type AnswerEvent, askModel } from '../src/model/request.js';
import { modelError } from '../src/shared/model-errors.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function streamed(...chunks: (object | string)[]): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks)
      response.write(`data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`);
    response.end();
  };
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const calls = (...tool_calls: object[]) => chunk({ tool_calls });
const END = chunk({}, 'stop');

async function ask(baseURL: string, more: { apiKey?: string; signal?: AbortSignal } = {}) {
  const { signal = new AbortController().signal, apiKey } = more;
  const events: AnswerEvent[] = [];
  const options = {
    provider: 'm',
    displayName: 'M',
    kind: 'openai-compatible' as const,
    baseURL,
    models: [],
    retries: 0,
  };
  const request = { modelId: 'm-1', system: '', messages: [], tools: new Map(), signal };
  const messages = await askModel(
    { ...options, ...(apiKey && { apiKey }) },
    request,
    (event) => events.push(event) > 0,
  );
  return { events, messages };
}

async function callsOf(...chunks: object[]) {
  const { events } = await ask(await serve(streamed(...chunks, chunk({}, 'tool_calls'))));
  return events.flatMap((event) => (event.type === 'call' ? [[event.name, event.input]] : []));
}

describe('a stream of events', () => {
  it('is the same wherever it is cut, and however its lines end', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, ''));
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const cuts = fc.array(fc.nat(400), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), lineEnd, cuts, (words, end, places) => {
        const text = words.map((said) => `: note${end}event: x${end}data: ${said}${end}data:more${end}${end}`).join('');
        const bytes = Buffer.from(text);
        const borders = [0, ...places.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length];
        const reader = new EventReader('stream');
        const read: string[] = [];
        for (const [index, start] of borders.entries())
          reader.push(bytes.subarray(start, borders[index + 1]), (data) => read.push(data) > 0);
        reader.end((data) => read.push(data) > 0);
        expect(read).toEqual(words.map((said) => `${said}\nmore`));
      }),
    );
  });

  it('may lack its last empty line', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk({ content: 'Hi' }, 'stop'))}`);
    });
    expect((await ask(url)).events[0]).toMatchObject({ type: 'text', text: 'Hi' });
  });
});

describe('a stream that is a little odd', () => {
  it('may begin with a byte order mark, and have events without a word', async () => {
    const { events } = await ask(
      await serve((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const [word, end] = [chunk({ content: 'a' }), END].map((data) => `data: ${JSON.stringify(data)}\n\n`);
        response.end(`\uFEFF${word}data:\n\ndata: \n\n${end}`);
      }),
    );
    expect(events.map((event) => ('text' in event ? event.text : event.type))).toEqual(['a', 'finish']);
  });

  it.each(['', 'data: [DONE]\n\n', 'data: {"choices":[],"us'])(
    'is complete when the connection is lost behind the end of the answer: %j',
    async (more) => {
      const call = { index: 0, id: 'c', function: { name: 'look', arguments: '{}' } };
      const { events } = await ask(
        await serve((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const sent = [calls(call), chunk({}, 'tool_calls')].map((data) => `data: ${JSON.stringify(data)}\n\n`);
          response.write(sent.join('') + more, () => response.destroy());
        }),
      );
      expect(events.map(({ type }) => type).slice(-2)).toEqual(['call', 'finish']);
    },
  );
});

describe('a completion', () => {
  it('has text and thinking, also where they come as parts, and goes back as one message', async () => {
    const thinking = [
      { type: 'text', text: 'And ' },
      { type: 'text', text: 'so.' },
    ];
    const url = await serve(
      streamed(
        chunk({ reasoning_content: 'Hm. ' }),
        chunk({ content: [{ type: 'thinking', thinking }] }),
        chunk({ content: [{ type: 'text', text: 'Yes' }] }),
        chunk({ content: '.' }),
        END,
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
        '[DONE]',
      ),
    );
    const { events, messages } = await ask(url);
    const usage = { input: 3, output: 2, cacheRead: 0, reasoning: 0 };
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage });
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm. And so.' },
          { type: 'text', text: 'Yes.' },
        ],
      },
    ]);
  });

  it('has calls, however a server numbers and cuts them', async () => {
    const pieces = [
      calls({ index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } }),
      calls(
        { index: 1, id: 'b', function: { name: 'go', arguments: '' } },
        { index: 0, function: { arguments: ':1}' } },
      ),
      calls({ index: 1, function: { arguments: '{}' } }),
    ];
    expect(await callsOf(...pieces)).toEqual([
      ['look', '{"a":1}'],
      ['go', '{}'],
    ]);
    // All of them as the first one.
    const alike = ['a', 'b'].map((id) => calls({ index: 0, id, function: { name: id, arguments: '{}' } }));
    expect(await callsOf(...alike)).toEqual([
      ['a', '{}'],
      ['b', '{}'],
    ]);
    // Without numbers and ids, whole or in pieces; with its name at last; with an object.
    const bare = [
      calls({ function: { name: 'a', arguments: '{' } }, { function: { arguments: '}' } }, { function: { name: 'b' } }),
      calls({ index: 7, id: 'c', function: { arguments: '{"x":' } }),
      calls({ index: 7, function: { name: 'c', arguments: '2}' } }),
      calls({ id: 'd', function: { name: 'd', arguments: { y: 3 } } }),
    ];
    expect(await callsOf(...bare)).toEqual([
      ['a', '{}'],
      ['b', ''],
      ['c', '{"x":2}'],
      ['d', '{"y":3}'],
    ]);
  });

  it('sends back what came with a call', async () => {
    const extra_content = { google: { thought_signature: 'signed' } };
    const url = await serve(
      streamed(
        calls({ index: 0, id: 'a', function: { name: 'look', arguments: '{}' }, extra_content }),
        chunk({}, 'stop'),
      ),
    );
    const { messages } = await ask(url);
    const bodies: string[] = [];
    const next = await serve((request, response) => {
      request.on('data', (data) => bodies.push(String(data)));
      request.on('end', () => streamed(END)(request, response));
    });
    const options = { provider: 'm', displayName: 'M', kind: 'openai-compatible' as const, baseURL: next, models: [] };
    const request = { modelId: 'm-1', system: '', messages, tools: new Map(), signal: new AbortController().signal };
    await askModel(options, request, () => true);
    expect(JSON.parse(bodies.join('')).messages[0].tool_calls).toMatchObject([{ id: 'a', extra_content }]);
  });

  it('is complete with a reason, or with the mark of the end, and otherwise broken off', async () => {
    expect((await ask(await serve(streamed(chunk({ content: 'Hi' }), '[DONE]')))).events).toHaveLength(2);
    const place = { displayName: 'M', modelId: 'm-1', baseURL: undefined, hasBegun: true };
    const failure = await ask(await serve(streamed(chunk({ content: 'Hi' })))).catch((error) =>
      modelError(error, place),
    );
    expect(failure).toMatchObject({
      errorType: 'network',
      message: expect.stringContaining('broke off in the middle'),
    });
  });

  it('ends with what the server says in place of it', async () => {
    const overloaded = { error: { type: 'overloaded_error', message: 'busy' } };
    const place = { displayName: 'M', modelId: 'm-1', baseURL: undefined };
    const failure = await ask(await serve(streamed(overloaded))).catch((error) => modelError(error, place));
    expect(failure).toMatchObject({ errorType: 'overloaded' });
  });

  it('is given up with the turn, and the server hears of it', async () => {
    let isCut = false;
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(chunk({}))}\n\n`);
      response.on('close', () => {
        isCut = true;
      });
    });
    const abort = new AbortController();
    const asked = ask(url, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await expect(asked).rejects.toThrow();
    await expect.poll(() => isCut).toBe(true);
  });
});

describe('a reader that has enough', () => {
  it('gets no more, also where the rest is half an event, and the server hears of it', async () => {
    let isCut = false;
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk({ content: 'Hi' }))}\n\ndata: {"choi`);
      response.on('close', () => {
        isCut = true;
      });
    });
    const events: AnswerEvent[] = [];
    const options = { provider: 'm', displayName: 'M', kind: 'openai-compatible' as const, baseURL: url, models: [] };
    const request = {
      modelId: 'm-1',
      system: '',
      messages: [],
      tools: new Map(),
      signal: new AbortController().signal,
    };
    await askModel(options, request, (event) => events.push(event) < 1);
    expect(events).toHaveLength(1);
    await expect.poll(() => isCut).toBe(true);
  });
});

describe('a server that refuses', () => {
  it.each([
    ['{"error":{"message":"no such thing"}}', 'no such thing'],
    ['{"error":"no such thing"}', 'no such thing'],
    ['{"detail":"no such thing"}', 'no such thing'],
    ['no such thing', 'no such thing'],
    ['', 'Bad Request'],
  ])('is quoted: %s', async (body, said) => {
    const url = await serve((_request, response) => response.writeHead(400).end(body));
    await expect(ask(url)).rejects.toMatchObject({ statusCode: 400, message: said, isRetryable: false });
  });

  it.each([
    [{ error: { message: 'no credit left' } }, 'no credit left'],
    [{ choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }] }, 'one object instead of a stream'],
  ])('may do so as if all was well: %j', async (answer, words) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    await expect(ask(url)).rejects.toThrow(words);
  });

  it('is told by its status, also when the connection is lost within its words', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(401, { 'content-length': '100' });
      response.write('{"err', () => response.destroy());
    });
    await expect(ask(url)).rejects.toMatchObject({ statusCode: 401 });
  });

  it('may do so at any length: its words take no time to speak of', () => {
    const error = Object.assign(new Error('model '.repeat(200_000)), { statusCode: 400 });
    // Reading all of it takes minutes.
    expect(modelError(error, { displayName: 'M', modelId: 'm', baseURL: undefined }).message.length).toBeLessThan(500);
  });

  it('may send us elsewhere on itself, but the key goes nowhere else', async () => {
    const other: unknown[] = [];
    const elsewhere = await serve((request, response) => {
      other.push(request.headers.authorization);
      streamed(END)(request, response);
    });
    const url = await serve((request, response) => {
      if (request.url === '/v1/chat/completions') response.writeHead(307, { location: '/there' }).end();
      else if (request.url === '/there') streamed(chunk({ content: 'Here' }), END)(request, response);
      else response.writeHead(308, { location: elsewhere }).end();
    });
    expect((await ask(url, { apiKey: 'secret' })).events[0]).toMatchObject({ text: 'Here' });
    await expect(ask(`${url}/away`, { apiKey: 'secret' })).rejects.toThrow(`it is at ${elsewhere} now`);
    expect(other).toEqual([]);
  });
});
