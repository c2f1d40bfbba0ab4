import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { inputNeededActions, mayChangeNeeded } from '../../src/sessions/input-needed.js';

const CHAT = 'ahp-chat:/c';

const waitingFor = (...calls: { toolCallId: string; status: string }[]) =>
  ({
    resource: CHAT,
    turns: [],
    activeTurn: {
      id: 't',
      responseParts: calls.map((toolCall) => ({
        kind: 'toolCall',
        toolCall: { toolName: 'shell', displayName: 'Shell', invocationMessage: 'Run', ...toolCall },
      })),
    },
  }) as unknown as ChatState;

describe('what a session says that it waits for', () => {
  it.each([
    ...['Ready', 'Confirmed', 'Complete', 'ResultConfirmed', 'AuthRequired', 'AuthResolved'].map(
      (name) => `chat/toolCall${name}`,
    ),
    ...['inputRequested', 'inputAnswerChanged', 'inputCompleted', 'responsePart'].map((name) => `chat/${name}`),
    ...['turnComplete', 'turnCancelled', 'turnResume', 'error', 'truncated'].map((name) => `chat/${name}`),
  ])('may change with %s', (type) => {
    expect(mayChangeNeeded(type)).toBe(true);
  });

  it.each(['chat/delta', 'chat/reasoning', 'chat/usage', 'session/titleChanged', ''])(
    'does not change with %j',
    (type) => {
      expect(mayChangeNeeded(type)).toBe(false);
    },
  );

  it.each([
    ['pending-confirmation', {}, 'toolConfirmation'],
    ['pending-result-confirmation', {}, 'toolConfirmation'],
    ['auth-required', {}, 'toolAuthentication'],
    ['running', { contributor: { kind: 'client', clientId: 'desk' } }, 'toolClientExecution'],
    ['running', { contributor: { kind: 'mcp', customizationId: 'm' } }, undefined],
    ['running', {}, undefined],
    ['streaming', {}, undefined],
    ['completed', {}, undefined],
    ['cancelled', {}, undefined],
  ])('[UP-174] of a call that is %s %j is %s', (status, more, kind) => {
    const chat = waitingFor({ toolCallId: 'k', status, ...more });
    const toolCall = {
      toolName: 'shell',
      displayName: 'Shell',
      invocationMessage: 'Run',
      toolCallId: 'k',
      status,
      ...more,
    };
    const clientId = kind === 'toolClientExecution' && { clientId: 'desk' };
    const request = { kind, id: 'tool:k', chat: CHAT, turnId: 't', ...clientId, toolCall };
    const expected = kind === undefined ? [] : [{ type: 'session/inputNeededSet', request }];
    expect(inputNeededActions({ defaultChat: CHAT } as never, chat)).toEqual(expected);
    expect(inputNeededActions({ defaultChat: CHAT } as never, { ...chat, activeTurn: undefined } as never)).toEqual([]);
    const elsewhere = expected.map((action) => ({ ...action, request: { ...request, id: `tool:k ${CHAT}` } }));
    expect(inputNeededActions({ defaultChat: 'ahp-chat:/first' } as never, chat)).toEqual(elsewhere);
  });

  it('[UP-174] is added when it comes, and removed when it is answered; what is listed already is not said again', () => {
    const none = { inputNeeded: [], defaultChat: CHAT };
    const waiting = waitingFor({ toolCallId: 'k', status: 'pending-confirmation' });
    const added = inputNeededActions(none as never, waiting);
    expect(added.map(({ type }) => type)).toEqual(['session/inputNeededSet']);
    const listed = {
      inputNeeded: added.flatMap((action) => ('request' in action ? action.request : [])),
      defaultChat: CHAT,
    };
    expect(inputNeededActions(listed as never, waiting)).toEqual([]);
    const over = inputNeededActions(listed as never, waitingFor({ toolCallId: 'k', status: 'running' }));
    expect(over).toEqual([{ type: 'session/inputNeededRemoved', id: listed.inputNeeded[0]?.id }]);
    const other = { ...waiting, resource: 'ahp-chat:/other' } as ChatState;
    expect(inputNeededActions(listed as never, { ...other, activeTurn: undefined } as ChatState)).toEqual([]);
  });
});
