/** The session reducer: everything but the conversations. */
import { describe, expect, it } from 'vitest';
import { SessionStatus } from '../../../src/ahp-1/index.js';
import {
  CHAT,
  chatInput,
  chatSummary,
  client,
  clientExecution,
  reduceSession,
  sessionState,
} from '../support/builders.js';

const { Idle, Error: Failed, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const HIGHER_BIT = 128;
const crash = { errorType: 'crash', message: 'The agent stopped' };

describe('the life of a session', () => {
  it('[UP-084] becomes ready and leaves the status alone', () => {
    const state = sessionState({ lifecycle: 'creating', status: InProgress | IsRead });
    const ready = reduceSession(state, { type: 'session/ready' });
    expect(ready).toStrictEqual({ ...state, lifecycle: 'ready' });
    expect(reduceSession(ready, { type: 'session/ready' })).toBe(ready);
  });

  it('[UP-085] fails with a reason', () => {
    const state = sessionState({ lifecycle: 'creating' });
    const failed = reduceSession(state, { type: 'session/creationFailed', error: crash });
    expect(failed).toStrictEqual({ ...state, lifecycle: 'failed', creationError: crash });
    expect(reduceSession(failed, { type: 'session/creationFailed', error: crash })).toBe(failed);
  });
});

describe('the catalogue of chats', () => {
  const [a, b, c] = [chatSummary('a'), chatSummary('b'), chatSummary('c')];
  const state = sessionState({ chats: [a, b, c], defaultChat: b.resource });

  it('[UP-086] gets a new chat at its end', () => {
    const d = chatSummary('d');
    const result = reduceSession(state, { type: 'session/chatAdded', summary: d });
    expect(result).toStrictEqual({ ...state, chats: [a, b, c, d] });
    expect(result.chats[0]).toBe(a);
  });

  it('[UP-086] gets a chat that it has in its place', () => {
    const summary = chatSummary('b', { title: 'Renamed' });
    const result = reduceSession(state, { type: 'session/chatAdded', summary });
    expect(result.chats).toStrictEqual([a, summary, c]);
    expect(reduceSession(result, { type: 'session/chatAdded', summary })).toBe(result);
  });

  it('[UP-087] loses a chat, and with the default chat its name', () => {
    const { defaultChat: _gone, ...rest } = state;
    expect(reduceSession(state, { type: 'session/chatRemoved', chat: b.resource })).toStrictEqual({
      ...rest,
      chats: [a, c],
    });
    const kept = reduceSession(state, { type: 'session/chatRemoved', chat: a.resource });
    expect(kept).toStrictEqual({ ...state, chats: [b, c] });
  });

  it('[UP-087] does not change for a chat that it does not have', () => {
    const dangling = sessionState({ chats: [a], defaultChat: 'ahp-chat:/gone' });
    expect(reduceSession(dangling, { type: 'session/chatRemoved', chat: 'ahp-chat:/gone' })).toBe(dangling);
  });

  it('[UP-088] merges changes into the entry, but never its URI', () => {
    const changes = { resource: 'ahp-chat:/other', title: 'Renamed', status: InputNeeded, modifiedAt: 'later' };
    const result = reduceSession(state, { type: 'session/chatUpdated', chat: b.resource, changes });
    expect(result.chats).toStrictEqual([a, { ...b, title: 'Renamed', status: InputNeeded, modifiedAt: 'later' }, c]);
    expect(result.chats[2]).toBe(c);
  });

  it('[UP-088] removes a member that the change holds without a value, and keeps those it does not hold', () => {
    const busy = chatSummary('a', { activity: 'Reading', movable: true, interactivity: 'read-only' });
    const changes = { activity: null, movable: undefined } as { activity: null };
    const result = reduceSession(sessionState({ chats: [busy] }), {
      type: 'session/chatUpdated',
      chat: busy.resource,
      changes,
    });
    expect(result.chats).toStrictEqual([chatSummary('a', { interactivity: 'read-only' })]);
  });

  it('[UP-088] does not change for an unknown chat, nor by values that are there', () => {
    const update = { type: 'session/chatUpdated', changes: { title: 'a' } } as const;
    expect(reduceSession(state, { ...update, chat: 'ahp-chat:/gone' })).toBe(state);
    expect(reduceSession(state, { ...update, chat: a.resource })).toBe(state);
  });

  it('[UP-089] takes the given order; chats that are not named follow in theirs', () => {
    const chats = [c.resource, 'ahp-chat:/gone', c.resource];
    const result = reduceSession(state, { type: 'session/chatsReordered', chats });
    expect(result.chats).toEqual([c, a, b]);
    expect(reduceSession(result, { type: 'session/chatsReordered', chats: [c.resource] })).toBe(result);
  });

  it('[UP-090] names another default chat, or none', () => {
    const moved = reduceSession(state, { type: 'session/defaultChatChanged', defaultChat: c.resource });
    expect(moved.defaultChat).toBe(c.resource);
    const none = reduceSession(moved, { type: 'session/defaultChatChanged' });
    expect(none).not.toHaveProperty('defaultChat');
    expect(reduceSession(none, { type: 'session/defaultChatChanged' })).toBe(none);
  });
});

describe('what lists show of a session', () => {
  it('[UP-091] changes its title, activity and metadata on the state itself, and no time', () => {
    const state = sessionState();
    const result = reduceSession(
      state,
      { type: 'session/titleChanged', title: 'Renamed' },
      { type: 'session/activityChanged', activity: 'Reading' },
      { type: 'session/metaChanged', _meta: { colour: 'red' } },
    );
    expect(result).toStrictEqual({ ...state, title: 'Renamed', activity: 'Reading', _meta: { colour: 'red' } });
    const cleared = reduceSession(result, { type: 'session/activityChanged' }, { type: 'session/metaChanged' });
    expect(cleared).toStrictEqual({ ...state, title: 'Renamed' });
    expect(reduceSession(cleared, { type: 'session/activityChanged' })).toBe(cleared);
    expect(reduceSession(cleared, { type: 'session/titleChanged', title: 'Renamed' })).toBe(cleared);
  });

  it('[UP-092] is read or archived without touching other bits', () => {
    const state = sessionState({ status: Failed | HIGHER_BIT });
    const read = reduceSession(state, { type: 'session/isReadChanged', isRead: true });
    expect(read.status).toBe(Failed | IsRead | HIGHER_BIT);
    const archived = reduceSession(read, { type: 'session/isArchivedChanged', isArchived: true });
    expect(archived.status).toBe(Failed | IsRead | IsArchived | HIGHER_BIT);
    expect(reduceSession(archived, { type: 'session/isArchivedChanged', isArchived: true })).toBe(archived);
    const unread = reduceSession(
      archived,
      { type: 'session/isReadChanged', isRead: false },
      { type: 'session/isArchivedChanged', isArchived: false },
    );
    expect(unread.status).toBe(state.status);
  });

  it('[UP-093] replaces its changesets, or has none', () => {
    const changeset = { label: 'All', uriTemplate: 'ahp-changeset:/all', changeKind: 'session' as const };
    const state = sessionState({ changesets: [] });
    const result = reduceSession(state, { type: 'session/changesetsChanged', changesets: [changeset] });
    expect(result.changesets).toEqual([changeset]);
    expect(reduceSession(result, { type: 'session/changesetsChanged' })).toStrictEqual(sessionState());
  });
});

describe('how a session is set up', () => {
  const schema = { type: 'object', properties: {} } as const;
  const config = { schema, values: { a: 1, b: 2 } };

  it('[UP-094] merges values into its configuration, or replaces them', () => {
    const state = sessionState({ config });
    const merged = reduceSession(state, { type: 'session/configChanged', config: { b: 3 } });
    expect(merged.config).toStrictEqual({ schema, values: { a: 1, b: 3 } });
    expect(merged.config?.schema).toBe(schema);
    const replaced = reduceSession(merged, { type: 'session/configChanged', config: { c: 4 }, replace: true });
    expect(replaced.config?.values).toStrictEqual({ c: 4 });
    expect(reduceSession(merged, { type: 'session/configChanged', config: { b: 3 } })).toBe(merged);
  });

  it('[UP-094] does nothing without a configuration', () => {
    const state = sessionState();
    expect(reduceSession(state, { type: 'session/configChanged', config: { a: 1 }, replace: true })).toBe(state);
  });

  it('[UP-236] replaces the tools of the host as 0.2.0 does', () => {
    const tools = [{ name: 'search' }];
    const result = reduceSession(sessionState(), { type: 'session/serverToolsChanged', tools });
    expect(result).toStrictEqual(sessionState({ serverTools: tools }));
  });

  it('[UP-095] lets clients in beside each other, and keeps the place of one that comes again', () => {
    const state = reduceSession(
      sessionState(),
      { type: 'session/activeClientSet', activeClient: client('desk') },
      { type: 'session/activeClientSet', activeClient: client('phone') },
      { type: 'session/activeClientSet', activeClient: client('desk', { tools: [{ name: 'open' }] }) },
    );
    expect(state.activeClients).toStrictEqual([client('desk', { tools: [{ name: 'open' }] }), client('phone')]);
  });

  it('[UP-095] keeps members of a client that nobody knows, and its opt-in to prompt transforms', () => {
    const activeClient = { ...client('desk'), systemMessageTransform: { sections: ['rules'] }, colour: 'red' };
    const state = reduceSession(sessionState(), { type: 'session/activeClientSet', activeClient });
    expect(state.activeClients[0]).toBe(activeClient);
  });

  it('[UP-096] lets one client go', () => {
    const state = sessionState({ activeClients: [client('desk'), client('phone')] });
    const left = reduceSession(state, { type: 'session/activeClientRemoved', clientId: 'desk' });
    expect(left.activeClients).toStrictEqual([client('phone')]);
    expect(reduceSession(left, { type: 'session/activeClientRemoved', clientId: 'desk' })).toBe(left);
    expect(reduceSession(left, { type: 'session/activeClientRemoved', clientId: 'phone' }).activeClients).toEqual([]);
  });
});

describe('the working directories of a session', () => {
  const [a, b, c, x] = ['file:///a', 'file:///b', 'file:///c', 'file:///x'];
  const state = sessionState({ workingDirectories: [a, b, c] });

  it('[UP-097] get one more, once', () => {
    const first = reduceSession(sessionState(), { type: 'session/workingDirectorySet', directory: a });
    expect(first.workingDirectories).toEqual([a]);
    expect(reduceSession(first, { type: 'session/workingDirectorySet', directory: a })).toBe(first);
    const second = reduceSession(first, { type: 'session/workingDirectorySet', directory: b });
    expect(second.workingDirectories).toEqual([a, b]);
  });

  it('[UP-098] lose one; an emptied list stays', () => {
    const one = sessionState({ workingDirectories: [a] });
    const none = reduceSession(one, { type: 'session/workingDirectoryRemoved', directory: a });
    expect(none).toStrictEqual(sessionState({ workingDirectories: [] }));
    expect(reduceSession(none, { type: 'session/workingDirectoryRemoved', directory: a })).toBe(none);
    const absent = sessionState();
    expect(reduceSession(absent, { type: 'session/workingDirectoryRemoved', directory: a })).toBe(absent);
    const rest = reduceSession(state, { type: 'session/workingDirectoryRemoved', directory: b });
    expect(rest.workingDirectories).toEqual([a, c]);
  });

  it.each([
    ['puts a new one in the place of the old', b, x, [a, x, c]],
    ['drops a later duplicate', a, c, [c, b]],
    ['only removes the old one when the other stands before it', c, a, [a, b]],
  ])('[UP-099] replaced: %s', (_what, directory, replacement, expected) => {
    const result = reduceSession(state, { type: 'session/workingDirectoryReplaced', directory, replacement });
    expect(result.workingDirectories).toEqual(expected);
  });

  it('[UP-099] are not replaced when the old one is not listed, or is the new one', () => {
    const replace = { type: 'session/workingDirectoryReplaced' } as const;
    expect(reduceSession(state, { ...replace, directory: x, replacement: a })).toBe(state);
    expect(reduceSession(state, { ...replace, directory: b, replacement: b })).toBe(state);
    const absent = sessionState();
    expect(reduceSession(absent, { ...replace, directory: a, replacement: b })).toBe(absent);
  });
});

describe('what waits in the chats of a session', () => {
  const flags = IsRead | IsArchived | HIGHER_BIT;

  it('[UP-100] asks a person, and the status says so', () => {
    const state = sessionState({ status: InProgress | flags });
    const result = reduceSession(state, { type: 'session/inputNeededSet', request: chatInput('one') });
    expect(result).toStrictEqual({ ...state, inputNeeded: [chatInput('one')], status: InputNeeded | flags });
    expect(
      reduceSession(sessionState({ status: Failed }), { type: 'session/inputNeededSet', request: chatInput('x') })
        .status,
    ).toBe(InputNeeded);
  });

  it('[UP-100] replaces an entry of the same id in its place', () => {
    const changed = { ...chatInput('one'), chat: 'ahp-chat:/other' };
    const state = sessionState({ inputNeeded: [chatInput('one'), chatInput('two')], status: InputNeeded });
    const result = reduceSession(state, { type: 'session/inputNeededSet', request: changed });
    expect(result.inputNeeded).toStrictEqual([changed, chatInput('two')]);
    expect(reduceSession(result, { type: 'session/inputNeededSet', request: changed })).toBe(result);
  });

  it.each([
    [InProgress, InProgress],
    [InputNeeded, InProgress],
    [Idle, Idle],
    [Failed, Failed],
  ])('[UP-100] [UP-175] a call that a client runs asks no person: status %i becomes %i', (before, after) => {
    const state = sessionState({ status: before | flags });
    const result = reduceSession(state, { type: 'session/inputNeededSet', request: clientExecution('call') });
    expect(result.status).toBe(after | flags);
    expect(result.inputNeeded).toHaveLength(1);
  });

  it('[UP-101] is settled: the last one takes the list along', () => {
    const entries = [chatInput('one'), clientExecution('call'), chatInput('two')];
    const state = sessionState({ inputNeeded: entries, status: InputNeeded | flags });
    const first = reduceSession(state, { type: 'session/inputNeededRemoved', id: 'one' });
    expect(first.status).toBe(InputNeeded | flags);
    const second = reduceSession(first, { type: 'session/inputNeededRemoved', id: 'two' });
    expect(second).toStrictEqual({ ...state, inputNeeded: [entries[1]], status: InProgress | flags });
    const { inputNeeded: _gone, ...rest } = second;
    expect(reduceSession(second, { type: 'session/inputNeededRemoved', id: 'call' })).toStrictEqual(rest);
  });

  it('[UP-101] is not touched by an unknown id', () => {
    const absent = sessionState({ status: InputNeeded });
    expect(reduceSession(absent, { type: 'session/inputNeededRemoved', id: 'one' })).toBe(absent);
    const other = sessionState({ inputNeeded: [chatInput('two')], status: InputNeeded });
    expect(reduceSession(other, { type: 'session/inputNeededRemoved', id: 'one' })).toBe(other);
  });

  it('[UP-242] may be a question that no turn holds: the chat is named, and nothing else is needed', () => {
    const result = reduceSession(sessionState(), { type: 'session/inputNeededSet', request: chatInput('trust') });
    expect(result.inputNeeded?.[0]).toMatchObject({ kind: 'chatInput', chat: CHAT });
    expect(result.status).toBe(InputNeeded);
  });
});
