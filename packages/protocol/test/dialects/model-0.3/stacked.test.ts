/** Older dialects over the 1.0 model: their clients get what they got from a host with the 0.3.0 model. */

import { describe, expect, it } from 'vitest';
import { PRIVATE } from '../../../src/ahp-1/private-members.js';
import { ahp02 } from '../../../src/dialects/ahp-0.2/codec.js';
import { ahp03 } from '../../../src/dialects/ahp-0.3/codec.js';
import type { ModelRequest, ModelView } from '../../../src/dialects/dialect.js';
import { type ActionFrame, type Dialect03, NO_MEMORY, type Step } from '../../../src/dialects/dialect-0.3.js';
import { over03 } from '../../../src/dialects/model-0.3/over.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { SLASHED_ROOT_URI } from '../../../src/dialects/sessions-v1/uris.js';
import type * as Ahp03 from '../../../src/index.js';
import { SessionStatus } from '../../../src/session/status.js';
import { sessionState, sessionSummary, withTurn } from '../../support/builders.js';
import { CHAT, ModelHost } from '../../support/model-host.js';
import { type HistoryStep, randomHistory, seededRandom } from '../../support/session-history.js';

const CHANNEL = 'ahp-session:/history';
const SEEDS = Array.from({ length: 15 }, (_, index) => index + 1);

describe.each([
  ['0.3.0', ahp03],
  ['0.2.0', ahp02],
  ['sessions-v1', sessionsV1],
  ['sessions-v1 with a slash', sessionsV1.forConnection({ rootUri: SLASHED_ROOT_URI })],
] as const)('a client of %s', (_name, dialect) => {
  it('[UP-242] [UP-243] gets the same frames whichever model the host has, but for their numbers', () => {
    for (const seed of SEEDS) follow(dialect, seed);
  });
});

/** Sends a history through both models, in ticks of random length, and compares what clients get. */
function follow(dialect: Dialect03, seed: number): void {
  const random = seededRandom(seed + 7);
  const { initial, steps } = randomHistory(seed, 150);
  const host = new ModelHost(initial, { forgets: true });
  const stacked = over03(dialect);
  let memory = NO_MEMORY;
  let older = NO_MEMORY;
  for (let start = 0; start < steps.length; ) {
    const run = steps.slice(start, start + 1 + random.below(4));
    // For 0.3.0 even this changes the state, namely a time, and sessions-v1 asks for a snapshot.
    if (run.some(cutsNothing)) return;
    const group = host.tick();
    for (const [index, step] of run.entries()) host.apply(step.action, step.now, originOf(step, start + index));
    const expected = dialect.encodeSteps(
      older,
      run.map((step, index) => olderStep(step, start + index)),
    );
    const got = stacked.encodeSteps(memory, group(), host.view);
    expect(got.frames.every(({ channel }) => channel === CHANNEL)).toBe(true);
    expect({ frames: shown(got.frames), close: got.close }, `seed ${seed}, step ${start}`).toEqual({
      frames: shown(expected.frames),
      close: expected.close,
    });
    older = expected.memory;
    memory = got.memory;
    expect(memory).toEqual(older);
    start += run.length;
  }
}

function cutsNothing({ action, before, after }: HistoryStep): boolean {
  return action.type === 'session/truncated' && !before.activeTurn && before.turns.length === after.turns.length;
}

/** Actions of clients, some of which dispatch them. */
function originOf({ action }: HistoryStep, index: number): Ahp03.ActionOrigin | undefined {
  const isAnswer = action.type === 'session/toolCallConfirmed' || action.type === 'session/turnStarted';
  return isAnswer && index % 2 === 0 ? { clientId: 'desk', clientSeq: index } : undefined;
}

function olderStep(step: HistoryStep, index: number): Step {
  const { action, before, after } = step;
  return { envelope: { channel: CHANNEL, action, serverSeq: index, origin: originOf(step, index) }, before, after };
}

/** Without numbers, and without what a host says in addition: that the session is unread, which clients know. */
function shown(frames: readonly ActionFrame[]): unknown[] {
  const plain = JSON.parse(JSON.stringify(frames), (key, value) => {
    if (key === 'serverSeq' || key === 'channel') return undefined;
    // A call that is asked about again keeps its input in 1.0, and a question outside of turns its drafts.
    return ['toolInput', 'fullCommandText', 'answers'].includes(key) ? undefined : value;
  }) as { params: { action?: { type: string; isRead?: boolean } } }[];
  return plain.filter(({ params }) => params.action?.type !== 'session/isReadChanged' || params.action.isRead);
}

const host = new ModelHost(
  withTurn([], { summary: sessionSummary({ status: SessionStatus.InProgress, createdAt: 1_000 }) }),
);
const other = 'ahp-chat:/other';
const view: ModelView = {
  ...host.view,
  sessionUriOf: (chat) => (chat === CHAT || chat === other ? host.resource : undefined),
};
const context = { connection: {}, clientId: 'desk', view };
const dialect = over03(ahp03);

function forwarded(request: ModelRequest) {
  if (request.kind !== 'forward') throw new Error(JSON.stringify(request));
  return request;
}

describe('a channel of 0.3.0', () => {
  it('that is a session shows the session and its default chat, and no other chat', () => {
    expect(dialect.channelsOf('ahp-session:/one', view)).toEqual(['ahp-session:/one', CHAT]);
    expect(dialect.wireChannels('ahp-session:/one', view)).toEqual(['ahp-session:/one']);
    expect(dialect.wireChannels(CHAT, view)).toEqual(['ahp-session:/one']);
    expect(dialect.wireChannels(other, view)).toEqual([]);
  });

  it('of another kind shows the one of the same name, if 0.3.0 has that kind', () => {
    expect(dialect.channelsOf('ahp-terminal:/t', view)).toEqual(['ahp-terminal:/t']);
    expect(dialect.wireChannels('ahp-root://', view)).toEqual(['ahp-root://']);
    for (const later of [
      'ahp-chat:/x',
      'ahp-automations://',
      'ahp-canvas:/c',
      'ahp-session:/one/annotations',
      'mcp:/1',
    ]) {
      expect(dialect.channelsOf(later, view)).toEqual([]);
      expect(dialect.wireChannels(later, view)).toEqual([]);
    }
  });

  it('that sessions-v1 does not have shows nowhere in it', () => {
    expect(over03(sessionsV1).wireChannels('ahp-terminal:/t', view)).toEqual([]);
    expect(over03(sessionsV1).wireChannels(CHAT, view)).toEqual(['ahp-session:/one']);
  });
});

describe('steps of a session', () => {
  const delta = { type: 'chat/delta', turnId: 't', partId: 'p', content: 'x' } as const;

  it('in other chats are not shown', () => {
    const step = { envelope: { channel: other, action: delta, serverSeq: 3 }, before: undefined, after: undefined };
    const group = { channel: host.resource, steps: [step], stateBefore: () => undefined };
    expect(dialect.encodeSteps(NO_MEMORY, group, view).frames).toEqual([]);
  });

  it('are translated without any states, as a replay after a restart needs it', () => {
    const origin = { clientId: 'desk', clientSeq: 1 };
    const step = {
      envelope: { channel: CHAT, action: delta, serverSeq: 3, origin },
      before: undefined,
      after: undefined,
    };
    const group = { channel: host.resource, steps: [step], stateBefore: () => undefined };
    const [frame] = dialect.encodeSteps(NO_MEMORY, group, view).frames;
    expect(frame).toEqual({
      method: 'action',
      channel: host.resource,
      origin,
      params: { channel: host.resource, action: { ...delta, type: 'session/delta' }, serverSeq: 3, origin },
    });
  });

  it('that 0.3.0 cannot say end the connection behind what came before', () => {
    const actions = [delta, { type: 'chat/turnResume', turnId: 't' } as const, delta];
    const steps = actions.map((action, index) => {
      return { envelope: { channel: CHAT, action, serverSeq: index }, before: undefined, after: undefined };
    });
    const group = { channel: host.resource, steps, stateBefore: () => undefined };
    const { frames, close } = dialect.encodeSteps(NO_MEMORY, group, view);
    expect(frames).toHaveLength(1);
    expect(close).toContain('snapshot');
  });
});

describe('a request of a 0.3.0 client', () => {
  const request = (method: string, params: object) => dialect.request({ method, params: { ...params } }, context);

  it('to create a session keeps model, agent and fork, and lists its directory', () => {
    const activeClient = {
      clientId: 'desk',
      tools: [],
      customizations: [{ type: 'plugin', id: 'p', uri: 'file:///p', name: 'p', enabled: false, nonce: '1' }],
    };
    const kept = {
      channel: 'ahp-session:/new',
      model: { id: 'm' },
      fork: { session: 'ahp-session:/one', turnId: 't' },
    };
    expect(
      forwarded(request('createSession', { ...kept, workingDirectory: 'file:///w', activeClient })).params,
    ).toEqual({
      ...kept,
      [PRIVATE]: {},
      workingDirectories: ['file:///w'],
      activeClient: {
        clientId: 'desk',
        tools: [],
        customizations: [
          {
            type: 'plugin',
            id: 'p',
            uri: 'file:///p',
            name: 'p',
            enablement: [{ kind: 'session', enabled: false }],
            nonce: '1',
          },
        ],
      },
    });
  });

  it('[UP-229] for turns goes to the default chat, as a page that stands in the answer', () => {
    const call = forwarded(request('fetchTurns', { channel: 'ahp-session:/one', before: 't9', limit: 2 }));
    expect(call.params).toEqual({ channel: CHAT, 'x-atrium': { before: 't9', limit: 2 } });
    const message = { text: 'hi', origin: { kind: 'user' } };
    const error = { errorType: 'x', message: 'y' };
    const responseParts = [
      { kind: 'markdown', id: 'p', content: 'x' },
      { kind: 'error', error },
    ];
    const turn = { id: 't8', startedAt: 'z', duration: 4, message, responseParts, state: 'error' };
    expect(call.encodeResult({ turns: [turn], hasMore: true }, view)).toEqual({
      turns: [{ id: 't8', userMessage: { text: 'hi' }, responseParts: [responseParts[0]], state: 'error', error }],
      hasMore: true,
    });
  });

  it('for completions goes to the default chat', () => {
    const params = { channel: 'ahp-session:/one', kind: 'userMessage', text: '/', offset: 1 };
    expect(forwarded(request('completions', params)).params).toEqual({ ...params, channel: CHAT });
  });

  it('[UP-243] [UP-244] [UP-245] for the list of sessions gets times in milliseconds, the selection and the changesets', () => {
    const call = forwarded(request('listSessions', { channel: 'ahp-root://' }));
    const entry = { label: 'All', uriTemplate: 'ahp-changeset:/1', additions: 2 };
    const item = {
      resource: 'ahp-session:/one',
      provider: 'echo',
      title: 'One',
      status: 8,
      createdAt: '1970-01-01T00:00:01.000Z',
      modifiedAt: '1970-01-01T00:00:02.000Z',
      workingDirectories: ['file:///w', 'file:///v'],
      defaultChat: CHAT,
      _meta: { 'atrium.selection': { model: { id: 'm' } }, other: 1 },
      'x-atrium': { changesets: [{ ...entry, changeKind: 'session' }] },
    };
    expect(call.encodeResult({ items: [item], nextCursor: 'x' }, view)).toEqual({
      items: [
        {
          resource: 'ahp-session:/one',
          provider: 'echo',
          title: 'One',
          status: 8,
          createdAt: 1_000,
          modifiedAt: 2_000,
          model: { id: 'm' },
          workingDirectory: 'file:///w',
          changesets: [entry],
        },
      ],
    });
  });

  it('[UP-244] to subscribe gets one snapshot of the session and its chat, created when the catalogue says', () => {
    const call = forwarded(request('subscribe', { channel: 'ahp-session:/one' }));
    expect(call.params).toEqual({ channel: 'ahp-session:/one' });
    const parts = [
      { resource: 'ahp-session:/one', state: host.session, fromSeq: 7 },
      { resource: CHAT, state: host.chat, fromSeq: 7 },
    ];
    const result = { snapshot: { channel: 'ahp-session:/one', parts }, turns: { start: 0, total: 0 } };
    expect(call.encodeResult(result, view)).toMatchObject({
      snapshot: {
        resource: 'ahp-session:/one',
        fromSeq: 7,
        state: { summary: { createdAt: 1_000 }, activeTurn: { id: host.chat.activeTurn?.id }, turns: [] },
      },
      turns: { start: 0, total: 0 },
    });
  });

  it('to open a connection hears nothing of what 0.3.0 does not have', () => {
    const params = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: 'desk' };
    const call = forwarded(request('initialize', params));
    const root = { channel: 'ahp-root://', parts: [{ resource: 'ahp-root://', state: { agents: [] }, fromSeq: 2 }] };
    const later = { serverInfo: { name: 'atrium' }, terminalCommandPrefix: '!', automations: {}, _meta: {} };
    const result = { protocolVersion: '0.3.0', serverSeq: 2, snapshots: [root], defaultDirectory: 'file:///w' };
    expect(call.encodeResult({ ...result, ...later }, view)).toEqual({
      ...result,
      snapshots: [{ resource: 'ahp-root://', state: { agents: [] }, fromSeq: 2 }],
    });
  });

  it('to create a terminal for a session names its default chat', () => {
    const claim = { kind: 'session', session: 'ahp-session:/one' };
    const call = forwarded(request('createTerminal', { channel: 'ahp-terminal:/t', claim }));
    expect(call.params).toEqual({ channel: 'ahp-terminal:/t', claim: { ...claim, chat: CHAT } });
  });

  it('that is malformed fails in the words of 0.3.0, and a method of 1.0 is unknown', () => {
    expect(request('createSession', { channel: 'ahp-session:/new', workingDirectory: 5 })).toMatchObject({
      kind: 'fail',
      error: { code: -32602, message: 'createSession: /workingDirectory must be a string' },
    });
    expect(request('createChat', { channel: 'ahp-session:/one' })).toMatchObject({
      kind: 'fail',
      error: { code: -32601 },
    });
    expect(forwarded(request('atrium/listDisposed', { any: 1 })).params).toEqual({ any: 1 });
  });

  it('of sessions-v1 goes through both translations, and so does its answer', () => {
    const older = over03(sessionsV1);
    const call = forwarded(older.request({ method: 'subscribe', params: { resource: 'echo:/one' } }, context));
    expect(call.params).toEqual({ channel: 'ahp-session:/one' });
    const parts = [
      { resource: 'ahp-session:/one', state: host.session, fromSeq: 7 },
      { resource: CHAT, state: host.chat, fromSeq: 7 },
    ];
    expect(call.encodeResult({ snapshot: { channel: 'ahp-session:/one', parts } }, view)).toMatchObject({
      resource: 'echo:/one',
      state: { summary: { status: 'in-progress', createdAt: 1_000 }, activeTurn: { streamingText: '' } },
    });
    const created = older.request(
      { method: 'createSession', params: { session: 'echo:/n', workingDirectory: 'file:///w' } },
      context,
    );
    expect(forwarded(created).params).toMatchObject({ channel: 'ahp-session:/n', workingDirectories: ['file:///w'] });
  });
});

describe('an action that a 0.3.0 client dispatches', () => {
  const dispatch = (action: unknown, channel = 'ahp-session:/one') =>
    dialect.notification({ method: 'dispatchAction', params: { channel, clientSeq: 4, action } }, context);

  it('arrives on the default chat, and keeps its own form for the answer', () => {
    const action = { type: 'session/turnCancelled', turnId: 't' };
    expect(dispatch(action)).toEqual({
      kind: 'dispatch',
      connection: {},
      channel: CHAT,
      clientSeq: 4,
      action: { type: 'chat/turnCancelled', turnId: 't' },
      original: { channel: 'ahp-session:/one', action },
    });
  });

  it.each([
    ['of the host', { type: 'session/delta' }, 'clients cannot dispatch session/delta'],
    ['of a later version', { type: 'chat/turnCancelled', turnId: 't' }, 'clients cannot dispatch chat/turnCancelled'],
    ['on the wrong channel', { type: 'root/configChanged', config: {} }, 'does not belong on ahp-session:/one'],
    ['with a bad shape', { type: 'session/titleChanged', title: 5 }, '/title must be a string'],
  ])('is rejected when it is %s', (_what, action, reason) => {
    const rejected = dispatch(action);
    expect(rejected).toMatchObject({ kind: 'reject', clientSeq: 4, original: { action } });
    expect(rejected.kind === 'reject' && rejected.reason).toContain(reason);
  });

  it('is dropped when there is no such session', () => {
    expect(dispatch({ type: 'session/titleChanged', title: 'x' }, 'ahp-session:/gone').kind).toBe('ignore');
  });
});

describe('a notification of the host', () => {
  const notified = (method: string, params: object) =>
    dialect.encodeNotification({ method, params: { ...params } }, view);

  it('[UP-243] about the summary of a session has the members of 0.3.0 only', () => {
    const session = 'ahp-session:/one';
    const changed = (changes: object) => notified('root/sessionSummaryChanged', { session, changes });
    const _meta = { 'atrium.selection': { agent: { uri: 'file:///a.md' } } };
    expect(changed({ title: 'T', modifiedAt: '1970-01-01T00:00:03.000Z', _meta, workingDirectories: null })).toEqual({
      method: 'root/sessionSummaryChanged',
      params: {
        session,
        changes: {
          title: 'T',
          modifiedAt: 3_000,
          model: null,
          agent: { uri: 'file:///a.md' },
          workingDirectory: null,
        },
      },
    });
    expect(changed({ chats: [], defaultChat: CHAT, changes: { files: 1 } })).toBeUndefined();
  });

  it('about a token names the resource by its identifier, and one about progress does not exist', () => {
    const resource = { resource: 'https://api.example', authorization_servers: [] };
    expect(notified('auth/required', { channel: 'ahp-root://', resource })?.params).toEqual({
      channel: 'ahp-root://',
      resource: 'https://api.example',
    });
    expect(notified('root/progress', { progressToken: 'p', progress: 1 })).toBeUndefined();
  });
});

describe('a stacked dialect', () => {
  it('is one object for each way of speaking, so that hosts encode once for all its connections', () => {
    expect(over03(ahp03)).toBe(dialect);
    const older = over03(sessionsV1);
    expect(older.forConnection({ rootUri: SLASHED_ROOT_URI })).toBe(older.forConnection({ rootUri: SLASHED_ROOT_URI }));
    expect(older.forConnection({})).toBe(older);
  });

  it('keeps the traits of the older one, but that no stored text goes out as it is', () => {
    expect(dialect.traits).toEqual({ ...ahp03.traits, sendsStoredJson: false });
    expect(over03(ahp02).canSend('systemMessageTransform')).toBe(false);
    expect(dialect.canSend('systemMessageTransform')).toBe(true);
  });

  it('projects the states around a step only when the older one looks at them', () => {
    const running = new ModelHost(sessionState());
    const tick = running.tick();
    running.apply({ type: 'session/titleChanged', title: 'x' }, 5);
    const group = { ...tick(), stateBefore: () => new Proxy({}, { ownKeys: looked, get: looked }) };
    expect(over03(ahp03).encodeSteps(NO_MEMORY, group, running.view).frames).toHaveLength(1);
    expect(() => over03(sessionsV1).encodeSteps(NO_MEMORY, group, running.view)).toThrow('looked');
  });
});

function looked(): never {
  throw new Error('looked');
}
