/** The chat reducer: questions, waiting messages, and what a chat is beside its conversation. */
import { describe, expect, it } from 'vitest';
import type { ChatAction, ChatInputAnswer, ChatState } from '../../../src/ahp-1/index.js';
import { SessionStatus } from '../../../src/ahp-1/index.js';
import {
  chatState,
  markdown,
  message,
  partsOf,
  pending,
  question,
  questionPart,
  reduceChat,
  TURN,
  withTurn,
} from '../support/builders.js';

const { Idle, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const answer = (value: string): ChatInputAnswer => ({ state: 'draft', value: { kind: 'text', value } });

describe('a question to a person', () => {
  const ask = (request = question('q')): ChatAction => ({ type: 'chat/inputRequested', request });
  const open = withTurn([markdown('m', 'Well'), questionPart(question('q'))], { status: InputNeeded });

  it('[UP-128] stands in the answer, and the chat is unread and waits', () => {
    const state = withTurn([markdown('m', 'Well')], { status: InProgress | IsRead | IsArchived });
    const result = reduceChat(state, ask());
    expect(partsOf(result)).toStrictEqual([markdown('m', 'Well'), questionPart(question('q'))]);
    expect(result.status).toBe(InputNeeded | IsArchived);
    expect(result.modifiedAt).toBe(state.modifiedAt);
  });

  it('[UP-128] [UP-242] has no place in a chat without a turn', () => {
    const state = chatState({ status: Idle | IsRead });
    expect(reduceChat(state, ask())).toBe(state);
  });

  it('[UP-128] asked again replaces the open one; drafts stay unless answers are given', () => {
    const answers = { a: answer('One') };
    const state = withTurn([questionPart(question('q', { answers, url: 'https://a.example' })), markdown('m', '')]);
    const again = reduceChat(state, ask(question('q', { message: 'Really?' })));
    expect(partsOf(again)).toStrictEqual([
      questionPart(question('q', { message: 'Really?', answers })),
      markdown('m', ''),
    ]);
    const given = { b: answer('Two') };
    expect(partsOf(reduceChat(state, ask(question('q', { answers: given }))))[0]).toMatchObject({
      request: { answers: given },
    });
    expect(partsOf(reduceChat(open, ask()))[1]).toStrictEqual(questionPart(question('q')));
  });

  it('[UP-128] asked again after it was answered is a new question', () => {
    const state = withTurn([questionPart(question('q'), 'accept')]);
    expect(partsOf(reduceChat(state, ask()))).toStrictEqual([
      questionPart(question('q'), 'accept'),
      questionPart(question('q')),
    ]);
  });

  it('[UP-129] has drafts of its answers, which may be withdrawn', () => {
    const draft = (questionId: string, value?: string): ChatAction => ({
      type: 'chat/inputAnswerChanged',
      requestId: 'q',
      questionId,
      ...(value && { answer: answer(value) }),
    });
    const two = reduceChat(open, draft('a', 'One'), draft('b', 'Two'));
    expect(partsOf(two)[1]).toMatchObject({ request: { answers: { a: answer('One'), b: answer('Two') } } });
    expect(partsOf(two)[0]).toBe(partsOf(open)[0]);
    expect(two.status).toBe(open.status);
    const one = reduceChat(two, draft('a'));
    expect(partsOf(one)[1]).toStrictEqual(questionPart(question('q', { answers: { b: answer('Two') } })));
    const none = reduceChat(one, draft('b'));
    expect(partsOf(none)[1]).toStrictEqual(questionPart(question('q')));
    expect(reduceChat(none, draft('b'))).toBe(none);
  });

  it('[UP-130] is closed with the answers so far and those that come with it', () => {
    const answers = { a: answer('One'), b: answer('Two') };
    const state = withTurn([questionPart(question('q', { answers }))], { status: InputNeeded | IsRead });
    const closed = reduceChat(state, {
      type: 'chat/inputCompleted',
      requestId: 'q',
      response: 'accept',
      answers: { b: answer('Three') },
    });
    expect(partsOf(closed)).toStrictEqual([
      questionPart(question('q', { answers: { a: answer('One'), b: answer('Three') } }), 'accept'),
    ]);
    expect(closed.status).toBe(InProgress | IsRead);
    const declined = reduceChat(open, { type: 'chat/inputCompleted', requestId: 'q', response: 'decline' });
    expect(partsOf(declined)[1]).toStrictEqual(questionPart(question('q'), 'decline'));
  });

  it.each<[string, ChatState]>([
    ['another one is open', open],
    ['it was answered', withTurn([questionPart(question('gone'), 'cancel')], { status: InProgress })],
    ['no turn is active', chatState({ status: SessionStatus.Error })],
  ])('[UP-129] [UP-130] is not touched when %s', (_what, state) => {
    const [requestId, questionId] = ['gone', 'a'];
    expect(reduceChat(state, { type: 'chat/inputAnswerChanged', requestId, questionId, answer: answer('x') })).toBe(
      state,
    );
    expect(reduceChat(state, { type: 'chat/inputCompleted', requestId, response: 'accept' })).toBe(state);
  });
});

describe('messages that wait', () => {
  it('[UP-131] one steers, the last one set', () => {
    const state = chatState({ steeringMessage: pending('a') });
    const set: ChatAction = { type: 'chat/pendingMessageSet', kind: 'steering', id: 'b', message: message('B') };
    expect(reduceChat(state, set)).toStrictEqual(chatState({ steeringMessage: pending('b', 'B') }));
  });

  it('[UP-131] others queue, each in its place', () => {
    const set = (id: string, text: string): ChatAction => ({
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id,
      message: message(text),
    });
    const state = reduceChat(chatState(), set('a', 'A'), set('b', 'B'), set('a', 'Again'));
    expect(state.queuedMessages).toStrictEqual([pending('a', 'Again'), pending('b', 'B')]);
    expect(state).not.toHaveProperty('steeringMessage');
  });

  it('[UP-132] are withdrawn; an emptied queue is no queue', () => {
    const state = chatState({ steeringMessage: pending('s'), queuedMessages: [pending('a'), pending('b')] });
    const remove = (kind: 'steering' | 'queued', id: string): ChatAction => ({
      type: 'chat/pendingMessageRemoved',
      kind,
      id,
    });
    expect(reduceChat(state, remove('queued', 'a')).queuedMessages).toStrictEqual([pending('b')]);
    expect(reduceChat(state, remove('steering', 's'))).toStrictEqual(
      chatState({ queuedMessages: state.queuedMessages }),
    );
    expect(reduceChat(state, remove('queued', 'a'), remove('queued', 'b'))).toStrictEqual(
      chatState({ steeringMessage: pending('s') }),
    );
    for (const action of [remove('queued', 's'), remove('steering', 'a'), remove('queued', 'gone')])
      expect(reduceChat(state, action)).toBe(state);
    const none = chatState();
    expect(reduceChat(none, remove('queued', 'a'))).toBe(none);
    expect(reduceChat(none, remove('steering', 'a'))).toBe(none);
  });

  it('[UP-133] take another order; a repeated id counts once, an unknown one not at all', () => {
    const state = chatState({ queuedMessages: [pending('a'), pending('b'), pending('c')] });
    const order = (...ids: string[]): ChatAction => ({ type: 'chat/queuedMessagesReordered', order: ids });
    const result = reduceChat(state, order('c', 'gone', 'c', 'a'));
    expect(result.queuedMessages?.map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(reduceChat(state, order('a'))).toBe(state);
    const none = chatState();
    expect(reduceChat(none, order('a'))).toBe(none);
  });

  it('[UP-134] one is still being written', () => {
    const draft = message('Port', { model: { id: 'm' } });
    const state = reduceChat(chatState(), { type: 'chat/draftChanged', draft });
    expect(state).toStrictEqual(chatState({ draft }));
    expect(reduceChat(state, { type: 'chat/draftChanged', draft })).toBe(state);
    expect(reduceChat(state, { type: 'chat/draftChanged' })).toStrictEqual(chatState());
  });
});

describe('what a chat is beside its conversation', () => {
  it('[UP-117] what it does now', () => {
    const busy = reduceChat(chatState(), { type: 'chat/activityChanged', activity: 'Reading' });
    expect(busy).toStrictEqual(chatState({ activity: 'Reading' }));
    expect(reduceChat(busy, { type: 'chat/activityChanged' })).toStrictEqual(chatState());
  });

  it('[UP-137] its working directories', () => {
    const set: ChatAction = { type: 'chat/workingDirectorySet', directory: 'file:///a' };
    const remove: ChatAction = { type: 'chat/workingDirectoryRemoved', directory: 'file:///a' };
    const state = reduceChat(chatState(), set);
    expect(state.workingDirectories).toEqual(['file:///a']);
    expect(reduceChat(state, set)).toBe(state);
    const emptied = reduceChat(state, remove);
    expect(emptied).toStrictEqual(chatState({ workingDirectories: [] }));
    expect(reduceChat(emptied, remove)).toBe(emptied);
  });

  it('[UP-138] whether it was read or archived', () => {
    const state = withTurn([], { status: InProgress });
    const read = reduceChat(state, { type: 'chat/isReadChanged', isRead: true });
    expect(read.status).toBe(InProgress | IsRead);
    const archived = reduceChat(read, { type: 'chat/isArchivedChanged', isArchived: true });
    expect(archived.status).toBe(InProgress | IsRead | IsArchived);
    expect(reduceChat(archived, { type: 'chat/isReadChanged', isRead: false }).status).toBe(InProgress | IsArchived);
    expect(reduceChat(archived, { type: 'chat/isArchivedChanged', isArchived: false })).toStrictEqual(read);
    expect(reduceChat(read, { type: 'chat/isReadChanged', isRead: true })).toBe(read);
  });

  it('[UP-139] its work in the background; an emptied list stays', () => {
    const shell = { kind: 'shell', id: 'a', label: 'Build', startedAt: 'then', command: 'make' } as const;
    const agent = { kind: 'subagent', id: 'b', label: 'Look', startedAt: 'then', chat: 'ahp-chat:/b' } as const;
    const renamed = { ...shell, label: 'Build all' };
    const state = reduceChat(
      chatState(),
      { type: 'chat/backgroundWorkSet', work: shell },
      { type: 'chat/backgroundWorkSet', work: agent },
      { type: 'chat/backgroundWorkSet', work: renamed },
    );
    expect(state).toStrictEqual(chatState({ backgroundWork: [renamed, agent] }));
    const none = reduceChat(
      state,
      { type: 'chat/backgroundWorkRemoved', id: 'a' },
      { type: 'chat/backgroundWorkRemoved', id: 'b' },
    );
    expect(none).toStrictEqual(chatState({ backgroundWork: [] }));
    expect(reduceChat(none, { type: 'chat/backgroundWorkRemoved', id: 'a' })).toBe(none);
    const never = chatState();
    expect(reduceChat(never, { type: 'chat/backgroundWorkRemoved', id: 'a' })).toBe(never);
  });

  it('[UP-140] whether it can be moved, its changesets, its canvases', () => {
    const changesets = [{ label: 'All', uriTemplate: 'ahp-changeset:/all', changeKind: 'turn' as const }];
    const canvases = [{ resource: 'ahp-canvas:/one' }];
    const state = reduceChat(
      chatState(),
      { type: 'chat/movableChanged', movable: true },
      { type: 'chat/changesetsChanged', changesets },
      { type: 'chat/canvasesChanged', canvases },
    );
    expect(state).toStrictEqual(chatState({ movable: true, changesets, canvases }));
    const fixed = reduceChat(
      state,
      { type: 'chat/movableChanged', movable: false },
      { type: 'chat/changesetsChanged' },
      { type: 'chat/canvasesChanged' },
    );
    expect(fixed).toStrictEqual(chatState({ movable: false }));
  });

  it('[UP-082] metadata of a turn action changes nothing of its own', () => {
    const state = withTurn([markdown('m', 'a')]);
    const delta = { type: 'chat/delta', turnId: TURN, partId: 'm', content: 'b' } as const;
    expect(reduceChat(state, { ...delta, _meta: { a: 1 } })).toStrictEqual(reduceChat(state, delta));
  });
});
