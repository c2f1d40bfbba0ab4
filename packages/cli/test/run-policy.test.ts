/** What `run --approve reads` allows. */
import type { SessionState } from '@atrium/protocol';
import { expect, it } from 'vitest';
import { Policy } from '../src/run/run-turn.js';

function asking(call: object): SessionState {
  const toolCall = {
    ...{ status: 'pending-confirmation', toolCallId: 'c', toolName: 'look', displayName: 'Look' },
    ...{ invocationMessage: 'Look', confirmationTitle: 'Look?', ...call },
  };
  const activeTurn = { id: 't', userMessage: { text: '' }, responseParts: [{ kind: 'toolCall', toolCall }] };
  const serverTools = [{ name: 'look', description: '', annotations: { readOnlyHint: true } }];
  return { activeTurn, serverTools } as unknown as SessionState;
}

const OPTIONS = [
  { id: 'approve', label: 'Look', kind: 'approve' },
  { id: 'allow-session', label: 'Look, and do not ask again', kind: 'approve' },
  { id: 'deny', label: 'Do not look', kind: 'deny' },
];

it("allows a read-only tool of the host, and no client's tool of the same name", () => {
  const options = OPTIONS;
  expect(new Policy('reads').decide(asking({ options }))).toMatchObject([{ toolName: 'look', isAllowed: true }]);
  expect(new Policy('reads').decide(asking({ options, toolClientId: 'them' }))).toMatchObject([{ isAllowed: false }]);
  expect(new Policy('all').decide(asking({ toolClientId: 'them' }))).toMatchObject([{ isAllowed: true }]);
});

it('leaves the question of a gate to a person, also about a tool that only reads', () => {
  const ofGate = { confirmationTitle: 'careful: on a Friday?' };
  const once = OPTIONS.filter(({ id }) => id !== 'allow-session');
  for (const options of [undefined, once])
    expect(new Policy('reads').decide(asking({ ...ofGate, options }))).toMatchObject([{ isAllowed: false }]);
  expect(new Policy('all').decide(asking(ofGate))).toMatchObject([{ isAllowed: true }]);
});
