/** Which actions of clients a session accepts, case by case, and what follows from an accepted one. */
import type { SessionState, StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../src/channels/channel.js';
import {
  ANSWER_MAX_CHARACTERS,
  CHOICE_MAX_CHARACTERS,
  GIVEN_TITLE_MAX_CHARACTERS,
  PENDING_MESSAGES_MAX,
  PENDING_MESSAGES_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';
import { findCall, mustWait, reactionsTo, refusal } from '../../src/sessions/session-rules.js';

const why = (action: object, state: object = {}, clientId = 'c') =>
  refusal(action as StateAction, { state: state as SessionState, clientId });
const call = (status: string, more: object = {}) => ({
  activeTurn: {
    id: 't',
    responseParts: [{ kind: 'markdown' }, { kind: 'toolCall', toolCall: { toolCallId: 'k', status, ...more } }],
  },
});
const target = { turnId: 't', toolCallId: 'k' };

describe('a turn', () => {
  const started = { type: 'session/turnStarted', turnId: 'u' };
  it('starts in a session that has none, and could be created', () => {
    expect(why(started)).toBeUndefined();
    expect(why({ ...started, turnId: '' })).toBe('a turn needs an id');
    expect(why(started, { lifecycle: 'creationFailed' })).toMatch(/could not be created/);
    expect(why(started, { activeTurn: { id: 't' } })).toMatch(/^turn t is running/);
  });

  it('is cancelled by its id', () => {
    const cancelled = { type: 'session/turnCancelled', turnId: 't' };
    expect(why(cancelled, { activeTurn: { id: 't' } })).toBeUndefined();
    expect(why(cancelled)).toBe('no turn is running');
    expect(why(cancelled, { activeTurn: { id: 'u' } })).toBe('turn t is not the one that is running');
  });

  it('keeps its model and its agent', () => {
    const isHeld = (type: string, activeTurn?: object) =>
      mustWait({ type } as StateAction, { activeTurn } as SessionState);
    for (const type of ['session/modelChanged', 'session/agentChanged'])
      expect([isHeld(type, {}), isHeld(type)]).toEqual([true, false]);
    expect(isHeld('session/titleChanged', {})).toBe(false);
  });
});

describe('a title', () => {
  it('[REL-057] has a greatest length', () => {
    const titled = (length: number) => why({ type: 'session/titleChanged', title: 'x'.repeat(length) });
    expect(titled(GIVEN_TITLE_MAX_CHARACTERS)).toBeUndefined();
    expect(titled(GIVEN_TITLE_MAX_CHARACTERS + 1)).toMatch(/a title may have/);
  });
});

describe('messages that wait', () => {
  const set = (kind: string, id: string, text = '') => ({
    type: 'session/pendingMessageSet',
    kind,
    id,
    userMessage: { text },
  });
  const message = (id: string, text = '') => ({ id, userMessage: { text } });

  it('[REL-057] are so many; one that is there may be changed', () => {
    const queuedMessages = Array.from({ length: PENDING_MESSAGES_MAX }, (_, n) => message(`${n}`));
    expect(why(set('queued', 'new'), { queuedMessages })).toMatch(/messages wait already/);
    expect(why(set('queued', '0'), { queuedMessages })).toBeUndefined();
    expect(why(set('steering', 'new'), { queuedMessages })).toBeUndefined();
    expect(why(set('queued', 'new'), { queuedMessages: queuedMessages.slice(1) })).toBeUndefined();
    const steered = { queuedMessages: queuedMessages.slice(1), steeringMessage: message('s') };
    expect(why(set('queued', 'new'), steered)).toMatch(/messages wait already/);
  });

  it('[REL-057] are so much together', () => {
    const bare = JSON.stringify(message('new')).length;
    const room = PENDING_MESSAGES_MAX_CHARACTERS - bare;
    expect(why(set('queued', 'new', 'x'.repeat(room)))).toBeUndefined();
    expect(why(set('queued', 'new', 'x'.repeat(room + 1)))).toMatch(/too much waits/);
    const queuedMessages = [message('old', 'x'.repeat(room - bare))];
    expect(why(set('queued', 'new'), { queuedMessages })).toBeUndefined();
    expect(why(set('queued', 'new', 'x'), { queuedMessages })).toMatch(/too much waits/);
    expect(why(set('queued', 'old', 'x'), { queuedMessages })).toBeUndefined();
  });

  it('are removed by kind and id', () => {
    const removed = (kind: string, id: string) => ({ type: 'session/pendingMessageRemoved', kind, id });
    const state = { steeringMessage: message('s'), queuedMessages: [message('a'), message('b')] };
    expect([why(removed('steering', 's'), state), why(removed('queued', 'b'), state)]).toEqual([undefined, undefined]);
    expect(why(removed('steering', 'a'), state)).toBe('no steering message a is waiting');
    expect(why(removed('queued', 's'), state)).toBe('no queued message s is waiting');
    expect([why(removed('queued', 's')), why(removed('steering', 's'))].every(Boolean)).toBe(true);
  });
});

describe('a tool call', () => {
  const confirmed = (more: object = {}) => ({ type: 'session/toolCallConfirmed', ...target, approved: true, ...more });

  it('is found in the running turn only', () => {
    const state = call('running') as unknown as SessionState;
    expect(findCall(state, target)).toMatchObject({ toolCallId: 'k' });
    expect(findCall(state, { ...target, turnId: 'u' })).toBeUndefined();
    expect(findCall(state, { ...target, toolCallId: 'x' })).toBeUndefined();
    expect(findCall({} as SessionState, target)).toBeUndefined();
  });

  it('is confirmed once, while it waits for that', () => {
    expect(why(confirmed(), call('pending-confirmation'))).toBeUndefined();
    expect(why(confirmed(), call('completed'))).toBe('call k is completed: somebody answered already');
    expect(why(confirmed())).toBe('no call k is running');
  });

  it('that runs at once may be denied by its client, and by no other', () => {
    const running = call('running', { toolClientId: 'c' });
    expect(why(confirmed({ approved: false }), running)).toBeUndefined();
    expect(why(confirmed({ approved: false }), running, 'd')).toMatch(/somebody answered/);
    expect(why(confirmed(), running)).toMatch(/somebody answered/);
    expect(why(confirmed({ approved: false }), call('completed', { toolClientId: 'c' }))).toMatch(/somebody answered/);
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
    const released = { type: 'session/toolCallResultConfirmed', ...target, approved: true };
    expect(why(released, call('pending-result-confirmation'))).toBeUndefined();
    expect(why(released, call('running'))).toMatch(/call k is running/);
    expect(why(released)).toBe('no call k is running');
  });

  it.each([
    ['session/toolCallComplete', ['running', 'pending-confirmation']],
    ['session/toolCallContentChanged', ['running']],
  ])('%s is for its client, while it runs', (type, allowed) => {
    const action = { type, ...target };
    for (const status of ['running', 'pending-confirmation', 'streaming', 'completed']) {
      const state = call(status, { toolClientId: 'c' });
      expect(why(action, state)).toBe(allowed.includes(status) ? undefined : `call k is ${status}`);
    }
    expect(why(action, call('running', { toolClientId: 'd' }))).toBe('call k belongs to another client');
    expect(why(action, call('running'))).toBe('call k is run by the host');
    expect(why(action)).toBe('no call k is running');
  });
});

describe('a question', () => {
  const request = { id: 'q', questions: [{ id: 'a', required: true }, { id: 'b' }], answers: {} };
  const state = { inputRequests: [{ id: 'x' }, request] };

  it('takes drafts of the answers that it asks for', () => {
    const draft = (requestId: string, questionId: string, answer?: unknown) =>
      why({ type: 'session/inputAnswerChanged', requestId, questionId, answer }, state);
    expect([draft('q', 'a'), draft('q', 'b', { value: 'x' })]).toEqual([undefined, undefined]);
    expect(draft('z', 'a')).toBe('no question z is open');
    expect(draft('q', 'z')).toBe('q does not ask z');
    expect(draft('x', 'a')).toBe('x does not ask a');
    const text = 'x'.repeat(ANSWER_MAX_CHARACTERS - 2);
    expect(draft('q', 'a', text)).toBeUndefined();
    expect(draft('q', 'a', `${text}x`)).toMatch(/an answer may have/);
    expect(why({ type: 'session/inputAnswerChanged', requestId: 'q', questionId: 'a' })).toMatch(/no question q/);
  });

  it('is complete with an answer to what is required, or without when it is not accepted', () => {
    const done = (response: string, answers?: object, in_: object = state) =>
      why({ type: 'session/inputCompleted', requestId: 'q', response, answers }, in_);
    expect(done('accept', { a: { state: 'submitted' } })).toBeUndefined();
    expect(done('accept', { a: { state: 'draft' } })).toBe('question a needs an answer');
    expect(done('accept', { b: { state: 'submitted' } })).toBe('question a needs an answer');
    expect([done('decline'), done('cancel')]).toEqual([undefined, undefined]);
    const drafted = { inputRequests: [{ ...request, answers: { a: { state: 'submitted' } } }] };
    expect(done('accept', undefined, drafted)).toBeUndefined();
    expect(done('accept', undefined, { inputRequests: [{ id: 'q' }] })).toBeUndefined();
    expect(done('cancel', undefined, {})).toBe('no question q is open: somebody answered already');
  });
});

describe('the configuration of a session', () => {
  const schema = {
    properties: {
      free: { type: 'string', title: 'Free', sessionMutable: true },
      fixed: { type: 'string', title: 'Fixed' },
    },
  };
  const state = { config: { schema, values: { fixed: 'f', free: 'x' } } };
  const changed = (config: object, replace?: boolean, in_: object = state) =>
    why({ type: 'session/configChanged', config, ...(replace !== undefined && { replace }) }, in_);

  it('is changed where that is allowed, with what fits', () => {
    expect([changed({ free: 'y' }), changed({ fixed: 'f' }), changed({})]).toEqual([undefined, undefined, undefined]);
    expect(changed({ fixed: 'g' })).toBe('fixed cannot be changed any more');
    expect(changed({ other: 1 })).toBe('there is no property other');
    expect(changed({ toString: 1 })).toBe('there is no property toString');
    expect(changed({ free: 7 })).toMatch(/^free must be /);
    expect(changed({}, undefined, {})).toBe('this session has no configuration');
  });

  it('is replaced with what cannot be changed in it', () => {
    expect(changed({ fixed: 'f' }, true)).toBeUndefined();
    expect(changed({ free: 'y' }, true)).toBe('fixed cannot be removed');
    expect(changed({ free: 'y' }, false)).toBeUndefined();
  });

  it('[REL-057] names models and agents of a bounded length', () => {
    for (const name of ['model', 'agent']) {
      const chosen = (length: number) => why({ type: `session/${name}Changed`, [name]: { uri: 'x'.repeat(length) } });
      const room = CHOICE_MAX_CHARACTERS - JSON.stringify({ uri: '' }).length;
      expect([chosen(room), why({ type: `session/${name}Changed` })]).toEqual([undefined, undefined]);
      expect(chosen(room + 1)).toMatch(new RegExp(`^${name} may have`));
    }
  });
});

describe('customizations', () => {
  const plugin = (id: string, enabled: boolean, ...children: object[]) => ({ id, name: id, enabled, children });
  const agent = { id: 'a', type: 'agent', uri: 'agent:/a' };
  const server = { id: 's', type: 'mcpServer', enabled: true };

  it('that are switched off lend no agent', () => {
    const chosen = (customizations: object[] | undefined, uri = 'agent:/a') =>
      why({ type: 'session/agentChanged', agent: { uri } }, { customizations });
    expect(chosen([plugin('p', false, agent)])).toBe('this agent belongs to p, which is switched off');
    expect(chosen([plugin('p', false, agent), plugin('o', true, agent)])).toBeUndefined();
    expect(chosen([plugin('p', false, agent)], 'agent:/b')).toBeUndefined();
    expect(chosen([plugin('p', false, { ...agent, type: 'skill' })])).toBeUndefined();
    expect([chosen(undefined), chosen([{ id: 'p' }])]).toEqual([undefined, undefined]);
  });

  it('are switched by their id, and servers inside of them', () => {
    const toggled = (id: string, customizations?: object[]) =>
      why({ type: 'session/customizationToggled', id, enabled: false }, { customizations });
    const all = [plugin('p', true, server, agent), { id: 'q' }];
    expect([toggled('p', all), toggled('s', all), toggled('q', all)]).toEqual([undefined, undefined, undefined]);
    expect([toggled('a', all), toggled('p')]).toEqual(['there is no customization a', 'there is no customization p']);
  });

  it('say so in their container when a server inside is switched', () => {
    const reaction = (id: string, customizations?: object[]) =>
      reactionsTo({
        action: { type: 'session/customizationToggled', id, enabled: false },
        before: {},
        after: { customizations },
      } as unknown as Step<SessionState>);
    expect(reaction('s', [plugin('p', true, server, agent)])).toEqual([
      { kind: 'update-customization', customization: plugin('p', true, { ...server, enabled: false }, agent) },
    ]);
    expect(reaction('s', [plugin('o', true, agent), plugin('p', true, server)])).toMatchObject([
      { customization: { id: 'p', children: [{ enabled: false }] } },
    ]);
    expect(reaction('p', [plugin('p', true, server)])).toEqual([]);
    expect(reaction('s', [plugin('p', true, server), { id: 's' }])).toEqual([]);
    expect([reaction('s', [{ id: 'q' }]), reaction('s')]).toEqual([[], []]);
  });
});

describe('the role of active client', () => {
  const changed = (activeClient: object | undefined, holder?: string) =>
    why({ type: 'session/activeClientChanged', activeClient }, holder ? { activeClient: { clientId: holder } } : {});

  it('is taken by oneself, when it is free, and given up by its holder', () => {
    expect([changed({ clientId: 'c' }), changed({ clientId: 'c' }, 'c')]).toEqual([undefined, undefined]);
    expect(changed({ clientId: 'c' }, 'd')).toBe('d is the active client');
    expect(changed({ clientId: 'd' })).toBe('a client can claim the role only for itself');
    expect(changed(undefined, 'c')).toBeUndefined();
    expect([changed(undefined, 'd'), changed(undefined)]).toEqual(
      Array(2).fill('only the active client can give the role up'),
    );
  });

  it('comes with its tools', () => {
    const tools = { type: 'session/activeClientToolsChanged' };
    expect(why(tools, { activeClient: { clientId: 'c' } })).toBeUndefined();
    expect(why(tools, { activeClient: { clientId: 'd' } })).toBe('only the active client can change its tools');
    expect(why(tools)).toBe('only the active client can change its tools');
  });
});

describe('an action without a rule', () => {
  it('is accepted', () => {
    expect(why({ type: 'session/isReadChanged' })).toBeUndefined();
  });
});

describe('what follows from an action', () => {
  const kinds = (action: object, before: object, after: object) =>
    reactionsTo({ action, before, after } as unknown as Step<SessionState>);
  const turns: object[] = [];
  const queued = { id: 'm' };

  it('is that a turn runs', () => {
    expect(kinds({ type: 'session/turnStarted', turnId: 't' }, { turns }, { turns, activeTurn: { id: 't' } })).toEqual([
      { kind: 'run-turn', turnId: 't' },
    ]);
  });

  it('is that a turn that is over is stopped and archived, and what waited for its end is done', () => {
    const before = { turns, activeTurn: { id: 't' } };
    const after = { turns: [{}], lifecycle: 'ready', queuedMessages: [queued] };
    expect(kinds({ type: 'session/turnComplete' }, before, after)).toEqual([
      { kind: 'stop-turn', turnId: 't' },
      { kind: 'archive' },
      { kind: 'release-deferred' },
      { kind: 'start-queued', message: queued },
    ]);
    expect(kinds({ type: 'session/error' }, before, after).map(({ kind }) => kind)).not.toContain('start-queued');
    expect(kinds({ type: 'session/delta' }, before, { turns, activeTurn: { id: 't' } })).toEqual([]);
    expect(kinds({ type: 'session/delta' }, before, before)).toEqual([]);
    const other = kinds({ type: 'session/x' }, before, { turns, activeTurn: { id: 'u' } });
    expect(other.map(({ kind }) => kind)).toEqual(['stop-turn', 'archive', 'release-deferred']);
  });

  it('is that a history that was cut is archived, and cut in the agent', () => {
    const truncated = { type: 'session/truncated', turnId: 't' };
    expect(kinds(truncated, { turns: [{}] }, { turns })).toEqual([
      { kind: 'archive' },
      { kind: 'truncate-agent', turnId: 't' },
    ]);
    const same = { turns };
    expect(kinds(truncated, same, same)).toEqual([]);
  });

  it.each([
    ['session/turnComplete', true],
    ['session/pendingMessageSet', true],
    ['session/ready', true],
    ['session/titleChanged', false],
  ])('%s moves the queue of an idle session: %s', (type, moves) => {
    const state = { turns, lifecycle: 'ready', queuedMessages: [queued, { id: 'n' }] };
    const started = (after: object) => kinds({ type }, { turns }, after).length;
    expect(started(state)).toBe(moves ? 1 : 0);
    expect(started({ ...state, activeTurn: { id: 't' } })).toBe(0);
    expect(started({ ...state, lifecycle: 'creating' })).toBe(0);
    expect(started({ ...state, queuedMessages: undefined })).toBe(0);
  });
});
