import { ANSWERED_BY, PRIVATE, type StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { Access, LeftOut } from '../../src/contracts/access.js';
import { Projection, type ProjectionFacts, projectionKey } from '../../src/wire/projection.js';

const SESSION = 'ahp-session:/s';
const CHAT = 'ahp-chat:/s';
const FOLDER = '/home/ada/secret';
const FACTS: ProjectionFacts = {
  foldersOf: (sessions) => (sessions.length > 0 ? ['/home/ada', FOLDER] : []),
  seesTerminal: (_, terminal) => terminal.endsWith('mine'),
};
const EVERYTHING: readonly LeftOut[] = [
  ...(['toolInput', 'toolOutput', 'fileContents', 'reasoning', 'attachments', 'folders'] as const),
];

function shareOf(leftOut: readonly LeftOut[]): Access {
  return { role: 'viewer', bounds: { sessions: [SESSION] }, leftOut, credential: { kind: 'share', id: 'x' } };
}

const share = (leftOut: readonly LeftOut[] = []) => new Projection(shareOf(leftOut), FACTS);
/** A device that sees everything of a session but names. */
const device = (more: Partial<Access> = {}) =>
  new Projection({ role: 'driver', credential: { kind: 'device', id: 'd' }, ...more }, FACTS);

/** Members that a later version adds; what is made of named members has none of them. */
const NEW = { added: 'later' };
const TARGET = { turnId: 't', toolCallId: 'c' };
const SELECTED = { model: { id: 'm' } };
const META = { 'atrium.selection': { ...SELECTED, agent: { id: 'a' } }, other: 1 };
const MODEL_ONLY = { _meta: { 'atrium.selection': SELECTED } };
const FILE = { type: 'resource', label: 'x', uri: `file://${FOLDER}/x` };
const TYPED = { type: 'simple', label: 'y' };
const TRANSCRIPT = { type: 'chat', label: 'z' };
const NOTES = { type: 'annotations', label: 'z' };
const MESSAGE = { text: 'hi', origin: { kind: 'user' }, attachments: [FILE, TYPED, TRANSCRIPT, NOTES], ...NEW };
const SHOWN_MESSAGE = { text: 'hi', origin: { kind: 'user' }, attachments: [FILE, TYPED] };
const EDIT = { type: 'fileEdit', uri: 'x' };
const TERMINAL = { type: 'terminal', title: 'rm -r', resource: 'r' };
const WORKER = { type: 'subagent', title: 'do it' };
const TEXT = { type: 'text', text: 'out' };
const CONTENT = [EDIT, TERMINAL, WORKER, TEXT];
const CHANGES = [{ uri: 'changeset:/1' }];
const CALL = {
  ...{ status: 'completed', toolCallId: 'c', toolName: 'shell', displayName: 'Shell', confirmed: 'setting' },
  ...{ reason: 'r', success: true, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see' },
  ...{ pastTenseMessage: 'Ran it', content: CONTENT, structuredContent: { a: 1 }, error: { message: 'e' } },
};
const CALL_BASE = {
  ...{ status: 'completed', toolCallId: 'c', toolName: 'shell', displayName: 'Shell' },
  ...{ confirmed: 'setting', reason: 'r', success: true },
};

it('[DEV-031] a folder that is left out does not come in pieces of an input: where a path is cut, it is not found', () => {
  const pieces = ['{"path":"/home/a', 'da/secret/x.ts"}'].map(
    (content): StateAction => ({ type: 'chat/toolCallDelta', ...TARGET, content }),
  );
  const sent = (leftOut: readonly LeftOut[]) =>
    pieces.map((piece) => share(leftOut).action(CHAT, piece) as { content: string } | undefined);
  expect(sent([]).map((piece) => piece?.content)).toStrictEqual(['{"path":"/home/a', 'da/secret/x.ts"}']);
  expect(sent(['folders']).map((piece) => piece?.content)).toStrictEqual(['', '']);
});

describe('an action, as a share sees it', () => {
  /** What nothing is left of. */
  const NOTHING = undefined;
  type Row = readonly [type: string, members: object, leftOut: readonly LeftOut[], shown: object | undefined];
  const whole = (type: string, members: object, leftOut: readonly LeftOut[] = EVERYTHING): Row => [
    ...([type, members, leftOut, members] as const),
  ];
  const hidden = (type: string, members: object, leftOut: readonly LeftOut[] = []): Row => [
    ...([type, members, leftOut, NOTHING] as const),
  ];
  const summary = { resource: 'ahp-chat:/w', title: 'T', status: 1, modifiedAt: 'now', ...NEW };
  const shownSummary = { resource: 'ahp-chat:/w', title: 'T', status: 1, modifiedAt: 'now' };
  const worker = { ...summary, origin: { kind: 'tool' } };
  const changes = {
    ...{ resource: 'r', title: 'T', status: 1, modifiedAt: 'now', changes: { files: 1 }, interactivity: 'full' },
    ...{ activity: 'Running ls', ...NEW },
  };
  const { added: _, activity, ...shownChanges } = changes;

  const SESSION_ROWS: readonly Row[] = [
    whole('session/ready', {}),
    whole('session/chatRemoved', { chat: CHAT }),
    whole('session/chatsReordered', { chats: [CHAT] }),
    whole('session/defaultChatChanged', { chat: CHAT }),
    whole('session/titleChanged', { title: 'T' }),
    whole('session/isArchivedChanged', { isArchived: true }),
    whole('session/activityChanged', { activity: 'A' }, ['toolOutput', 'folders']),
    hidden('session/activityChanged', { activity: 'A' }, ['toolInput']),
    ...['Set', 'Removed', 'Replaced'].flatMap((what) => [
      whole(`session/workingDirectory${what}`, { directory: 'd' }, ['fileContents', 'attachments']),
      hidden(`session/workingDirectory${what}`, { directory: 'd' }, ['folders']),
    ]),
    whole('session/changesetsChanged', { changesets: CHANGES }, ['attachments', 'reasoning']),
    hidden('session/changesetsChanged', { changesets: CHANGES }, ['folders']),
    hidden('session/changesetsChanged', { changesets: CHANGES }, ['fileContents']),
    ['session/chatAdded', { summary }, [], { summary: shownSummary }],
    ['session/chatAdded', { summary: worker }, ['folders'], { summary: { ...shownSummary, origin: worker.origin } }],
    hidden('session/chatAdded', { summary: worker }, ['toolInput']),
    hidden('session/chatAdded', { summary: worker }, ['toolOutput']),
    [
      'session/chatUpdated',
      { chat: CHAT, changes, ...NEW },
      [],
      { chat: CHAT, changes: { ...shownChanges, activity } },
    ],
    ['session/chatUpdated', { chat: CHAT, changes }, ['toolInput'], { chat: CHAT, changes: shownChanges }],
    ['session/metaChanged', { _meta: META }, [], MODEL_ONLY],
    ['session/metaChanged', { _meta: { other: 1 } }, [], {}],
    [
      'session/metaChanged',
      { _meta: META, [PRIVATE]: { selected: SELECTED } },
      [],
      { ...MODEL_ONLY, [PRIVATE]: { selected: SELECTED } },
    ],
    ['session/metaChanged', { [PRIVATE]: { selected: { agent: null } } }, [], {}],
    hidden('session/activeClientSet', { activeClient: { clientId: 'c', tools: [] } }),
    hidden('session/configChanged', { config: {} }),
    hidden('session/aTypeOfTomorrow', {}),
  ];

  const part = (members: object) => ({ part: members });
  const failure = { kind: 'error', error: { errorType: 'boom', message: `in ${FOLDER}` } };
  const CHAT_ROWS: readonly Row[] = [
    [
      'chat/turnStarted',
      { turnId: 't', startedAt: 'now', queuedMessageId: 'q', message: MESSAGE, ...NEW },
      [],
      { turnId: 't', startedAt: 'now', queuedMessageId: 'q', message: SHOWN_MESSAGE },
    ],
    [
      'chat/pendingMessageSet',
      { kind: 'queued', id: 'q', message: MESSAGE, ...NEW },
      ['attachments'],
      { kind: 'queued', id: 'q', message: { text: 'hi', origin: { kind: 'user' } } },
    ],
    [
      'chat/pendingMessageSet',
      { kind: 'queued', id: 'q', message: MESSAGE },
      ['fileContents'],
      { kind: 'queued', id: 'q', message: { ...SHOWN_MESSAGE, attachments: [TYPED] } },
    ],
    ...[
      ...['delta', 'turnComplete', 'turnCancelled', 'turnResume', 'usage', 'pendingMessageRemoved', 'truncated'],
      ...['queuedMessagesReordered', 'inputRequested', 'inputAnswerChanged', 'inputCompleted', 'isArchivedChanged'],
    ].map((name) => whole(`chat/${name}`, { turnId: 't', content: 'x' })),
    whole('chat/reasoning', { turnId: 't', content: 'x' }, ['toolInput', 'toolOutput', 'attachments', 'folders']),
    hidden('chat/reasoning', { turnId: 't', content: 'x' }, ['reasoning']),
    [
      'chat/responsePart',
      { turnId: 't', ...part({ kind: 'markdown', content: 'x' }), ...NEW },
      EVERYTHING,
      { turnId: 't', ...part({ kind: 'markdown', content: 'x' }) },
    ],
    hidden('chat/responsePart', { turnId: 't', ...part({ kind: 'aPartOfTomorrow' }) }),
    hidden('chat/responsePart', { turnId: 't', ...part({ kind: 'systemNotification' }) }, ['reasoning']),
    whole('chat/error', { turnId: 't', ...part(failure) }, ['toolInput', 'reasoning', 'attachments']),
    ...(['toolOutput', 'folders'] as const).map(
      (what): Row => [
        'chat/error',
        { turnId: 't', ...part(failure) },
        [what],
        { turnId: 't', ...part({ kind: 'error', error: { errorType: 'boom', message: 'The turn failed.' } }) },
      ],
    ),
    ...['activityChanged', 'backgroundWorkSet', 'backgroundWorkRemoved'].flatMap((name) => [
      whole(`chat/${name}`, { id: 'b' }, ['toolOutput', 'folders', 'attachments']),
      hidden(`chat/${name}`, { id: 'b' }, ['toolInput']),
    ]),
    ...['Set', 'Removed'].flatMap((what) => [
      whole(`chat/workingDirectory${what}`, { directory: 'd' }, ['toolInput', 'fileContents']),
      hidden(`chat/workingDirectory${what}`, { directory: 'd' }, ['folders']),
    ]),
    whole('chat/changesetsChanged', { changesets: CHANGES }, ['toolInput', 'attachments']),
    hidden('chat/changesetsChanged', { changesets: CHANGES }, ['fileContents']),
    [
      'chat/turnsLoaded',
      { turns: [], turnsNextCursor: '5', [PRIVATE]: { restored: 5, other: 1 }, ...NEW },
      [],
      { turns: [], turnsNextCursor: '5', [PRIVATE]: { restored: 5 } },
    ],
    ['chat/turnsLoaded', { turns: [] }, [], { turns: [] }],
    [
      'chat/toolCallStart',
      { ...TARGET, toolName: 'shell', displayName: 'Shell', contributor: { kind: 'mcp' }, ...NEW },
      EVERYTHING,
      { ...TARGET, toolName: 'shell', displayName: 'Shell' },
    ],
    [
      'chat/toolCallDelta',
      { ...TARGET, content: 'c', invocationMessage: 'Run it', ...NEW },
      ['toolOutput'],
      { ...TARGET, content: 'c', invocationMessage: 'Run it' },
    ],
    hidden('chat/toolCallDelta', { ...TARGET, content: 'c' }, ['toolInput']),
    [
      'chat/toolCallReady',
      {
        ...{ ...TARGET, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see', confirmed: 'setting' },
        ...{ confirmationTitle: 'Run?', [PRIVATE]: { pending: true, other: 1 }, ...NEW },
      },
      ['toolOutput'],
      {
        ...{ ...TARGET, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see', confirmed: 'setting' },
        [PRIVATE]: { pending: true },
      },
    ],
    [
      'chat/toolCallReady',
      { ...TARGET, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see' },
      ['toolInput'],
      { ...TARGET, invocationMessage: 'Shell' },
    ],
    [
      'chat/toolCallConfirmed',
      { ...TARGET, approved: true, confirmed: 'user-action', reason: 'denied', editedToolInput: '{}', ...NEW },
      ['toolOutput'],
      { ...TARGET, approved: true, confirmed: 'user-action', reason: 'denied', editedToolInput: '{}' },
    ],
    [
      'chat/toolCallConfirmed',
      { ...TARGET, approved: true, editedToolInput: '{}' },
      ['toolInput'],
      { ...TARGET, approved: true },
    ],
    [
      'chat/toolCallComplete',
      { ...TARGET, requiresResultConfirmation: true, result: { ...CALL, ...NEW }, ...NEW },
      [],
      {
        ...{ ...TARGET, requiresResultConfirmation: true },
        result: {
          ...{ success: true, pastTenseMessage: 'Ran it', content: CONTENT },
          ...{ structuredContent: { a: 1 }, error: { message: 'e' } },
        },
      },
    ],
    [
      'chat/toolCallComplete',
      { ...TARGET, result: CALL },
      ['toolOutput'],
      { ...TARGET, result: { success: true, pastTenseMessage: 'Shell', error: { message: 'The tool failed.' } } },
    ],
    [
      'chat/toolCallComplete',
      { ...TARGET, result: { success: true, pastTenseMessage: 'Ran it' } },
      ['toolOutput'],
      { ...TARGET, result: { success: true, pastTenseMessage: 'Shell' } },
    ],
    [
      'chat/toolCallComplete',
      { ...TARGET, result: { success: true } },
      ['toolInput'],
      { ...TARGET, result: { success: true } },
    ],
    ['chat/toolCallResultConfirmed', { ...TARGET, approved: true, ...NEW }, EVERYTHING, { ...TARGET, approved: true }],
    [
      'chat/toolCallContentChanged',
      { ...TARGET, content: CONTENT, ...NEW },
      ['toolInput'],
      { ...TARGET, content: [EDIT, { ...TERMINAL, title: 'Shell' }, TEXT] },
    ],
    [
      'chat/toolCallContentChanged',
      { ...TARGET, content: CONTENT },
      ['folders'],
      { ...TARGET, content: [TERMINAL, WORKER, TEXT] },
    ],
    hidden('chat/toolCallContentChanged', { ...TARGET, content: CONTENT }, ['toolOutput']),
    hidden('chat/toolCallAuthRequired', { ...TARGET, auth: {} }),
  ];

  /** The chat after the action, in which the call has its name. */
  const after = { activeTurn: { id: 't', responseParts: [{ kind: 'toolCall', toolCall: CALL }] } };

  it.each([
    ...SESSION_ROWS.map((row) => [SESSION, ...row] as const),
    ...CHAT_ROWS.map((row) => [CHAT, ...row] as const),
  ])('[DEV-031] on %s, %s %j without %j is %j', (channel, type, members, leftOut, shown) => {
    const action = { type, ...members } as never;
    const [hiding, silent] = [share(leftOut), { ...FACTS, foldersOf: () => [] }];
    expect(hiding.action(channel, action, after)).toStrictEqual(shown && expectPlain({ type, ...shown }, leftOut));
    // Where no folder is to be hidden, nothing else changes.
    const without = new Projection(shareOf(leftOut), silent).action(channel, action, after);
    expect(without).toStrictEqual(shown && { type, ...shown });
  });

  /** Names of folders are replaced wherever they stand, the longest first. */
  function expectPlain(shown: object, leftOut: readonly LeftOut[]): unknown {
    if (!leftOut.includes('folders')) return shown;
    return JSON.parse(JSON.stringify(shown).replaceAll(FOLDER, '…').replaceAll('/home/ada', '…'));
  }

  it.each([
    ['of another turn', { activeTurn: { ...after.activeTurn, id: 'u' } }, TARGET],
    ['that is not there', { activeTurn: { id: 't', responseParts: [] } }, TARGET],
    ['when no turn runs', {}, TARGET],
    ['in a state that is not known', undefined, TARGET],
  ])('[DEV-031] a call %s has no other name than Tool', (_, state, target) => {
    const shown = share(['toolInput']).action(CHAT, { type: 'chat/toolCallReady', ...target } as never, state);
    expect(shown).toStrictEqual({ type: 'chat/toolCallReady', ...target, invocationMessage: 'Tool' });
  });
});

describe('a state, as a share sees it', () => {
  const SUMMARY = {
    ...{ resource: CHAT, title: 'T', status: 1, modifiedAt: 'now', interactivity: 'full', changes: { files: 1 } },
    ...{ activity: 'Running ls', workingDirectories: [`file://${FOLDER}`] },
  };
  const { activity: _activity, workingDirectories: _folders, ...PLAIN_SUMMARY } = SUMMARY;
  const WORKER_CHAT = { ...SUMMARY, origin: { kind: 'tool' } };
  const OF_SESSION = {
    ...{ provider: 'p', title: 'T', status: 1, lifecycle: 'ready', defaultChat: CHAT, activity: 'Running ls' },
    ...{ chats: [SUMMARY, WORKER_CHAT], changesets: CHANGES, workingDirectories: ['w'], project: { uri: 'u' } },
    ...{ activeClients: [{ clientId: 'c', displayName: 'Ada', tools: [] }], config: { a: 1 }, _meta: META, ...NEW },
  };
  const PLAIN_SESSION = {
    provider: 'p',
    title: 'T',
    status: 1,
    lifecycle: 'ready',
    defaultChat: CHAT,
    activeClients: [],
  };

  it('[DEV-031] [DEV-032] of a session has nothing of how it is set up, and what is not left out', () => {
    const { config: _, added: _added, ...shown } = OF_SESSION;
    expect(share().state(SESSION, OF_SESSION)).toStrictEqual({ ...shown, activeClients: [], ...MODEL_ONLY });
    expect(share(['toolInput']).state(SESSION, OF_SESSION)).toStrictEqual({
      ...{ ...PLAIN_SESSION, changesets: CHANGES, workingDirectories: ['w'], project: { uri: 'u' }, ...MODEL_ONLY },
      chats: [{ ...PLAIN_SUMMARY, workingDirectories: SUMMARY.workingDirectories }],
    });
    expect(share(['folders']).state(SESSION, { ...OF_SESSION, _meta: {} })).toStrictEqual({
      ...{ ...PLAIN_SESSION, activity: 'Running ls' },
      chats: [
        { ...PLAIN_SUMMARY, activity: 'Running ls' },
        { ...PLAIN_SUMMARY, activity: 'Running ls', origin: { kind: 'tool' } },
      ],
    });
  });

  it('[DEV-023] of a session has no name of a client, for anybody but the owner', () => {
    expect(device().state(SESSION, OF_SESSION)).toStrictEqual({
      ...OF_SESSION,
      activeClients: [{ clientId: 'c', tools: [] }],
    });
    const client = { clientId: 'c', displayName: 'Ada', tools: [] };
    const set = { type: 'session/activeClientSet', activeClient: client, [PRIVATE]: { activeClient: client, more: 1 } };
    expect(device().action(SESSION, set as never)).toStrictEqual({
      ...{ type: set.type, activeClient: { clientId: 'c', tools: [] } },
      [PRIVATE]: { activeClient: { clientId: 'c', tools: [] }, more: 1 },
    });
    const other = { type: 'session/titleChanged', title: 'T' } as never;
    expect(device().action(SESSION, other)).toBe(other);
  });

  it('[DEV-031] has all its members for a device, and those that are named for one from which something is left out', () => {
    const part = { kind: 'aPartOfTomorrow' };
    const turn = { id: 't', message: MESSAGE, responseParts: [part] };
    const chat = { ...SUMMARY, turns: [turn], ...NEW };
    expect(device().state(CHAT, chat)).toStrictEqual(chat);
    const shown = device({ leftOut: ['reasoning'] }).state(CHAT, chat);
    expect(shown).toStrictEqual({ ...SUMMARY, turns: [{ id: 't', message: SHOWN_MESSAGE, responseParts: [] }] });
    expect(device({ leftOut: [] }).state(CHAT, chat)).toStrictEqual(chat);
  });

  it('[DEV-024] of a call says to owners alone who answered it', () => {
    const answered = { ...CALL, _meta: { [ANSWERED_BY]: 'Ada', more: 1 } };
    const turn = { id: 't', message: MESSAGE, responseParts: [{ kind: 'toolCall', toolCall: answered }] };
    const parts = [{ kind: 'toolCall', toolCall: { ...CALL, _meta: { more: 1 } } }];
    expect(device().state(CHAT, { turns: [turn], activeTurn: turn })).toStrictEqual({
      turns: [{ id: 't', message: MESSAGE, responseParts: parts }],
      activeTurn: { id: 't', message: MESSAGE, responseParts: parts },
    });
    expect(device().turn(turn as never)).toStrictEqual({ ...turn, responseParts: parts });
    const confirmed = { type: 'chat/toolCallConfirmed', ...TARGET, approved: true };
    expect(device().action(CHAT, { ...confirmed, _meta: answered._meta } as never)).toStrictEqual({
      ...confirmed,
      _meta: { more: 1 },
    });
    expect(device().action(CHAT, confirmed as never)).toBe(confirmed);
    const noted = { ...confirmed, _meta: { more: 1 } } as never;
    expect(device().action(CHAT, noted)).toBe(noted);
  });

  it('[DEV-021] of the host has the terminals within the bounds, and no settings', () => {
    const [mine, other] = ['terminal:/mine', 'terminal:/other'].map((resource) => ({ resource }));
    const root = {
      agents: [{ provider: 'p' }],
      terminals: [mine, other],
      activeSessions: 3,
      config: {},
      _meta: {},
      x: 1,
    };
    const agents = root.agents;
    const bounded = device({ bounds: { sessions: [SESSION] } });
    expect(bounded.state('ahp-root://', root)).toStrictEqual({ agents, terminals: [mine], x: 1 });
    expect(device().state('ahp-root://', root)).toStrictEqual({ agents, terminals: [mine], activeSessions: 3, x: 1 });
    expect(device().state('ahp-root://', { agents })).toStrictEqual({ agents });
    expect(share().state('ahp-root://', root)).toStrictEqual({ agents: [] });
    const action = (of: Projection, type: string, members: object) =>
      of.action('ahp-root://', { type, ...members } as never);
    for (const of of [bounded, device()]) {
      expect(action(of, 'root/agentsChanged', { agents })).toStrictEqual({ type: 'root/agentsChanged', agents });
      expect(action(of, 'root/terminalsChanged', { terminals: root.terminals })).toStrictEqual({
        ...{ type: 'root/terminalsChanged', terminals: [mine] },
      });
      expect(action(of, 'root/configChanged', {})).toBeUndefined();
    }
    const count = { type: 'root/activeSessionsChanged', activeSessions: 3 };
    expect(action(device(), count.type, count)).toStrictEqual(count);
    expect(action(bounded, count.type, count)).toBeUndefined();
    expect(action(share(), 'root/agentsChanged', { agents })).toBeUndefined();
  });

  it('[DEV-031] of a channel of another kind stays as it is, and what is no state is nothing', () => {
    const state = { lines: [FOLDER] };
    expect(share(EVERYTHING).state('ahp-terminal:/x', state)).toBe(state);
    expect(share().state(SESSION, undefined)).toBeUndefined();
    expect(share().state(SESSION, null)).toBeNull();
    const action = { type: 'terminal/data' } as never;
    expect(share(EVERYTHING).action('ahp-terminal:/x', action)).toBe(action);
  });

  it('[DEV-031] of a chat is made once, of the members that are named', () => {
    const turn = {
      ...{ id: 't', startedAt: 's', duration: 1, usage: { input: 1 }, state: 'complete', message: MESSAGE, ...NEW },
      responseParts: [{ kind: 'markdown', content: 'x' }, { kind: 'aPartOfTomorrow' }],
    };
    const { added: _, ...shown } = turn;
    const shownTurn = { ...shown, message: SHOWN_MESSAGE, responseParts: [{ kind: 'markdown', content: 'x' }] };
    const pending = { id: 'q', message: MESSAGE, ...NEW };
    const chat = {
      ...{ ...SUMMARY, turns: [turn], turnsNextCursor: '3', activeTurn: { ...turn }, draft: { text: 'later' } },
      ...{ backgroundWork: [1], changesets: CHANGES, queuedMessages: [pending], steeringMessage: pending, ...NEW },
    };
    const { duration: _duration, state: _state, ...active } = shownTurn;
    const shownPending = { id: 'q', message: SHOWN_MESSAGE };
    const projection = share();
    const made = projection.state(CHAT, chat);
    expect(made).toStrictEqual({
      ...{ ...SUMMARY, turns: [shownTurn], turnsNextCursor: '3', activeTurn: active },
      ...{ backgroundWork: [1], changesets: CHANGES, queuedMessages: [shownPending], steeringMessage: shownPending },
    });
    expect(projection.state(CHAT, chat)).toBe(made);
    expect(projection.turn(turn as never)).toBe((made as { turns: unknown[] }).turns[0]);
    const {
      changesets: _c,
      backgroundWork: _b,
      activity: _a,
      activeTurn: _t,
      ...rest
    } = made as Record<string, unknown>;
    expect(share(['fileContents']).state(CHAT, { ...chat, activeTurn: undefined, turns: [] })).toStrictEqual({
      ...{ ...rest, turns: [] },
      ...{ queuedMessages: [{ id: 'q', message: { ...SHOWN_MESSAGE, attachments: [TYPED] } }] },
      steeringMessage: { id: 'q', message: { ...SHOWN_MESSAGE, attachments: [TYPED] } },
    });
    // Of a worker whose message and answer are left out, only that it is there.
    expect(share(['toolOutput']).state(CHAT, { ...WORKER_CHAT, turns: [] })).toStrictEqual({
      ...{ resource: CHAT, title: 'T', status: 1, modifiedAt: 'now', turns: [] },
    });
    const bare = { resource: CHAT, title: 'T', status: 1, modifiedAt: 'now', turns: [] };
    expect(share().state(CHAT, bare)).toStrictEqual(bare);
  });

  const REFERENCE = { kind: 'contentRef', uri: 'x' };
  const NOTE = { kind: 'systemNotification', content: FOLDER };
  const THOUGHT = { kind: 'reasoning', id: 'r', content: 'thought', ...NEW };
  const QUESTION = { kind: 'inputRequest', id: 'i' };
  it.each<[object, readonly LeftOut[], object | undefined]>([
    [REFERENCE, ['toolInput', 'folders', 'reasoning'], REFERENCE],
    [REFERENCE, ['attachments'], undefined],
    [REFERENCE, ['fileContents'], undefined],
    [NOTE, [], NOTE],
    [NOTE, ['attachments'], undefined],
    [THOUGHT, ['toolInput'], THOUGHT],
    [THOUGHT, ['reasoning'], { kind: 'reasoning', id: 'r', content: '' }],
    [QUESTION, EVERYTHING, QUESTION],
    [{ kind: 'aPartOfTomorrow' }, [], undefined],
  ])('[DEV-031] of a turn with the part %j without %j has %j', (part, leftOut, shown) => {
    const { responseParts } = share(leftOut).turn({ id: 't', message: MESSAGE, responseParts: [part] } as never);
    expect(responseParts).toStrictEqual(shown ? [shown] : []);
    const told = share(leftOut).action(CHAT, { type: 'chat/responsePart', turnId: 't', part } as never);
    expect(told).toStrictEqual(shown && { type: 'chat/responsePart', turnId: 't', part: shown });
  });

  it.each<[object, readonly LeftOut[], object]>([
    [
      CALL,
      [],
      {
        ...{ ...CALL_BASE, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see' },
        ...{ pastTenseMessage: 'Ran it', content: CONTENT, structuredContent: { a: 1 }, error: { message: 'e' } },
      },
    ],
    [
      CALL,
      ['toolInput'],
      {
        ...{ ...CALL_BASE, invocationMessage: 'Shell', pastTenseMessage: 'Shell' },
        ...{ content: [EDIT, { ...TERMINAL, title: 'Shell' }, TEXT] },
        ...{ structuredContent: { a: 1 }, error: { message: 'e' } },
      },
    ],
    [
      CALL,
      ['toolOutput'],
      {
        ...{ ...CALL_BASE, invocationMessage: 'Run it', toolInput: '{}', intention: 'to see' },
        ...{ pastTenseMessage: 'Shell', error: { message: 'The tool failed.' } },
      },
    ],
    [
      CALL,
      ['fileContents'],
      { ...CALL_BASE, invocationMessage: 'Shell', pastTenseMessage: 'Shell', error: { message: 'The tool failed.' } },
    ],
    [
      { ...CALL, status: 'auth-required', auth: { url: 'secret' } },
      ['fileContents'],
      {
        ...{ ...CALL_BASE, status: 'running', invocationMessage: 'Shell' },
        ...{ pastTenseMessage: 'Shell', error: { message: 'The tool failed.' } },
      },
    ],
    [
      { ...CALL_BASE, status: 'streaming', partialInput: '{"path', invocationMessage: 'Use Shell' },
      [],
      { ...CALL_BASE, status: 'streaming', partialInput: '{"path', invocationMessage: 'Use Shell' },
    ],
    [
      { ...CALL_BASE, status: 'streaming', partialInput: '{"path', invocationMessage: 'Use Shell' },
      ['folders'],
      { ...CALL_BASE, status: 'streaming', partialInput: '', invocationMessage: 'Use Shell' },
    ],
    [CALL_BASE, ['folders'], CALL_BASE],
    [CALL_BASE, ['toolOutput'], CALL_BASE],
  ])('[DEV-031] of a call %j without %j is %j', (toolCall, leftOut, shown) => {
    const turn = { id: 't', message: MESSAGE, responseParts: [{ kind: 'toolCall', toolCall }] };
    const parts = [{ kind: 'toolCall', toolCall: shown }];
    expect(share(leftOut).turn(turn as never).responseParts).toStrictEqual(parts);
    const state = share(leftOut).state(CHAT, { turns: [], activeTurn: turn }) as { activeTurn: typeof turn };
    expect(state.activeTurn.responseParts).toStrictEqual(parts);
  });

  it('[DEV-031] of a list has the same of each session', () => {
    const summary = {
      ...{ resource: SESSION, provider: 'p', title: `In ${FOLDER}`, status: 1, createdAt: 'a', modifiedAt: 'b' },
      ...{
        defaultChat: CHAT,
        changes: { files: 1 },
        _meta: META,
        chats: [SUMMARY, WORKER_CHAT],
        activity: 'x',
        ...NEW,
      },
      ...{ workingDirectories: ['w'], project: { uri: 'u' } },
    };
    const { added: _, activity: _activity, _meta, ...shown } = summary;
    expect(share().summary(summary as never)).toStrictEqual({ ...shown, ...MODEL_ONLY });
    const { workingDirectories: _w, project: _p, ...plain } = shown;
    expect(share(['folders', 'toolOutput']).summary({ ...summary, _meta: undefined } as never)).toStrictEqual({
      ...{ ...plain, title: 'In …', chats: [{ ...SUMMARY, workingDirectories: ['file://…'] }] },
    });
    expect(share().summary({ resource: SESSION } as never)).toStrictEqual({ resource: SESSION });
    expect(device().summary(summary as never)).toBe(summary);
  });
});

describe('the key of what somebody is shown', () => {
  const key = (access: Partial<Access>) =>
    projectionKey({ role: 'viewer', credential: { kind: 'device', id: 'a' }, ...access });

  it('[DEV-031] is the same for whom the same is sent, and another for everybody else', () => {
    expect(key({ leftOut: ['folders', 'toolInput'] })).toBe(key({ leftOut: ['toolInput', 'folders'] }));
    expect(key({ role: 'driver', credential: { kind: 'device', id: 'b' } })).toBe(key({}));
    const others = [
      ...[{ role: 'owner' }, { credential: { kind: 'share', id: 'a' } }, { leftOut: [] }, { leftOut: ['folders'] }],
      ...[{ bounds: { sessions: [SESSION] } }, { bounds: { sessions: [] } }],
    ] as Partial<Access>[];
    expect(new Set([{}, ...others].map(key)).size).toBe(others.length + 1);
    expect(share(['folders']).key).toBe(projectionKey(shareOf(['folders'])));
  });
});
