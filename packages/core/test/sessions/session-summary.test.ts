import { type ChatState, type SessionState, SessionStatus } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatSummaryOf, listedChanges, summaryOf } from '../../src/sessions/session-summary.js';

const FACTS = { resource: 'ahp-session:/s', createdAt: 'then', modifiedAt: 'now' };
const { Idle, InProgress, InputNeeded, Error: Failed, IsRead } = SessionStatus;

const chat = (name: string, status: number, more: Partial<ChatState> = {}): ChatState =>
  ({ resource: `ahp-chat:/${name}`, title: name, status, modifiedAt: 'now', turns: [], ...more }) as ChatState;

function session(chats: readonly ChatState[], more: Partial<SessionState> = {}): SessionState {
  return {
    provider: 'p',
    title: 'S',
    status: Idle,
    lifecycle: 'ready',
    activeClients: [],
    chats: chats.map(chatSummaryOf),
    defaultChat: 'ahp-chat:/main',
    ...more,
  } as SessionState;
}

const statusOf = (chats: readonly ChatState[], more: Partial<SessionState> = {}) =>
  summaryOf(session(chats, more), chats, FACTS).status;

describe('the summary of a session', () => {
  it('says what the session is, and nothing that it does not have', () => {
    const chats = [chat('main', Idle)];
    expect(summaryOf(session(chats), chats, FACTS)).toEqual({
      ...FACTS,
      ...{ provider: 'p', title: 'S', status: Idle, defaultChat: 'ahp-chat:/main' },
    });
    const more = {
      activity: 'Reading',
      origin: { kind: 'automation' as const, automation: 'a', run: 'r' },
      project: { uri: 'file:///p', displayName: 'P' },
      workingDirectories: ['file:///w'],
      _meta: { a: 1 },
    };
    const changesets = [{ id: 'c' }] as unknown as NonNullable<SessionState['changesets']>;
    expect(summaryOf(session(chats, { ...more, changesets }), chats, FACTS)).toMatchObject({
      ...more,
      'x-atrium': { changesets },
    });
  });

  it('lists the chats when there are several', () => {
    const chats = [chat('main', Idle), chat('other', InProgress, { interactivity: 'hidden' })];
    expect(summaryOf(session(chats), chats, FACTS).chats).toEqual([
      { resource: 'ahp-chat:/main', title: 'main', status: Idle },
      { resource: 'ahp-chat:/other', title: 'other', status: InProgress, interactivity: 'hidden' },
    ]);
  });

  it('does what its default chat does, wherever that is listed', () => {
    expect(statusOf([chat('other', InProgress), chat('main', Idle)])).toBe(Idle);
    expect(statusOf([chat('other', Idle), chat('main', InProgress)])).toBe(InProgress);
    expect(statusOf([chat('first', InProgress), chat('other', Idle)])).toBe(InProgress);
    expect(statusOf([])).toBe(Idle);
  });

  it('needs input, or has failed, when any of its chats does, and keeps its flags', () => {
    expect(statusOf([chat('main', InProgress), chat('other', InputNeeded)])).toBe(InputNeeded);
    expect(statusOf([chat('main', InProgress)], { status: InputNeeded | IsRead })).toBe(InputNeeded | IsRead);
    expect(statusOf([chat('main', Idle), chat('other', Failed)], { status: Idle | IsRead })).toBe(Failed | IsRead);
    expect(statusOf([chat('main', Failed), chat('other', InputNeeded)])).toBe(InputNeeded);
    expect(statusOf([chat('main', InProgress)], { status: Idle | IsRead })).toBe(InProgress | IsRead);
  });
});

describe('what a session lists of a chat', () => {
  it('is what the chat has of it', () => {
    expect(chatSummaryOf(chat('main', Idle, { activity: 'Reading' }))).toEqual({
      ...{ resource: 'ahp-chat:/main', title: 'main', status: Idle, modifiedAt: 'now', activity: 'Reading' },
    });
  });

  it('changes with the chat: what is other, and what is gone', () => {
    const before = chat('main', Idle, { activity: 'Reading' });
    expect(listedChanges(before, before)).toBeUndefined();
    expect(listedChanges(before, chat('main', Idle, { activity: 'Reading', turns: [] }))).toBeUndefined();
    const { activity: _gone, ...rest } = before;
    expect(listedChanges(before, { ...rest, title: 'new' } as ChatState)).toEqual({ activity: null, title: 'new' });
  });
});
