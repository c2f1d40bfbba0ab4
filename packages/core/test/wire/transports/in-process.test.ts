import { describe, expect, it, vi } from 'vitest';
import { WireFrame } from '../../../src/wire/frames.js';
import { CloseCode, type TransportEvents } from '../../../src/wire/transport.js';
import { transportPair } from '../../../src/wire/transports/in-process.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));

function pair() {
  const [transport, client] = transportPair();
  const events = { message: vi.fn(), drain: vi.fn(), closed: vi.fn() } satisfies TransportEvents;
  client.onmessage = vi.fn();
  client.onclose = vi.fn();
  return { transport, client, events };
}

describe('an in-process pair', () => {
  it('delivers in order, in both directions, never within the call', async () => {
    const { transport, client, events } = pair();
    expect(transport.name).toBe('in-process');
    client.send('1');
    transport.start(events);
    client.send('2');
    transport.send([new WireFrame('a'), new WireFrame('b')]);
    expect(events.message).not.toHaveBeenCalled();
    expect(client.onmessage).not.toHaveBeenCalled();
    await tick();
    expect(events.message.mock.calls).toEqual([['1'], ['2']]);
    expect(vi.mocked(client.onmessage).mock.calls).toEqual([['a'], ['b']]);
  });

  it('keeps what a client does not read, counts it, and says when there is room again', async () => {
    const { transport, client, events } = pair();
    transport.start(events);
    client.pause();
    transport.send([new WireFrame('a'), new WireFrame('b')]);
    await tick();
    expect(transport.bufferedBytes).toBe(2);
    expect(client.onmessage).not.toHaveBeenCalled();
    client.resume();
    await tick();
    expect(vi.mocked(client.onmessage).mock.calls).toEqual([['a'], ['b']]);
    expect(transport.bufferedBytes).toBe(0);
    expect(events.drain).toHaveBeenCalledTimes(1);
  });

  it('says that there is room when everything is taken, not when the client stops in between', async () => {
    const { transport, client, events } = pair();
    transport.start(events);
    client.onmessage = vi.fn(() => client.pause());
    transport.send([new WireFrame('a'), new WireFrame('b')]);
    await tick();
    expect([transport.bufferedBytes, events.drain.mock.calls.length]).toEqual([1, 0]);
    client.resume();
    await tick();
    expect([transport.bufferedBytes, events.drain.mock.calls.length]).toEqual([0, 1]);
  });

  it('puts a message together that comes in parts, and counts what the client has not taken', async () => {
    const { transport, client, events } = pair();
    transport.start(events);
    transport.sendPart?.({ text: '', bytes: Buffer.from('a'), isFirst: true, isLast: false });
    await tick();
    client.pause();
    transport.sendPart?.({ text: 'bc', isFirst: false, isLast: true });
    transport.send([new WireFrame('d')]);
    expect(transport.bufferedBytes).toBe(3);
    expect(client.onmessage).not.toHaveBeenCalled();
    client.resume();
    await tick();
    expect(vi.mocked(client.onmessage).mock.calls).toEqual([['abc'], ['d']]);
  });

  it('can be paused between two messages without losing or swapping any', async () => {
    const { transport, client, events } = pair();
    transport.start(events);
    const got: string[] = [];
    client.onmessage = (text) => {
      got.push(text);
      if (text === 'a') client.pause();
    };
    transport.send([new WireFrame('a'), new WireFrame('b')]);
    await tick();
    transport.send([new WireFrame('c')]);
    client.resume();
    await tick();
    expect(got).toEqual(['a', 'b', 'c']);
  });

  it('lets the host close: what was sent before arrives, then the code', async () => {
    const { transport, client, events } = pair();
    transport.start(events);
    transport.send([new WireFrame('last')]);
    transport.close(CloseCode.GoingAway, 'stopping');
    transport.send([new WireFrame('too late')]);
    client.send('too late');
    client.close();
    await tick();
    expect(vi.mocked(client.onmessage).mock.calls).toEqual([['last']]);
    expect(vi.mocked(client.onclose).mock.calls).toEqual([[1001, 'stopping']]);
    expect(events.closed).toHaveBeenCalledTimes(1);
    expect(events.message).not.toHaveBeenCalled();
  });

  it('lets the client close, also before the host has started', async () => {
    const { transport, client, events } = pair();
    client.send('hello');
    client.close();
    await tick();
    transport.start(events);
    await tick();
    expect(events.message.mock.calls).toEqual([['hello']]);
    expect(events.closed).toHaveBeenCalledTimes(1);
  });
});
