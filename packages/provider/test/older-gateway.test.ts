import { memoryPair } from '@atrium/link';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../src/index.js';
import { connected, connecting, eventually } from './support/connected.js';
import { FakeClock, settle } from './support/fake-clock.js';

const OLDER = { habits: { acknowledges: false, namesSession: false, saysStarted: false } };
const TOOL = { description: '', run: () => 'here' };

/** The other end of a provider, for words that no gateway of this version says. */
function raw(): { transport: () => Transport; say(message: object): void; heard: { type: string }[] } {
  const heard: { type: string }[] = [];
  let end: Transport | undefined;
  const transport = () => {
    const [near, far] = memoryPair();
    far.onMessage((text) => heard.push(JSON.parse(text)));
    end = far;
    return near;
  };
  return { transport, heard, say: (message) => end?.send(JSON.stringify(message)) };
}

describe('an older gateway', () => {
  it('that does not acknowledge has taken what it has not refused in three seconds', async () => {
    const clock = new FakeClock();
    const { gateway, provider } = connecting({ clock }, OLDER);
    await settle();
    const updated = provider.updateTools({ late: TOOL });
    await settle();
    expect(await gateway.call('late')).toMatchObject({ data: 'here' });
    await clock.advance(3_000);
    expect(await updated).toEqual({ acknowledged: false });
  });

  it('that refuses without naming the request refuses the oldest of its kind', async () => {
    const { gateway, provider } = await connected({}, OLDER);
    const updated = provider.updateTools({ late: TOOL });
    gateway.send({ type: 'error', code: 'TOOL_CONFLICT', message: 'late is taken', replyTo: 'tools.update' });
    await expect(updated).rejects.toMatchObject({ code: 'TOOL_CONFLICT' });
  });

  it('that does not name the session means the one that was asked for', async () => {
    const { provider } = await connected({}, OLDER);
    expect(await provider.ready).toMatchObject({ sessionId: 'session-1' });
  });

  it('may leave out what it does not know', async () => {
    const { transport, heard, say } = raw();
    const { provider } = connecting({ transport, token: 'ptk-1', tools: { late: TOOL } });
    await eventually(() => heard.length === 1);
    say({ type: 'sessions', active: [{ id: 'abc' }] });
    await eventually(() => heard.length === 2);
    say({ type: 'hello.ack', protocolVersion: 2 });
    expect(await provider.ready).toEqual({ providerId: '', sessionId: 'abc' });
    say({ type: 'tool.call', id: 'c-1', tool: 'late' });
    await eventually(() => heard.length === 3);
    expect(heard[2]).toEqual({ type: 'tool.result', id: 'c-1', data: 'here' });
    say({ type: 'session.lifecycle', sessionId: 'abc', state: 'shutdown.pending' });
    // It has one token, and with a new connection it finds out whether that is still good.
    await eventually(() => heard.length === 5);
    expect(heard.slice(3)).toEqual([
      { type: 'shutdown.ready', sessionId: 'abc' },
      { type: 'auth', token: 'ptk-1' },
    ]);
    say({ type: 'sessions', active: [] });
    await eventually(() => provider.state.at === 'waiting-for-session');
    say({ type: 'sessions.updated', active: [{ id: 'def' }] });
    await eventually(() => heard.length === 6);
    expect(heard[5]).toMatchObject({ type: 'hello', session: 'def' });
  });
});

describe('a newer gateway', () => {
  it('[GW-007] may say what nobody knows; it is logged and forgotten', async () => {
    const { transport, heard, say } = raw();
    const { provider, logged } = connecting({ transport, token: 'ptk-1', tools: { late: TOOL } });
    await eventually(() => heard.length === 1);
    for (const type of ['future.thing', '__proto__', 'constructor']) say({ type, of: 'interest' });
    say({ type: 'sessions', active: [{ id: 'abc', label: '' }] });
    await eventually(() => heard.length === 2);
    say({ type: 'hello.ack', protocolVersion: 2, providerId: 'p', reconnectToken: 't', degraded: ['no gates'] });
    expect(await provider.ready).toMatchObject({ degraded: ['no gates'] });
    say({ type: 'error', code: 'NEW_CODE', message: 'something new', replyTo: 'push' });
    say({ type: 'tool.call', id: 'c-1', sessionId: 'abc', tool: 'late', args: {}, more: true });
    await eventually(() => heard.length === 3);
    const ignored = expect.stringContaining('ignored a message');
    expect(logged).toEqual([ignored, ignored, ignored, expect.stringContaining('NEW_CODE: something new')]);
  });
});
