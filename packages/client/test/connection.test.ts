import { describe, expect, it } from 'vitest';
import { reconnectDelay } from '../src/connection.js';
import { BACKOFF_HIDDEN_MS, BACKOFF_VISIBLE_MS, CLOSE_REPLACED, memoryPair, type Status } from '../src/index.js';
import { connected, newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { ONE } from './support/states.js';

describe('the waiting between attempts', () => {
  const delays = (visible: boolean, random: number) =>
    Array.from({ length: 20 }, (_, failures) => reconnectDelay({ failures, visible, random }));

  it.each([
    [true, BACKOFF_VISIBLE_MS],
    [false, BACKOFF_HIDDEN_MS],
  ])('grows by half from step to step and stays in its limits, visible: %s', (visible, { min, max }) => {
    expect(delays(visible, 0)[0]).toBe(min);
    expect(delays(visible, 0)[1]).toBe(min * 1.5);
    expect(delays(visible, 0).at(-1)).toBe(Math.round(max / 1.5));
    expect(delays(visible, 1).at(-1)).toBe(max);
    for (const delay of [...delays(visible, 0), ...delays(visible, 0.999)]) {
      expect(delay).toBeGreaterThanOrEqual(min);
      expect(delay).toBeLessThanOrEqual(max);
    }
  });

  it('is spread by chance', () => {
    expect(delays(true, 0.5)[0]).toBe(625);
  });
});

describe('a lost connection', () => {
  it('goes through its states, and starts over once it is open', async () => {
    const host = newHost();
    let up = true;
    const transport = () => {
      if (!up) throw new Error('refused');
      const [near, far] = memoryPair();
      host.accept(far);
      return near;
    };
    const { client, clock, drop } = await connected({ transport }, host);
    const seen: Status[] = [];
    client.onStatus((status) => seen.push(status));
    up = false;
    await drop();
    await clock.advance(500);
    up = true;
    await clock.advance(750);
    expect(seen.map(({ at }) => at)).toEqual(['waiting', 'connecting', 'waiting', 'connecting', 'open']);
    expect(seen.flatMap((status) => (status.at === 'waiting' ? [[status.failures, status.delayMs]] : []))).toEqual([
      [1, 500],
      [2, 750],
    ]);
    await drop();
    expect(client.status).toMatchObject({ at: 'waiting', failures: 1, delayMs: 500 });
  });

  it('is waited for longer when nobody looks', async () => {
    const { client, drop } = await connected({ isVisible: () => false });
    await drop();
    expect(client.status).toMatchObject({ at: 'waiting', delayMs: 1_000 });
  });

  it('is dialled at once when the user asks for it', async () => {
    const { client, drop } = await connected();
    await drop();
    client.reconnectNow();
    await settle();
    expect(client.status.at).toBe('open');
    client.reconnectNow();
    expect(client.status.at).toBe('open');
  });

  it('is given up when the same client id has connected elsewhere', async () => {
    const host = newHost();
    let close: ((reason: { code: number; reason: string }) => void) | undefined;
    const transport = () => {
      const [near, far] = memoryPair();
      host.accept(far);
      return Object.assign(near, { onClose: (listener: typeof close) => (close = listener) });
    };
    const { client } = await connected({ transport }, host);
    close?.({ code: CLOSE_REPLACED, reason: 'replaced' });
    expect(client.status).toMatchObject({ at: 'closed', error: { message: expect.stringContaining('elsewhere') } });
  });

  it('is not dialled again after close', async () => {
    const { client, drop, clock, host } = await connected();
    await drop();
    client.close();
    await clock.advance(600_000);
    expect(host.connections).toHaveLength(1);
  });

  it('counts as lost when the next one never opens', async () => {
    const host = newHost();
    let hangs = false;
    const transport = () => {
      const [near, far] = memoryPair();
      if (!hangs) host.accept(far);
      return hangs ? new Promise<never>(() => {}) : near;
    };
    const { client, clock, drop } = await connected({ transport, requestTimeoutMs: 1_000 }, host);
    hangs = true;
    await drop();
    await clock.advance(500);
    expect(client.status.at).toBe('connecting');
    await clock.advance(1_000);
    expect(client.status).toMatchObject({ at: 'waiting', failures: 2 });
  });
});

describe('the heartbeat', () => {
  it('pings in every interval and keeps a connection that answers', async () => {
    const { client, clock, host } = await connected({ heartbeatMs: 15_000 });
    await clock.advance(14_999);
    expect(host.params('ping')).toHaveLength(0);
    await clock.advance(60_001);
    expect(host.params('ping')).toHaveLength(5);
    expect(client.status.at).toBe('open');
  });

  it('ends a connection after two and a half intervals without a sound', async () => {
    const { client, clock, host } = await connected({ heartbeatMs: 15_000 });
    await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    await clock.advance(37_499);
    expect(client.status.at).toBe('open');
    await clock.advance(1);
    expect(client.status).toMatchObject({ at: 'waiting', error: { message: 'the host fell silent' } });
    await clock.advance(500);
    expect(client.status).toMatchObject({ at: 'open', began: 'replay' });
  });

  it('takes any message for a sign of life', async () => {
    const { client, clock, host } = await connected({ heartbeatMs: 15_000 });
    host.connection.transport.onMessage(() => {});
    await clock.advance(30_000);
    host.connection.send({ method: 'unheard/of', params: { channel: 'x' } });
    await clock.advance(30_000);
    expect(client.status.at).toBe('open');
  });
});
