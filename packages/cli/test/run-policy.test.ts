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
  return {
    chat: { resource: 'ahp-chat:/c', activeTurn },
    session: { serverTools, chats: [] },
  } as unknown as OpenSessionState;
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

it('[CLI-048] answers for the workers of its turn and for theirs, and for no other chat', () => {
  const state = asking({ status: 'running' });
  const chat = (id: string, origin?: object) => ({ resource: `ahp-chat:/${id}`, title: id, status: 24, origin });
  const worker = (of: string) => ({ kind: 'tool', chat: `ahp-chat:/${of}`, toolCallId: 'x' });
  const chats = [chat('c'), chat('w', worker('c')), chat('v', worker('w')), chat('o'), chat('p', worker('o'))];
  const toolCall = { status: 'pending-confirmation', toolCallId: 'x', toolName: 'run', displayName: 'Run' };
  const waits = (id: string) => [
    { kind: 'toolConfirmation', id, chat: `ahp-chat:/${id}`, turnId: 't', toolCall },
    { kind: 'chatInput', id: `${id}q`, chat: `ahp-chat:/${id}`, request: { id: `q-${id}` } },
  ];
  const inputNeeded = ['w', 'v', 'o', 'p'].flatMap(waits);
  const all = { ...state, session: { ...state.session, chats, inputNeeded } } as unknown as OpenSessionState;
  const policy = new Policy('all');
  expect(policy.decide(all).map((decision) => decision.chat)).toEqual(['ahp-chat:/w', 'ahp-chat:/v']);
  expect(policy.unasked(all).map(({ requestId }) => requestId)).toEqual(['q-w', 'q-v']);
  expect([...policy.decide(all), ...policy.unasked(all)]).toEqual([]);
});
