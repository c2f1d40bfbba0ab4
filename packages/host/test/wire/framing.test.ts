import { CLIENT_FRAME_MAX_BYTES } from '@atrium/core/wire/limits.js';
import { FRAME_MAX_DEPTH } from '@atrium/protocol/validation';
import { describe, expect, it } from 'vitest';
import { startHost } from '../support/session-fixture.js';
import { type Message, type RawClient, ROOT, settle } from '../support/test-host.js';

async function anyone(): Promise<RawClient> {
  const host = await startHost();
  return host.client('desk', { initialSubscriptions: [] });
}

/** Sends raw text and gives everything that came back. */
async function answersTo(client: RawClient, text: string): Promise<Message[]> {
  const before = client.received.length;
  client.sendText(text);
  await settle();
  return client.received.slice(before);
}

/** The one answer to raw text, and proof that the connection still works. */
async function answerTo(client: RawClient, text: string): Promise<Message | undefined> {
  const answers = await answersTo(client, text);
  expect(answers).toHaveLength(1);
  expect(await client.request('ping', { channel: ROOT })).toBeNull();
  return answers[0];
}

const parseError = { id: null, error: { code: -32700 } };
const invalid = { id: null, error: { code: -32600 } };

describe('a frame that is no message', () => {
  it.each([
    ['garbage', 'hello'],
    ['half an object', '{"jsonrpc":"2.0","id":1'],
    ['an empty frame', ''],
    ['two values', '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}'],
    ['a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['nothing but brackets, as many as fit', '['.repeat(CLIENT_FRAME_MAX_BYTES)],
  ])('[AHP-003][AHP-089][REL-008] %s gets one parse error without an id', async (_name, text) => {
    expect(await answerTo(await anyone(), text)).toMatchObject(parseError);
  });

  it.each([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]'],
    ['an empty batch', '[]'],
  ])('[AHP-002][REL-008] %s gets a single invalid-request without an id', async (_name, text) => {
    expect(await answerTo(await anyone(), text)).toMatchObject(invalid);
  });

  it.each([
    ['a string', '"ping"'],
    ['null', 'null'],
    ['no method', '{"jsonrpc":"2.0"}'],
    ['an id that is text', '{"jsonrpc":"2.0","id":"7","method":"ping"}'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ['a number beyond a double', '{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"a","x":1e999}}'],
  ])('[AHP-005][AHP-090] %s is an invalid request', async (_name, text) => {
    expect(await answerTo(await anyone(), text)).toMatchObject(invalid);
  });

  it.each([
    ['without', '{"id":41,"method":"ping"}'],
    ['with another', '{"jsonrpc":"1.0","id":41,"method":"ping"}'],
  ])('[AHP-005] %s "jsonrpc": "2.0" the request is refused under its own id', async (_name, text) => {
    expect(await answerTo(await anyone(), text)).toMatchObject({ id: 41, error: { code: -32600 } });
  });
});

describe('a frame that means harm', () => {
  it('[REL-007] nesting of 10,000 levels is refused, and the host lives', async () => {
    const deep = '{"a":'.repeat(10_000);
    const text = `{"jsonrpc":"2.0","id":5,"method":"ping","params":${deep}1${'}'.repeat(10_000)}}`;
    expect(await answerTo(await anyone(), text)).toMatchObject({ id: 5, error: { code: -32600 } });
  });

  it('[REL-007] the deepest nesting that is allowed passes', async () => {
    const levels = FRAME_MAX_DEPTH - 2;
    const text = `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"channel":"${ROOT}","x":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(await answerTo(await anyone(), text)).toMatchObject({ id: 5, result: null });
  });

  it('[REL-007] a frame above the limit gets an error, one at the limit is read', async () => {
    const client = await anyone();
    const frame = (length: number) => {
      const head = `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"channel":"${ROOT}","x":"`;
      return `${head}${'x'.repeat(length - head.length - 3)}"}}`;
    };
    expect(frame(CLIENT_FRAME_MAX_BYTES)).toHaveLength(CLIENT_FRAME_MAX_BYTES);
    expect(await answerTo(client, frame(CLIENT_FRAME_MAX_BYTES))).toMatchObject({ id: 5, result: null });
    expect(await answerTo(client, frame(CLIENT_FRAME_MAX_BYTES + 1))).toMatchObject({ ...invalid, id: 5 });
  });

  it('[REL-007] of duplicate keys the last counts, and nothing else happens', async () => {
    const text = `{"jsonrpc":"2.0","id":5,"method":"nonsense","method":"ping","params":{"channel":"${ROOT}"}}`;
    expect(await answerTo(await anyone(), text)).toMatchObject({ id: 5, result: null });
  });

  it('[REL-007] a lone surrogate goes in and comes out', async () => {
    const client = await anyone();
    const uri = await client.session();
    const text = JSON.stringify('\uD800 alone');
    const action = `{"type":"session/titleChanged","title":${text}}`;
    client.sendText(
      `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"${uri}","clientSeq":1,"action":${action}}}`,
    );
    const { action: echo } = await client.action(uri, 'session/titleChanged');
    expect(echo.title).toBe('\uD800 alone');
  });

  it('[REL-007] `__proto__` in params changes nothing but is no error', async () => {
    const client = await anyone();
    const params = `{"channel":"${ROOT}","__proto__":{"filter":"x","polluted":true}}`;
    expect(await answerTo(client, `{"jsonrpc":"2.0","id":5,"method":"listSessions","params":${params}}`)).toMatchObject(
      {
        id: 5,
        result: { items: [] },
      },
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('[REL-007] a number above 2^53 is no sequence number', async () => {
    const client = await anyone();
    const params = `{"channel":"${ROOT}","clientId":"desk","lastSeenServerSeq":9007199254740993,"subscriptions":[]}`;
    const other = (await startHost()).connect();
    expect(await answersTo(other, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":${params}}`)).toMatchObject([
      { id: 1, error: { code: -32602 } },
    ]);
    expect(client.closed).toBeUndefined();
  });
});

describe('answers', () => {
  it('[AHP-006] every request is answered exactly once under its own id, whatever its number', async () => {
    const client = await anyone();
    const ids = [0, -1, 2.5, 7, 7_000_000_000, 3];
    for (const id of ids) client.send({ id, method: 'listSessions', params: { channel: ROOT } });
    await settle();
    expect(client.received.slice(1).map(({ id, result }) => [id, result])).toEqual(
      ids.map((id) => [id, { items: [] }]),
    );
  });

  it('[AHP-006][AHP-005] requests are answered in the order they came, and every frame says it is JSON-RPC 2.0', async () => {
    const client = await anyone();
    const uri = 'ahp-session:/in-order';
    client.send({ id: 11, method: 'createSession', params: { channel: uri } });
    client.send({ id: 12, method: 'subscribe', params: { channel: uri } });
    client.send({ id: 13, method: 'listSessions', params: { channel: ROOT } });
    await client.until(({ id }) => id === 13);
    const answers = client.received.filter(({ id }) => id !== undefined && id !== null && id > 10);
    expect(answers.map(({ id }) => id)).toEqual([11, 12, 13]);
    expect(client.received.every((message) => (message as { jsonrpc?: string }).jsonrpc === '2.0')).toBe(true);
  });

  it.each([
    ['unsubscribe without params', { method: 'unsubscribe' }],
    ['unsubscribe with params of the wrong type', { method: 'unsubscribe', params: [1] }],
    ['dispatchAction without anything', { method: 'dispatchAction', params: {} }],
    ['a request sent as a notification', { method: 'listSessions', params: { channel: ROOT } }],
    ['ping as a notification', { method: 'ping', params: { channel: ROOT } }],
    ['initialize as a notification', { method: 'initialize', params: { channel: ROOT } }],
    ['a notification that nobody knows', { method: 'atrium/nothing', params: { channel: ROOT } }],
  ])('[AHP-007][AHP-014] a notification is never answered: %s', async (_name, message) => {
    const client = await anyone();
    const before = client.received.length;
    client.send(message);
    await settle();
    expect(client.received).toHaveLength(before);
    expect(await client.request('ping', { channel: ROOT })).toBeNull();
  });

  it('[AHP-013][AHP-091] an unknown method is answered with -32601, also one that an object would have', async () => {
    const client = await anyone();
    for (const method of ['resourceExists', 'toString', '__proto__', 'constructor', 'action', '']) {
      expect((await client.ask(method, { channel: ROOT })).error).toMatchObject({ code: -32601 });
    }
  });

  it('[AHP-013] a method of the protocol that this host does not have is unknown too', async () => {
    const client = await anyone();
    // Without a folder to keep contents in there are no changesets.
    const params = { channel: 'ahp-changeset:/x', operationId: 'x' };
    expect((await client.ask('invokeChangesetOperation', params)).error).toMatchObject({ code: -32601 });
  });

  it('[AHP-006] an answer that nobody waits for is dropped', async () => {
    const client = await anyone();
    expect(await answersTo(client, '{"jsonrpc":"2.0","id":1000000001,"result":{}}')).toEqual([]);
    const error = '{"code":-32601,"message":"no"}';
    expect(await answersTo(client, `{"jsonrpc":"2.0","id":1000000001,"error":${error}}`)).toEqual([]);
    expect(await answersTo(client, `{"jsonrpc":"2.0","id":null,"error":${error}}`)).toEqual([]);
  });
});
