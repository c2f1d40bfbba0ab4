/** Workers of tool calls: agents in chats of their own. */
import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import type { Commit, Stored } from '@atrium/core/log/log.js';
import {
  SESSION_CHATS_MAX,
  TURN_WORKERS_MAX,
  WORKER_DEPTH_MAX,
  WORKERS_AT_ONCE_MAX,
} from '@atrium/core/sessions/limits.js';
import { type ChatState, type SessionState, workerChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { type ChatFixtureOptions, openChats } from '../support/chat-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog, SlowLog } from '../support/logs.js';
import { chatState, nativeClient, nativeTurn, sessionState, userMessage } from '../support/native-client.js';
import type { PuppetTurn } from '../support/puppet-agent.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const TASK = { title: 'Count files', prompt: 'How many files are there?' };

/** A log that cannot store that a turn of one chat is cancelled. */
class NoEndings extends KeptLog {
  refused: string | undefined;

  override async append(commit: Commit): Promise<Stored> {
    const isEnd = ({ channel, action }: { readonly channel: string; readonly action: string }) =>
      channel === this.refused && action.includes('chat/turnCancelled');
    if (commit.entries.some(isEnd)) throw new Error('ENOSPC: no space left on device');
    return super.append(commit);
  }
}

/** A turn of the puppet that has given a task to a worker. */
async function withWorker(options: ChatFixtureOptions = {}, task: object = TASK) {
  const tools = [...builtinTools(), echoTool('echo')];
  const fixture = await openChats({ tools, ...options, session: { provider: 'puppet' } });
  const { client, chat, uri, agent } = fixture;
  client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message: userMessage('go') } as never);
  const parent = await agent.turn(0);
  const outcome = parent.turn.callTool({ id: 'call 1', name: 'task', input: task });
  outcome.catch(() => {});
  const worker = await agent.turn(1);
  const workerChat = workerChatUri(uri, 'call 1');
  await client.request('subscribe', { channel: workerChat });
  return { ...fixture, parent, worker, outcome, workerChat };
}

describe('the tool task', () => {
  it('[UP-078] [UP-183] runs a worker in a chat of its own, and returns what it said in the end', async () => {
    const { client, uri, chat, worker, outcome, workerChat, parent } = await withWorker();
    expect(worker.turn.message).toMatchObject({ text: TASK.prompt, origin: { kind: 'agent' } });
    expect(worker.turn.context.join()).toContain('You work for another agent');
    const state = await chatState(client, workerChat);
    expect(state).toMatchObject({
      title: TASK.title,
      interactivity: 'read-only',
      origin: { kind: 'tool', chat, toolCallId: 'call 1' },
      activeTurn: { message: { text: TASK.prompt } },
    });
    const shown = { type: 'subagent', resource: workerChat, title: TASK.title };
    expect(JSON.stringify(await chatState(client, chat))).toContain(JSON.stringify(shown));
    worker.turn.text('Let me see.');
    await worker.turn.callTool({ name: 'echo', input: { text: 'x' } });
    worker.turn.text('There are 3.');
    worker.finish();
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'There are 3.' });
    parent.finish();
    await client.action(chat, 'chat/turnComplete');
    const [turn] = (await chatState(client, chat)).turns;
    expect(turn?.responseParts).toMatchObject([
      { toolCall: { status: 'completed', content: [shown, { type: 'text' }] } },
    ]);
    expect((await sessionState(client, uri)).chats).toMatchObject([{}, { resource: workerChat, status: 1 }]);
    expect((await chatState(client, workerChat)).turns).toMatchObject([{ state: 'complete' }]);
  });

  it('[CLU-042] begins also while the host is leaving: a turn that still has to end waits for it', async () => {
    const { host, client, chat, agent } = await openChats({ tools: builtinTools(), session: { provider: 'puppet' } });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message: userMessage('go') } as never);
    const parent = await agent.turn(0);
    host.host.drain();
    const outcome = parent.turn.callTool({ id: 'call 1', name: 'task', input: TASK });
    const worker = await agent.turn(1);
    worker.turn.text('Done.');
    worker.finish();
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[UP-156] lets nobody else write into the chat of a worker, but lets everybody stop it', async () => {
    const { client, outcome, workerChat } = await withWorker();
    const message = userMessage('hey');
    const turnId = (await chatState(client, workerChat)).activeTurn?.id ?? '';
    for (const action of [
      { type: 'chat/turnStarted', turnId: 'x', message },
      { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message },
      { type: 'chat/draftChanged', draft: message },
      { type: 'chat/truncated' },
    ])
      expect(await refusalOf(client, workerChat, action as never), action.type).toBeDefined();
    expect(await refusalOf(client, workerChat, { type: 'chat/turnCancelled', turnId, duration: 1 } as never)).toBe(
      undefined,
    );
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('was stopped') });
  });

  it('[UP-174] [UP-067] asks people about calls of the worker through the session', async () => {
    const { client, uri, worker, outcome, workerChat } = await withWorker({
      tools: [...builtinTools(), echoTool('echo', { confirmation: { title: 'Echo?' } })],
    });
    const call = worker.turn.callTool({ id: 'e', name: 'echo', input: { text: 'x' } });
    await client.action(uri, 'session/inputNeededSet');
    const [entry] = (await sessionState(client, uri)).inputNeeded ?? [];
    expect(entry).toMatchObject({ kind: 'toolConfirmation', chat: workerChat });
    const { turnId } = entry as { turnId: string };
    client.dispatch(workerChat, {
      ...{ type: 'chat/toolCallConfirmed', turnId, toolCallId: 'e', approved: true, confirmed: 'user-action' },
    } as never);
    expect(await call).toMatchObject({ kind: 'completed' });
    worker.finish();
    await outcome;
    expect(await sessionState(client, uri)).not.toHaveProperty('inputNeeded');
  });

  it('stops the worker with the turn that it works for', async () => {
    const { client, chat, worker, outcome, workerChat } = await withWorker();
    const ended = outcome.catch((error: Error) => error.name);
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 'a', duration: 1 } as never);
    await client.action(workerChat, 'chat/turnCancelled');
    expect(worker.turn.signal.aborted).toBe(true);
    expect(await ended).toBe('AbortError');
    expect((await chatState(client, workerChat)).turns).toMatchObject([{ state: 'cancelled' }]);
  });

  it('[UP-078] starts no worker for a turn whose end is decided, although the agent is not told yet', async () => {
    const log = new SlowLog();
    const { client, chat, uri, agent } = await openChats({ log, session: { provider: 'puppet' } });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message: userMessage('go') } as never);
    const { turn } = await agent.turn(0);
    const store = log.hold('append');
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 'a', duration: 1 } as never);
    await settle();
    expect(turn.signal.aborted).toBe(false);
    expect(() => turn.openWorker({ toolCallId: 'x', ...TASK })).toThrow('the turn is over');
    store();
    await client.action(chat, 'chat/turnCancelled');
    expect((await sessionState(client, uri)).chats).toHaveLength(1);
  });

  it('tells the agent why a worker failed', async () => {
    const { worker, outcome } = await withWorker();
    worker.turn.text('I tried.');
    worker.fail(new Error('no network'));
    expect(await outcome).toMatchObject({ success: false, text: expect.stringMatching(/no network[\s\S]*I tried/) });
  });

  it('gives the worker only the tools that it should have', async () => {
    const { worker, parent } = await withWorker({}, { ...TASK, tools: ['echo'] });
    expect(worker.turn.tools().map(({ name }) => name)).toEqual(['echo']);
    expect(await worker.turn.callTool({ name: 'shell', input: { command: 'true' } })).toMatchObject({ success: false });
    expect(parent.turn.tools().map(({ name }) => name)).toContain('shell');
  });

  it('has limits: how deep workers go, how many run at once, how many a turn starts', async () => {
    const { agent, worker, parent } = await withWorker();
    let deepest: PuppetTurn = worker;
    for (let depth = 1; depth < WORKER_DEPTH_MAX; depth++) {
      void deepest.turn.callTool({ name: 'task', input: TASK }).catch(() => {});
      deepest = await agent.turn(agent.turns.length);
    }
    expect(deepest.turn.tools().map(({ name }) => name)).not.toContain('task');
    expect(() => deepest.turn.openWorker({ toolCallId: 'x', ...TASK })).toThrow('Do it yourself');
    for (let running = WORKER_DEPTH_MAX; running < WORKERS_AT_ONCE_MAX; running++) {
      void parent.turn.callTool({ name: 'task', input: TASK }).catch(() => {});
      await agent.turn(running + 1);
    }
    const more = await parent.turn.callTool({ name: 'task', input: TASK });
    expect(more).toMatchObject({ success: false, text: expect.stringContaining('are running already') });
    let started = WORKERS_AT_ONCE_MAX - WORKER_DEPTH_MAX + 1;
    for (const { finish } of agent.turns.slice(1)) finish();
    await settle(20);
    for (; started < TURN_WORKERS_MAX; started++) {
      const index = agent.turns.length;
      const done = parent.turn.callTool({ name: 'task', input: TASK });
      (await agent.turn(index)).finish();
      expect(await done, `worker ${started}`).toMatchObject({ success: true });
    }
    expect(await parent.turn.callTool({ name: 'task', input: TASK })).toMatchObject({
      success: false,
      text: expect.stringContaining('has started'),
    });
  });

  it('forgets the worker that ended first when the session has as many chats as it may have', async () => {
    const { client, uri, worker, outcome, workerChat, parent, agent } = await withWorker();
    worker.finish();
    await outcome;
    for (let count = 3; count <= SESSION_CHATS_MAX; count++)
      await client.request('createChat', { channel: uri, chat: `ahp-chat:/${count}` });
    const next = parent.turn.callTool({ id: 'call 2', name: 'task', input: TASK });
    (await agent.turn(2)).finish();
    expect(await next).toMatchObject({ success: true });
    await settle(20);
    const { chats } = await client.state<SessionState>(uri);
    expect([chats.length, chats.some(({ resource }) => resource === workerChat)]).toEqual([SESSION_CHATS_MAX, false]);
  });

  it('[REL-034] stops the worker once it can be stored that the turn is over that it works for', async () => {
    const log = new NoEndings();
    const { client, clock, chat, uri, worker, workerChat } = await withWorker({ log });
    log.refused = workerChat;
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 'a', duration: 1 } as never);
    await client.action(chat, 'chat/turnCancelled');
    await settle(20);
    log.refused = undefined;
    await clock.advance(STORE_RETRY_MS);
    await settle(20);
    expect(worker.turn.signal.aborted).toBe(true);
    expect((await sessionState(client, uri)).chats.map(({ status }) => status)).toEqual([1, 1]);
  });

  it('[UP-183] gives no worker the chat of one that is just being forgotten', async () => {
    const log = new KeptLog();
    const { client, uri, chat, worker, outcome, workerChat, parent, agent } = await withWorker({ log });
    worker.finish();
    await outcome;
    parent.finish();
    await client.action(chat, 'chat/turnComplete');
    for (let count = 3; count <= SESSION_CHATS_MAX; count++)
      await client.request('createChat', { channel: uri, chat: `ahp-chat:/${count}` });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'b', message: userMessage('again') } as never);
    const next = await agent.turn(2);
    // Some models count their calls from one in every turn.
    const second = next.turn.callTool({ id: 'call 1', name: 'task', input: TASK });
    const other = await agent.turn(3);
    await settle(20);
    const running = (await client.state<SessionState>(uri)).chats.at(-1)?.resource ?? '';
    expect((await chatState(client, running)).activeTurn).toMatchObject({ message: { text: TASK.prompt } });
    other.turn.text('done');
    other.finish();
    expect(await second).toMatchObject({ success: true });
    await settle(20);
    const { chats } = await client.state<SessionState>(uri);
    const kept = chats.at(-1)?.resource ?? '';
    expect(kept.startsWith(workerChat)).toBe(true);
    const again = await startHost({ log, agents: [new PuppetAgent()], clock: new FakeClock(), tools: builtinTools() });
    const back = await nativeClient(again, 'back');
    expect((await chatState(back, kept)).turns).toMatchObject([{ state: 'complete', message: { text: TASK.prompt } }]);
  });

  it('[REL-034] a crash ends both turns, and nothing is done again', async () => {
    const log = new KeptLog();
    const { client, uri, chat, worker, workerChat } = await withWorker({ log });
    worker.turn.text('so far');
    await client.action(workerChat, 'chat/delta');
    await settle();
    const agent = new PuppetAgent();
    const again = await startHost({ log, agents: [agent], clock: new FakeClock(), tools: builtinTools() });
    const back = await nativeClient(again, 'back');
    const [turn] = (await chatState(back, chat)).turns;
    expect(turn).toMatchObject({
      state: 'error',
      responseParts: [{ toolCall: { status: 'completed', success: false } }, {}],
    });
    const [cut] = (await chatState(back, workerChat)).turns;
    expect(cut).toMatchObject({ state: 'error', responseParts: [{ content: 'so far' }, { kind: 'error' }] });
    expect(cut?.responseParts.at(-1)).not.toHaveProperty('resumable');
    expect((await sessionState(back, uri)).chats).toMatchObject([
      { status: 2 },
      { status: 2, interactivity: 'read-only' },
    ]);
    await settle();
    expect(agent.turns).toEqual([]);
  });

  it('[UP-014] 0.3.0 sees the call, and no chat behind it', async () => {
    const { host, uri, worker, outcome, chat, client, parent } = await withWorker();
    const old = await host.client('old', { initialSubscriptions: [uri] });
    worker.turn.text('3');
    worker.finish();
    await outcome;
    parent.finish();
    await client.action(chat, 'chat/turnComplete');
    await old.action(uri, 'session/turnComplete');
    expect(JSON.stringify(old.received)).not.toContain('subagent');
    const { turns } = await old.state<{ turns: { responseParts: unknown[] }[] }>(uri);
    expect(turns[0]?.responseParts).toMatchObject([{ toolCall: { content: [{ type: 'text', text: '3' }] } }]);
  });
});

describe('people whose programs show no chats', () => {
  it('[UP-014] are not left with questions that they cannot see: the agent does the work itself', async () => {
    const { client, host, uri, chat, agent } = await openChats({
      tools: builtinTools(),
      session: { provider: 'puppet' },
    });
    const old = await host.client('old', { initialSubscriptions: [uri] });
    client.disconnect();
    await settle();
    old.dispatch(uri, { type: 'session/turnStarted', turnId: 'a', userMessage: { text: 'go' } });
    const { turn } = await agent.turn(0);
    const task = () => turn.callTool({ name: 'task', input: TASK });
    expect(await task()).toMatchObject({ success: false, text: expect.stringContaining('could not see') });
    const desk = await nativeClient(host, 'desk-2', { initialSubscriptions: [chat] });
    void task().catch(() => {});
    await agent.turn(1);
    expect(desk.closed).toBe(undefined);
  });
});

describe('a worker of a script', () => {
  it('[UP-078] plays its steps in its own chat', async () => {
    const steps = [
      { text: 'I looked at ${text}.' },
      { ask: { id: 'q', message: 'Go on?', questions: [] } },
      { text: 'Done.' },
    ];
    const script = {
      ...{ provider: 'mock', displayName: 'Mock' },
      default: [{ worker: { id: 'w', title: 'Look', prompt: 'the files', steps } }, { text: 'It said: ${lastResult}' }],
    };
    const { client, chat, uri } = await openChats({ scripts: [script] });
    const done = nativeTurn(client, chat, 'go');
    const { action } = await client.action(uri, 'session/inputNeededSet');
    const { chat: workerChat } = action.request as { chat: string };
    expect(workerChat).toBe(workerChatUri(uri, 'w'));
    client.dispatch(workerChat, { type: 'chat/inputCompleted', requestId: 'q', response: 'accept' } as never);
    await done;
    const state = await client.state<ChatState>(chat);
    expect(JSON.stringify(state.turns)).toContain('It said: Done.');
    expect(JSON.stringify(await chatState(client, workerChat))).toContain('I looked at the files.');
  });
});
