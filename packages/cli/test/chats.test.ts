/** The chats of a session: as a list, in a picker, and below the calls that started workers. */
import type { ChatOrigin, ChatSummary, SessionState, ToolCallState } from '@atrium/protocol/ahp-1';
import { SessionStatus, standingEntry } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { callLines } from '../src/chat/call-view.js';
import { chatPicker } from '../src/chat/picker.js';
import { chatName, chatState, chatTree, findChat, kindWord } from '../src/sessions/chats.js';
import { PLAIN } from '../src/text/style.js';

const NOON = '2026-11-17T12:00:00.000Z';

function chat(id: string, origin?: ChatOrigin, more: Partial<ChatSummary> = {}): ChatSummary {
  const base = { resource: `ahp-chat:/${id}`, title: `Chat ${id}`, status: SessionStatus.Idle, modifiedAt: NOON };
  return { ...base, ...(origin && { origin }), ...more };
}

const worker = (of: string): ChatOrigin => ({ kind: 'tool', chat: `ahp-chat:/${of}`, toolCallId: 'c' });
const fork: ChatOrigin = { kind: 'fork', chat: 'ahp-chat:/main', turnId: 't' };
const main = chat('main', { kind: 'user' }, { title: '' });

function session(chats: ChatSummary[], more: Partial<SessionState> = {}): SessionState {
  const base = { provider: 'mock', title: 'Build it', status: SessionStatus.Idle, lifecycle: 'ready' as const };
  return { ...base, activeClients: [], chats, defaultChat: main.resource, ...more };
}

const outline = (state: SessionState) =>
  chatTree(state).map((row) => `${'-'.repeat(row.depth)}${chatName(state, row.chat)} ${kindWord(row)}`);

describe('the chats of a session', () => {
  it('[CLI-046] stand with the first on top, workers below whom they work for, and none that is not for people', () => {
    const chats = [
      chat('w2', worker('w1')),
      chat('f', fork),
      chat('w3', worker('f')),
      chat('h', undefined, { interactivity: 'hidden' }),
      chat('w1', worker('main')),
      main,
      chat('lost', worker('nowhere')),
    ];
    expect(outline(session(chats))).toEqual([
      'Build it main',
      '-Chat w1 worker',
      '--Chat w2 worker',
      'Chat f fork',
      '-Chat w3 worker',
      'Chat lost worker',
    ]);
  });

  it('[CLI-046] are all there, and once, when two name each other as their origin', () => {
    const chats = [main, chat('a', worker('b')), chat('b', worker('a')), chat('c', worker('c'))];
    const found = chatTree(session(chats)).map((row) => row.chat.resource);
    expect(found.toSorted()).toEqual(chats.map(({ resource }) => resource).toSorted());
  });

  it('[CLI-046] say what they wait for, where the host lists it and where it does not', () => {
    const asking = chat('w', worker('main'), { status: SessionStatus.InputNeeded });
    const toolCall = {
      ...{ status: 'pending-confirmation' as const, toolCallId: 'c', toolName: 'shell', displayName: 'Shell' },
      ...{ invocationMessage: 'Run ls', confirmationTitle: 'Run ls?\u001b[2J' },
    };
    const entry = { kind: 'toolConfirmation' as const, id: 'i', chat: asking.resource, turnId: 't', toolCall };
    const trust = standingEntry(main.resource, { id: 'trust-1', message: 'Trust it?' });
    const rows = chatTree(session([main, asking], { inputNeeded: [trust, entry] }));
    expect(rows.map(chatState)).toEqual(['idle', 'asks you']);
    expect(rows[0]?.asks).toBeUndefined();
    expect(rows[1]?.asks).toMatch(/^Run ls\?/);
    expect(rows[1]?.asks).not.toContain('\u001b');
    expect(chatTree(session([main, asking])).map(({ asks }) => asks)).toEqual([undefined, 'it asks you']);
    const client = { kind: 'toolClientExecution' as const, id: 'i', chat: main.resource, turnId: 't', clientId: 'x' };
    expect(chatTree(session([main], { inputNeeded: [{ ...client, toolCall }] }))[0]?.asks).toBeUndefined();
  });

  it('[CLI-046] are found by number, URI and a part of the title', () => {
    const state = session([main, chat('f', fork), chat('w', worker('main'))]);
    expect(findChat(state, '2').resource).toBe('ahp-chat:/w');
    expect(findChat(state, 'ahp-chat:/f').resource).toBe('ahp-chat:/f');
    expect(findChat(state, 'build').resource).toBe('ahp-chat:/main');
    expect(() => findChat(state, 'chat')).toThrow('2 chats fit');
    expect(() => findChat(state, 'nowhere')).toThrow('there is no chat');
  });

  it('[CLI-046] can be picked while they change, beginning with the one that is open', () => {
    let state = session([main, chat('f', fork)]);
    const picker = chatPicker(() => state, 'ahp-chat:/f');
    const text = () => picker.lines('goes back', { style: PLAIN, columns: 100 }).join('\n');
    expect(text()).toMatch(/› Chat f +fork +idle/);
    state = session([main, chat('w', worker('main'), { status: SessionStatus.InProgress, activity: 'Counts' })]);
    expect(text()).toMatch(/└ Chat w +worker +works +\S+ ago +Counts/);
    picker.press({ name: 'text', text: 'works' });
    expect(picker.press({ name: 'enter' })).toMatchObject({ chat: { resource: 'ahp-chat:/w' } });
  });

  it('[CLI-048] of workers show below the call that started them', () => {
    const call: ToolCallState = {
      ...{ status: 'running', toolCallId: 'c', toolName: 'task', displayName: 'Task' },
      ...{ invocationMessage: 'Give a task', confirmed: 'not-needed' },
    };
    const workers = [{ title: 'Count', state: 'works', doing: 'Reads a.txt' }];
    const lines = callLines(call, { diffs: [], workers }, { style: PLAIN, columns: 40 });
    expect(lines).toEqual(['● Task  Give a task', '  └ Count: works · Reads a.txt']);
  });
});
