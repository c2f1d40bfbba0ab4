import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { StateAction } from '@atrium/protocol';
import { checkAction } from '@atrium/protocol/validation';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  envelopesOf,
  lastText,
  openPuppetRoom,
  openRoom,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-room.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { DEFAULT_SCRIPT, settle } from '../support/test-host.js';

const queued = (id: string, text = id): StateAction => ({
  type: 'session/pendingMessageSet',
  kind: 'queued',
  id,
  userMessage: { text },
});

const steering = (id: string, text = id): StateAction => ({
  type: 'session/pendingMessageSet',
  kind: 'steering',
  id,
  userMessage: { text },
});

describe('the queue', () => {
  it('[AHP-173] [AHP-178] gives up its first message when a turn completes: removed, then started, by the host', async () => {
    const { desk, uri, puppet, agent } = await openPuppetRoom();
    desk.dispatch(uri, queued('q1', 'the next one'));
    await settle();
    puppet.finish();
    const { turn } = await agent.turn(1);
    await settle();
    expect(turn.message).toEqual({ text: 'the next one' });
    const [removed, started] = envelopesOf(desk, uri).slice(-2);
    expect(removed?.action).toEqual({ type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q1' });
    expect(started?.action).toMatchObject({
      type: 'session/turnStarted',
      turnId: turn.id,
      userMessage: { text: 'the next one' },
      queuedMessageId: 'q1',
    });
    expect(removed).not.toHaveProperty('origin');
    expect(started).not.toHaveProperty('origin');
    expect((await stateOf(desk, uri)).queuedMessages).toBeUndefined();
  });

  it('[AHP-173] is worked off first come, first served, each with a turn of its own', async () => {
    const { desk, uri, puppet, agent } = await openPuppetRoom();
    for (const id of ['q1', 'q2', 'q3']) desk.dispatch(uri, queued(id));
    await settle();
    puppet.finish();
    for (const index of [1, 2, 3]) (await agent.turn(index)).finish();
    await settle();
    const { turns } = await stateOf(desk, uri);
    expect(turns.map(({ userMessage }) => userMessage.text)).toEqual(['go on', 'q1', 'q2', 'q3']);
    expect(new Set(turns.map(({ id }) => id)).size).toBe(4);
  });

  it('[AHP-173] is worked off in the order that it was given last', async () => {
    const { desk, uri, puppet, agent } = await openPuppetRoom();
    for (const id of ['q1', 'q2', 'q3']) desk.dispatch(uri, queued(id));
    desk.dispatch(uri, { type: 'session/queuedMessagesReordered', order: ['q3', 'q1'] });
    await settle();
    puppet.finish();
    for (const index of [1, 2, 3]) (await agent.turn(index)).finish();
    expect(agent.turns.slice(1).map(({ turn }) => turn.message.text)).toEqual(['q3', 'q1', 'q2']);
  });

  it('[AHP-173] sends a message as it was changed last, and not one that was taken back', async () => {
    const { desk, uri, puppet, agent } = await openPuppetRoom();
    desk.dispatch(uri, queued('q1', 'draft'));
    desk.dispatch(uri, queued('q2'));
    desk.dispatch(uri, queued('q1', 'final'));
    desk.dispatch(uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q2' });
    await settle();
    puppet.finish();
    (await agent.turn(1)).finish();
    await settle();
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['go on', 'final']);
  });

  it('[AHP-174] is not waited in while nothing runs', async () => {
    const { desk, uri } = await openRoom();
    desk.dispatch(uri, queued('q1', 'hello'));
    await desk.action(uri, 'session/turnComplete');
    expect(desk.types(uri).slice(1, 4)).toEqual([
      'session/pendingMessageSet',
      'session/pendingMessageRemoved',
      'session/turnStarted',
    ]);
    expect(lastText(await stateOf(desk, uri))).toBe('Hello there');
  });

  it('[AHP-174] waits while the session is being created, and moves when it is ready', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ agents: [agent] });
    const desk = await host.client('desk');
    await desk.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await desk.request('subscribe', { channel: 'x:1' });
    desk.dispatch('x:1', queued('q1'));
    await desk.action('x:1', 'session/pendingMessageSet');
    expect((await stateOf(desk, 'x:1')).queuedMessages).toHaveLength(1);
    open();
    expect((await agent.turn(0)).turn.message.text).toBe('q1');
  });

  it('[AHP-175] rests after a cancelled turn, and goes on with the next message that joins it', async () => {
    const { desk, uri, agent } = await openPuppetRoom();
    desk.dispatch(uri, queued('q1'));
    desk.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await desk.action(uri, 'session/turnCancelled');
    await settle();
    expect(agent.turns).toHaveLength(1);
    expect((await stateOf(desk, uri)).queuedMessages).toMatchObject([{ id: 'q1' }]);
    desk.dispatch(uri, queued('q2'));
    (await agent.turn(1)).finish();
    (await agent.turn(2)).finish();
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['go on', 'q1', 'q2']);
  });

  it('[AHP-175] rests after a failed turn, and goes on when the next one completes', async () => {
    const { desk, uri, agent, puppet } = await openPuppetRoom();
    desk.dispatch(uri, queued('q1'));
    await settle();
    puppet.fail(new Error('no'));
    await desk.action(uri, 'session/error');
    await settle();
    expect(agent.turns).toHaveLength(1);
    desk.dispatch(uri, turnStarted('t2', 'again'));
    (await agent.turn(1)).finish();
    expect((await agent.turn(2)).turn.message.text).toBe('q1');
  });

  it('survives a restart of the host, in its order', async () => {
    const log = new MemoryLog();
    const { desk, uri } = await openPuppetRoom({ log });
    for (const id of ['q1', 'q2']) desk.dispatch(uri, queued(id));
    desk.dispatch(uri, { type: 'session/queuedMessagesReordered', order: ['q2', 'q1'] });
    desk.dispatch(uri, steering('s1'));
    await settle();
    const agent = new PuppetAgent();
    const phone = await (await startHost({ log, agents: [agent] })).client('phone');
    const state = await stateOf(phone, uri);
    expect(state.queuedMessages?.map(({ id }) => id)).toEqual(['q2', 'q1']);
    expect(state.steeringMessage?.id).toBe('s1');
    phone.dispatch(uri, turnStarted('t2', 'on we go'));
    (await agent.turn(0)).finish();
    (await agent.turn(1)).finish();
    (await agent.turn(2)).finish();
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['on we go', 'q2', 'q1']);
  });
});

describe('steering', () => {
  it('[AHP-176] [AHP-178] reaches the agent once, and is then gone', async () => {
    const { desk, uri, puppet } = await openPuppetRoom();
    desk.dispatch(uri, steering('s1', 'more to the left'));
    await desk.action(uri, 'session/pendingMessageSet');
    expect(puppet.turn.takeSteering()).toEqual({ text: 'more to the left' });
    expect(puppet.turn.takeSteering()).toBeUndefined();
    const removed = await desk.action(uri, 'session/pendingMessageRemoved');
    expect(removed.action).toMatchObject({ kind: 'steering', id: 's1' });
    expect(removed).not.toHaveProperty('origin');
    expect((await stateOf(desk, uri)).steeringMessage).toBeUndefined();
  });

  it('[REL-070] stands in the record between what the agent said before and after it, word for word, for every wire', async () => {
    const log = new KeptLog();
    const { desk, uri, puppet, host, agent } = await openPuppetRoom({ log });
    const old = await sessionsV1Client(host, 'old');
    puppet.turn.text('before');
    const attachments = [{ type: 'resource', uri: 'file:///srv/a.ts', label: 'a.ts' } as const];
    const userMessage = { text: `  left,\n\n**not** right ${'x'.repeat(40_000)} `, attachments };
    desk.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'steering', id: 's1', userMessage });
    await desk.action(uri, 'session/pendingMessageSet');
    expect(puppet.turn.takeSteering()).toEqual(userMessage);
    puppet.turn.text('after');
    puppet.finish();
    await desk.action(uri, 'session/turnComplete');
    const recorded = { kind: 'systemNotification', userMessage };
    const parts = [{ content: 'before' }, recorded, { content: 'after' }];
    const [turn] = (await stateOf(desk, uri)).turns;
    expect(turn?.responseParts).toMatchObject(parts);
    const shown = turn?.responseParts[1];
    expect(shown?.kind === 'systemNotification' && shown.content).toContain(`\n${userMessage.text}\nAttached: a.ts`);
    expect(checkAction({ type: 'session/responsePart', turnId: 't1', part: shown }).ok).toBe(true);
    const { state } = await old.subscribe(uri.replace('ahp-session:', 'puppet:'));
    expect(state).toMatchObject({
      turns: [{ responseParts: [{}, { kind: 'markdown', content: expect.stringContaining(userMessage.text) }, {}] }],
    });
    await host.stop();
    const phone = await (await startHost({ log, agents: [agent] })).client('phone');
    expect((await stateOf(phone, uri)).turns[0]?.responseParts).toMatchObject(parts);
  });

  it('[AHP-176] is there for a script as ${steering}', async () => {
    const prompts = { work: [{ text: 'working; ' }, { delayMs: 1_000 }, { text: 'now ${steering}' }] };
    const { desk, uri, clock } = await openRoom({ scripts: [{ ...DEFAULT_SCRIPT, prompts }] });
    desk.dispatch(uri, turnStarted('t1', 'work'));
    await desk.action(uri, 'session/delta');
    desk.dispatch(uri, steering('s1', 'faster'));
    await settle();
    await clock.advance(1_000);
    await desk.action(uri, 'session/turnComplete');
    expect(lastText(await stateOf(desk, uri))).toBe('working; now faster');
  });

  it('[AHP-176] is replaced by a later one', async () => {
    const { desk, uri, puppet } = await openPuppetRoom();
    desk.dispatch(uri, steering('s1', 'left'));
    desk.dispatch(uri, steering('s2', 'right'));
    await settle();
    expect(puppet.turn.takeSteering()).toEqual({ text: 'right' });
    expect(puppet.turn.takeSteering()).toBeUndefined();
  });

  it('[AHP-177] waits while nothing runs, starts nothing, and goes to the next turn', async () => {
    const { desk, uri, agent } = await openRoom({ session: { provider: 'puppet' } });
    desk.dispatch(uri, steering('s1', 'gently'));
    await settle();
    expect(agent.turns).toEqual([]);
    expect((await stateOf(desk, uri)).steeringMessage).toMatchObject({ id: 's1' });
    desk.dispatch(uri, turnStarted('t1'));
    expect((await agent.turn(0)).turn.takeSteering()).toEqual({ text: 'gently' });
  });
});
