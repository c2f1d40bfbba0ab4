import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { StateAction } from '@atrium/protocol';
import { checkAction } from '@atrium/protocol/validation';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  envelopesOf,
  lastText,
  openFixture,
  openPuppetFixture,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
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
    const { client, uri, puppet, agent } = await openPuppetFixture();
    client.dispatch(uri, queued('q1', 'the next one'));
    await settle();
    puppet.finish();
    const { turn } = await agent.turn(1);
    await settle();
    expect(turn.message).toEqual({ text: 'the next one', origin: { kind: 'user' } });
    const [removed, started] = envelopesOf(client, uri).slice(-2);
    expect(removed?.action).toEqual({ type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q1' });
    expect(started?.action).toMatchObject({
      type: 'session/turnStarted',
      turnId: turn.id,
      userMessage: { text: 'the next one' },
      queuedMessageId: 'q1',
    });
    expect(removed).not.toHaveProperty('origin');
    expect(started).not.toHaveProperty('origin');
    expect((await stateOf(client, uri)).queuedMessages).toBeUndefined();
  });

  it('[AHP-173] is worked off first come, first served, each with a turn of its own', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    for (const id of ['q1', 'q2', 'q3']) client.dispatch(uri, queued(id));
    await settle();
    puppet.finish();
    for (const index of [1, 2, 3]) (await agent.turn(index)).finish();
    await settle();
    const { turns } = await stateOf(client, uri);
    expect(turns.map(({ userMessage }) => userMessage.text)).toEqual(['go on', 'q1', 'q2', 'q3']);
    expect(new Set(turns.map(({ id }) => id)).size).toBe(4);
  });

  it('[AHP-173] is worked off in the order that it was given last', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    for (const id of ['q1', 'q2', 'q3']) client.dispatch(uri, queued(id));
    client.dispatch(uri, { type: 'session/queuedMessagesReordered', order: ['q3', 'q1'] });
    await settle();
    puppet.finish();
    for (const index of [1, 2, 3]) (await agent.turn(index)).finish();
    expect(agent.turns.slice(1).map(({ turn }) => turn.message.text)).toEqual(['q3', 'q1', 'q2']);
  });

  it('[AHP-173] sends a message as it was changed last, and not one that was taken back', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    client.dispatch(uri, queued('q1', 'draft'));
    client.dispatch(uri, queued('q2'));
    client.dispatch(uri, queued('q1', 'final'));
    client.dispatch(uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q2' });
    await settle();
    puppet.finish();
    (await agent.turn(1)).finish();
    await settle();
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['go on', 'final']);
  });

  it('[AHP-174] is not waited in while nothing runs', async () => {
    const { client, uri } = await openFixture();
    client.dispatch(uri, queued('q1', 'hello'));
    await client.action(uri, 'session/turnComplete');
    expect(client.types(uri).slice(1, 4)).toEqual([
      'session/pendingMessageSet',
      'session/pendingMessageRemoved',
      'session/turnStarted',
    ]);
    expect(lastText(await stateOf(client, uri))).toBe('Hello there');
  });

  it('[AHP-174] waits while the session is being created, and moves when it is ready', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ agents: [agent] });
    const client = await host.client('desk');
    await client.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await client.request('subscribe', { channel: 'x:1' });
    client.dispatch('x:1', queued('q1'));
    await client.action('x:1', 'session/pendingMessageSet');
    expect((await stateOf(client, 'x:1')).queuedMessages).toHaveLength(1);
    open();
    expect((await agent.turn(0)).turn.message.text).toBe('q1');
  });

  it('[AHP-175] rests after a cancelled turn, and goes on with the next message that joins it', async () => {
    const { client, uri, agent } = await openPuppetFixture();
    client.dispatch(uri, queued('q1'));
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await client.action(uri, 'session/turnCancelled');
    await settle();
    expect(agent.turns).toHaveLength(1);
    expect((await stateOf(client, uri)).queuedMessages).toMatchObject([{ id: 'q1' }]);
    client.dispatch(uri, queued('q2'));
    (await agent.turn(1)).finish();
    (await agent.turn(2)).finish();
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['go on', 'q1', 'q2']);
  });

  it('[AHP-175] rests after a failed turn, and goes on when the next one completes', async () => {
    const { client, uri, agent, puppet } = await openPuppetFixture();
    client.dispatch(uri, queued('q1'));
    await settle();
    puppet.fail(new Error('no'));
    await client.action(uri, 'session/error');
    await settle();
    expect(agent.turns).toHaveLength(1);
    client.dispatch(uri, turnStarted('t2', 'again'));
    (await agent.turn(1)).finish();
    expect((await agent.turn(2)).turn.message.text).toBe('q1');
  });

  it('survives a restart of the host, in its order', async () => {
    const log = new MemoryLog();
    const { client, uri } = await openPuppetFixture({ log });
    for (const id of ['q1', 'q2']) client.dispatch(uri, queued(id));
    client.dispatch(uri, { type: 'session/queuedMessagesReordered', order: ['q2', 'q1'] });
    client.dispatch(uri, steering('s1'));
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
    const { client, uri, puppet } = await openPuppetFixture();
    client.dispatch(uri, steering('s1', 'more to the left'));
    await client.action(uri, 'session/pendingMessageSet');
    expect(puppet.turn.takeSteering()).toEqual({ text: 'more to the left', origin: { kind: 'user' } });
    expect(puppet.turn.takeSteering()).toBeUndefined();
    const removed = await client.action(uri, 'session/pendingMessageRemoved');
    expect(removed.action).toMatchObject({ kind: 'steering', id: 's1' });
    expect(removed).not.toHaveProperty('origin');
    expect((await stateOf(client, uri)).steeringMessage).toBeUndefined();
  });

  it('[REL-070] stands in the record between what the agent said before and after it, word for word, for every wire', async () => {
    const log = new KeptLog();
    const { client, uri, puppet, host, agent } = await openPuppetFixture({ log });
    const old = await sessionsV1Client(host, 'old');
    puppet.turn.text('before');
    const attachments = [{ type: 'resource', uri: 'file:///srv/a.ts', label: 'a.ts' } as const];
    const userMessage = { text: `  left,\n\n**not** right ${'x'.repeat(40_000)} `, attachments };
    client.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'steering', id: 's1', userMessage });
    await client.action(uri, 'session/pendingMessageSet');
    expect(puppet.turn.takeSteering()).toEqual({ ...userMessage, origin: { kind: 'user' } });
    puppet.turn.text('after');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    const recorded = { kind: 'systemNotification', userMessage };
    const parts = [{ content: 'before' }, recorded, { content: 'after' }];
    const [turn] = (await stateOf(client, uri)).turns;
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
    const { client, uri, clock } = await openFixture({ scripts: [{ ...DEFAULT_SCRIPT, prompts }] });
    client.dispatch(uri, turnStarted('t1', 'work'));
    await client.action(uri, 'session/delta');
    client.dispatch(uri, steering('s1', 'faster'));
    await settle();
    await clock.advance(1_000);
    await client.action(uri, 'session/turnComplete');
    expect(lastText(await stateOf(client, uri))).toBe('working; now faster');
  });

  it('[AHP-176] is replaced by a later one', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    client.dispatch(uri, steering('s1', 'left'));
    client.dispatch(uri, steering('s2', 'right'));
    await settle();
    expect(puppet.turn.takeSteering()).toEqual({ text: 'right', origin: { kind: 'user' } });
    expect(puppet.turn.takeSteering()).toBeUndefined();
  });

  it('[AHP-177] waits while nothing runs, starts nothing, and goes to the next turn', async () => {
    const { client, uri, agent } = await openFixture({ session: { provider: 'puppet' } });
    client.dispatch(uri, steering('s1', 'gently'));
    await settle();
    expect(agent.turns).toEqual([]);
    expect((await stateOf(client, uri)).steeringMessage).toMatchObject({ id: 's1' });
    client.dispatch(uri, turnStarted('t1'));
    expect((await agent.turn(0)).turn.takeSteering()).toEqual({ text: 'gently', origin: { kind: 'user' } });
  });
});
