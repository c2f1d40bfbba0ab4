import { ErrorCode } from '@atrium/protocol';
import { pluginsOnly } from '@atrium/protocol/dialects';
import { describe, expect, it, vi } from 'vitest';
import type { RequestError } from '../../src/contracts/request-error.js';
import { checkedParams, HostRequestQueue, idIn, isTooLong, Lanes, paramsOf } from '../../src/wire/inbound.js';
import {
  CLIENT_FRAME_MAX_BYTES,
  FIRST_HOST_REQUEST_ID,
  HOST_REQUEST_TIMEOUT_MS,
  INBOUND_MAX_CHARACTERS,
  INBOUND_MAX_MESSAGES,
} from '../../src/wire/limits.js';
import { unknownChannel } from '../../src/wire/unknown-channel.js';

describe('the parameters of a request', () => {
  it('are the members of an object; anything else has none', () => {
    expect(paramsOf({ a: 1 })).toEqual({ a: 1 });
    for (const params of [undefined, null, 'text', 7, [1]]) expect(paramsOf(params)).toEqual({});
  });

  it('fit the schema of a known method', () => {
    const code = (method: string, params: object) => {
      try {
        checkedParams(method, { ...params });
        return undefined;
      } catch (error) {
        return (error as RequestError).code;
      }
    };
    expect(code('subscribe', { channel: 'ahp-session:/s' })).toBeUndefined();
    expect(code('subscribe', { channel: 7 })).toBe(ErrorCode.InvalidParams);
    expect(code('atrium/nothing', {})).toBe(ErrorCode.MethodNotFound);
    expect(code('toString', {})).toBe(ErrorCode.MethodNotFound);
  });

  const plugin = { type: 'plugin', id: 'p' };
  it('of a session name plugins only; other customizations are left out, and what has no type is not', () => {
    const claim = (customizations: unknown) => ({ activeClient: { clientId: 'c', customizations }, more: 1 });
    expect(pluginsOnly(claim([plugin, { type: 'skill' }, {}, 'text']))).toEqual({
      claim: claim([plugin, {}, 'text']),
      leftOut: [{ type: 'skill' }],
    });
    for (const same of [claim([plugin]), claim([{ type: 7 }]), claim('none'), {}, { activeClient: null }, 'text']) {
      const { claim: kept, leftOut } = pluginsOnly(same);
      expect([kept === same, leftOut]).toEqual([true, []]);
    }
  });

  it('of a session that is created are checked without them', () => {
    const activeClient = { clientId: 'c', tools: [], customizations: [{ type: 'skill' }] };
    const channel = 'ahp-session:/s';
    expect(checkedParams('createSession', { channel, activeClient })).toMatchObject({
      activeClient: { clientId: 'c', customizations: [] },
    });
  });
});

describe('a frame', () => {
  it('[AHP-003] may have so many bytes, not characters', () => {
    expect(isTooLong('a'.repeat(CLIENT_FRAME_MAX_BYTES))).toBe(false);
    expect(isTooLong('a'.repeat(CLIENT_FRAME_MAX_BYTES + 1))).toBe(true);
    expect(isTooLong('short')).toBe(false);
    expect(isTooLong('ü'.repeat(CLIENT_FRAME_MAX_BYTES / 2))).toBe(false);
    expect(isTooLong(`${'ü'.repeat(CLIENT_FRAME_MAX_BYTES / 2)}a`)).toBe(true);
  });

  it('that is too long is answered under its id, which stands at one of its ends', () => {
    const middle = 'x'.repeat(1_000);
    expect(idIn(`{"id":7,"p":"${middle}"}`)).toBe(7);
    expect(idIn(`{"p":"${middle}","id" : 123456789012345}`)).toBe(123456789012345);
    expect(idIn(`{"p":"${middle}","id":9,"q":"${middle}"}`)).toBeNull();
    expect(idIn('{"id":"7"}')).toBeNull();
    expect(idIn('{"id":1234567890123456}')).toBeNull();
    expect(idIn(`${'x'.repeat(193)}"id":42`)).toBe(42);
  });
});

describe('what a client has sent', () => {
  const deferred = () => {
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    return { promise, resolve };
  };

  it('[AHP-006] waits in its lane for its turn, and lanes do not wait for each other', async () => {
    const lanes = new Lanes(() => {});
    const order: string[] = [];
    const first = deferred();
    lanes.enter(() => first.promise.then(() => void order.push('first')));
    lanes.enter(async () => void order.push('second'));
    lanes.enter(async () => void order.push('aside'), 'aside');
    lanes.enter(async () => void order.push('free'), 'free' as never);
    await vi.waitFor(() => expect(order).toEqual(['free', 'aside']), 10_000);
    first.resolve();
    await lanes.emptied();
    expect(order).toEqual(['free', 'aside', 'first', 'second']);
  });

  it('is waited for in both lanes', async () => {
    const lanes = new Lanes(() => {});
    const aside = deferred();
    lanes.enter(() => aside.promise, 'aside');
    const emptied = vi.fn();
    const waiting = lanes.emptied().then(emptied);
    await new Promise((resolve) => setImmediate(resolve));
    expect(emptied).not.toHaveBeenCalled();
    aside.resolve();
    await waiting;
  });

  it.each([
    ['messages', INBOUND_MAX_MESSAGES, 0],
    ['characters', 1, INBOUND_MAX_CHARACTERS],
  ])('[REL-098] is bounded in %s, and what is done counts no more', async (_, count, characters) => {
    for (const lane of ['main', 'aside', 'free'] as const) {
      const tooMany = vi.fn();
      const lanes = new Lanes(tooMany);
      const work = vi.fn(async () => {});
      const fill = () => {
        for (let entered = 0; entered < count; entered += 1) lanes.enter(work, lane as never, characters);
      };
      fill();
      await lanes.emptied();
      await new Promise((resolve) => setImmediate(resolve));
      fill();
      expect(tooMany).not.toHaveBeenCalled();
      lanes.enter(work, lane as never, 1);
      expect(tooMany).toHaveBeenCalledOnce();
      await lanes.emptied();
      await new Promise((resolve) => setImmediate(resolve));
      expect(work).toHaveBeenCalledTimes(2 * count);
    }
  });
});

describe('a request of the host', () => {
  function queue() {
    const timers: { ms: number; run: () => void }[] = [];
    const clock = {
      now: () => 0,
      after: (ms: number, run: () => void) => {
        timers.push({ ms, run });
        return () => {};
      },
    };
    const posted: { id: number }[] = [];
    return { queue: new HostRequestQueue(clock, (message) => posted.push(message as { id: number })), posted, timers };
  }

  it('[AHP-008] has a number that no client uses, and gets its answer once', async () => {
    const { queue: requests, posted } = queue();
    const answers = [requests.send('a', { x: 1 }), requests.send('b', {})];
    expect(posted).toEqual([
      { jsonrpc: '2.0', id: FIRST_HOST_REQUEST_ID, method: 'a', params: { x: 1 } },
      { jsonrpc: '2.0', id: FIRST_HOST_REQUEST_ID + 1, method: 'b', params: {} },
    ]);
    requests.answered({ kind: 'failure', id: null, error: { code: 1, message: 'nobody' } });
    requests.answered({ kind: 'success', id: FIRST_HOST_REQUEST_ID + 1, result: 'second' });
    requests.answered({ kind: 'failure', id: FIRST_HOST_REQUEST_ID, error: { code: 5, message: 'no' } });
    requests.answered({ kind: 'success', id: FIRST_HOST_REQUEST_ID, result: 'late' });
    await expect(answers[0]).rejects.toMatchObject({ code: 5, message: 'no' });
    await expect(answers[1]).resolves.toBe('second');
  });

  it('fails when the client is silent for too long, or leaves', async () => {
    const { queue: requests, timers } = queue();
    const silent = requests.send('a', {});
    const patient = requests.send('b', {}, 5);
    expect(timers.map(({ ms }) => ms)).toEqual([HOST_REQUEST_TIMEOUT_MS, 5]);
    timers[0]?.run();
    await expect(silent).rejects.toMatchObject({
      code: ErrorCode.InternalError,
      message: expect.stringMatching(/ a /),
    });
    requests.abandon();
    await expect(patient).rejects.toMatchObject({ message: 'the client disconnected' });
  });
});

describe('a channel that does not exist', () => {
  it('is a session, unless its name says otherwise', () => {
    const codes = (uris: string[]) => uris.map((uri) => unknownChannel(uri).code);
    expect(codes(['ahp-session:/x', 'x', 'xahp-terminal:/x'])).toEqual(Array(3).fill(ErrorCode.SessionNotFound));
    const others = ['ahp-terminal:/x', 'ahp-changeset:/x', 'ahp-resource-watch:/x', 'ahp-otlp:/x', 'ahp-root:/x'];
    expect(codes(others)).toEqual(Array(5).fill(ErrorCode.NotFound));
  });
});
