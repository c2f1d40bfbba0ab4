import { describe, expect, it } from 'vitest';
import { FRAME_MAX_DEPTH, readFrame, readMessage } from '../../src/validation/frame.js';

const request = { jsonrpc: '2.0', id: 7, method: 'ping', params: { channel: 'ahp-root://' } };
const read = (value: unknown) => readFrame(JSON.stringify(value));
const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('readFrame', () => {
  it('tells requests, notifications, results and errors apart', () => {
    expect(read(request)).toEqual({ kind: 'request', id: 7, method: 'ping', params: { channel: 'ahp-root://' } });
    expect(read({ jsonrpc: '2.0', method: 'unsubscribe' })).toMatchObject({
      kind: 'notification',
      method: 'unsubscribe',
    });
    expect(read({ jsonrpc: '2.0', id: 1, result: null })).toEqual({ kind: 'success', id: 1, result: null });
    expect(read({ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no', data: 3 } })).toEqual({
      kind: 'failure',
      id: 1,
      error: { code: -1, message: 'no', data: 3 },
    });
  });

  it('looks for a result before it looks for a method', () => {
    expect(read({ ...request, result: 1 })).toMatchObject({ kind: 'success' });
    expect(read({ ...request, error: { code: 1, message: '' } })).toMatchObject({ kind: 'failure' });
  });

  it.each(['', '{', 'undefined', '{"a":1}{"b":2}', '\ufeff{}', '{"a":01}', "{'a':1}"])(
    '[AHP-089] answers %j with a parse error',
    (text) => expect(readFrame(text)).toMatchObject({ kind: 'invalid', code: -32700, id: null }),
  );

  it('[AHP-002] answers a batch with one invalid-request error', () => {
    expect(read([request, request])).toMatchObject({ kind: 'invalid', code: -32600, id: null });
  });

  it.each([
    ['a string', 'x', null],
    ['null', null, null],
    ['no version', { id: 1, method: 'ping' }, 1],
    ['another version', { ...request, jsonrpc: '1.0' }, 7],
    ['no method', { jsonrpc: '2.0', id: 7 }, 7],
    ['a method that is no string', { ...request, method: 5 }, 7],
    ['a string for an id', { ...request, id: '7' }, null],
    ['null for an id', { ...request, id: null }, null],
    ['a result without an id that could be matched', { jsonrpc: '2.0', id: 'x', result: 1 }, null],
    ['an error without a code', { jsonrpc: '2.0', id: 3, error: { message: 'x' } }, 3],
    ['an error that is no object', { jsonrpc: '2.0', id: 3, error: 'x' }, 3],
  ])('[AHP-090] answers %s with an invalid-request error that keeps the id where there is one', (_, value, id) => {
    expect(read(value)).toMatchObject({ kind: 'invalid', code: -32600, id });
  });

  it('takes an error that could not name its request', () => {
    const error = { code: -32700, message: 'x' };
    expect(read({ jsonrpc: '2.0', id: null, error })).toEqual({ kind: 'failure', id: null, error });
  });

  it('drops a member called __proto__, however deep and however spelled', () => {
    const frame = readFrame(
      '{"jsonrpc":"2.0","method":"x","__proto__":{"a":1},"params":{"list":[{"__pro\\u0074o__":{"polluted":true},"b":2}]}}',
    );
    expect(frame).toEqual({ kind: 'notification', method: 'x', params: { list: [{ b: 2 }] } });
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it('refuses nesting beyond the limit, and takes nesting at the limit', () => {
    const withDepth = (depth: number) => read({ ...request, params: { deep: nested(depth) } });
    expect(withDepth(FRAME_MAX_DEPTH - 2)).toMatchObject({ kind: 'request' });
    expect(withDepth(FRAME_MAX_DEPTH - 1)).toMatchObject({ kind: 'invalid', id: 7 });
  });

  it.each([10_000, 1_000_000])('survives %i opening brackets', (count) => {
    expect(readFrame('['.repeat(count))).toMatchObject({ kind: 'invalid' });
    expect(
      readFrame(`{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(count)}${']'.repeat(count)}}`),
    ).toMatchObject({ kind: 'invalid', id: 1 });
  });

  it('refuses a number that a double cannot hold', () => {
    expect(readFrame('{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1e999}}')).toMatchObject({
      kind: 'invalid',
      id: 1,
    });
    expect(readFrame('{"jsonrpc":"2.0","id":1e999,"method":"x"}')).toMatchObject({ kind: 'invalid', id: null });
  });

  it('reads a message that was never text', () => {
    expect(readMessage(structuredClone(request))).toMatchObject({ kind: 'request', id: 7 });
    expect(readMessage(undefined)).toMatchObject({ kind: 'invalid' });
  });
});
