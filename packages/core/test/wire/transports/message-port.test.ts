import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WireFrame } from '../../../src/wire/frames.js';
import { PAYLOAD_MAX_BYTES } from '../../../src/wire/limits.js';
import type { TransportEvents } from '../../../src/wire/transport.js';
import { messagePortTransport } from '../../../src/wire/transports/message-port.js';

function started() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port2.close());
  const transport = messagePortTransport(port1);
  const events = { message: vi.fn(), drain: vi.fn(), closed: vi.fn() } satisfies TransportEvents;
  port2.postMessage('early');
  transport.start(events);
  return { peer: port2, transport, events };
}

describe('a message port transport', () => {
  it('delivers strings as they are and objects as JSON, in order, also those that came early', async () => {
    const { peer, events } = started();
    peer.postMessage('{"id":1}');
    peer.postMessage({ id: 2, params: { channel: 'ahp-root://' } });
    await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(3), 10_000);
    const expected = [['early'], ['{"id":1}'], ['{"id":2,"params":{"channel":"ahp-root://"}}']];
    expect(events.message.mock.calls).toEqual(expected);
  });

  it('delivers what cannot be JSON as an empty message', async () => {
    const { peer, events } = started();
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [10n, cycle]) peer.postMessage(value);
    await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(3), 10_000);
    expect(events.message.mock.calls.slice(1)).toEqual([[''], ['']]);
  });

  it('sends strings', async () => {
    const { peer, transport } = started();
    const got: unknown[] = [];
    peer.on('message', (message) => got.push(message));
    transport.send([WireFrame.of({ id: 1 }), new WireFrame('{"id":2}')]);
    await vi.waitFor(() => expect(got).toEqual(['{"id":1}', '{"id":2}']), 10_000);
    expect(transport.bufferedBytes).toBe(0);
  });

  it('is closed once, whichever side closes', async () => {
    const { peer, events } = started();
    peer.close();
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalledTimes(1), 10_000);
    const own = started();
    own.transport.close(1001, 'stopping');
    own.transport.send([new WireFrame('too late')]);
    await vi.waitFor(() => expect(own.events.closed).toHaveBeenCalledTimes(1), 10_000);
  });

  it('closes when a message is larger than any may be', async () => {
    const { peer, events } = started();
    peer.postMessage('x'.repeat(PAYLOAD_MAX_BYTES + 1));
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalledTimes(1), 10_000);
    expect(events.message.mock.calls).toEqual([['early']]);
  });
});
