import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it, vi } from 'vitest';
import { RequestError } from '../../src/contracts/request-error.js';
import { LogWriteError } from '../../src/log/log.js';
import { PART_CHARACTERS } from '../../src/util/json-parts.js';
import type { Dialect, DialectView } from '../../src/wire/dialects/dialects.js';
import { outgoing } from '../../src/wire/frames.js';
import { DISK_FULL, Outbox, Responder } from '../../src/wire/outbox.js';
import type { MessagePart } from '../../src/wire/transport.js';

function client() {
  const writes: string[][] = [];
  const parts: MessagePart[] = [];
  const transport = {
    ...{ name: 'test', bufferedBytes: 0, start: () => {}, close: () => {} },
    send: (frames: readonly { text: string }[]) => void writes.push(frames.map(({ text }) => text)),
    sendPart: (part: MessagePart) => void parts.push(part),
  };
  const logger = { log: vi.fn() };
  const dialect = { encodeError: (error: object) => ({ ...error, translated: true }) } as unknown as Dialect;
  const outbox = new Outbox({ transport, onTooSlow: () => {} });
  const responder = new Responder({ outbox, logger, view: {} as DialectView, dialect: () => dialect });
  const sent = () => writes.map((texts) => texts.map((text) => JSON.parse(text)));
  return { responder, sent, parts, logger };
}
const note = (text: string) => outgoing({ text });

describe('the answers of a client', () => {
  it('[AHP-006] go out at once, under their ids', () => {
    const { responder, sent } = client();
    expect(responder.result(7, { a: 1 })).toBeUndefined();
    responder.errorAtOnce(null, new RequestError(ErrorCode.NotFound, 'no', { why: 'because' }));
    expect(sent()).toEqual([
      [{ jsonrpc: '2.0', id: 7, result: { a: 1 } }],
      [
        {
          jsonrpc: '2.0',
          id: null,
          error: { code: ErrorCode.NotFound, message: 'no', data: { why: 'because' }, translated: true },
        },
      ],
    ]);
  });

  it('[AHP-006] come before everything that waits for them, in one write', () => {
    const { responder, sent } = client();
    responder.send([note('before')]);
    responder.beginAnswer();
    responder.send([note('one')]);
    responder.beginAnswer();
    responder.send([note('two')]);
    responder.result(1, null, 'aside');
    responder.errorAtOnce(2, new RequestError(ErrorCode.NotFound, 'no'));
    responder.result(3, null);
    responder.send([note('after')]);
    expect(sent().map((write) => write.map(({ id, text }) => id ?? text))).toEqual([
      ...[['before'], [1], [2], [3, 'one', 'two'], ['after']],
    ]);
    expect('data' in (sent()[2]?.[0].error ?? {})).toBe(false);
  });

  it('[REL-058] that are long go out in parts, and are waited for; what follows waits behind them', async () => {
    const { responder, sent, parts } = client();
    responder.beginAnswer();
    responder.send([note('behind')]);
    const text = 'x'.repeat(2 * PART_CHARACTERS);
    await responder.result(9, [text, text]);
    expect(parts.length).toBeGreaterThan(1);
    expect(JSON.parse(parts.map((part) => part.text).join(''))).toEqual({
      jsonrpc: '2.0',
      id: 9,
      result: [text, text],
    });
    expect(parts.map(({ isFirst }) => isFirst).indexOf(true)).toBe(0);
    expect(parts.map(({ isLast }) => isLast).indexOf(true)).toBe(parts.length - 1);
    await vi.waitFor(() => expect(sent()).toEqual([[{ text: 'behind' }]]), 10_000);
  });

  it('are none once it has gone', () => {
    const { responder, sent } = client();
    responder.beginAnswer();
    responder.send([note('held')]);
    responder.close();
    responder.send([note('late')]);
    expect(responder.result(1, null)).toBeUndefined();
    responder.error(2, new Error('late'));
    expect(sent()).toEqual([]);
  });
});

describe('an error', () => {
  it('[AHP-006] that is meant for the client is told as it is', () => {
    const { responder, sent, logger } = client();
    const error = new RequestError(ErrorCode.NotFound, 'no');
    expect(responder.error(1, error)).toBe(error);
    expect(sent()).toMatchObject([[{ id: 1, error: { code: ErrorCode.NotFound, message: 'no' } }]]);
    expect(logger.log).not.toHaveBeenCalled();
  });

  it('[REL-033] of a full disk says what to do', () => {
    const { responder, sent, logger } = client();
    responder.error(1, new LogWriteError('disk-full', 'ENOSPC in /secret'));
    expect(sent()).toMatchObject([[{ error: { code: ErrorCode.InternalError, message: DISK_FULL } }]]);
    expect(DISK_FULL).toMatch(/make room, then try again/);
    expect(logger.log).not.toHaveBeenCalled();
  });

  it.each([new Error('/secret'), new LogWriteError('failed', '/secret'), 'text'])(
    '[REL-033] of the host is told without its words, which go to the log: %s',
    (error) => {
      const { responder, sent, logger } = client();
      responder.error(1, error, 'aside');
      expect(sent()).toMatchObject([
        [{ error: { code: ErrorCode.InternalError, message: 'the host failed; see its log' } }],
      ]);
      expect(logger.log).toHaveBeenCalledExactlyOnceWith('error', expect.any(String), { error: String(error) });
    },
  );
});
