import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { LineSplitter, LineTooLongError } from '../../../src/util/streams.js';
import { WireFrame } from '../../../src/wire/frames.js';
import { CloseCode, type TransportEvents } from '../../../src/wire/transport.js';
import { stdioTransport } from '../../../src/wire/transports/stdio.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));

function started(options: { output?: Writable; maxLineBytes?: number } = {}) {
  const input = new PassThrough();
  const { output = new PassThrough(), ...rest } = options;
  const logger = { log: vi.fn() };
  const transport = stdioTransport({ input, output, logger, ...rest });
  const events = { message: vi.fn(), drain: vi.fn(), closed: vi.fn() } satisfies TransportEvents;
  transport.start(events);
  return { input, output, transport, events, logger };
}

describe('lines', () => {
  const lines = (...chunks: (string | Buffer)[]) => {
    const splitter = new LineSplitter(100);
    return chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))]);
  };

  it.each<[string, (string | Buffer)[], string[]]>([
    ['one line', ['{}\n'], ['{}']],
    ['several in one chunk', ['1\n2\n3\n'], ['1', '2', '3']],
    ['one in several chunks', ['{"a"', ':1', '}\n'], ['{"a":1}']],
    ['Windows line ends, also cut in two', ['1\r\n2\r', '\n'], ['1', '2']],
    ['a carriage return inside a line stays', ['1\r2\n'], ['1\r2']],
    ['empty lines are left out', ['\n\r\n1\n\n'], ['1']],
    ['an unfinished line waits', ['1\n2'], ['1']],
    ['a character cut in two', [Buffer.from('"ü"\n').subarray(0, 2), Buffer.from('"ü"\n').subarray(2)], ['"ü"']],
    ['line separators that are not line feeds stay', ['"\u2028"\n'], ['"\u2028"']],
  ])('%s', (_, chunks, expected) => {
    expect(lines(...chunks)).toEqual(expected);
  });

  it('may be as long as the limit, and not one byte longer', () => {
    expect(lines(`${'x'.repeat(60)}`, `${'x'.repeat(40)}\n`)).toEqual(['x'.repeat(100)]);
    expect(() => lines('x'.repeat(60), 'x'.repeat(41))).toThrow(LineTooLongError);
  });
});

describe('a stdio transport', () => {
  it('delivers one message per line', async () => {
    const { input, events } = started();
    input.write('{"id":1}\r\n{"id":2}\n{"id"');
    await tick();
    expect(events.message.mock.calls).toEqual([['{"id":1}'], ['{"id":2}']]);
  });

  it('[CLU-015] leaves what comes in its stream while it is paused', async () => {
    const { input, transport, events } = started();
    transport.pause?.();
    input.write('1\n');
    input.end('2\n');
    await tick();
    expect([events.message.mock.calls.length, input.readableLength]).toEqual([0, 4]);
    transport.resume?.();
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalledOnce(), 10_000);
    expect(events.message.mock.calls).toEqual([['1'], ['2']]);
    transport.resume?.();
    expect(input.isPaused()).toBe(true);
  });

  it('delivers what came before it was started', async () => {
    const input = new PassThrough();
    input.write('early\n');
    await tick();
    const message = vi.fn();
    stdioTransport({ input, output: new PassThrough() }).start({ message, drain: () => {}, closed: () => {} });
    await vi.waitFor(() => expect(message).toHaveBeenCalledWith('early'), 10_000);
  });

  it('says once that everything is written, however many writes that were', async () => {
    let release = () => {};
    const output = new Writable({
      write: (_chunk, _encoding, done) => {
        release = done;
      },
      writev: (_chunks, done) => {
        release = done;
      },
    });
    const { transport, events } = started({ output });
    for (const text of ['1', '2', '3']) transport.send([new WireFrame(text)]);
    release();
    await tick();
    expect(events.drain).not.toHaveBeenCalled();
    release();
    await tick();
    expect(events.drain).toHaveBeenCalledOnce();
  });

  it('writes whole lines, all of one send in one write', async () => {
    const writes: string[] = [];
    const output = new Writable({
      write(chunk, _, done) {
        writes.push(String(chunk));
        done();
      },
    });
    const { transport } = started({ output });
    transport.send([WireFrame.of({ text: 'a\nb' }), WireFrame.of({ n: 2 })]);
    transport.send([]);
    expect(writes).toEqual(['{"text":"a\\nb"}\n{"n":2}\n']);
  });

  it('writes the parts of a message as one line', async () => {
    const { output, transport } = started();
    transport.sendPart?.({ text: '{"a":', isFirst: true, isLast: false });
    transport.sendPart?.({ text: '"', bytes: Buffer.from('é"'), isFirst: false, isLast: false });
    transport.sendPart?.({ text: '}', isFirst: false, isLast: true });
    transport.send([new WireFrame('{}')]);
    await tick();
    expect(String((output as PassThrough).read())).toBe('{"a":"é"}\n{}\n');
  });

  it('counts what the reader has not taken, and says when there is room again', async () => {
    const output = new PassThrough({ highWaterMark: 1_000 });
    const { transport, events } = started({ output });
    for (let line = 0; line < 5; line += 1) transport.send([new WireFrame('x'.repeat(999))]);
    await tick();
    expect(transport.bufferedBytes).toBeGreaterThan(0);
    expect(events.drain).not.toHaveBeenCalled();
    output.resume();
    await vi.waitFor(() => expect(events.drain).toHaveBeenCalledTimes(1), 10_000);
    expect(transport.bufferedBytes).toBe(0);
  });

  it('says nothing of room where everything was taken at once', async () => {
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    const { transport, events } = started({ output });
    transport.send([new WireFrame('1')]);
    transport.sendPart?.({ text: '2', isFirst: true, isLast: true });
    await tick();
    expect(events.drain).not.toHaveBeenCalled();
  });

  it('says so behind the parts of a message, too', async () => {
    const output = new PassThrough({ highWaterMark: 1_000 });
    const { transport, events } = started({ output });
    for (const isLast of [false, true]) transport.sendPart?.({ text: 'x'.repeat(5_000), isFirst: !isLast, isLast });
    await tick();
    expect(transport.bufferedBytes).toBeGreaterThan(0);
    expect(events.drain).not.toHaveBeenCalled();
    output.resume();
    await vi.waitFor(() => expect(events.drain).toHaveBeenCalled(), 10_000);
    expect(transport.bufferedBytes).toBe(0);
  });

  it('closes when a line is longer than it may be', async () => {
    const { input, events, logger } = started({ maxLineBytes: 10 });
    input.write('x'.repeat(11));
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalledTimes(1), 10_000);
    const fields = { code: CloseCode.TooBig, reason: 'a line is longer than 10 bytes' };
    expect(logger.log).toHaveBeenCalledWith('info', 'closing stdio', fields);
    expect(events.message).not.toHaveBeenCalled();
  });

  it('writes out what was sent before it closes, and is silent afterwards', async () => {
    const output = new PassThrough();
    const { input, transport, events } = started({ output });
    transport.send([new WireFrame('last')]);
    transport.close(CloseCode.GoingAway, 'stopping');
    transport.send([new WireFrame('too late')]);
    const write = vi.spyOn(output, 'write');
    transport.sendPart?.({ text: 'too late', isFirst: true, isLast: true });
    expect(write).not.toHaveBeenCalled();
    input.write('ignored\n');
    await tick();
    expect(String(output.read())).toBe('last\n');
    expect(output.writableEnded).toBe(true);
    expect(events.message).not.toHaveBeenCalled();
    expect(events.closed).toHaveBeenCalledTimes(1);
  });

  it.each<[string, (streams: { input: PassThrough; output: Writable }) => void]>([
    ['input ends', ({ input }) => input.end()],
    ['input breaks', ({ input }) => input.destroy(new Error('broken'))],
    ['output breaks', ({ output }) => output.destroy(new Error('EPIPE'))],
  ])('is closed once when its %s', async (_, happen) => {
    const { input, output, events } = started();
    happen({ input, output });
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalledTimes(1), 10_000);
    await tick();
    expect(events.closed).toHaveBeenCalledTimes(1);
  });

  it('delivers nothing after it was closed, also of what came in the same chunk', async () => {
    const { input, transport, events } = started();
    events.message.mockImplementationOnce(() => transport.close(CloseCode.Normal, 'enough'));
    input.write('1\n2\n');
    await tick();
    input.write('3\n');
    await tick();
    expect(events.message.mock.calls).toEqual([['1']]);
    expect(events.closed).toHaveBeenCalledOnce();
  });

  it('ends with its input, unless the end is taken up, and with its output', async () => {
    const plain = started();
    plain.input.end();
    await vi.waitFor(() => expect(plain.events.closed).toHaveBeenCalledOnce(), 10_000);
    const input = new PassThrough();
    const transport = stdioTransport({ input, output: new PassThrough() });
    const events = { message: vi.fn(), drain: vi.fn(), closed: vi.fn(), ended: vi.fn() };
    transport.start(events);
    input.end();
    await vi.waitFor(() => expect(events.ended).toHaveBeenCalledOnce(), 10_000);
    expect(events.closed).not.toHaveBeenCalled();
    for (const [stream, event] of [
      ['input', 'error'],
      ['output', 'error'],
      ['output', 'close'],
    ] as const) {
      const broken = started();
      broken[stream].emit(event, new Error('broken'));
      broken.transport.close(CloseCode.Normal, 'again');
      await tick();
      expect(broken.events.closed).toHaveBeenCalledOnce();
    }
  });

  it('says in the log why it was closed: loudly, unless all is well', () => {
    const levels = [CloseCode.Normal, CloseCode.TooBig].map((code) => {
      const { transport, logger } = started();
      transport.close(code, 'because');
      return logger.log.mock.calls[0]?.[0];
    });
    expect(levels).toEqual(['debug', 'info']);
  });
});
