/** One example of every message of the protocol. The tables are exhaustive: a new method does not compile without one. */
import type {
  ClientNotifications,
  ClientRequests,
  HostNotifications,
  HostRequests,
  SessionState,
  SessionSummary,
  Turn,
} from '../../src/index.js';

const channel = 'ahp-root://';
const session = 'ahp-session:/7c1e';

export const summary: SessionSummary = {
  resource: session,
  provider: 'offline',
  title: 'Port the parser',
  status: 33,
  createdAt: 1_700_000_000_000,
  modifiedAt: 1_700_000_000_500,
  project: { uri: 'file:///srv/app', displayName: 'app' },
  model: { id: 'small', config: { effort: 'low' } },
  workingDirectory: 'file:///srv/app',
  changesets: [{ label: 'All changes', uriTemplate: 'ahp-changeset:/7c1e', files: 2 }],
};

export const turn: Turn = {
  id: 't1',
  userMessage: {
    text: 'Look at @parser.ts',
    attachments: [{ type: 'resource', label: 'parser.ts', uri: 'file:///srv/app/parser.ts', _meta: { line: 3 } }],
  },
  responseParts: [
    { kind: 'reasoning', id: 'p1', content: 'First the grammar.' },
    { kind: 'markdown', id: 'p2', content: 'It is **recursive**.' },
    { kind: 'systemNotification', content: { markdown: '_Model changed._' } },
    {
      kind: 'toolCall',
      toolCall: {
        status: 'completed',
        toolCallId: 'c1',
        toolName: 'read',
        displayName: 'Read file',
        invocationMessage: 'Read parser.ts',
        confirmed: 'not-needed',
        success: true,
        pastTenseMessage: 'Read parser.ts',
        content: [{ type: 'text', text: 'export {}' }],
      },
    },
  ],
  usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 2, model: 'small' },
  state: 'complete',
};

export const state: SessionState = {
  summary,
  lifecycle: 'ready',
  turns: [turn],
  activeClient: {
    clientId: 'ide-4',
    tools: [{ name: 'open_editor', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
    systemMessageTransform: { sections: ['tone'] },
  },
  config: { schema: { type: 'object', properties: {} }, values: {} },
};

const snapshot = { resource: session, state, fromSeq: 12 };
const uri = 'file:///srv/app/a.txt';
const copy = { channel, source: uri, destination: 'file:///srv/app/b.txt', failIfExists: true } as const;

export const hostRequestExamples: HostRequests = {
  resourceRead: {
    params: { channel, uri, encoding: 'utf-8' },
    result: { data: 'hello', encoding: 'utf-8', contentType: 'text/plain' },
  },
  resourceWrite: {
    params: { channel, uri, data: 'aGk=', encoding: 'base64', mode: 'append', position: 0, ifMatch: 'v1' },
    result: {},
  },
  resourceList: { params: { channel, uri }, result: { entries: [{ name: 'a.txt', type: 'file' }] } },
  resourceCopy: { params: copy, result: {} },
  resourceDelete: { params: { channel, uri, recursive: true }, result: {} },
  resourceMove: { params: copy, result: {} },
  resourceResolve: {
    params: { channel, uri, followSymlinks: false },
    result: { uri, type: 'symlink', size: 5, mtime: '2026-01-02T03:04:05Z', etag: 'v1' },
  },
  resourceMkdir: { params: { channel, uri }, result: {} },
  resourceRequest: { params: { channel, uri, read: true, write: true }, result: {} },
  createResourceWatch: {
    params: { channel, uri, recursive: true, excludes: { items: ['node_modules'] } },
    result: { channel: 'ahp-resource-watch:/1' },
  },
  systemMessageTransform: {
    params: { channel: session, sections: { tone: { content: 'Be brief.' } } },
    result: { sections: { tone: { content: 'Be very brief.' } } },
  },
};

const { systemMessageTransform: _hostOnly, ...bothWays } = hostRequestExamples;

export const clientRequestExamples: ClientRequests = {
  ...bothWays,
  initialize: {
    params: { channel, protocolVersions: ['0.3.0', '0.2.0'], clientId: 'ide-4', initialSubscriptions: [channel] },
    result: { protocolVersion: '0.3.0', serverSeq: 12, snapshots: [snapshot], telemetry: { logs: 'ahp-otlp://logs' } },
  },
  ping: { params: { channel }, result: null },
  reconnect: {
    params: { channel, clientId: 'ide-4', lastSeenServerSeq: 9, subscriptions: [session] },
    result: {
      type: 'replay',
      actions: [{ channel: session, serverSeq: 10, action: { type: 'session/ready' } }],
      missing: ['ahp-session:/gone'],
    },
  },
  subscribe: { params: { channel: session }, result: { snapshot } },
  createSession: {
    params: {
      channel: session,
      provider: 'offline',
      model: { id: 'small' },
      fork: { session: 'ahp-session:/1', turnId: 't4' },
      config: { isolation: 'worktree' },
    },
    result: null,
  },
  disposeSession: { params: { channel: session }, result: null },
  createTerminal: {
    params: { channel: 'ahp-terminal:/1', claim: { kind: 'client', clientId: 'ide-4' }, cols: 80, rows: 24 },
    result: null,
  },
  disposeTerminal: { params: { channel: 'ahp-terminal:/1' }, result: null },
  listSessions: { params: { channel, filter: {} }, result: { items: [summary] } },
  fetchTurns: { params: { channel: session, before: 't9', limit: 20 }, result: { turns: [turn], hasMore: false } },
  authenticate: { params: { channel, resource: 'https://models.example', token: 'secret' }, result: {} },
  resolveSessionConfig: {
    params: { channel, provider: 'offline', config: {} },
    result: {
      schema: {
        type: 'object',
        properties: {
          branch: { type: 'string', title: 'Branch', enumDynamic: true, items: { type: 'string', title: 'x' } },
        },
      },
      values: { branch: 'main' },
    },
  },
  sessionConfigCompletions: {
    params: { channel, property: 'branch', query: 'ma' },
    result: { items: [{ value: 'main', label: 'main' }] },
  },
  completions: {
    params: { channel: session, kind: 'userMessage', text: '@pa', offset: 3 },
    result: {
      items: [
        { insertText: '@parser.ts', rangeStart: 0, rangeEnd: 3, attachment: { type: 'simple', label: 'parser.ts' } },
      ],
    },
  },
  invokeChangesetOperation: {
    params: {
      channel: 'ahp-changeset:/7c1e',
      operationId: 'revert',
      target: {
        kind: 'range',
        resource: uri,
        range: { start: { line: 0, character: 0 }, end: { line: 2, character: 0 } },
      },
    },
    result: { message: 'Reverted.', followUp: { content: { uri }, external: true } },
  },
};

export const clientNotificationExamples: ClientNotifications = {
  unsubscribe: { channel: session },
  dispatchAction: {
    channel: session,
    clientSeq: 1,
    action: { type: 'session/turnStarted', turnId: 't2', userMessage: { text: 'Go on' } },
  },
};

export const hostNotificationExamples: HostNotifications = {
  action: {
    channel: session,
    serverSeq: 13,
    origin: { clientId: 'ide-4', clientSeq: 1 },
    action: { type: 'session/titleChanged', title: 'Port the lexer' },
  },
  'root/sessionAdded': { channel, summary },
  'root/sessionRemoved': { channel, session },
  'root/sessionSummaryChanged': { channel, session, changes: { title: 'Port the lexer', activity: null } },
  'auth/required': { channel: session, resource: 'https://models.example', reason: 'expired' },
  'otlp/exportLogs': { channel: 'ahp-otlp://logs', payload: { resourceLogs: [] } },
  'otlp/exportTraces': { channel: 'ahp-otlp://traces', payload: { resourceSpans: [] } },
  'otlp/exportMetrics': { channel: 'ahp-otlp://metrics', payload: { resourceMetrics: [] } },
};
