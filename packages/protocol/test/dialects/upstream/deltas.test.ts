/** What each older version says differently, example by example. The laws beside this file hold for any history. */
import { describe, expect, it } from 'vitest';
import { PRIVATE } from '../../../src/ahp-1/private-members.js';
import { RESYNC } from '../../../src/dialects/upstream/delta.js';
import type { Json } from '../../../src/dialects/upstream/shapes.js';
import { type Action, type States, type VersionCodec, versionCodec } from '../../../src/dialects/upstream/stack.js';

const at = (version: string) => versionCodec(version) as VersionCodec;
const told = (version: string, action: Action, states?: States) => at(version).actionDown(action, states);
const sent = (version: string, action: Action) =>
  at(version).actionUp(action, { channel: 'ahp-session:/s/annotations', defaultChatOf: (uri) => `ahp-chat:${uri}` });

const chat = (responseParts: Json[], status = 8): Json => ({
  resource: 'ahp-chat:/c',
  title: '',
  status,
  modifiedAt: 'now',
  turns: [],
  activeTurn: { id: 't', startedAt: 'now', message: { text: 'Hi', origin: { kind: 'user' } }, responseParts },
});
const session = (members: Json): Json => ({
  provider: 'echo',
  title: '',
  status: 1,
  lifecycle: 'ready',
  activeClients: [],
  chats: [],
  ...members,
});
const call = (members: Json): Json => ({
  kind: 'toolCall',
  toolCall: { toolCallId: 'k', toolName: 'bash', displayName: 'Run', invocationMessage: 'Runs', ...members },
});
const plugin = (members: Json): Json => ({ type: 'plugin', id: 'p', uri: 'p:', name: 'P', ...members });

describe('versions', () => {
  it('[UP-012] patches of 0.5 have a codec of their own; those of other versions share one', () => {
    const found = ['0.9.3', '0.7.1', '0.6.0', '0.5.2', '0.5.1', '0.5.0', '0.8.0', '1.0.0'];
    expect(found.map((version) => versionCodec(version)?.version)).toEqual([
      '0.9.0',
      '0.7.0',
      '0.6.0',
      '0.5.2',
      '0.5.1',
      '0.5.0',
      undefined,
      undefined,
    ]);
  });

  it('[UP-014] an action that a version does not know is dropped, and its clients may not dispatch it', () => {
    const unknown = { '0.9.0': 'chat/isReadChanged', '0.7.0': 'automation/set', '0.5.0': 'session/inputNeededRemoved' };
    for (const [version, type] of Object.entries(unknown)) {
      expect(told(version, { type })).toBeUndefined();
      expect(at(version).hasAction(type)).toBe(false);
    }
    expect(at('0.5.0').hasAction('chat/delta')).toBe(true);
  });

  it('an action of a later version, and members that no version knows, pass as they are', () => {
    expect(told('0.5.0', { type: 'future/new', a: 1 })).toEqual({ type: 'future/new', a: 1 });
    const message = { text: 'Hi', origin: { kind: 'oracle' }, later: true };
    expect(told('0.5.0', { type: 'chat/draftChanged', draft: message })).toEqual({
      type: 'chat/draftChanged',
      draft: message,
    });
  });
});

describe('0.9', () => {
  it('[UP-207] lists chats without what only 1.0 knows of them', () => {
    const summary = { resource: 'ahp-chat:/c', title: '', status: 8 | 32, modifiedAt: 'now', movable: true };
    expect(told('0.9.0', { type: 'session/chatAdded', summary })).toEqual({
      type: 'session/chatAdded',
      summary: { resource: 'ahp-chat:/c', title: '', status: 8, modifiedAt: 'now' },
    });
    const onlyMovable = { type: 'session/chatUpdated', chat: 'ahp-chat:/c', changes: { movable: true } };
    expect(told('0.9.0', onlyMovable)).toBeUndefined();
    expect(at('0.9.0').hasMethod('moveChat')).toBe(false);
    expect(at('0.9.0').hasChannel('canvas')).toBe(false);
    expect(at('0.9.0').notificationDown('root/sessionAdded', { summary: { title: '', chats: [] } })).toEqual({
      summary: { title: '' },
    });
  });

  it('[UP-208] an MCP server that starts does not block', () => {
    const action = { type: 'session/mcpServerStateChanged', id: 's', state: { kind: 'starting', blocking: true } };
    expect(told('0.9.0', action)).toEqual({ ...action, state: { kind: 'starting' } });
  });
});

describe('0.7', () => {
  const error = { errorType: 'rate', message: 'Too fast' };

  it('[UP-209] the error of a turn is a member, and a turn that goes on again needs a snapshot', () => {
    const ended = { type: 'chat/error', turnId: 't', duration: 5, part: { kind: 'error', error, resumable: true } };
    expect(told('0.7.0', ended)).toEqual({ type: 'chat/error', turnId: 't', duration: 5, error });
    const parts = [
      { kind: 'error', error: { errorType: 'x', message: 'earlier' } },
      { kind: 'error', error },
    ];
    const turn = { id: 't', message: { text: '', origin: { kind: 'user' } }, responseParts: parts, state: 'error' };
    expect(at('0.7.0').shapeDown('Turn', turn)).toEqual({ ...turn, responseParts: [], error });
    expect(told('0.7.0', { type: 'chat/turnResume', turnId: 't' })).toBe(RESYNC);
  });

  it('[UP-210] a customization is on or off; an older client decides for its session', () => {
    const enablement = [
      { kind: 'workspace', uri: 'w:', enabled: false },
      { kind: 'global', enabled: true },
    ];
    expect(at('0.7.0').shapeDown('Customization', plugin({ enablement }))).toEqual(plugin({ enabled: false }));
    expect(at('0.7.0').shapeDown('Customization', plugin({}))).toEqual(plugin({ enabled: true }));
    const toggled = { type: 'session/customizationToggled', id: 'p', enabled: false };
    expect(told('0.7.0', { type: toggled.type, id: 'p', enablement })).toEqual(toggled);
    expect(sent('0.7.0', toggled)).toEqual({
      type: toggled.type,
      id: 'p',
      enablement: [{ kind: 'session', enabled: false }],
    });
  });

  it('[UP-211] a terminal has an exit code; the claim of a session names no chat, and gets its default chat', () => {
    const claim = { kind: 'session', session: 'ahp-session:/s', chat: 'ahp-chat:/c' };
    const terminal = { title: '', content: [], lifecycle: { status: 'exited', exitCode: 1 }, claim };
    expect(at('0.7.0').stateDown('terminal', terminal)).toEqual({
      title: '',
      content: [],
      exitCode: 1,
      claim: { kind: 'session', session: 'ahp-session:/s' },
    });
    const claimed = { type: 'terminal/claimed', claim: { kind: 'session', session: 'ahp-session:/s' } };
    expect(sent('0.7.0', claimed)).toMatchObject({ claim: { chat: 'ahp-chat:ahp-session:/s' } });
  });

  it('[UP-212] an annotation names a turn; the empty name is the name of none', () => {
    const rest = { id: 'a', resource: 'file:///f', resolved: false, entries: [] };
    const of = (origin: Json) => ({ type: 'annotations/set', annotation: { ...rest, origin } });
    expect(told('0.7.0', of({ session: 'ahp-session:/s', turnId: 't' }))).toMatchObject({
      annotation: { turnId: 't' },
    });
    expect(told('0.7.0', of({ session: 'ahp-session:/s' }))).toEqual({
      type: 'annotations/set',
      annotation: { ...rest, turnId: '' },
    });
    expect(sent('0.7.0', { type: 'annotations/set', annotation: { ...rest, turnId: 't' } })).toEqual(
      of({ session: 'ahp-session:/s', turnId: 't' }),
    );
  });

  it('[UP-213] the resource of auth/required is its identifier', () => {
    const params = { channel: 'ahp-root://', resource: { resource: 'https://api', scopes_supported: [] } };
    expect(at('0.9.0').notificationDown('auth/required', params)).toEqual(params);
    expect(at('0.7.0').notificationDown('auth/required', params)).toEqual({ ...params, resource: 'https://api' });
  });

  it('[UP-215] sessions may fork, and a replaced working directory needs a snapshot', () => {
    const fork = { channel: 'ahp-session:/new', fork: { session: 'ahp-session:/s', turnId: 't' } };
    expect(at('0.7.0').paramsUp('createSession', fork)).toEqual(fork);
    expect(told('0.7.0', { type: 'session/workingDirectoryReplaced', directory: 'a', replacement: 'b' })).toBe(RESYNC);
    expect(at('0.7.0').hasMethod('runAutomation')).toBe(false);
    expect(at('0.7.0').resultDown('initialize', { serverSeq: 1, automations: {} })).toEqual({ serverSeq: 1 });
    expect(at('0.7.0').stateDown('automation', { entries: [] })).toBeUndefined();
  });

  it('[UP-216] content that a client did not find is a resource that it did not find', () => {
    expect(at('0.9.0').errorCodeUp(-32006)).toBe(-32006);
    expect(at('0.7.0').errorCodeUp(-32006)).toBe(-32008);
    expect(at('0.5.0').errorCodeUp(-32006)).toBe(-32008);
  });

  it('[UP-225] every entry of inputNeeded raises the status, also a call that a client runs', () => {
    const inputNeeded = [{ kind: 'toolClientExecution', id: 'i', chat: 'c', turnId: 't', clientId: 'x', toolCall: {} }];
    expect(at('0.9.0').stateDown('session', session({ inputNeeded, status: 40 }))).toMatchObject({ status: 40 });
    expect(at('0.7.0').stateDown('session', session({ inputNeeded, status: 40 }))).toMatchObject({ status: 56 });
  });

  it('[UP-232] a failed creation has another name', () => {
    expect(at('0.9.0').stateDown('session', session({ lifecycle: 'failed' }))?.lifecycle).toBe('failed');
    expect(at('0.7.0').stateDown('session', session({ lifecycle: 'failed' }))?.lifecycle).toBe('creationFailed');
  });

  it('[UP-233] a message of an automation looks like a notice of the host', () => {
    const action = { type: 'chat/draftChanged', draft: { text: 'Go', origin: { kind: 'automation' } } };
    expect(told('0.9.0', action)).toEqual(action);
    expect(told('0.7.0', action)).toMatchObject({ draft: { origin: { kind: 'systemNotification' } } });
  });
});

describe('0.6', () => {
  const directories = { workingDirectories: ['file:///a', 'file:///b'] };

  it('[UP-218] a session has one working directory, and a new one needs a snapshot', () => {
    expect(at('0.6.0').stateDown('session', session(directories))).toEqual(session({ workingDirectory: 'file:///a' }));
    const action = { type: 'session/workingDirectoryRemoved', directory: 'file:///a' };
    const before = session(directories);
    expect(told('0.6.0', action, { before, after: session({ workingDirectories: ['file:///b'] }) })).toBe(RESYNC);
    expect(told('0.6.0', action, { before, after: before })).toBeUndefined();
    expect(told('0.6.0', action)).toBeUndefined();
    expect(
      at('0.6.0').notificationDown('root/sessionSummaryChanged', { changes: { workingDirectories: null } }),
    ).toEqual({
      changes: { workingDirectory: null },
    });
    const params = { channel: 'ahp-session:/s', workingDirectory: 'file:///a' };
    expect(at('0.6.0').paramsUp('createSession', params)).toEqual({
      channel: 'ahp-session:/s',
      workingDirectories: ['file:///a'],
    });
  });

  it('[UP-219] a chat begins as a fork, and neither side chats nor attached chats exist', () => {
    const source = { chat: 'ahp-chat:/c', turnId: 't' };
    expect(at('0.6.0').paramsUp('createChat', { source })).toEqual({ source: { ...source, kind: 'fork' } });
    const changes = { origin: { kind: 'sideChat', ...source } };
    expect(told('0.6.0', { type: 'session/chatUpdated', chat: 'c', changes })).toMatchObject({
      changes: { origin: null },
    });
  });

  it('[UP-220] the outcome of a terminal command is a block of its own', () => {
    const terminal = { type: 'terminal', resource: 'ahp-terminal:/1', title: 'npm test' };
    const content = [{ ...terminal, isPty: true, result: { exitCode: 1 } }];
    const action = { type: 'chat/toolCallContentChanged', turnId: 't', toolCallId: 'k', content };
    const lower = [terminal, { type: 'terminalComplete', resource: 'ahp-terminal:/1', exitCode: 1 }];
    expect(told('0.6.0', action)).toEqual({ ...action, content: lower });
    expect(sent('0.6.0', { ...action, content: lower })).toEqual({
      ...action,
      content: [{ ...terminal, result: { exitCode: 1 } }],
    });
    const alone = { type: 'terminalComplete', preview: 'ok' };
    expect(sent('0.6.0', { ...action, content: [alone] })).toEqual({ ...action, content: [alone] });
  });

  it('[UP-214] input by reference is left out, and its edit too', () => {
    const toolInput = { uri: 'file:///input' };
    expect(at('0.6.0').stateDown('chat', chat([call({ status: 'running', toolInput })]))).toEqual(
      chat([call({ status: 'running' })]),
    );
    const edit = {
      type: 'chat/toolCallConfirmed',
      turnId: 't',
      toolCallId: 'k',
      approved: true,
      editedToolInput: '{}',
    };
    const states = (input: unknown) => ({ before: chat([]), after: chat([call({ toolInput: input })]) });
    expect(told('0.6.0', edit, states(toolInput))).not.toHaveProperty('editedToolInput');
    expect(told('0.6.0', edit, states('{}'))).toEqual(edit);
  });

  it('[UP-239] a call keeps the contributor that it started with, and content is always there', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'k', invocationMessage: 'Runs' };
    expect(told('0.6.0', { ...ready, intention: 'x', contributor: { kind: 'mcp' } })).toEqual(ready);
    const delta = { type: 'chat/toolCallDelta', turnId: 't', toolCallId: 'k', invocationMessage: 'Runs' };
    expect(told('0.6.0', delta)).toEqual({ ...delta, content: '' });
    const approval = { ...ready, confirmed: 'setting' };
    const before = chat([call({ status: 'pending-confirmation', toolInput: '{}' })]);
    const after = chat([call({ status: 'running', toolInput: '{}' })]);
    expect(told('0.6.0', approval, { before, after })).toEqual({ ...approval, toolInput: '{}' });
  });
});

describe('0.5.2', () => {
  const request = { id: 'q', message: 'Which?' };

  it('[UP-221] open questions stand in a list; an answered one is a part', () => {
    const open = { kind: 'inputRequest', request };
    const answered = { kind: 'inputRequest', request: { id: 'r' }, response: 'accept' };
    const lower = at('0.5.2').stateDown('chat', chat([open, answered], 24));
    expect(lower).toMatchObject({ inputRequests: [request], status: 24, activeTurn: { responseParts: [answered] } });
    expect(told('0.5.2', { type: 'chat/responsePart', turnId: 't', part: open })).toEqual({
      type: 'chat/inputRequested',
      request,
    });
    expect(at('0.5.1').stateDown('chat', chat([answered]))).toMatchObject({ activeTurn: { responseParts: [] } });
  });

  it('[UP-222] turns have no times, and a call that waits for a token runs', () => {
    const action = { type: 'chat/turnComplete', turnId: 't', duration: 5 };
    expect(told('0.5.2', action)).toEqual({ type: 'chat/turnComplete', turnId: 't' });
    const waiting = call({ status: 'auth-required', auth: { reason: 'required' }, riskAssessment: {} });
    const lower = at('0.5.2').stateDown('chat', chat([waiting], 24));
    expect(lower).toMatchObject({ status: 8, activeTurn: { responseParts: [call({ status: 'running' })] } });
    expect(lower?.activeTurn).not.toHaveProperty('startedAt');
    const asked = { kind: 'toolAuthentication', id: 'i', chat: 'c' };
    expect(told('0.5.2', { type: 'session/inputNeededSet', request: asked })).toEqual({
      type: 'session/inputNeededRemoved',
      id: 'i',
    });
  });

  it('[UP-222] the approval of a call that is pending is told as one', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'k', invocationMessage: 'Runs' };
    const states = {
      before: chat([call({ status: 'pending-confirmation' })]),
      after: chat([call({ status: 'running' })]),
    };
    expect(told('0.5.2', { ...ready, confirmed: 'setting' }, states)).toEqual({
      type: 'chat/toolCallConfirmed',
      turnId: 't',
      toolCallId: 'k',
      approved: true,
      confirmed: 'setting',
    });
    expect(told('0.5.2', ready, states)).toBeUndefined();
    expect(told('0.5.2', ready)).toEqual(ready);
  });

  it('[UP-223] a review names the ids of the files', () => {
    const action = { type: 'changeset/filesReviewChanged', files: ['f'], reviewed: true };
    expect(told('0.5.2', action)).toEqual({ type: 'changeset/filesReviewedChanged', fileIds: ['f'], reviewed: true });
    expect(told('0.5.1', action)).toBeUndefined();
    expect(at('0.5.2').hasAction(action.type)).toBe(false);
  });

  it('[UP-234] a sign-in names no client, and a note of the host has no metadata', () => {
    const state = { kind: 'authRequired', reason: 'required', resource: {}, oauthClient: { clientId: 'x' } };
    const action = { type: 'session/mcpServerStateChanged', id: 's', state };
    expect(told('0.5.2', action)).not.toHaveProperty('state.oauthClient');
    const note = { kind: 'systemNotification', content: 'Trusted', _meta: {} };
    expect(told('0.5.2', { type: 'chat/responsePart', turnId: 't', part: note })).not.toHaveProperty('part._meta');
    const content = [{ type: 'terminal', resource: 'ahp-terminal:/1', title: '', result: { exitCode: 1 } }];
    const shown = { type: 'chat/toolCallContentChanged', turnId: 't', toolCallId: 'k', content };
    expect(told('0.5.1', shown)).toMatchObject({ content: [{ type: 'terminal' }] });
  });
});

describe('0.5.1 and 0.5.0', () => {
  it('[UP-224] the wish to start a server is told as its state', () => {
    expect(told('0.5.1', { type: 'session/mcpServerStartRequested', id: 's' })).toEqual({
      type: 'session/mcpServerStateChanged',
      id: 's',
      state: { kind: 'starting' },
    });
    expect(at('0.5.1').hasAction('session/mcpServerStartRequested')).toBe(false);
    const greeting = { serverSeq: 1, serverInfo: { name: 'atrium' }, terminalCommandPrefix: '!' };
    expect(at('0.5.1').resultDown('initialize', greeting)).toEqual({ serverSeq: 1 });
  });

  it('[UP-224] a server inside a plugin is toggled with the whole plugin, other contents are not', () => {
    const server = { type: 'mcpServer', id: 's', uri: 's:', name: 'S', state: { kind: 'ready' } };
    const skill = { type: 'skill', id: 'k', uri: 'k:', name: 'K' };
    const before = session({ customizations: [plugin({ children: [server, skill] })] });
    const enablement = [{ kind: 'session', enabled: false }];
    const after = session({ customizations: [plugin({ children: [{ ...server, enablement }, skill] })] });
    const toggled = (id: string) =>
      told('0.5.1', { type: 'session/customizationToggled', id, enablement }, { before, after });
    expect(toggled('s')).toEqual({
      type: 'session/customizationUpdated',
      customization: plugin({ enabled: true, children: [{ ...server, enabled: false }, skill] }),
    });
    expect(toggled('k')).toBeUndefined();
    expect(toggled('p')).toEqual({ type: 'session/customizationToggled', id: 'p', enabled: false });
  });

  it('[UP-226] 0.5.0 gets turns as an answer, all sessions at once, and no list of what waits', () => {
    const { paramsUp, resultDown, stateDown } = at('0.5.0');
    expect(paramsUp('fetchTurns', { channel: 'ahp-chat:/c', before: 't', limit: 5 })).toEqual({
      channel: 'ahp-chat:/c',
      [PRIVATE]: { before: 't', limit: 5 },
    });
    const turn = { id: 't', startedAt: 'now', message: { text: '', origin: { kind: 'user' } }, responseParts: [] };
    const { startedAt: _time, ...lower } = turn;
    expect(resultDown('fetchTurns', { turns: [turn], hasMore: false })).toEqual({ turns: [lower], hasMore: false });
    expect(resultDown('listSessions', { items: [], nextCursor: 'x' })).toEqual({ items: [] });
    expect(paramsUp('subscribe', { channel: 'c', view: { turns: 1 } })).toEqual({ channel: 'c' });
    expect(stateDown('session', session({ inputNeeded: [{ kind: 'chatInput', id: 'i' }] }))).not.toHaveProperty(
      'inputNeeded',
    );
    expect(told('0.5.0', { type: 'chat/turnsLoaded', turns: [] })).toBeUndefined();
    const reference = { kind: 'contentRef', uri: 'file:///f', nonce: 'n' };
    expect(told('0.5.0', { type: 'chat/responsePart', turnId: 't', part: reference })).not.toHaveProperty('part.nonce');
  });

  it('[UP-235] a turn that a client of 0.5 starts has no time: the host stamps it', () => {
    const action = { type: 'chat/turnStarted', turnId: 't', message: { text: 'Hi', origin: { kind: 'user' } } };
    expect(sent('0.5.0', action)).toEqual(action);
  });

  it('uses what the host noted in an action when it has no states, and does not send it', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'k', invocationMessage: 'Runs' };
    const approved = { ...ready, confirmed: 'setting', [PRIVATE]: { pending: 'unchanged' } };
    const confirmed = { turnId: 't', toolCallId: 'k', approved: true, confirmed: 'setting' };
    expect(told('0.9.0', approved)).toEqual({ ...ready, confirmed: 'setting' });
    expect(told('0.6.0', approved)).toEqual({ type: 'chat/toolCallConfirmed', ...confirmed });
    expect(told('0.5.0', approved)).toEqual({ type: 'chat/toolCallConfirmed', ...confirmed });
    const moved = { type: 'session/workingDirectoryRemoved', directory: 'file:///a', [PRIVATE]: { primary: null } };
    expect(told('0.6.0', moved)).toBe(RESYNC);
    expect(told('0.5.0', { type: 'chat/delta', content: 'x', [PRIVATE]: {} })).toEqual({
      type: 'chat/delta',
      content: 'x',
    });
  });

  it('names the actions that are exact only with the states around them', () => {
    const stateful = (version: string) => STATEFUL.filter((type) => at(version).needsStates(type));
    expect(stateful('0.7.0')).toEqual([]);
    expect(stateful('0.6.0')).toEqual(STATEFUL.slice(0, 6));
    expect(stateful('0.5.2')).toEqual(STATEFUL.slice(0, 7));
    expect(stateful('0.5.0')).toEqual(STATEFUL);
    expect(at('0.5.0').needsStates('chat/delta')).toBe(false);
  });
});

const STATEFUL = [
  'session/workingDirectorySet',
  'session/workingDirectoryRemoved',
  'chat/workingDirectorySet',
  'chat/workingDirectoryRemoved',
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'session/customizationToggled',
];
