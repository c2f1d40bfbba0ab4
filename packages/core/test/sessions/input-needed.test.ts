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
