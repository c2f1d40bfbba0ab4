import type { Gate } from '@atrium/core/contracts/extension.js';
import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import { textWindowMs } from '@atrium/core/sessions/text-joiner.js';
import type { ToolDefinition } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture, refusalOf, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { answer, call, callState, DENY, extension, gate, openGate, stepsOf, typesOf } from './support.js';

const LOOK: ToolDefinition = {
  name: 'look',
  title: 'Look',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
};
const HERE = { input: { at: 'garden' } };
const result = { success: true, pastTenseMessage: 'Looked', content: [{ type: 'text' as const, text: 'a tree' }] };
const complete = { type: 'session/toolCallComplete' as const, turnId: 't1', toolCallId: 'c1', result };

/** A turn whose active client is the first one, with a tool of its own and gates around it, while phone watches. */
async function clientFixture(gates: readonly Gate[] = []) {
  const fixture = await openPuppetFixture({
    extensions: [extension('watch', { gates })],
    session: { activeClient: { clientId: 'desk', tools: [LOOK] } },
  });
  return { ...fixture, phone: await fixture.join('phone'), turn: fixture.puppet.turn };
}

describe("a client's tool", () => {
  it('[CUS-127] is state that everybody sees, and no request is sent to anybody to run it', async () => {
    const { client, phone, uri, turn } = await clientFixture();
    expect((await stateOf(phone, uri)).activeClient).toMatchObject({ clientId: 'desk', tools: [LOOK] });
    const outcome = call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    await refusalOf(client, uri, complete);
    await outcome;
    const requests = [...client.received, ...phone.received].filter(({ id, method }) => method && id !== undefined);
    expect(requests).toEqual([]);
  });

  it('[CUS-128] is offered as long as it is in the list, which is replaced as a whole', async () => {
    const { client, uri, turn } = await clientFixture();
    expect(turn.tools().map(({ name }) => name)).toEqual(['look']);
    const tools = [{ name: 'listen' }];
    await refusalOf(client, uri, { type: 'session/activeClientToolsChanged', tools });
    expect(turn.tools().map(({ name }) => name)).toEqual(['listen']);
    await refusalOf(client, uri, {
      type: 'session/activeClientChanged',
      activeClient: { clientId: 'desk', tools: [] },
    });
    expect(turn.tools()).toEqual([]);
  });

  it('[CUS-129] [CUS-130] runs once its input is complete: while that streams, it is only visible', async () => {
    const { client, phone, uri, turn, clock } = await clientFixture();
    const begun = turn.beginCall({ id: 'c1', name: 'look' });
    begun.delta('{"at":');
    await settle();
    begun.delta('"gar');
    await clock.advance(textWindowMs({ count: 2 }));
    expect(await callState(phone, uri)).toMatchObject({
      status: 'streaming',
      toolClientId: 'desk',
      partialInput: '{"at":"gar',
    });
    const outcome = begun.run('{"at":"garden"}');
    await client.action(uri, 'session/toolCallReady');
    expect(await callState(phone, uri)).toMatchObject({ status: 'running', toolInput: '{"at":"garden"}' });
    expect(await refusalOf(phone, uri, complete)).toContain('another client');
    await refusalOf(client, uri, complete);
    expect(await outcome).toMatchObject({ text: 'a tree' });
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta', 'Delta', 'Ready', 'Complete']);
  });

  it('[CUS-129] [CUS-131] that a person must allow first waits for any client, and runs only then', async () => {
    const { client, phone, uri, turn } = await clientFixture([gate('careful', { kind: 'ask', reason: 'look twice' })]);
    const outcome = call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    expect(await callState(client, uri)).toMatchObject({ status: 'pending-confirmation', toolClientId: 'desk' });
    expect(await refusalOf(phone, uri, answer(true))).toBeUndefined();
    expect(await callState(client, uri)).toMatchObject({ status: 'running' });
    await refusalOf(client, uri, complete);
    expect(await outcome).toMatchObject({ text: 'a tree' });
  });

  it('[CUS-132] shows output on the way, each time all of it, and ends with its result alone', async () => {
    const { client, phone, uri, turn } = await clientFixture();
    const outcome = call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    for (const text of ['a twig', 'half a tree']) {
      const content = [{ type: 'text' as const, text }];
      const progress = { type: 'session/toolCallContentChanged' as const, turnId: 't1', toolCallId: 'c1', content };
      expect(await refusalOf(client, uri, progress)).toBeUndefined();
      expect(await callState(phone, uri)).toMatchObject({ status: 'running', content });
    }
    const { content: _content, ...bare } = result;
    await refusalOf(client, uri, { ...complete, result: bare });
    await outcome;
    expect(await callState(phone, uri)).not.toHaveProperty('content');
  });

  it('[CUS-133] of a client that vanished fails after a while, the model hears of it, and the turn goes on', async () => {
    const { client, phone, uri, turn, clock, puppet } = await clientFixture();
    const outcome = call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS);
    expect(await outcome).toMatchObject({ kind: 'completed', success: false, text: expect.stringContaining('desk') });
    expect(await callState(phone, uri)).toMatchObject({ status: 'completed', error: { code: 'DISCONNECTED' } });
    turn.text('then without');
    puppet.finish();
    await phone.action(uri, 'session/turnComplete');
  });
});

describe("an owner of a client's tool", () => {
  it('[UNI-045] that does not know it, and completes it all the same, ends it once', async () => {
    const { client, phone, uri, turn } = await clientFixture();
    const outcome = call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    client.dispatch(uri, answer(false));
    expect(await refusalOf(client, uri, complete)).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'a tree' });
    await settle();
    expect(typesOf(phone, uri)).toEqual(['Start', 'Ready', 'Confirmed', 'Complete']);
  });
});

describe("a gate before a client's tool", () => {
  it('[UNI-046] denies it before its owner sees it run', async () => {
    const watcher = openGate('ci-watcher');
    const { client, uri, turn } = await clientFixture([watcher]);
    const outcome = call(turn, 'look', HERE);
    const { action } = await client.action(uri, 'session/toolCallDelta');
    expect(action.invocationMessage).toBe('Waiting for ci-watcher');
    expect(watcher.asked[0]).toMatchObject({ toolName: 'look', input: { at: 'garden' } });
    watcher.answer(DENY);
    expect(await outcome).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(stepsOf(client, uri).some((step) => 'confirmed' in step.action)).toBe(false);
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta', 'Ready', 'Confirmed']);
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', reason: 'denied' });
  });

  it('[UNI-045] [UNI-046] is not heard any more when the owner was gone too long meanwhile; the call never ran', async () => {
    const slow = { ...openGate('slow'), timeoutMs: 10 * CLIENT_GRACE_MS };
    const { client, phone, uri, turn, clock } = await clientFixture([slow]);
    const outcome = call(turn, 'look', HERE);
    await settle();
    client.disconnect();
    await clock.advance(CLIENT_GRACE_MS);
    slow.answer(DENY);
    expect(await outcome).toMatchObject({ kind: 'completed', success: false });
    expect(await callState(phone, uri)).toMatchObject({ status: 'completed', error: { code: 'DISCONNECTED' } });
    expect(typesOf(phone, uri)).toEqual(['Start', 'Delta', 'Ready', 'Complete']);
    expect(stepsOf(phone, uri).some((step) => 'confirmed' in step.action)).toBe(false);
  });

  it('still wants a person to decide when another client takes the call over', async () => {
    const { client, phone, uri, turn } = await clientFixture([gate('careful', { kind: 'ask', reason: 'look twice' })]);
    call(turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    client.disconnect();
    await refusalOf(phone, uri, {
      type: 'session/activeClientChanged',
      activeClient: { clientId: 'phone', tools: [LOOK] },
    });
    await settle();
    const { activeTurn } = await stateOf(phone, uri);
    const calls = (activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
    expect(calls.at(-1)).toMatchObject({ toolClientId: 'phone', status: 'pending-confirmation' });
  });
});

describe("who is told of a client's tool", () => {
  const asking = { gates: [gate('careful', { kind: 'ask', reason: 'look twice' })] };

  it.each([
    ['runs at once', {}],
    ['runs when a person agrees', asking],
  ])('does not stop it by failing: one that %s', async (_when, parts) => {
    const told: string[] = [];
    const failing = extension('failing', {
      ...parts,
      outsideCallBegins: async () => Promise.reject(new Error(`begins ${told.push('begins')}`)),
      outsideCallEnds: async () => Promise.reject(new Error(`ends ${told.push('ends')}`)),
    });
    const { client, uri, puppet } = await openPuppetFixture({
      extensions: [failing],
      session: { activeClient: { clientId: 'desk', tools: [LOOK] } },
    });
    const outcome = call(puppet.turn, 'look', HERE);
    await client.action(uri, 'session/toolCallReady');
    if ('gates' in parts) await refusalOf(client, uri, answer(true));
    await refusalOf(client, uri, complete);
    expect(await outcome).toMatchObject({ text: 'a tree' });
    expect(told).toEqual(['begins', 'ends']);
  });
});

describe("input that does not fit a client's tool", () => {
  it.each<[string, unknown, RegExp]>([
    ['lacks something', {}, /must have "at"/],
    ['has the wrong type', { at: 3 }, /"at" must be a string, but is 3/],
    ['is no object', '"garden"', /must be a JSON object/],
    ['is no JSON', '{"at":', /must be a JSON object/],
  ])('and %s fails, and its owner never sees it run', async (_how, input, message) => {
    const watcher = gate('ci-watcher');
    const { client, uri, turn } = await clientFixture([watcher]);
    const outcome = await call(turn, 'look', { input });
    expect(outcome).toMatchObject({ kind: 'completed', success: false, text: expect.stringMatching(message) });
    expect(await callState(client, uri)).toMatchObject({ status: 'completed', error: { code: 'BAD_INPUT' } });
    expect(stepsOf(client, uri).some((step) => 'confirmed' in step.action)).toBe(false);
    expect(watcher.asked).toEqual([]);
  });
});
