import { describe, expect, it } from 'vitest';
import type { Shutdown } from '../src/index.js';
import { connected, connecting, eventually } from './support/connected.js';

const TWO = [
  { id: 'one', label: 'One' },
  { id: 'two', label: 'Two' },
];

describe('a session to bind to', () => {
  it('is the first one, the one that is named, or the one that is chosen', async () => {
    const first = await connected({}, { sessions: TWO });
    expect(await first.provider.ready).toMatchObject({ sessionId: 'one' });
    const named = await connected({ session: 'two' }, { sessions: TWO });
    expect(await named.provider.ready).toMatchObject({ sessionId: 'two' });
    const chosen = await connected({ session: (active) => active.at(-1)?.id }, { sessions: TWO });
    expect(await chosen.provider.ready).toMatchObject({ sessionId: 'two' });
    expect(chosen.provider.sessions).toEqual(TWO);
  });

  it('is waited for when there is none', async () => {
    const { gateway, provider, states } = connecting({}, { sessions: [] });
    await eventually(() => states.at(-1)?.at === 'waiting-for-session');
    gateway.startSession({ id: 'late', label: 'Late' });
    expect(await provider.ready).toMatchObject({ sessionId: 'late' });
  });

  it('that does not want us makes room for the next one, and is not asked twice', async () => {
    const { gateway, provider } = connecting({}, { sessions: TWO });
    gateway.refuseNext('hello', 'INVALID_SESSION');
    expect(await provider.ready).toMatchObject({ sessionId: 'two' });
    expect(gateway.received.map((message) => message.type === 'hello' && message.session)).toEqual(['one', 'two']);
  });
});

describe('the end of a session', () => {
  it('waits for the author, then the provider goes on to another session', async () => {
    const seen: Shutdown[] = [];
    let clean = () => {};
    const shutdown = (it: Shutdown) => {
      seen.push(it);
      return new Promise<void>((resolve) => {
        clean = resolve;
      });
    };
    const { gateway, provider, states } = await connected({ on: { shutdown } }, { sessions: TWO });
    const ended = gateway.endSession('one');
    await eventually(() => seen.length === 1);
    expect(seen).toEqual([{ sessionId: 'one', deadlineMs: 10_000 }]);
    expect(gateway.received.some(({ type }) => type === 'shutdown.ready')).toBe(false);
    clean();
    await ended;
    await eventually(() => provider.state.at === 'ready' && provider.state.sessionId === 'two');
    expect(states.filter(({ at }) => at === 'reconnecting')).toEqual([]);
  });

  it('leaves a provider waiting when there is no other, and it takes the next', async () => {
    const { gateway, provider } = await connected({ on: { shutdown: () => Promise.reject(new Error('cannot')) } });
    await gateway.endSession('session-1');
    await eventually(() => provider.state.at === 'waiting-for-session');
    gateway.startSession({ id: 'session-2', label: '' });
    await eventually(() => provider.state.at === 'ready' && provider.state.sessionId === 'session-2');
  });
});

describe('a provider that is bound to all sessions', () => {
  it('says of each new session when it is ready for it', async () => {
    const prepared: string[] = [];
    const on = { newSession: async ({ sessionId }: { sessionId: string }) => void prepared.push(sessionId) };
    const { gateway, provider } = await connected({ session: 'all', on }, { sessions: TWO });
    expect(await provider.ready).not.toHaveProperty('sessionId');
    gateway.startSession({ id: 'three', label: '' });
    expect(await gateway.next('session.ready')).toEqual({ type: 'session.ready', sessionId: 'three' });
    expect(prepared).toEqual(['three']);
  });

  it('never says so when it failed to prepare', async () => {
    const on = { newSession: () => Promise.reject(new Error('no')) };
    const { gateway, logged } = await connected({ session: 'all', on }, { sessions: [] });
    gateway.startSession({ id: 'three', label: '' });
    await eventually(() => logged.length === 1);
    expect(gateway.received.map(({ type }) => type)).toEqual(['hello']);
  });

  it('may change tools in one of them', async () => {
    const { gateway, provider } = await connected({ session: 'all' }, { sessions: TWO });
    await provider.updateTools({ only: { description: '', run: () => 'here' } }, { sessionId: 'two' });
    expect(await gateway.next('tools.update')).toMatchObject({ sessionId: 'two', tools: [{ name: 'only' }] });
    expect(await gateway.call('only')).toMatchObject({ data: 'here' });
  });
});

describe('events', () => {
  it('come to the handlers there are, which also say what to subscribe to', async () => {
    const heard: unknown[] = [];
    const { gateway, logged } = await connected({
      subscribe: ['future.thing'],
      on: {
        userMessage: (data, session) => heard.push(['user', data, session]),
        toolComplete: ({ tool, durationMs }) => heard.push(['tool', tool, durationMs]),
        started: (session) => heard.push(['started', session]),
        idle: () => {
          heard.push(['idle']);
          throw new Error('a handler may fail');
        },
      },
    });
    expect(gateway.provider.hello.subscribe).toEqual(['user.message', 'tool.execution_complete', 'future.thing']);
    gateway.event('user.message', { content: 'hi' });
    gateway.event('tool.execution_complete', { tool: 'shell', args: {}, result: { type: 'success' }, durationMs: 3 });
    gateway.event('assistant.intent', { intent: 'nobody listens' });
    gateway.idle();
    await eventually(() => logged.length === 1);
    expect(heard).toEqual([
      ['started', { sessionId: 'session-1' }],
      ['user', { content: 'hi' }, { sessionId: 'session-1' }],
      ['tool', 'shell', 3],
      ['idle'],
    ]);
  });
});
