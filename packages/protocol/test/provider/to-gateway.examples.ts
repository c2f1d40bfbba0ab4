/** For each message to the gateway: what it looks like, and how it can go wrong. */
import type { ToGatewayMessageMap, ToGatewayMessageType } from '../../src/provider/message-types.js';
import type { Malformed } from './malformed.js';

const lookup = { name: 'lookup', description: 'Finds a record', parameters: { type: 'object', properties: {} } };
const pushGate = { match: { tool: 'shell', args: 'git +push' }, action: 'gate', gateId: 'before-push' } as const;

export const toGatewayExamples: { [Type in ToGatewayMessageType]: readonly ToGatewayMessageMap[Type][] } = {
  auth: [
    { type: 'auth', token: 'ptk-00c0ffee' },
    { type: 'auth', token: 'ext-tok-beef' },
    { type: 'auth', mode: 'pair' },
    { type: 'auth', mode: 'pair', name: 'browser' },
    { type: 'auth', token: '' },
    { type: 'auth' },
  ],
  'auth.confirm': [
    { type: 'auth.confirm', code: '013579' },
    { type: 'auth.confirm', code: 'oops' },
  ],
  hello: [
    { type: 'hello', name: 'tiny', protocolVersion: 2 },
    {
      type: 'hello',
      name: 'tracker',
      protocolVersion: 2,
      session: 's-1',
      instance: 'desk-1',
      reconnectToken: 'tok-1',
      startup_context: 'Two boards are open.',
      metadata: { url: 'https://tracker.test/board', nested: { depth: 2 } },
      tools: [{ ...lookup, timeout: 20_000 }],
      hooks: {
        onPreToolUse: [pushGate],
        transforms: {
          code_change_rules: { action: 'callback' },
          custom_instructions: { action: 'append', content: 'Name the ticket in every commit.' },
        },
      },
      subscribe: ['user.message', 'assistant.message', 'tool.execution_complete'],
      context: 'Sprint 12 ends on Friday.',
      concurrency: { max: 1, scope: 'instance' },
    },
    {
      type: 'hello',
      name: 'page',
      protocolVersion: 2,
      instance: 'tab-7',
      reconnectToken: null,
      session: 'all',
      tools: [{ name: 'page_title', description: 'Reads the title', parameters: {} }],
      subscribe: ['some.later.event'],
      context: null,
      concurrency: {},
    },
  ],
  goodbye: [{ type: 'goodbye' }, { type: 'goodbye', reason: 'closing the tab' }],
  'session.ready': [{ type: 'session.ready', sessionId: 's-2' }],
  'tool.result': [
    { type: 'tool.result', id: 'c-1', data: { ticket: 7, open: true } },
    { type: 'tool.result', id: 'c-1', data: 'plain text' },
    { type: 'tool.result', id: 'c-1', data: ['a', 1] },
    { type: 'tool.result', id: 'c-1', data: null },
    { type: 'tool.result', id: 'c-1', error: 'No such ticket', errorCode: 'NOT_FOUND', retryable: false },
    { type: 'tool.result', id: 'c-1', error: 'It broke' },
    { type: 'tool.result', id: 'c-1', errorCode: 'CANCELLED' },
    { type: 'tool.result', id: 'c-1', errorCode: 'OUT_OF_PAPER' },
    {
      type: 'tool.result',
      id: 'c-1',
      file: { path: '/var/providers/page/shot.png', mimeType: 'image/png', size: 9_000_000, ttl: 120 },
    },
  ],
  'tool.progress': [{ type: 'tool.progress', id: 'c-1', message: 'Half way' }],
  'gate.result': [
    { type: 'gate.result', gateId: 'before-push', callId: 'g-1', decision: 'allow' },
    { type: 'gate.result', gateId: 'before-push', callId: 'g-1', decision: 'deny', reason: 'Tests are red.' },
    { type: 'gate.result', gateId: 'before-push', callId: 'g-1', decision: 'context', reason: 'Freeze at noon.' },
    { type: 'gate.result', gateId: 'before-push', callId: 'g-1', decision: 'maybe' },
    { type: 'gate.result', gateId: 'before-push', callId: 'g-1' },
  ],
  'transform.result': [
    { type: 'transform.result', callId: 't-1', content: 'The section, rewritten.' },
    { type: 'transform.result', callId: 't-1', content: 17 },
    { type: 'transform.result', callId: 't-1' },
  ],
  push: [
    { type: 'push', stream: 'builds', event: 'Build 9 is red', level: 'inject', metadata: { run: 9 } },
    { type: 'push', event: 'Build 10 is queued', level: 'keep' },
    { type: 'push', event: 'Build 10 runs', level: 'surface', sessionId: 's-1' },
    { type: 'push', event: 'Office closes', level: 'surface', broadcast: true },
    { type: 'push', prompt: 'Look into build 9.', level: 'inject' },
    { type: 'push', prompt: 'Look into build 9.', event: 'Build 9 is red', level: 'inject' },
  ],
  'tools.update': [
    { type: 'tools.update', requestId: 'r-1', sessionId: 's-1', tools: [lookup], remove: ['search'] },
    { type: 'tools.update', tools: [lookup] },
    { type: 'tools.update', requestId: 'r-2' },
  ],
  'hooks.update': [
    {
      type: 'hooks.update',
      requestId: 'r-3',
      sessionId: 's-1',
      onPreToolUse: [
        { match: { tool: 'edit', file: '*.sql' }, action: 'context', content: 'Migrations must be reversible.' },
        { match: { provider: 'page' }, action: 'deny', reason: 'The page is frozen.' },
        { match: {}, action: 'gate', gateId: 'everything', failOpen: true },
      ],
      transforms: { code_change_rules: { action: 'callback' }, custom_instructions: null },
    },
    { type: 'hooks.update' },
  ],
  'context.update': [
    { type: 'context.update', requestId: 'r-4', sessionId: 's-1', context: 'Build 11 is green.' },
    { type: 'context.update', context: '' },
    { type: 'context.update', context: null },
  ],
  'filter.set': [
    {
      type: 'filter.set',
      requestId: 'r-5',
      stream: 'builds',
      rules: [
        { match: 'queued', outcome: 'drop' },
        { match: 'red$', outcome: 'inject' },
        { match: 'flaky', outcome: 'surface' },
        { match: '.*', outcome: 'keep' },
      ],
    },
    { type: 'filter.set', stream: 'builds', rules: [] },
    { type: 'filter.set', stream: 'builds@someone', sessionId: 's-1', rules: [] },
  ],
  'stream.query': [
    { type: 'stream.query', queryId: 'q-1', sessionId: 's-1', streams: ['builds@ci', 'notes'], last: 10 },
    { type: 'stream.query', queryId: 'q-2', streams: ['builds'], last: 500 },
  ],
  'shutdown.ready': [{ type: 'shutdown.ready', sessionId: 's-1' }],
};

const helloWith = (fields: object) => ({ type: 'hello', name: 'tracker', protocolVersion: 2, ...fields });
const rule = (fields: object) => ({ type: 'hooks.update', onPreToolUse: [fields] });
const file = { path: '/x', mimeType: 'text/plain', size: 1, ttl: 1 };

export const toGatewayMalformed: { [Type in ToGatewayMessageType]: readonly Malformed[] } = {
  auth: [
    ['a token that is no string', { type: 'auth', token: 5 }],
    ['an unknown mode', { type: 'auth', mode: 'guess' }],
    ['a name unfit for a notice', { type: 'auth', mode: 'pair', name: 'a\nb' }],
  ],
  'auth.confirm': [
    ['no code', { type: 'auth.confirm' }],
    ['a code that is a number', { type: 'auth.confirm', code: 135790 }],
  ],
  hello: [
    ['no name', { type: 'hello', protocolVersion: 2 }],
    ['no version', { type: 'hello', name: 'tracker' }],
    ['a session that is no string', helloWith({ session: 1 })],
    ['a tool without parameters', helloWith({ tools: [{ name: 'x', description: '' }] })],
    ['a tool without a name', helloWith({ tools: [{ name: '', description: '', parameters: {} }] })],
    ['a tool that may take no time', helloWith({ tools: [{ ...lookup, timeout: 0 }] })],
    ['a null transform, which only an update may send', helloWith({ hooks: { transforms: { tone: null } } })],
    ['no room for a single call', helloWith({ concurrency: { max: 0 } })],
    ['an unknown scope', helloWith({ concurrency: { max: 1, scope: 'planet' } })],
    ['metadata that is a list', helloWith({ metadata: [] })],
  ],
  goodbye: [['a reason that is no string', { type: 'goodbye', reason: 0 }]],
  'session.ready': [['no session', { type: 'session.ready' }]],
  'tool.result': [
    ['no call', { type: 'tool.result', data: 1 }],
    ['an error that is no string', { type: 'tool.result', id: 'c-1', error: { text: 'no' } }],
    ['a file without a type', { type: 'tool.result', id: 'c-1', file: { ...file, mimeType: undefined } }],
    ['a file of negative size', { type: 'tool.result', id: 'c-1', file: { ...file, size: -1 } }],
    ['a bad file beside good data', { type: 'tool.result', id: 'c-1', data: 1, file: {} }],
  ],
  'tool.progress': [['no message', { type: 'tool.progress', id: 'c-1' }]],
  'gate.result': [
    ['no call', { type: 'gate.result', gateId: 'g', decision: 'allow' }],
    ['no gate', { type: 'gate.result', callId: 'c', decision: 'allow' }],
  ],
  'transform.result': [['no call', { type: 'transform.result', content: 'x' }]],
  push: [
    ['no level', { type: 'push', event: 'x' }],
    ['an unknown level', { type: 'push', event: 'x', level: 'shout' }],
    ['neither event nor prompt', { type: 'push', level: 'keep' }],
    ['an empty event', { type: 'push', level: 'keep', event: '' }],
    ['an empty prompt', { type: 'push', level: 'inject', prompt: ' ' }],
    ['a prompt without a level', { type: 'push', prompt: 'x' }],
    ['a prompt that is only kept', { type: 'push', level: 'keep', prompt: 'x' }],
    ['a prompt that is only kept, with an event', { type: 'push', level: 'keep', event: 'x', prompt: 'y' }],
    ['a stream of someone else', { type: 'push', level: 'keep', event: 'x', stream: 'builds@ci' }],
  ],
  'tools.update': [
    ['tools that are no list', { type: 'tools.update', tools: {} }],
    ['removing by number', { type: 'tools.update', remove: [1] }],
  ],
  'hooks.update': [
    ['a rule without a match', rule({ action: 'deny', reason: 'no' })],
    ['a condition nobody knows', rule({ match: { branch: 'main' }, action: 'deny', reason: 'no' })],
    ['an action nobody knows', rule({ match: {}, action: 'warn', content: 'x' })],
    ['a deny with the text of a context', rule({ match: {}, action: 'deny', content: 'x' })],
    ['a context with the text of a deny', rule({ match: {}, action: 'context', reason: 'x' })],
    ['a gate without an id', rule({ match: {}, action: 'gate' })],
    ['an append of nothing', { type: 'hooks.update', transforms: { tone: { action: 'append' } } }],
    ['an unknown transform', { type: 'hooks.update', transforms: { tone: { action: 'delete' } } }],
  ],
  'context.update': [
    ['no context', { type: 'context.update', requestId: 'r' }],
    ['a context that is an object', { type: 'context.update', context: {} }],
  ],
  'filter.set': [
    ['no stream', { type: 'filter.set', rules: [] }],
    ['no rules', { type: 'filter.set', stream: 'builds' }],
    ['an unknown outcome', { type: 'filter.set', stream: 'builds', rules: [{ match: 'x', outcome: 'shout' }] }],
    ['a match like that of a hook', { type: 'filter.set', stream: 'b', rules: [{ match: {}, outcome: 'keep' }] }],
  ],
  'stream.query': [
    ['no query id', { type: 'stream.query', streams: ['builds'], last: 1 }],
    ['one stream instead of a list', { type: 'stream.query', queryId: 'q', streams: 'builds', last: 1 }],
    ['no number of events', { type: 'stream.query', queryId: 'q', streams: ['builds'] }],
    ['a negative number of events', { type: 'stream.query', queryId: 'q', streams: ['builds'], last: -1 }],
  ],
  'shutdown.ready': [['no session', { type: 'shutdown.ready' }]],
};
