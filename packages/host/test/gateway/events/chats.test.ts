/** A session with several chats, as its providers see it: they follow its default chat, and hear of all tool calls. */
import { type ChatAction, type ChatState, chatReducer } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { GatewaySession, gatewayMeta } from '../../../src/gateway/gateway-session.js';
import type { GatewayService, HostChat, HostSession } from '../../../src/gateway/ports.js';
import { Lifecycle, SessionEvents } from '../../../src/gateway/provider-events.js';
import { Injects } from '../../../src/gateway/pushes/injects.js';
import { TIMELINE_INTERVAL_MS, Timeline } from '../../../src/gateway/pushes/timeline.js';
import { FakeClock } from '../../support/fake-clock.js';
import { messageOf } from '../../support/fake-turn.js';

const AT = '2026-01-01T00:00:00.000Z';
const EVENTS = ['user.message', 'assistant.message', 'tool.execution_complete', 'assistant.intent'];

/** A chat that takes actions and tells of them. */
class FakeChat implements HostChat {
  state: ChatState;
  readonly written: string[] = [];
  observe: (step: never) => void = () => {};

  constructor(readonly uri: string) {
    this.state = { resource: uri, title: '', status: 1, modifiedAt: AT, turns: [] };
  }

  write(action: ChatAction): void {
    const before = this.state;
    this.state = chatReducer(before, action);
    this.written.push(action.type);
    this.observe({ action, chat: this, before, after: this.state } as never);
  }

  start(turnId: string, text: string): void {
    this.write({ type: 'chat/turnStarted', turnId, startedAt: AT, message: messageOf(text) });
  }

  /** A call from its beginning to its end. */
  call(turnId: string, toolName: string): void {
    const call = { turnId, toolCallId: 'c1' };
    this.write({ type: 'chat/toolCallStart', ...call, toolName, displayName: toolName });
    this.write({
      type: 'chat/toolCallReady',
      ...call,
      invocationMessage: 'go',
      toolInput: '{}',
      confirmed: 'not-needed',
    });
    this.write({ type: 'chat/toolCallComplete', ...call, result: { success: true, pastTenseMessage: 'gone' } });
  }

  say(turnId: string, content: string): void {
    this.write({ type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: `p-${turnId}`, content } });
  }

  end(turnId: string): void {
    this.write({ type: 'chat/turnComplete', turnId, duration: 1 });
  }
}

/** A session with a default chat and one beside it, and a provider that subscribes to everything. */
function sessionWith(makeServices: (clock: FakeClock) => readonly GatewayService[]) {
  const clock = new FakeClock();
  const services = makeServices(clock);
  const chat = new FakeChat('ahp-chat:/default');
  const side = new FakeChat('ahp-chat:/side');
  const sent: { type: string; event?: string; state?: string; data?: unknown }[] = [];
  const state = { lifecycle: 'ready', _meta: {} as Record<string, unknown> };
  const host = {
    ...{ uri: 'ahp-session:/1', state, isClosed: false, chat, chats: [chat, side] },
    extensions: { set: () => {}, remove: () => {} },
    write: ({ _meta }: Pick<typeof state, '_meta'>) => void Object.assign(state, { _meta }),
  } as unknown as HostSession;
  const session = new GatewaySession({ host, facts: {} as never, services, emptied: () => {} });
  const registration = { subscribe: new Set(EVENTS) };
  const provider = { name: 'ci', registration, send: (message: (typeof sent)[number]) => sent.push(message) };
  session.add({ provider, session, isAway: false } as never);
  for (const one of [chat, side]) {
    one.observe = (step) => {
      for (const service of services) service.observe?.(session, step);
    };
  }
  const told = () => sent.map(({ event, state: now, data }) => (event ? [event, data] : [now]));
  return { session, chat, side, told, clock };
}

const commits = { settled: async () => {}, afterCommit: (then: () => void) => then() };

describe('a session with several chats', () => {
  it('[GW-194] tells what is said in its default chat, and what is called in all of them', () => {
    const { chat, side, told } = sessionWith((clock) => [
      new SessionEvents({ clock, commits, isOfProvider: () => false }),
    ]);
    chat.start('t1', 'how is CI?');
    side.start('t2', 'look at the logs');
    side.say('t2', 'I look.');
    side.write({ type: 'chat/activityChanged', activity: 'Looking' });
    chat.call('t1', 'status');
    // The same id: calls of two chats do not mix.
    side.call('t2', 'grep');
    side.end('t2');
    chat.say('t1', 'Green.');
    chat.end('t1');
    const ended = (tool: string) => expect.objectContaining({ tool, result: { type: 'success', output: '' } });
    expect(told()).toEqual([
      ['user.message', { content: 'how is CI?' }],
      ['assistant.message', { content: '', toolRequests: [{ name: 'status', args: {} }] }],
      ['tool.execution_complete', ended('status')],
      ['tool.execution_complete', ended('grep')],
      ['assistant.message', { content: 'Green.' }],
    ]);
  });

  it('[GW-196] is idle when nothing is left to do in any of them', () => {
    const { chat, side, told } = sessionWith((clock) => [new Lifecycle({ clock, commits })]);
    chat.start('t1', 'go');
    side.start('t2', 'go');
    chat.end('t1');
    expect(told()).toEqual([]);
    side.end('t2');
    expect(told()).toEqual([['idle']]);
  });

  it('[GW-179] takes the messages of providers into its default chat, whatever the others do', () => {
    const injects = new Injects(new FakeClock(), (then) => then());
    const { session, chat, side } = sessionWith(() => [injects]);
    side.start('t1', 'go');
    const inject = { provider: 'ci', stream: 'ci', text: 'red', metadata: undefined };
    expect(injects.offer(session, inject)).toBe('taken');
    expect(chat.state.activeTurn?.message).toMatchObject({ text: 'red', origin: { kind: 'systemNotification' } });
    expect(injects.offer(session, { ...inject, text: 'green' })).toBe('held');
    side.end('t1');
    expect(chat.state.activeTurn?.message.text).toBe('red');
    chat.end(chat.state.activeTurn?.id ?? '');
    expect(chat.state.activeTurn?.message.text).toBe('green');
    expect(side.written).toEqual(['chat/turnStarted', 'chat/turnComplete']);
  });

  it('[UNI-061] shows notes in its default chat only', async () => {
    const clock = new FakeClock();
    const timeline = new Timeline(clock);
    const { session, chat, side } = sessionWith(() => [timeline]);
    side.start('t1', 'go');
    timeline.note(session, 'ci', 'deployed');
    await clock.advance(TIMELINE_INTERVAL_MS);
    expect(gatewayMeta(session.state).timeline).toEqual(['※ ci: deployed']);
    side.end('t1');
    side.start('t2', 'go on');
    expect(side.written).not.toContain('chat/responsePart');
    chat.start('t3', 'go');
    const note = { kind: 'systemNotification', content: '※ ci: deployed' };
    expect(chat.state.activeTurn?.responseParts).toEqual([note]);
  });
});
