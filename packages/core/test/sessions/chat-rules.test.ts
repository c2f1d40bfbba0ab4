/** Which actions of clients a chat accepts, case by case, and what follows from an accepted one. */
import type { ChatAction, ChatState, SessionState, StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Step } from '../../src/channels/channel.js';
import { Chat } from '../../src/sessions/chat.js';
import { chatRefusal, findCall, reactionsTo } from '../../src/sessions/chat-rules.js';
import {
  ANSWER_MAX_CHARACTERS,
  ANSWERS_MAX_CHARACTERS,
  DRAFT_MAX_CHARACTERS,
  PENDING_MESSAGES_MAX,
  PENDING_MESSAGES_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';

interface Around {
  readonly session?: object;
  readonly clientId?: string;
  readonly agent?: object;
  readonly canResume?: boolean;
}

const why = (action: object, state: object = {}, around: Around = {}) => {
  const { session = {}, clientId = 'c', agent, canResume = true } = around;
  return chatRefusal(action as StateAction, {
    ...{ state: { turns: [], ...state } as unknown as ChatState, session: session as SessionState, clientId },
    ...{ agent: agent as never, canResume },
  });
};
const call = (status: string, more: object = {}) => ({
  activeTurn: {
    id: 't',
    responseParts: [{ kind: 'markdown' }, { kind: 'toolCall', toolCall: { toolCallId: 'k', status, ...more } }],
  },
});
const ofClient = (clientId: string) => ({ contributor: { kind: 'client', clientId } });
const target = { turnId: 't', toolCallId: 'k' };
const byUser = { origin: { kind: 'user' } };

describe('a turn', () => {
  const started = { type: 'chat/turnStarted', turnId: 'u', message: { text: 'x', ...byUser } };
  it('starts in a chat that has none, of a session that could be created', () => {
    expect(why(started)).toBeUndefined();
    expect(why({ ...started, turnId: '' })).toBe('a turn needs an id');
    expect(why(started, {}, { session: { lifecycle: 'failed' } })).toMatch(/could not be created/);
    expect(why(started, {}, { session: { lifecycle: 'creating' } })).toBeUndefined();
    expect(why(started, { activeTurn: { id: 't' } })).toMatch(/^turn t is running/);
  });

  it('is cancelled by its id', () => {
    const cancelled = { type: 'chat/turnCancelled', turnId: 't' };
    expect(why(cancelled, { activeTurn: { id: 't' } })).toBeUndefined();
    expect(why(cancelled)).toBe('no turn is running');
    expect(why(cancelled, { activeTurn: { id: 'u' } })).toBe('turn t is not the one that is running');
  });

  it('goes on when it is the last one and ended with an error that says so', () => {
    const resume = { type: 'chat/turnResume', turnId: 't' };
    const ended = (state: string, ...responseParts: object[]) => ({ turns: [{ id: 't', state, responseParts }] });
    const error = { kind: 'error', resumable: true };
    expect(why(resume, ended('error', { kind: 'markdown' }, error))).toBeUndefined();
    expect(why(resume, { ...ended('error', error), activeTurn: { id: 'u' } })).toBe('turn u is running');
    const later = { turns: [...ended('error', error).turns, { id: 'u' }] };
    expect([why(resume, later), why(resume)]).toEqual(Array(2).fill('turn t is not the last one'));
    const others = [ended('error', { kind: 'error' }), ended('error', error, { kind: 'markdown' }), ended('error')];
    for (const state of [...others, ended('complete', error)]) expect(why(resume, state)).toMatch(/cannot be resumed/);
    const last = ended('error', error);
    expect(why(resume, last, { canResume: false })).toMatch(/cannot be resumed/);
    expect(why(resume, last, { session: { lifecycle: 'failed' } })).toMatch(/could not be created/);
  });
});

describe('a chat that is not open to people', () => {
  it.each([
    { type: 'chat/turnStarted', turnId: 'u', message: { text: 'x', ...byUser } },
    { type: 'chat/turnResume', turnId: 't' },
    { type: 'chat/pendingMessageSet', kind: 'queued', id: 'm', message: { text: 'x', ...byUser } },
    { type: 'chat/draftChanged', draft: { text: 'x', ...byUser } },
    { type: 'chat/truncated' },
  ])('takes no $type', (action) => {
    expect(why(action, { interactivity: 'read-only' })).toBe('this chat is read-only');
    expect(why(action, { interactivity: 'full' })).not.toBe('this chat is full');
  });

  it('can be cut when it is open', () => {
    expect(why({ type: 'chat/truncated' })).toBeUndefined();
  });
});

describe('what a person writes', () => {
  const kinds = [
    (message: object) => ({ type: 'chat/turnStarted', turnId: 'u', message }),
    (message: object) => ({ type: 'chat/pendingMessageSet', kind: 'queued', id: 'm', message }),
    (message: object) => ({ type: 'chat/draftChanged', draft: message }),
  ];

  it('is of a person [UP-073]', () => {
    for (const make of kinds) {
      expect(why(make({ text: '', ...byUser }))).toBeUndefined();
      for (const kind of ['agent', 'tool', 'automation', 'systemNotification'])
        expect(why(make({ text: '', origin: { kind } }))).toBe(
          `a client can only send messages of origin user, not ${kind}`,
        );
    }
  });

  it('goes where people may write', () => {
    for (const make of kinds) {
      const action = make({ text: '', ...byUser });
      expect(why(action, { interactivity: 'full' })).toBeUndefined();
      for (const interactivity of ['read-only', 'hidden'])
        expect(why(action, { interactivity })).toBe(`this chat is ${interactivity}`);
    }
  });

  it('goes to no agent that is switched off', () => {
    const agent = { uri: 'agent:/a' };
    const children = [{ id: 'a', type: 'agent', ...agent }];
    const plugin = (enabled: boolean) => ({
      session: {
        customizations: [{ type: 'plugin', name: 'p', children, enablement: [{ kind: 'session', enabled }] }],
      },
    });
    for (const make of kinds.slice(0, 2)) {
      const action = make({ text: '', ...byUser, agent });
      expect([why(action), why(action, {}, plugin(true))]).toEqual([undefined, undefined]);
      expect(why(action, {}, plugin(false))).toBe('this agent belongs to p, which is switched off');
    }
  });

  it('[REL-098] has a greatest length as a draft, and may be taken away', () => {
    const draft = (length: number) => ({ text: 'x'.repeat(length), ...byUser });
    const changed = (value?: object) => why({ type: 'chat/draftChanged', draft: value });
    const room = DRAFT_MAX_CHARACTERS - JSON.stringify(draft(0)).length;
    expect([changed(draft(room)), changed()]).toEqual([undefined, undefined]);
    expect(changed(draft(room + 1))).toMatch(/^the draft is too long/);
  });
});

describe('messages that wait', () => {
  const set = (kind: string, id: string, text = '') => ({
    type: 'chat/pendingMessageSet',
    kind,
    id,
    message: { text, ...byUser },
  });
  const message = (id: string, text = '') => ({ id, message: { text, ...byUser } });

  it('[REL-098] are so many; one that is there may be changed', () => {
    const queuedMessages = Array.from({ length: PENDING_MESSAGES_MAX }, (_, n) => message(`${n}`));
    expect(why(set('queued', 'new'), { queuedMessages })).toMatch(/messages are waiting already/);
    expect(why(set('queued', '0'), { queuedMessages })).toBeUndefined();
    expect(why(set('steering', 'new'), { queuedMessages })).toBeUndefined();
    expect(why(set('queued', 'new'), { queuedMessages: queuedMessages.slice(1) })).toBeUndefined();
    const steered = { queuedMessages: queuedMessages.slice(1), steeringMessage: message('s') };
    expect(why(set('queued', 'new'), steered)).toMatch(/messages are waiting already/);
  });

  it('[REL-098] are so much together', () => {
    const bare = JSON.stringify(message('new')).length;
    const room = PENDING_MESSAGES_MAX_CHARACTERS - bare;
    expect(why(set('queued', 'new', 'x'.repeat(room)))).toBeUndefined();
    expect(why(set('queued', 'new', 'x'.repeat(room + 1)))).toMatch(/too much is waiting/);
    const queuedMessages = [message('old', 'x'.repeat(room - bare))];
    expect(why(set('queued', 'new'), { queuedMessages })).toBeUndefined();
    expect(why(set('queued', 'new', 'x'), { queuedMessages })).toMatch(/too much is waiting/);
    expect(why(set('queued', 'old', 'x'), { queuedMessages })).toBeUndefined();
  });

  it('are removed by kind and id', () => {
    const removed = (kind: string, id: string) => ({ type: 'chat/pendingMessageRemoved', kind, id });
    const state = { steeringMessage: message('s'), queuedMessages: [message('a'), message('b')] };
    expect([why(removed('steering', 's'), state), why(removed('queued', 'b'), state)]).toEqual([undefined, undefined]);
    expect(why(removed('steering', 'a'), state)).toBe('no steering message a is waiting');
    expect(why(removed('queued', 's'), state)).toBe('no queued message s is waiting');
    expect([why(removed('queued', 's')), why(removed('steering', 's'))].every(Boolean)).toBe(true);
  });
});

describe('a tool call', () => {
  const confirmed = (more: object = {}) => ({ type: 'chat/toolCallConfirmed', ...target, approved: true, ...more });

  it('is found in the running turn only', () => {
    const state = call('running') as unknown as ChatState;
    expect(findCall(state, target)).toMatchObject({ toolCallId: 'k' });
    expect(findCall(state, { ...target, turnId: 'u' })).toBeUndefined();
    expect(findCall(state, { ...target, toolCallId: 'x' })).toBeUndefined();
    expect(findCall({} as ChatState, target)).toBeUndefined();
  });

  it('is confirmed once, while it waits for that', () => {
    expect(why(confirmed(), call('pending-confirmation'))).toBeUndefined();
    expect(why(confirmed(), call('completed'))).toBe('call k is completed: somebody answered already');
    expect(why(confirmed())).toBe('no call k is running');
  });

  it('that runs at once may be denied by its client, and by no other', () => {
    const running = call('running', { ...ofClient('c') });
    expect(why(confirmed({ approved: false }), running)).toBeUndefined();
    expect(why(confirmed({ approved: false }), running, { clientId: 'd' })).toMatch(/somebody answered/);
    expect(why(confirmed(), running)).toMatch(/somebody answered/);
    expect(why(confirmed({ approved: false }), call('completed', { ...ofClient('c') }))).toMatch(/somebody answered/);
  });

  it('is confirmed with an edited input only where that may be', () => {
    const edited = confirmed({ editedToolInput: '{}' });
    expect(why(edited, call('pending-confirmation', { editable: true }))).toBeUndefined();
    expect(why(edited, call('pending-confirmation'))).toBe('its input cannot be edited');
    expect(why({ ...edited, approved: false }, call('pending-confirmation'))).toBeUndefined();
  });

  it('is confirmed with an option that there is, and that means that', () => {
    const state = call('pending-confirmation', {
      options: [
        { id: 'yes', kind: 'approve' },
        { id: 'no', kind: 'deny' },
      ],
    });
    const chosen = (selectedOptionId: string, approved: boolean) =>
      why(confirmed({ selectedOptionId, approved }), state);
    expect([chosen('yes', true), chosen('no', false), chosen('', true)]).toEqual([undefined, undefined, undefined]);
    expect(chosen('yes', false)).toBe('option yes means to approve');
    expect(chosen('no', true)).toBe('option no means to deny');
    expect(chosen('x', true)).toBe('there is no option x');
    expect(why(confirmed({ selectedOptionId: 'yes' }), call('pending-confirmation'))).toBe('there is no option yes');
  });

  it('has its result confirmed once', () => {
    const released = { type: 'chat/toolCallResultConfirmed', ...target, approved: true };
    expect(why(released, call('pending-result-confirmation'))).toBeUndefined();
    expect(why(released, call('running'))).toMatch(/call k is running/);
    expect(why(released)).toBe('no call k is running');
  });

  it.each([
    ['chat/toolCallComplete', ['running', 'pending-confirmation']],
    ['chat/toolCallContentChanged', ['running']],
  ])('%s is for its client, while it runs', (type, allowed) => {
    const action = { type, ...target };
    for (const status of ['running', 'pending-confirmation', 'streaming', 'completed']) {
      const state = call(status, { ...ofClient('c') });
      expect(why(action, state)).toBe(allowed.includes(status) ? undefined : `call k is ${status}`);
    }
    expect(why(action, call('running', { ...ofClient('d') }))).toBe('call k belongs to another client');
    expect(why(action, call('running'))).toBe('call k is run by the host');
    expect(why(action)).toBe('no call k is running');
  });
});

describe('a question', () => {
  const request = { id: 'q', questions: [{ id: 'a', required: true }, { id: 'b' }], answers: {} };
  const asks = (...requests: object[]) => ({
    activeTurn: { id: 't', responseParts: [{ kind: 'markdown' }, ...requests.map((each) => part(each))] },
  });
  const part = (each: object, more: object = {}) => ({ kind: 'inputRequest', request: each, ...more });
  /** One of a turn, and one that stands outside of turns. */
  const places: [string, (...requests: object[]) => [object, Around]][] = [
    ['of a turn', (...requests) => [asks(...requests), {}]],
    [
      'outside of turns',
      (...requests) => {
        const inputNeeded = requests.map((each) => ({ kind: 'chatInput', id: 'standing:', chat: 'c', request: each }));
        return [{}, { session: { inputNeeded } }];
      },
    ],
  ];

  it.each(places)('%s takes drafts of the answers that it asks for', (_, place) => {
    const draft = (requestId: string, questionId: string, answer?: unknown) =>
      why({ type: 'chat/inputAnswerChanged', requestId, questionId, answer }, ...place({ id: 'x' }, request));
    expect([draft('q', 'a'), draft('q', 'b', { value: 'x' })]).toEqual([undefined, undefined]);
    expect(draft('z', 'a')).toBe('no question z is open');
    expect(draft('q', 'z')).toBe('q does not ask z');
    expect(draft('x', 'a')).toBe('x does not ask a');
    const text = 'x'.repeat(ANSWER_MAX_CHARACTERS - 2);
    expect(draft('q', 'a', text)).toBeUndefined();
    expect(draft('q', 'a', `${text}x`)).toMatch(/an answer may have/);
    expect(why({ type: 'chat/inputAnswerChanged', requestId: 'q', questionId: 'a' })).toMatch(/no question q/);
  });

  it.each(places)('%s is complete with what is required, or without when it is not accepted', (_, place) => {
    const done = (response: string, answers?: object, asked: object = request) =>
      why({ type: 'chat/inputCompleted', requestId: 'q', response, answers }, ...place({ id: 'x' }, asked));
    expect(done('accept', { a: { state: 'submitted' } })).toBeUndefined();
    expect(done('accept', { a: { state: 'draft' } })).toBe('question a needs an answer');
    expect(done('accept', { b: { state: 'submitted' } })).toBe('question a needs an answer');
    expect([done('decline'), done('cancel')]).toEqual([undefined, undefined]);
    expect(done('accept', undefined, { ...request, answers: { a: { state: 'submitted' } } })).toBeUndefined();
    expect(done('accept', undefined, { id: 'q' })).toBeUndefined();
    expect(done('cancel', undefined, { id: 'p' })).toBe('no question q is open: somebody answered already');
  });

  it('[REL-098] takes answers up to a size', () => {
    const value = (length: number) => ({ a: { state: 'submitted', value: 'x'.repeat(length) } });
    const frame = JSON.stringify(value(0)).length;
    const done = (length: number) =>
      why(
        { type: 'chat/inputCompleted', requestId: 'q', response: 'accept', answers: value(length - frame) },
        { activeTurn: { id: 't', responseParts: [part(request)] } },
      );
    expect(done(ANSWERS_MAX_CHARACTERS)).toBeUndefined();
    expect(done(ANSWERS_MAX_CHARACTERS + 1)).toMatch(/all answers together/);
  });

  it('is answered once', () => {
    const answered = { activeTurn: { id: 't', responseParts: [part(request, { response: 'accept' })] } };
    const done = { type: 'chat/inputCompleted', requestId: 'q', response: 'cancel' };
    expect(why(done, answered)).toBe('no question q is open: somebody answered already');
    // What waits in a turn is listed in the session, too: that alone does not keep it open.
    const listed = { inputNeeded: [{ kind: 'chatInput', id: 'input:q', chat: 'c', request }] };
    expect(why(done, answered, { session: listed })).toMatch(/no question q is open/);
  });
});

describe('the folders of a chat', () => {
  const several = { agent: { capabilities: { multipleWorkingDirectories: {} } } };
  const session = { workingDirectories: ['file:///a'] };

  it('are some of those of its session, where the agent works in several [UP-160]', () => {
    const set = (directory: string, around: object) =>
      why({ type: 'chat/workingDirectorySet', directory }, {}, { session, ...around });
    expect(set('file:///a', several)).toBeUndefined();
    expect(set('file:///b', several)).toBe('file:///b is not a folder of this session');
    expect(set('file:///a', { ...several, session: {} })).toMatch(/is not a folder/);
    expect([set('file:///a', {}), set('file:///a', { agent: {} })]).toEqual(
      Array(2).fill('the agent of this session works in one folder'),
    );
  });

  it('are left where the agent works in several', () => {
    const removed = { type: 'chat/workingDirectoryRemoved', directory: 'file:///a' };
    expect(why(removed, {}, several)).toBeUndefined();
    expect(why(removed)).toBe('the agent of this session works in one folder');
  });
});

describe('an action without a rule', () => {
  it('is accepted', () => {
    expect(why({ type: 'chat/isReadChanged' })).toBeUndefined();
  });
});

describe('what follows from an action', () => {
  const kinds = (action: object, before: object, after: object) =>
    reactionsTo(action as ChatAction, { before, after } as unknown as Step<ChatState>);
  const turns: object[] = [];

  it('is that a turn runs', () => {
    expect(kinds({ type: 'chat/turnStarted', turnId: 't' }, { turns }, { turns, activeTurn: { id: 't' } })).toEqual([
      { kind: 'run-turn', turnId: 't' },
    ]);
  });

  it('is that a turn that is over is stopped and archived, and what waited for its end is done', () => {
    const before = { turns, activeTurn: { id: 't' } };
    const after = { turns: [{}] };
    expect(kinds({ type: 'chat/turnComplete' }, before, after)).toEqual([
      { kind: 'stop-turn', turnId: 't' },
      { kind: 'store-archive' },
      { kind: 'turn-ended' },
      { kind: 'start-queued' },
    ]);
    expect(kinds({ type: 'chat/error' }, before, after).map(({ kind }) => kind)).not.toContain('start-queued');
    expect(kinds({ type: 'chat/delta' }, before, { turns, activeTurn: { id: 't' } })).toEqual([]);
    expect(kinds({ type: 'chat/delta' }, before, before)).toEqual([]);
    const other = kinds({ type: 'chat/x' }, before, { turns, activeTurn: { id: 'u' } });
    expect(other.map(({ kind }) => kind)).toEqual(['stop-turn', 'store-archive', 'turn-ended']);
  });

  it('is that a history that was cut is archived, and cut in the agent', () => {
    const truncated = { type: 'chat/truncated', turnId: 't' };
    expect(kinds(truncated, { turns: [{}] }, { turns })).toEqual([
      { kind: 'store-archive' },
      { kind: 'truncate-agent', turnId: 't' },
    ]);
    const same = { turns };
    expect(kinds(truncated, same, same)).toEqual([]);
  });

  it.each([
    ['chat/turnComplete', true],
    ['chat/pendingMessageSet', true],
    ['chat/error', false],
    ['chat/draftChanged', false],
  ])('%s moves the queue: %s', (type, moves) => {
    expect(kinds({ type }, { turns }, { turns })).toEqual(moves ? [{ kind: 'start-queued' }] : []);
  });
});

describe('the queue of a chat', () => {
  const message = { text: 'x', ...byUser };
  const queuedMessages = [
    { id: 'm', message },
    { id: 'n', message },
  ];
  function started(state: object, lifecycle = 'ready') {
    const live = { turns: [], modifiedAt: '', ...state };
    const channel = { uri: 'c', live, timeAt: (now: number) => now };
    const session = { state: { lifecycle } };
    const chat = new Chat(session as never, { channel, clock: { now: () => 0 } } as never, {} as never);
    const write = vi.spyOn(chat, 'write').mockImplementation(() => {});
    chat.startQueued();
    return write.mock.calls.map(([action]) => action);
  }

  it('moves while the chat is idle and its session is ready', () => {
    expect(started({ queuedMessages })).toEqual([
      { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'm' },
      expect.objectContaining({ type: 'chat/turnStarted', message, queuedMessageId: 'm' }),
    ]);
    expect(started({ queuedMessages, activeTurn: { id: 't' } })).toEqual([]);
    for (const lifecycle of ['creating', 'failed']) expect(started({ queuedMessages }, lifecycle)).toEqual([]);
    expect([started({}), started({ queuedMessages: [] })]).toEqual([[], []]);
  });
});
