import { describe, expect, it } from 'vitest';
import type { ProviderError } from '../src/index.js';
import { connected, connecting, eventually } from './support/connected.js';
import { FakeClock, settle } from './support/fake-clock.js';

describe('push', () => {
  it('says what happened, at three levels, or prompts', async () => {
    const { gateway, provider } = await connected();
    await provider.push.keep('a');
    await provider.push.surface('b', { stream: 'builds', metadata: { run: 7 } });
    await provider.push.inject('c', { sessionId: 'session-1' });
    await provider.push.prompt('Look at the build.');
    await eventually(() => gateway.received.length === 5);
    expect(gateway.received.slice(1)).toEqual([
      { type: 'push', level: 'keep', event: 'a' },
      { type: 'push', level: 'surface', event: 'b', stream: 'builds', metadata: { run: 7 } },
      { type: 'push', level: 'inject', event: 'c', sessionId: 'session-1' },
      { type: 'push', level: 'inject', prompt: 'Look at the build.' },
    ]);
  });

  it('never sends more than ten in a second, in order', async () => {
    const clock = new FakeClock();
    const { gateway, provider } = connecting({ clock });
    await settle();
    for (let count = 0; count < 25; count += 1) void provider.push.keep(`event ${count}`);
    await settle();
    const pushed = () => gateway.received.flatMap((message) => (message.type === 'push' ? [message.event] : []));
    expect(pushed()).toHaveLength(10);
    await clock.advance(999);
    expect(pushed()).toHaveLength(10);
    await clock.advance(1);
    expect(pushed()).toHaveLength(20);
    await clock.advance(1_000);
    expect(pushed()).toEqual(Array.from({ length: 25 }, (_, count) => `event ${count}`));
  });

  it('waits for a connection, up to a hundred', async () => {
    const { gateway, provider } = connecting({}, { sessions: [] });
    await eventually(() => provider.state.at === 'waiting-for-session');
    const pushes = Array.from({ length: 101 }, (_, count) => provider.push.keep(`event ${count}`));
    await expect(pushes[100]).rejects.toMatchObject({ code: 'PUSH_QUEUE_FULL' });
    gateway.startSession({ id: 'late', label: '' });
    await pushes[0];
    await eventually(() => gateway.received.some(({ type }) => type === 'push'));
  });

  it('that is refused later is told to the handler of errors', async () => {
    const errors: ProviderError[] = [];
    const { gateway, provider } = await connected({ on: { error: (error) => errors.push(error) } });
    gateway.refuseNext('push', 'RATE_LIMITED', 'too many');
    await provider.push.inject('again');
    await eventually(() => errors.length === 1);
    expect(errors[0]).toMatchObject({ code: 'RATE_LIMITED', replyTo: 'push' });
  });

  it('goes on when the handler of errors fails', async () => {
    const error = () => {
      throw new Error('mine');
    };
    const { gateway, provider, logged } = await connected({ on: { error } });
    gateway.refuseNext('push', 'RATE_LIMITED', 'too many');
    await provider.push.inject('again');
    await eventually(() => logged.includes('the error handler threw'));
    expect(provider.state.at).toBe('ready');
  });

  it('without a text is a mistake of the author', async () => {
    const { provider } = await connected();
    expect(() => provider.push.surface(' ')).toThrow('INVALID_OPTIONS');
  });
});
