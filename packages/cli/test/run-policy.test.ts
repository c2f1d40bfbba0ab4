/** What `run --approve reads` allows. */
import type { SessionState } from '@atrium/protocol';
import { expect, it } from 'vitest';
import { Policy } from '../src/run/policy.js';

function asking(call: object): SessionState {
  const toolCall = {
    ...{ status: 'pending-confirmation', toolCallId: 'c', toolName: 'look', displayName: 'Look' },
    ...{ invocationMessage: 'Look', confirmationTitle: 'Look?', ...call },
  };
  const activeTurn = { id: 't', userMessage: { text: '' }, responseParts: [{ kind: 'toolCall', toolCall }] };
  const serverTools = [{ name: 'look', description: '', annotations: { readOnlyHint: true } }];
  return { activeTurn, serverTools } as unknown as SessionState;
}

it("allows a read-only tool of the host, and no client's tool of the same name", () => {
  expect(new Policy('reads').decide(asking({}))).toMatchObject([{ toolName: 'look', isAllowed: true }]);
  expect(new Policy('reads').decide(asking({ toolClientId: 'them' }))).toMatchObject([{ isAllowed: false }]);
  expect(new Policy('all').decide(asking({ toolClientId: 'them' }))).toMatchObject([{ isAllowed: true }]);
});
