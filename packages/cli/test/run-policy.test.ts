/** What `run --approve reads` allows. */
import type { OpenSessionState } from '@atrium/client';
import { expect, it } from 'vitest';
import { Policy } from '../src/run/run-turn.js';

function asking(call: object): OpenSessionState {
  const toolCall = {
    ...{ status: 'pending-confirmation', toolCallId: 'c', toolName: 'look', displayName: 'Look' },
    ...{ invocationMessage: 'Look', confirmationTitle: 'Look?', ...call },
  };
  const activeTurn = { id: 't', message: { text: '' }, responseParts: [{ kind: 'toolCall', toolCall }] };
  const serverTools = [{ name: 'look', description: '', annotations: { readOnlyHint: true } }];
  return { chat: { activeTurn }, session: { serverTools } } as unknown as OpenSessionState;
}

const OPTIONS = [
  { id: 'approve', label: 'Look', kind: 'approve' },
  { id: 'allow-session', label: 'Look, and do not ask again', kind: 'approve' },
  { id: 'deny', label: 'Do not look', kind: 'deny' },
];

it("allows a read-only tool of the host, and no client's tool of the same name", () => {
  const options = OPTIONS;
  expect(new Policy('reads').decide(asking({ options }))).toMatchObject([{ toolName: 'look', isAllowed: true }]);
  expect(
    new Policy('reads').decide(asking({ options, contributor: { kind: 'client', clientId: 'them' } })),
  ).toMatchObject([{ isAllowed: false }]);
  expect(new Policy('all').decide(asking({ contributor: { kind: 'client', clientId: 'them' } }))).toMatchObject([
    { isAllowed: true },
  ]);
});

it('leaves the question of a gate to a person, also about a tool that only reads', () => {
  const ofGate = { confirmationTitle: 'careful: on a Friday?' };
  const once = OPTIONS.filter(({ id }) => id !== 'allow-session');
  for (const options of [undefined, once])
    expect(new Policy('reads').decide(asking({ ...ofGate, options }))).toMatchObject([{ isAllowed: false }]);
  expect(new Policy('all').decide(asking(ofGate))).toMatchObject([{ isAllowed: true }]);
});
