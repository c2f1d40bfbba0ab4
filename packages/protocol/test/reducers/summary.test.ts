import { describe, expect, it } from 'vitest';
import { SessionStatus } from '../../src/session/status.js';
import { NOW, reduceSession, sessionState, sessionSummary, withTurn } from '../support/builders.js';

const { Error: Failed, InputNeeded, IsRead, IsArchived } = SessionStatus;

describe('title, model, agent', () => {
  it('[ACT-020] changes the title', () => {
    const state = withTurn();
    const result = reduceSession(state, { type: 'session/titleChanged', title: 'Port the lexer' });
    expect(result).toStrictEqual({
      ...state,
      summary: { ...state.summary, title: 'Port the lexer', modifiedAt: NOW },
    });
    expect(result.activeTurn).toBe(state.activeTurn);
  });

  it('[ACT-020] moves the time on for the same title, and returns the very same state at the same time', () => {
    const first = reduceSession(sessionState(), { type: 'session/titleChanged', title: 'Port the parser' });
    expect(first.summary).toStrictEqual(sessionSummary({ modifiedAt: NOW }));
    expect(reduceSession(first, { type: 'session/titleChanged', title: 'Port the parser' })).toBe(first);
  });

  it('[ACT-023] changes the model; options of the old one do not survive', () => {
    const summary = sessionSummary({ model: { id: 'small', config: { effort: 'high' } } });
    const result = reduceSession(sessionState({ summary }), { type: 'session/modelChanged', model: { id: 'large' } });
    expect(result.summary).toStrictEqual({ ...summary, model: { id: 'large' }, modifiedAt: NOW });
  });

  it('[ACT-024] changes the agent', () => {
    const agent = { uri: 'file:///agents/reviewer.md' };
    const result = reduceSession(sessionState(), { type: 'session/agentChanged', agent });
    expect(result.summary).toStrictEqual({ ...sessionSummary(), agent, modifiedAt: NOW });
  });

  it('[ACT-024] goes back to the default agent; the key stays', () => {
    const summary = sessionSummary({ agent: { uri: 'file:///agents/reviewer.md' } });
    const result = reduceSession(sessionState({ summary }), { type: 'session/agentChanged' });
    expect(result.summary).toStrictEqual({ ...summary, agent: undefined, modifiedAt: NOW });
  });
});

describe('flags', () => {
  const flags = [
    { id: '[ACT-039]', flag: IsRead, set: (isRead: boolean) => ({ type: 'session/isReadChanged', isRead }) as const },
    {
      id: '[ACT-040]',
      flag: IsArchived,
      set: (isArchived: boolean) => ({ type: 'session/isArchivedChanged', isArchived }) as const,
    },
  ];

  it.each(flags)('$id sets and clears bit $flag, and nothing else', ({ flag, set }) => {
    const others = (Failed | IsRead | IsArchived | 128) & ~flag;
    const off = sessionState({ summary: sessionSummary({ status: others }) });
    const on = sessionState({ summary: sessionSummary({ status: others | flag }) });
    expect(reduceSession(off, set(true))).toStrictEqual(on);
    expect(reduceSession(on, set(false))).toStrictEqual(off);
  });

  it.each(flags)('$id returns the very same state when bit $flag is so already', ({ flag, set }) => {
    const on = sessionState({ summary: sessionSummary({ status: InputNeeded | flag }) });
    expect(reduceSession(on, set(true))).toBe(on);
    const off = sessionState({ summary: sessionSummary({ status: InputNeeded }) });
    expect(reduceSession(off, set(false))).toBe(off);
  });
});

describe('activity and changes', () => {
  it('[ACT-041] says what the session does, at no other time than before', () => {
    const state = sessionState();
    const result = reduceSession(state, { type: 'session/activityChanged', activity: 'Reading' });
    expect(result).toStrictEqual({ ...state, summary: { ...state.summary, activity: 'Reading' } });
    expect(reduceSession(result, { type: 'session/activityChanged', activity: 'Reading' })).toBe(result);
  });

  it('[ACT-041] says that it does nothing; the key stays', () => {
    const state = sessionState({ summary: sessionSummary({ activity: 'Reading' }) });
    const result = reduceSession(state, { type: 'session/activityChanged', activity: undefined });
    expect(result.summary).toStrictEqual({ ...sessionSummary(), activity: undefined });
  });

  it.each([[[{ label: 'All', uriTemplate: 'ahp-changeset:/all' }]], [[]]])(
    '[ACT-042] replaces the catalogue of changes, also by an empty one',
    (changesets) => {
      const state = sessionState({ summary: sessionSummary({ changesets: [{ label: 'Old', uriTemplate: 'x:/' }] }) });
      const result = reduceSession(state, { type: 'session/changesetsChanged', changesets });
      expect(result.summary).toStrictEqual({ ...sessionSummary(), changesets });
    },
  );

  it('[ACT-042] takes the catalogue away, key and all', () => {
    const state = sessionState({ summary: sessionSummary({ changesets: [] }) });
    const result = reduceSession(state, { type: 'session/changesetsChanged', changesets: undefined });
    expect(result).toStrictEqual(sessionState());
    expect(reduceSession(result, { type: 'session/changesetsChanged' })).toBe(result);
  });
});
