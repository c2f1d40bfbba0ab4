/** A host that is leaving: what runs comes to its end, and what is sent from then on is begun by the host that takes over. */
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { describe, expect, it } from 'vitest';
import { chatState, nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle } from '../support/test-host.js';

const WAITS = 'Waiting for the host that takes over';

/** A host on what an earlier one has stored; the earlier one is just dropped. */
async function hostOn(log: Log, clientId: string) {
  const agent = new PuppetAgent();
  const host = await startHost({ log, agents: [agent] });
  return { ...host, agent, client: await nativeClient(host, clientId) };
}

function send(client: RawClient, chat: string, turnId: string): void {
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage(turnId) } as { type: string });
}

describe('a host that is leaving', () => {
  it('[CLU-042] ends what runs, stores a message, and leaves its turn to the next host, which begins it once', async () => {
    const log = new MemoryLog();
    const first = await hostOn(log, 'person');
    const [busy, other] = [
      await nativeSession(first.client, { provider: 'puppet' }),
      await nativeSession(first.client, { provider: 'puppet' }),
    ];
    send(first.client, busy.chat, 'runs');
    const running = await first.agent.turn(0);
    first.host.drain();
    send(first.client, other.chat, 'waits');
    await first.client.action(other.chat, 'chat/activityChanged');
    expect(await chatState(first.client, other.chat)).toMatchObject({ activeTurn: { id: 'waits' }, activity: WAITS });
    expect(first.host.activity.working).toBe(1);
    running.finish();
    await first.client.action(busy.chat, 'chat/turnComplete');
    expect(first.host.activity.working).toBe(0);
    expect(first.agent.turns).toHaveLength(1);

    const second = await hostOn(log, 'returned');
    const begun = await second.agent.turn(0);
    expect(begun.turn.message.text).toBe('waits');
    await second.client.request('subscribe', { channel: other.chat });
    expect((await chatState(second.client, other.chat)).activity).toBeUndefined();
    begun.finish();
    await second.client.action(other.chat, 'chat/turnComplete');
    const { turns } = await chatState(second.client, other.chat);
    expect(turns.map(({ id, state }) => [id, state])).toEqual([['waits', 'complete']]);

    const third = await hostOn(log, 'again');
    await settle();
    expect(third.agent.turns).toEqual([]);
  });

  it('[CLU-042] [CLU-009] a turn that was left and begun, and cut off then, is not begun again', async () => {
    const log = new MemoryLog();
    const first = await hostOn(log, 'person');
    const { chat } = await nativeSession(first.client, { provider: 'puppet' });
    first.host.drain();
    send(first.client, chat, 'waits');
    await first.client.action(chat, 'chat/activityChanged');
    const second = await hostOn(log, 'second');
    await second.agent.turn(0);
    const third = await hostOn(log, 'third');
    await third.client.request('subscribe', { channel: chat });
    const { turns, activeTurn } = await chatState(third.client, chat);
    expect(activeTurn).toBeUndefined();
    expect(turns.map(({ id, state }) => [id, state])).toEqual([['waits', 'error']]);
    expect(third.agent.turns).toEqual([]);
  });

  it('[CLU-042] a queued message still has its turn at the host that leaves, and one that is taken back has none', async () => {
    const log = new MemoryLog();
    const first = await hostOn(log, 'person');
    const queued = await nativeSession(first.client, { provider: 'puppet' });
    const stopped = await nativeSession(first.client, { provider: 'puppet' });
    send(first.client, queued.chat, 'runs');
    const running = await first.agent.turn(0);
    const message = userMessage('behind it');
    first.client.dispatch(queued.chat, {
      ...{ type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message },
    } as { type: string });
    await first.client.action(queued.chat, 'chat/pendingMessageSet');
    first.host.drain();
    send(first.client, stopped.chat, 'taken back');
    await first.client.action(stopped.chat, 'chat/activityChanged');
    first.client.dispatch(stopped.chat, { type: 'chat/turnCancelled', turnId: 'taken back', duration: 0 } as {
      type: string;
    });
    await first.client.action(stopped.chat, 'chat/turnCancelled');
    running.finish();
    const behind = await first.agent.turn(1);
    expect(behind.turn.message.text).toBe('behind it');
    behind.finish();
    await expect.poll(() => first.host.activity.working).toBe(0);

    const second = await hostOn(log, 'second');
    await settle();
    expect(second.agent.turns).toEqual([]);
    await second.client.request('subscribe', { channel: stopped.chat });
    const { turns, activity } = await chatState(second.client, stopped.chat);
    expect(turns.map(({ id, state }) => [id, state])).toEqual([['taken back', 'cancelled']]);
    expect(activity).toBeUndefined();
  });

  it('[CLU-042] a turn that needs what is connected only there begins there: an active client, an agent that asks for a token', async () => {
    const first = await hostOn(new MemoryLog(), 'person');
    const { uri, chat } = await nativeSession(first.client, { provider: 'puppet' });
    const activeClient = { clientId: 'person', tools: [] };
    first.client.dispatch(uri, { type: 'session/activeClientSet', activeClient } as { type: string });
    await first.client.action(uri, 'session/activeClientSet');
    first.host.drain();
    send(first.client, chat, 'here');
    (await first.agent.turn(0)).finish();
    await first.client.action(chat, 'chat/turnComplete');
  });
});
