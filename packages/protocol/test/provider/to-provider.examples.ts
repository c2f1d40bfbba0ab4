/** For each message to a provider: what it looks like, and how it can go wrong. */
import type { ToProviderMessageMap, ToProviderMessageType } from '../../src/provider/message-types.js';
import type { Malformed } from './malformed.js';

const call = { id: 'c-1', sessionId: 's-1', tool: 'lookup', args: { ticket: 7 } };
const check = { gateId: 'before-push', callId: 'g-1', sessionId: 's-1', tool: 'shell', args: { command: 'git push' } };
const request = { callId: 't-1', sessionId: 's-1', section: 'custom_instructions', current: 'As it was.' };
const execution = { tool: 'lookup', args: {}, result: { type: 'success' }, durationMs: 12.5 } as const;

export const toProviderExamples: { [Type in ToProviderMessageType]: readonly ToProviderMessageMap[Type][] } = {
  'auth.pairing': [{ type: 'auth.pairing', prompt: 'Type the code that your session shows.' }],
  sessions: [
    { type: 'sessions', active: [] },
    {
      type: 'sessions',
      token: 'ext-tok-beef',
      active: [
        { id: 's-1', label: 'Fix the importer', cwd: '/home/u/importer' },
        { id: 's-2', label: 'Docs' },
      ],
    },
  ],
  'sessions.updated': [{ type: 'sessions.updated', active: [{ id: 's-2', label: 'Docs' }] }],
  'hello.ack': [
    {
      type: 'hello.ack',
      protocolVersion: 2,
      providerId: 'p-1',
      reconnectToken: 'tok-2',
      sessionId: 's-1',
      persistDir: '/var/providers/tracker/',
    },
    { type: 'hello.ack', protocolVersion: 2, providerId: 'p-1', reconnectToken: 'tok-3' },
  ],
  ack: [
    { type: 'ack', requestId: 'r-1', sessionId: 's-1', revision: 3 },
    { type: 'ack', sessionId: 's-1', revision: 4 },
  ],
  error: [
    { type: 'error', code: 'INVALID_SESSION', message: 'There is no session s-9.', replyTo: 'hello' },
    {
      type: 'error',
      code: 'TOOL_CONFLICT',
      message: 'The tool lookup belongs to tracker.',
      replyTo: 'tools.update',
      providerId: 'p-1',
      sessionId: 's-1',
      requestId: 'r-1',
    },
    { type: 'error', code: 'UNKNOWN_TYPE', message: 'No such type.', replyTo: 'future.thing' },
  ],
  'tool.call': [{ type: 'tool.call', ...call }],
  'tool.cancel': [{ type: 'tool.cancel', id: 'c-1', sessionId: 's-1', reason: 'timeout' }],
  'gate.check': [{ type: 'gate.check', ...check }],
  'transform.request': [{ type: 'transform.request', ...request }],
  'session.event': [
    { type: 'session.event', sessionId: 's-1', event: 'user.message', data: { content: 'Hello' } },
    { type: 'session.event', sessionId: 's-1', event: 'assistant.message', data: { content: 'Hi' } },
    {
      type: 'session.event',
      sessionId: 's-1',
      event: 'assistant.message',
      data: { content: '', toolRequests: [{ name: 'lookup', args: { ticket: 7 } }] },
    },
    { type: 'session.event', sessionId: 's-1', event: 'tool.execution_complete', data: execution },
    {
      type: 'session.event',
      sessionId: 's-1',
      event: 'tool.execution_complete',
      data: { ...execution, provider: 'tracker', result: { type: 'failure', output: 'No such ticket' } },
    },
    { type: 'session.event', sessionId: 's-1', event: 'assistant.intent', data: { intent: 'Reading the ticket' } },
  ],
  'session.lifecycle': [
    { type: 'session.lifecycle', sessionId: 's-1', state: 'started' },
    { type: 'session.lifecycle', sessionId: 's-1', state: 'idle' },
    { type: 'session.lifecycle', sessionId: 's-1', state: 'shutdown.pending', deadline: 10_000 },
  ],
  'stream.history': [
    { type: 'stream.history', queryId: 'q-1', streams: {} },
    {
      type: 'stream.history',
      queryId: 'q-1',
      streams: {
        'builds@ci': [
          { ts: '2031-02-03T04:06:00Z', event: 'red', metadata: { run: 9 } },
          { ts: '2031-02-03T04:05:00Z', event: 'queued' },
        ],
        'notes@tracker': [],
      },
    },
  ],
};

const without = (message: object, field: string) => ({ ...message, [field]: undefined });
const event = (name: string, data: unknown) => ({ type: 'session.event', sessionId: 's-1', event: name, data });

export const toProviderMalformed: { [Type in ToProviderMessageType]: readonly Malformed[] } = {
  'auth.pairing': [['no prompt', { type: 'auth.pairing' }]],
  sessions: [
    ['no list', { type: 'sessions' }],
    ['a session without a label', { type: 'sessions', active: [{ id: 's-1' }] }],
    ['a token that is null', { type: 'sessions', active: [], token: null }],
  ],
  'sessions.updated': [['a session without an id', { type: 'sessions.updated', active: [{ label: 'Docs' }] }]],
  'hello.ack': [
    ['another version', { type: 'hello.ack', protocolVersion: 1, providerId: 'p-1', reconnectToken: 't' }],
    ['no provider id', { type: 'hello.ack', protocolVersion: 2, reconnectToken: 't' }],
    ['no reconnect token', { type: 'hello.ack', protocolVersion: 2, providerId: 'p-1' }],
  ],
  ack: [
    ['no session', { type: 'ack', requestId: 'r', revision: 1 }],
    ['no revision', { type: 'ack', requestId: 'r', sessionId: 's-1' }],
    ['half a revision', { type: 'ack', requestId: 'r', sessionId: 's-1', revision: 1.5 }],
  ],
  error: [
    ['an unknown code', { type: 'error', code: 'TEAPOT', message: 'x' }],
    ['no text', { type: 'error', code: 'INVALID_JSON' }],
  ],
  'tool.call': [
    ['arguments that are a list', { type: 'tool.call', ...call, args: [] }],
    ['no session', without({ type: 'tool.call', ...call }, 'sessionId')],
  ],
  'tool.cancel': [['no session', { type: 'tool.cancel', id: 'c-1', reason: 'timeout' }]],
  'gate.check': [
    ['no session', without({ type: 'gate.check', ...check }, 'sessionId')],
    ['no call', without({ type: 'gate.check', ...check }, 'callId')],
  ],
  'transform.request': [
    ['no session', without({ type: 'transform.request', ...request }, 'sessionId')],
    ['no current text', without({ type: 'transform.request', ...request }, 'current')],
  ],
  'session.event': [
    ['no session', without(event('user.message', { content: 'Hello' }), 'sessionId')],
    ['an unknown event', event('user.sneeze', {})],
    ['a message without content', event('user.message', {})],
    ['the data of another event', event('assistant.message', { intent: 'x' })],
    ['a result that is neither', event('tool.execution_complete', { ...execution, result: { type: 'maybe' } })],
    ['no duration', event('tool.execution_complete', without(execution, 'durationMs'))],
  ],
  'session.lifecycle': [
    ['no session', { type: 'session.lifecycle', state: 'idle' }],
    ['an unknown state', { type: 'session.lifecycle', sessionId: 's-1', state: 'asleep' }],
    ['a shutdown without a deadline', { type: 'session.lifecycle', sessionId: 's-1', state: 'shutdown.pending' }],
  ],
  'stream.history': [
    ['streams that are a list', { type: 'stream.history', queryId: 'q', streams: [] }],
    ['an event without a time', { type: 'stream.history', queryId: 'q', streams: { 'a@b': [{ event: 'x' }] } }],
  ],
};
