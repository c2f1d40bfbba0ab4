import type { CloseReason } from '@atrium/link';
import { RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { KEEPALIVE_AFTER_MS, KEEPALIVE_TIMEOUT_MS, STEADY_AFTER_MS } from '../src/connection.js';
import { HELLO_ATTEMPTS_MAX, HELLO_PAUSE_MAX_MS } from '../src/hello.js';
import { LocalErrorCode, type TransportFactory } from '../src/index.js';
import { type FakeGateway, fakeGateway } from '../src/testing.js';
import { connected, connecting, eventually } from './support/connected.js';
import { FakeClock, settle } from './support/fake-clock.js';

const TOKEN = { token: 'ptk-1' };

/** A line that can go dead: what is said on it gets nowhere, and nobody hears of that. */
function lineTo(gateway: FakeGateway): { isDead: boolean; transport: TransportFactory } {
  const line = {
    isDead: false,
    transport: async () => {
      const inner = await gateway.transport();
      const through = (text: string, then: (text: string) => void) => (line.isDead ? undefined : then(text));
      return {
        send: (text: string) => through(text, (it) => inner.send(it)),
        close: () => inner.close(),
        onMessage: (listener: (text: string) => void) => inner.onMessage((text) => through(text, listener)),
        onClose: (listener: (reason: CloseReason) => void) => inner.onClose(listener),
      };
    },
  };
  return line;
}

describe('a lost connection', () => {
  it('is made again: authenticated, and with everything the provider brought', async () => {
    const clock = new FakeClock();
    const tools = { one: { description: 'One', run: () => 1 } };
    const { gateway, provider, states } = connecting({ ...TOKEN, clock, tools }, TOKEN);
    await settle();
    const before = await provider.ready;
    gateway.drop();
    await settle();
    await clock.advance(600);
    expect(states.map(({ at }) => at)).toEqual(['connecting', 'ready', 'reconnecting', 'connecting', 'ready']);
    expect(gateway.received.map(({ type }) => type)).toEqual(['auth', 'hello', 'auth', 'hello']);
    expect(await provider.ready).toBe(before);
    expect(await gateway.call('one')).toMatchObject({ data: 1 });
  });

  it('shows its reconnect token within the window, and none after it', async () => {
    const clock = new FakeClock();
    const gateway = fakeGateway();
    let isUp = true;
    const transport = () => {
      if (!isUp) throw new Error('nobody there');
      return gateway.transport();
    };
    const { states } = connecting({ clock, transport }, {}, gateway);
    await settle();
    const tokens = () =>
      gateway.received.flatMap((message) => (message.type === 'hello' ? [message.reconnectToken] : []));
    gateway.drop();
    await settle();
    await clock.advance(1_000);
    expect(tokens()).toEqual([undefined, expect.stringMatching(/^tok-/)]);
    isUp = false;
    gateway.drop();
    await settle();
    await clock.advance(RECONNECT_WINDOW_MS);
    isUp = true;
    await clock.advance(20_000);
    expect(tokens()).toHaveLength(3);
    expect(tokens()[2]).toBeUndefined();
    expect(states.at(-1)).toMatchObject({ at: 'ready' });
  });

  it('is waited for longer and longer, from half a second to fifteen', async () => {
    const clock = new FakeClock();
    const { states } = connecting({ clock, transport: () => Promise.reject(new Error('nobody there')) });
    await clock.advance(120_000);
    const delays = states.flatMap((state) => (state.at === 'reconnecting' ? [state.delayMs] : []));
    expect(delays.slice(0, 4)).toEqual([500, 750, 1_125, 1_688]);
    expect(Math.max(...delays)).toBe(10_000);
  });

  it('leads to the session it was in, if that is still there', async () => {
    const sessions = [
      { id: 'one', label: '' },
      { id: 'two', label: '' },
    ];
    const { gateway, states } = await connected({}, { sessions });
    await gateway.endSession('one');
    await eventually(() => states.filter(({ at }) => at === 'ready').length === 2);
    gateway.startSession({ id: 'one', label: '' });
    gateway.drop();
    await eventually(() => states.filter(({ at }) => at === 'ready').length === 3);
    expect(states.at(-1)).toMatchObject({ sessionId: 'two' });
  });

  it('is tried for again when a gateway does not even answer', async () => {
    const clock = new FakeClock();
    const { states } = connecting({ clock, transport: () => new Promise(() => {}) });
    await clock.advance(10_000);
    expect(states.at(-1)).toMatchObject({ at: 'reconnecting', error: { message: 'No connection in time.' } });
  });
});

describe('a gateway that takes us and drops us', () => {
  it('is not asked faster and faster, unless it was well for a while', async () => {
    const clock = new FakeClock();
    const { gateway, states } = connecting({ ...TOKEN, clock }, TOKEN);
    const delays = () => states.flatMap((state) => (state.at === 'reconnecting' ? [state.delayMs] : []));
    await settle();
    for (let count = 0; count < 4; count += 1) {
      gateway.drop();
      await settle();
      await clock.advance(delays().at(-1) ?? 0);
      expect(states.at(-1)).toMatchObject({ at: 'ready' });
    }
    expect(delays()).toEqual([500, 750, 1_125, 1_688]);
    await clock.advance(STEADY_AFTER_MS);
    gateway.drop();
    await settle();
    expect(delays().at(-1)).toBe(500);
  });
});

describe('a connection that is dead without a word', () => {
  it('is noticed, and made again', async () => {
    const clock = new FakeClock();
    const gateway = fakeGateway(TOKEN);
    const line = lineTo(gateway);
    const { states } = connecting({ ...TOKEN, clock, transport: line.transport }, {}, gateway);
    await settle();
    // While somebody answers, silence is only silence.
    await clock.advance(5 * KEEPALIVE_AFTER_MS);
    expect(states.map(({ at }) => at)).toEqual(['connecting', 'ready']);
    expect(gateway.received.filter(({ type }) => type === 'hello')).toHaveLength(1);
    line.isDead = true;
    await clock.advance(KEEPALIVE_AFTER_MS + KEEPALIVE_TIMEOUT_MS);
    line.isDead = false;
    expect(states.at(-1)).toMatchObject({ at: 'reconnecting', error: { message: expect.stringContaining('silent') } });
    await clock.advance(1_000);
    expect(states.at(-1)).toMatchObject({ at: 'ready' });
  });
});

describe('a refusal', () => {
  it('of the token ends a provider that cannot pair', async () => {
    const { provider, states } = connecting({ token: 'wrong' }, TOKEN);
    await expect(provider.ready).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(states.at(-1)).toMatchObject({ at: 'closed', error: { code: 'AUTH_FAILED' } });
    await expect(provider.push.keep('x')).rejects.toMatchObject({ code: LocalErrorCode.Closed });
  });

  it('of a name that is taken is tried again, a few times', async () => {
    const clock = new FakeClock();
    const { gateway, provider } = connecting({ clock });
    gateway.refuseNext('hello', 'DUPLICATE_INSTANCE');
    await settle();
    expect(provider.state.at).toBe('connecting');
    await clock.advance(1_000);
    expect(provider.state.at).toBe('ready');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      gateway.refuseNext('hello', 'DUPLICATE_INSTANCE');
      if (attempt === 0) gateway.drop();
      await settle();
      await clock.advance(attempt === 0 ? 500 : attempt * 1_000);
    }
    expect(provider.state).toMatchObject({ at: 'closed', error: { code: 'DUPLICATE_INSTANCE' } });
  });

  it('for which the gateway has no time is tried again until it has', async () => {
    const clock = new FakeClock();
    const { gateway, provider } = connecting({ clock });
    for (let attempt = 0; attempt < 20; attempt += 1) {
      gateway.refuseNext('hello', 'RATE_LIMITED', 'too many');
      await clock.advance(Math.min(attempt * 1_000, HELLO_PAUSE_MAX_MS));
      await settle();
      expect(provider.state.at).toBe('connecting');
    }
    await clock.advance(HELLO_PAUSE_MAX_MS);
    await settle();
    expect(provider.state.at).toBe('ready');
  });

  it('that asks to wait is no failed attempt: what may pass a moment later has all its attempts', async () => {
    const clock = new FakeClock();
    const { gateway, provider } = connecting({ clock });
    let pauseMs = 0;
    for (const [code, count] of [
      ['RATE_LIMITED', 6],
      ['DUPLICATE_INSTANCE', HELLO_ATTEMPTS_MAX - 1],
    ] as const) {
      for (let attempt = 1; attempt <= count; attempt += 1) {
        gateway.refuseNext('hello', code, 'not now');
        await clock.advance(pauseMs);
        await settle();
        expect(provider.state.at).toBe('connecting');
        pauseMs = attempt * 1_000;
      }
    }
    await clock.advance(pauseMs);
    await settle();
    expect(provider.state.at).toBe('ready');
  });

  it('of what the provider may not do ends it, with the advice', async () => {
    const pairing = { code: () => '123456' };
    const { provider } = connecting({ pairing, context: 'psst' }, { pairingCode: '123456' });
    await expect(provider.ready).rejects.toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
  });
});

describe('closing', () => {
  it('says goodbye', async () => {
    const { gateway, provider, states } = await connected();
    await provider.close('done for today');
    expect(gateway.received.at(-1)).toEqual({ type: 'goodbye', reason: 'done for today' });
    await provider.close();
    expect(states.filter(({ at }) => at === 'closed')).toHaveLength(1);
  });
});
