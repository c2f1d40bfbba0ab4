/** The compiled validators of 1.0: what they let pass, what they refuse, and where. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { states } from '../../generated/ahp-1.js';
import {
  actionKind,
  annotationsChannel,
  type ChannelKind,
  channelKind,
  ErrorCode,
  SELECTION_META_KEY,
  selectionOf,
  withSelection,
} from '../../src/ahp-1/index.js';
import {
  clientNotifications,
  clientRequests,
  errorData,
  hostNotifications,
  hostRequests,
  stateActions,
} from '../../src/ahp-1/schemas.js';
import {
  checkAction,
  checkClientNotification,
  checkClientRequest,
  checkClientRequestResult,
  checkHostNotification,
  checkHostRequest,
  checkHostRequestResult,
  describeProblem,
  isClientNotification,
  isClientRequest,
  isHostNotification,
  isHostRequest,
} from '../../src/ahp-1/validation.js';
import type { SchemaNode } from '../../src/schema/node.js';
import { arbitraryFrom } from '../support/arbitrary.js';
import {
  annotation,
  chatState,
  chatSummary,
  message,
  sessionState,
  terminalState,
  withTurn,
} from './support/builders.js';

const root = { channel: 'ahp-root://' } as const;
const problemOf = (checked: ReturnType<typeof checkAction>) => (checked.ok ? 'none' : describeProblem(checked.problem));

describe('the validators', () => {
  const any = (schema: SchemaNode) => fc.sample(arbitraryFrom(schema), { numRuns: 5, seed: 1 });
  const entries = <T extends object>(table: T) => Object.entries(table) as [keyof T, T[keyof T]][];

  it('accept any message that its schema describes', () => {
    for (const [method, { params, result }] of entries(clientRequests)) {
      for (const value of any(params)) expect(checkClientRequest(method, value), method).toMatchObject({ ok: true });
      for (const value of any(result))
        expect(checkClientRequestResult(method, value), method).toMatchObject({ ok: true });
    }
    for (const [method, { params, result }] of entries(hostRequests)) {
      for (const value of any(params)) expect(checkHostRequest(method, value), method).toMatchObject({ ok: true });
      for (const value of any(result))
        expect(checkHostRequestResult(method, value), method).toMatchObject({ ok: true });
    }
    for (const [method, schema] of entries(clientNotifications))
      for (const value of any(schema))
        expect(checkClientNotification(method, value), method).toMatchObject({ ok: true });
    for (const [method, schema] of entries(hostNotifications))
      for (const value of any(schema)) expect(checkHostNotification(method, value), method).toMatchObject({ ok: true });
    for (const [type, schema] of entries(stateActions))
      for (const value of any(schema as SchemaNode)) expect(checkAction(value), type).toMatchObject({ ok: true });
  });

  it('know their methods from any other string', () => {
    expect(isClientRequest('createChat') && isHostRequest('systemMessageTransform')).toBe(true);
    expect(isClientNotification('dispatchAction') && isHostNotification('root/progress')).toBe(true);
    for (const odd of ['', 'constructor', '__proto__', 'systemMessageTransform']) {
      expect(isClientRequest(odd) || isClientNotification(odd) || isHostNotification(odd)).toBe(false);
    }
    expect(checkAction({ type: 'session/modelChanged', model: { id: 'm' } })).toMatchObject({ ok: false });
  });
});

describe('what passes', () => {
  it('[UP-001] `null` where a member may be absent', () => {
    const started = { type: 'chat/turnStarted', turnId: 't', startedAt: 'then', message: message('Hi') };
    expect(checkAction({ ...started, queuedMessageId: null })).toEqual({ ok: true, value: started });
    const params = { ...root, protocolVersions: ['1.0.0'], clientId: 'desk', clientInfo: null };
    expect(checkClientRequest('initialize', params).ok).toBe(true);
  });

  it('[UP-002] a value that we do not know, where an enumeration is open', () => {
    const odd = [
      chatState({ turns: [], origin: { kind: 'spawned' } as never }),
      withTurn([{ kind: 'hologram' } as never]),
      withTurn([{ kind: 'toolCall', toolCall: { status: 'paused' } } as never]),
      withTurn([], { draft: message('x', { origin: { kind: 'dream' as never } }) }),
    ];
    for (const state of odd) expect(states.get('chat')?.check(state)).toBe(true);
    const changeset = { label: 'x', uriTemplate: 'x', changeKind: 'galaxy' };
    expect(checkAction({ type: 'session/changesetsChanged', changesets: [changeset] }).ok).toBe(true);
    expect(states.get('session')?.check(sessionState({ lifecycle: 'resting' as never }))).toBe(true);
    expect(states.get('terminal')?.check(terminalState({ lifecycle: { status: 'held' } as never }))).toBe(true);
    const future = { channel: 'ahp-chat:/1', serverSeq: 4, action: { type: 'chat/future', x: 1 } };
    expect(checkHostNotification('action', future)).toEqual({ ok: true, value: future });
  });

  it('[UP-003] members that we do not know, which stay', () => {
    const params = { channel: 'ahp-session:/1', view: { turns: 5, colour: 'red' }, zzz: {} };
    expect(checkClientRequest('subscribe', params)).toEqual({ ok: true, value: params });
    const action = { type: 'chat/isReadChanged', isRead: true, by: { name: 'A' } };
    expect(checkAction(action)).toEqual({ ok: true, value: action });
  });

  it.each(Object.keys(clientRequests) as (keyof typeof clientRequests)[])('[UP-020] metadata in `%s`', (method) => {
    const { properties } = clientRequests[method].params as SchemaNode;
    expect(Object.keys(properties ?? {})).toContain('_meta');
    const [params] = fc.sample(arbitraryFrom(clientRequests[method].params), { numRuns: 1, seed: 2 });
    const withMeta = { ...(params as object), _meta: { 'vscode.ahpSessionUris': true } };
    expect(checkClientRequest(method, withMeta)).toEqual({ ok: true, value: withMeta });
    expect(checkClientRequest(method, { ...withMeta, _meta: 'text' })).toMatchObject({
      ok: false,
      problem: { path: '/_meta' },
    });
  });

  it('[UP-082] metadata in every action of a turn', () => {
    const ofTurns = Object.entries(stateActions).filter(([type, schema]) => {
      const { properties } = schema as SchemaNode;
      return type.startsWith('chat/') && properties && 'turnId' in properties && type !== 'chat/truncated';
    });
    expect(ofTurns.length).toBeGreaterThan(14);
    for (const [type, schema] of ofTurns) expect((schema as SchemaNode).properties, type).toHaveProperty('_meta');
  });
});

describe('what is refused', () => {
  it.each<[string, object, string]>([
    [
      'a turn that ended in an unknown way',
      { type: 'chat/turnsLoaded', turns: [{ ...turn(), state: 'lost' }] },
      '/turns/0/state',
    ],
    [
      'an unknown interactivity',
      { type: 'session/chatAdded', summary: { ...chatSummary('a'), interactivity: 'loud' } },
      '/summary/interactivity',
    ],
    [
      'an approval for a reason of its own',
      { type: 'chat/toolCallConfirmed', turnId: 't', toolCallId: 'c', approved: true, confirmed: 'whim' },
      '/confirmed',
    ],
    [
      'a message that waits for something else',
      { type: 'chat/pendingMessageSet', kind: 'later', id: 'a', message: message('x') },
      '/kind',
    ],
    ['an answer of no kind', { type: 'chat/inputCompleted', requestId: 'q', response: 'shrug' }, '/response'],
  ])('[UP-002] where an enumeration is closed, or a client may say only what we know: %s', (_what, action, path) => {
    expect(problemOf(checkAction(action))).toContain(path);
  });

  function turn() {
    return { id: 't', message: message('x'), responseParts: [], state: 'complete' };
  }

  it.each<[ChannelKind, object, string]>([
    ['session', sessionState(), 'activeClients'],
    ['session', sessionState(), 'chats'],
    ['chat', chatState(), 'turns'],
    ['chat', chatState(), 'modifiedAt'],
    ['terminal', terminalState(), 'lifecycle'],
    ['annotations', { annotations: [] }, 'annotations'],
  ])('[UP-205] a state of a %s without what typed clients need: %j has %s', (kind, state, member) => {
    const check = states.get(kind)?.check;
    expect(check?.(state)).toBe(true);
    const { [member]: _gone, ...rest } = state as Record<string, unknown>;
    expect(check?.(rest)).toBe(false);
  });

  it('[UP-073] a message without an origin', () => {
    const started = { type: 'chat/turnStarted', turnId: 't', startedAt: 'then', message: { text: 'Hi' } };
    expect(problemOf(checkAction(started))).toBe('/message/origin must be present');
  });

  it('[UP-050] a token that is good for no time, or for a part of a second', () => {
    const params = { ...root, resource: 'https://a.example', token: 'x', scopes: ['read'] };
    expect(checkClientRequest('authenticate', { ...params, expiresIn: 60 }).ok).toBe(true);
    for (const expiresIn of [0, -1, 1.5])
      expect(checkClientRequest('authenticate', { ...params, expiresIn }).ok).toBe(false);
  });

  it('[UP-053] a resource that needs a token, by its name alone', () => {
    const params = { ...root, resource: { resource: 'https://a.example' }, reason: 'expired' };
    expect(checkHostNotification('auth/required', params).ok).toBe(true);
    expect(checkHostNotification('auth/required', { ...params, resource: 'https://a.example' }).ok).toBe(false);
  });

  it('a session as the owner of a terminal without its chat', () => {
    const claim = { kind: 'session', session: 'ahp-session:/1' };
    expect(problemOf(checkAction({ type: 'terminal/claimed', claim }))).toBe('/claim/chat must be present');
    expect(checkAction({ type: 'terminal/claimed', claim: { ...claim, chat: 'ahp-chat:/1' } }).ok).toBe(true);
  });
});

describe('shapes that 1.0 brought', () => {
  it('[UP-075] attachments: annotations and chats', () => {
    const attachments = [
      { type: 'annotations', label: 'Notes', resource: 'ahp-session:/1/annotations', annotationIds: ['a'] },
      { type: 'chat', label: 'Chat', resource: 'ahp-chat:/1', endTurn: 't' },
    ];
    const draft = { ...message('x'), attachments };
    expect(checkAction({ type: 'chat/draftChanged', draft })).toMatchObject({ ok: true });
    const nameless = { ...message('x'), attachments: [{ type: 'chat', label: 'Chat' }] };
    expect(checkAction({ type: 'chat/draftChanged', draft: nameless }).ok).toBe(false);
  });

  it('[UP-078] the outcome of a command in a terminal', () => {
    const terminal = { type: 'terminal', resource: 'ahp-terminal:/1', title: 'sh', isPty: true };
    const change = (result: unknown) =>
      checkAction({
        type: 'chat/toolCallContentChanged',
        turnId: 't',
        toolCallId: 'c',
        content: [{ ...terminal, result }],
      });
    expect(change({ exitCode: 1, preview: 'no', truncated: true }).ok).toBe(true);
    expect(change({ exitCode: 'one' }).ok).toBe(false);
  });

  it('[UP-070] the states of an MCP server', () => {
    const state = (value: object) => checkAction({ type: 'session/mcpServerStateChanged', id: 's', state: value }).ok;
    const resource = { resource: 'https://mcp.example' };
    expect(state({ kind: 'starting', blocking: true })).toBe(true);
    expect(state({ kind: 'authRequired', reason: 'insufficientScope', resource, requiredScopes: ['a'] })).toBe(true);
    expect(state({ kind: 'authRequired', reason: 'expired' })).toBe(false);
    expect(state({ kind: 'error', error: { errorType: 'exit', message: 'No' } })).toBe(true);
    expect(state({ kind: 'error' })).toBe(false);
  });

  it('[UP-076] the input of a tool, as text or by reference', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'c', invocationMessage: 'Run' };
    expect(checkAction({ ...ready, toolInput: '{}' }).ok).toBe(true);
    expect(checkAction({ ...ready, toolInput: { uri: 'ahp-content:/1', nonce: '1' } }).ok).toBe(true);
    expect(checkAction({ ...ready, toolInput: { nonce: '1' } }).ok).toBe(false);
  });

  it('[UP-077] the edits of a call stand in `items`', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'c', invocationMessage: 'Run' };
    expect(checkAction({ ...ready, edits: { items: [{ diff: { added: 1 } }] } }).ok).toBe(true);
    expect(checkAction({ ...ready, edits: [] }).ok).toBe(false);
  });

  it('[UP-237] options of a model may be any JSON primitive, and so may the values of a setting', () => {
    const draft = { ...message('x'), model: { id: 'm', config: { effort: 2, fast: true, voice: null, name: 'a' } } };
    expect(checkAction({ type: 'chat/draftChanged', draft })).toEqual({
      ok: true,
      value: { type: 'chat/draftChanged', draft },
    });
    const list = { ...draft, model: { id: 'm', config: { effort: [] } } };
    expect(checkAction({ type: 'chat/draftChanged', draft: list }).ok).toBe(false);
    const property = {
      type: 'number',
      title: 'Effort',
      enum: [1, 'two', null],
      additionalProperties: { type: 'string', title: 'x' },
    };
    const config = { schema: { type: 'object', properties: { effort: property } }, values: {} };
    expect(states.get('session')?.check({ ...sessionState(), config })).toBe(true);
  });

  it('[UP-080] an annotation has entries and an origin', () => {
    expect(checkAction({ type: 'annotations/set', annotation: annotation('a') }).ok).toBe(true);
    const { entries: _none, ...empty } = annotation('a');
    expect(checkAction({ type: 'annotations/set', annotation: empty }).ok).toBe(false);
  });

  it('[UP-028] what a host can do with automations', () => {
    const result = { protocolVersion: '1.0.0', serverSeq: 0, snapshots: [] };
    const automations = { create: {}, schedules: { minIntervalMinutes: 5 }, runCancellation: {}, runHistoryLimit: 3 };
    expect(checkClientRequestResult('initialize', { ...result, automations }).ok).toBe(true);
    expect(checkClientRequestResult('initialize', { ...result, automations: { create: true } }).ok).toBe(false);
  });
});

describe('errors', () => {
  it('[UP-057] no content is no resource', () => {
    expect(Object.values(ErrorCode)).not.toContain(-32006);
    expect(ErrorCode.NotFound).toBe(-32008);
  });

  it('[UP-058] [UP-061] data that is required', () => {
    expect((errorData.UnsupportedProtocolVersion as SchemaNode).required).toEqual(['supportedVersions']);
    expect((errorData.AuthRequired as SchemaNode).required).toEqual(['resources']);
  });
});

describe('channels', () => {
  it.each<[string, ChannelKind]>([
    ['ahp-root://', 'root'],
    ['ahp-session:/1', 'session'],
    ['echo:/1', 'session'],
    ['ahp-session:/1/annotations', 'annotations'],
    ['echo:/1/annotations', 'annotations'],
    ['ahp-session:/annotations', 'session'],
    ['ahp-chat:/1', 'chat'],
    ['ahp-chat://default/YWhw', 'chat'],
    ['ahp-chat:/1/annotations', 'chat'],
    ['ahp-terminal:/1', 'terminal'],
    ['ahp-changeset:/1', 'changeset'],
    ['ahp-resource-watch:/1', 'resourceWatch'],
    ['ahp-otlp:/logs', 'otlp'],
    ['mcp:/server', 'mcp'],
    ['ahp-automations://', 'automation'],
    ['ahp-automation-run:/1', 'automationRun'],
    ['ahp-canvas:/1', 'canvas'],
    ['', 'session'],
  ])('[UP-016] %s is one of a %s', (uri, kind) => expect(channelKind(uri)).toBe(kind));

  it('[UP-016] the annotations of a session stand below it', () => {
    expect(annotationsChannel('ahp-session:/1')).toBe('ahp-session:/1/annotations');
    expect(channelKind(annotationsChannel('ahp-session:/1'))).toBe('annotations');
  });

  it('the first part of an action names its channel', () => {
    for (const type of Object.keys(stateActions)) expect(actionKind(type), type).toBe(type.split('/')[0]);
    for (const odd of ['', 'otlp/x', 'constructor/x', 'chat']) expect(actionKind(odd)).toBeUndefined();
  });
});

describe('the selection of a whole session', () => {
  const selection = { model: { id: 'm' }, agent: { uri: 'file:///agent.md' } };

  it('[UP-243] stands in the metadata under a key of ours, beside the keys of others', () => {
    const meta = withSelection({ colour: 'red' }, selection);
    expect(meta).toEqual({ colour: 'red', [SELECTION_META_KEY]: selection });
    expect(selectionOf(meta)).toEqual(selection);
    expect(withSelection(meta, { model: { id: 'n' } })).toEqual({
      colour: 'red',
      [SELECTION_META_KEY]: { model: { id: 'n' } },
    });
    expect(withSelection(meta, { agent: selection.agent })).toHaveProperty([SELECTION_META_KEY], {
      agent: selection.agent,
    });
  });

  it('[UP-243] is empty when nothing is chosen, or something else stands there', () => {
    expect(withSelection(withSelection(undefined, selection), {})).toEqual({});
    for (const meta of [undefined, {}, { [SELECTION_META_KEY]: null }, { [SELECTION_META_KEY]: 'm' }])
      expect(selectionOf(meta)).toEqual({});
  });

  it('[UP-244] [UP-245] a summary alone says when the session began; an entry of changesets may count', () => {
    const { properties } = stateActions['session/changesetsChanged'] as SchemaNode;
    expect(Object.keys(properties?.changesets?.items?.properties ?? {})).toEqual(
      expect.arrayContaining(['additions', 'deletions', 'files']),
    );
    const added = hostNotifications['root/sessionAdded'] as SchemaNode;
    expect(added.properties?.summary?.required).toContain('createdAt');
  });
});
