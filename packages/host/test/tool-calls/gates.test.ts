import type { Gate } from '@atrium/core/contracts/extension.js';
import { ALLOW_IN_SESSION, type HostTool, type ToolConfirmation } from '@atrium/core/contracts/tool.js';
import { GATES_TIMEOUT_MS } from '@atrium/core/tool-calls/limits.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture, refusalOf, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import {
  answer,
  approve,
  call,
  callState,
  DENY,
  extension,
  gate,
  openGate,
  sessionOf,
  stepsOf,
  typesOf,
} from './support.js';

const SURE: ToolConfirmation = { title: 'Sure?', editable: true };

/** A turn with one tool, watched over by gates. */
async function gatedFixture(gates: readonly Gate[], confirmation?: ToolConfirmation) {
  const tool = echoTool('write', confirmation && { confirmation });
  const fixture = await openPuppetFixture({ tools: [tool], extensions: [extension('watch', { gates })] });
  return { ...fixture, tool, turn: fixture.puppet.turn };
}

describe('the life of a tool call', () => {
  it('[UNI-039] [UNI-040] is input, rules, gates, a person, the tool, in this order', async () => {
    const seen: string[] = [];
    const see = (what: string) => {
      seen.push(what);
      return { kind: 'pass' } as const;
    };
    const tool: HostTool = {
      ...echoTool('write', { confirmation: SURE, work: () => see('run').kind }),
      preview: async () => ({ kind: see('preview') && 'edits', edits: [] }),
    };
    const late = async () => {
      for (let ticks = 0; ticks < 3; ticks++) await new Promise(setImmediate);
      return see('gate');
    };
    const gates = [gate('slow', late), gate('rule', () => see('rule'), { isStatic: true })];
    const fixture = await openPuppetFixture({ tools: [tool], extensions: [extension('watch', { gates })] });
    const outcome = call(fixture.puppet.turn, 'write');
    await fixture.client.action(fixture.uri, ({ type }) => type === 'session/toolCallReady');
    seen.push('asked');
    approve(fixture);
    expect(await outcome).toMatchObject({ success: true });
    expect(seen).toEqual(['rule', 'gate', 'preview', 'asked', 'run']);
    expect(typesOf(fixture.client, fixture.uri)).toEqual(['Start', 'Delta', 'Ready', 'Confirmed', 'Complete']);
  });

  it('[UNI-039] does not show that it waits for a gate that answers at once', async () => {
    const { client, uri, turn } = await gatedFixture([gate('quick', async () => ({ kind: 'pass' }))]);
    expect(await call(turn, 'write')).toMatchObject({ success: true });
    expect(typesOf(client, uri)).toEqual(['Start', 'Ready', 'Complete']);
  });

  it('[UNI-039] gates see what the call is about', async () => {
    const watcher = gate('watch');
    const { turn, uri } = await gatedFixture([watcher]);
    await call(turn, 'write', { input: '{"a":1}' });
    expect(watcher.asked).toEqual([
      { session: uri, chat: defaultChatUri(uri), turnId: 't1', toolCallId: 'c1', toolName: 'write', input: { a: 1 } },
    ]);
  });

  it('[UNI-039] rules that object spare the others the question', async () => {
    const other = gate('other');
    const { turn } = await gatedFixture([other, gate('rule', DENY, { isStatic: true })]);
    expect(await call(turn, 'write')).toEqual({ kind: 'denied', reason: 'rule: CI is failing' });
    expect(other.asked).toEqual([]);
  });

  it('[UNI-039] gates are asked side by side, and the first objection ends the waiting of all', async () => {
    const never = openGate('never');
    const no = openGate('no');
    const { turn, tool } = await gatedFixture([never, no]);
    const outcome = call(turn, 'write');
    await settle();
    expect([never.asked.length, no.asked.length]).toEqual([1, 1]);
    no.answer(DENY);
    expect(await outcome).toEqual({ kind: 'denied', reason: 'no: CI is failing' });
    expect(never.signals[0]?.aborted).toBe(true);
    expect(tool.runs).toEqual([]);
  });

  it('[UNI-040] nobody is asked about a call that is refused', async () => {
    const { turn, client, uri } = await gatedFixture([gate('ci-watcher', DENY)], SURE);
    await call(turn, 'write');
    const [, ready] = stepsOf(client, uri);
    expect(ready?.action).not.toHaveProperty('confirmationTitle');
  });

  it('[UNI-041] [UNI-103] no objection is not a permission: a person still decides', async () => {
    const { turn, client, uri, tool } = await gatedFixture([gate('ci-watcher')], SURE);
    call(turn, 'write');
    await settle();
    expect(await callState(client, uri)).toMatchObject({ status: 'pending-confirmation' });
    expect(await callState(client, uri)).not.toHaveProperty('confirmed');
    expect(tool.runs).toEqual([]);
  });

  it('gates of an extension that was taken away are not asked any more, in that session', async () => {
    const watcher = gate('ci-watcher', DENY);
    const { turn, tool } = await gatedFixture([watcher]);
    sessionOf(turn).extensions.remove('watch');
    await call(turn, 'write');
    expect([tool.runs.length, watcher.asked.length]).toEqual([1, 0]);
  });

  it('a gate that has nothing to do with a call is not asked', async () => {
    const other = gate('other', DENY, { concerns: ({ toolName }) => toolName === 'shell' });
    const { turn, tool } = await gatedFixture([other]);
    await call(turn, 'write');
    expect([tool.runs.length, other.asked.length]).toEqual([1, 0]);
  });
});

describe('a call that waits for a gate', () => {
  it('[UNI-042] says so, is still streaming, and asks no person', async () => {
    const watcher = openGate('ci-watcher');
    const { turn, client, uri } = await gatedFixture([watcher], SURE);
    const outcome = call(turn, 'write', { input: { a: 1 } });
    const { action } = await client.action(uri, 'session/toolCallDelta');
    expect(action).toMatchObject({ content: '', invocationMessage: 'Waiting for ci-watcher' });
    const { summary } = await stateOf(client, uri);
    expect(await callState(client, uri)).toMatchObject({
      status: 'streaming',
      invocationMessage: 'Waiting for ci-watcher',
    });
    expect(summary.status & 31).toBe(8);
    watcher.answer({ kind: 'pass' });
    await client.action(uri, 'session/toolCallReady');
    expect(await callState(client, uri)).toMatchObject({ invocationMessage: 'Use write', toolInput: '{"a":1}' });
    approve({ client, uri });
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[UNI-042] names everybody it waits for, and nobody who answered at once', async () => {
    const gates = [gate('quick'), openGate('ci-watcher'), openGate('ci-watcher'), openGate('reviewer')];
    const { turn, client, uri } = await gatedFixture(gates);
    call(turn, 'write');
    const { action } = await client.action(uri, 'session/toolCallDelta');
    expect(action.invocationMessage).toBe('Waiting for ci-watcher, reviewer');
  });

  it('[UNI-042] is not announced when all answer at once', async () => {
    const { turn, client, uri } = await gatedFixture([gate('quick')]);
    await call(turn, 'write');
    expect(typesOf(client, uri)).toEqual(['Start', 'Ready', 'Complete']);
  });

  it('[UNI-045] is over when the turn is cancelled; what the gate says then is dropped', async () => {
    const watcher = openGate('ci-watcher');
    const { turn, client, uri, tool } = await gatedFixture([watcher]);
    const outcome = call(turn, 'write');
    await client.action(uri, 'session/toolCallDelta');
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect(watcher.signals[0]?.aborted).toBe(true);
    watcher.answer(DENY);
    await settle();
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', reason: 'skipped' });
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta']);
    expect(tool.runs).toEqual([]);
  });

  it('[UNI-045] cannot be denied by a client before it is ready; the gate decides', async () => {
    const watcher = openGate('ci-watcher');
    const { turn, client, uri } = await gatedFixture([watcher]);
    const outcome = call(turn, 'write');
    await client.action(uri, 'session/toolCallDelta');
    expect(await refusalOf(client, uri, answer(false))).toContain('streaming');
    watcher.answer({ kind: 'pass' });
    expect(await outcome).toMatchObject({ success: true });
  });
});

describe('a call that a gate denies', () => {
  it('[UNI-043] is ready and denied in one tick, by the host, and the model hears why', async () => {
    const { turn, client, uri, tool } = await gatedFixture([gate('ci-watcher', DENY)]);
    const outcome = await call(turn, 'write', { input: { a: 1 } });
    expect(outcome).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    const [start, ready, denied, ...rest] = stepsOf(client, uri);
    expect([start, ready, denied].map((step) => step?.action.type)).toEqual([
      'session/toolCallStart',
      'session/toolCallReady',
      'session/toolCallConfirmed',
    ]);
    expect(rest).toEqual([]);
    expect(ready?.action).toMatchObject({ toolInput: '{"a":1}', invocationMessage: 'Use write' });
    expect(ready?.action).not.toHaveProperty('confirmed');
    expect(denied?.action).toMatchObject({
      approved: false,
      reason: 'denied',
      reasonMessage: 'ci-watcher: CI is failing',
    });
    expect([ready, denied].map((step) => step?.origin)).toEqual([undefined, undefined]);
    // Nothing came between them. What only newer wires show has numbers of its own.
    const [asked = -1, answered = -1] = [ready, denied].map((step) =>
      client.received.findIndex(({ params }) => (params as unknown) === step),
    );
    expect([asked >= 0, answered - asked]).toEqual([true, 1]);
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', reason: 'denied' });
    expect(tool.runs).toEqual([]);
  });

  it('does not end the turn', async () => {
    const { turn, client, uri } = await gatedFixture([gate('ci-watcher', DENY)]);
    await call(turn, 'write');
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
  });
});

describe('a gate that fails', () => {
  it.each<[string, Gate, RegExp]>([
    [
      'throws',
      gate('g', () => {
        throw new Error('no network');
      }),
      /no network/,
    ],
    ['rejects', gate('g', () => Promise.reject(new Error('no network'))), /no network/],
    ['answers nonsense', gate('g', () => undefined as never), /must be pass, ask or deny/],
    ['answers nonsense later', gate('g', async () => ({ kind: 'maybe' }) as never), /must be pass, ask or deny/],
    [
      'throws when asked whether it is concerned',
      gate('g', DENY, {
        concerns: () => {
          throw new Error('odd');
        },
      }),
      /odd/,
    ],
  ])('has denied the call when it %s', async (_how, failing, why) => {
    const { turn, tool } = await gatedFixture([failing]);
    const outcome = await call(turn, 'write');
    expect(outcome).toMatchObject({ kind: 'denied', reason: expect.stringMatching(/^g: the check failed/) });
    expect(outcome).toMatchObject({ reason: expect.stringMatching(why) });
    expect(tool.runs).toEqual([]);
  });

  it('has denied it when it takes too long, and not a millisecond before', async () => {
    const watcher = openGate('ci-watcher');
    const { turn, clock, tool, client, uri } = await gatedFixture([watcher]);
    const outcome = call(turn, 'write');
    await settle();
    await clock.advance(GATES_TIMEOUT_MS - 1);
    expect(await callState(client, uri)).toMatchObject({ status: 'streaming' });
    await clock.advance(1);
    expect(await outcome).toMatchObject({ kind: 'denied', reason: expect.stringContaining('longer than 5 s') });
    expect(watcher.signals[0]?.aborted).toBe(true);
    watcher.answer({ kind: 'pass' });
    await settle();
    expect(tool.runs).toEqual([]);
  });

  it('may be given a time of its own', async () => {
    const hook = { ...openGate('hook'), timeoutMs: 60_000 };
    const { turn, clock } = await gatedFixture([hook]);
    const timers = clock.pending;
    const outcome = call(turn, 'write');
    await settle();
    await clock.advance(59_999);
    hook.answer({ kind: 'pass' });
    expect(await outcome).toMatchObject({ success: true });
    expect(clock.pending).toBe(timers);
  });
});

describe('a gate that wants a person to decide', () => {
  const ask = gate('careful', { kind: 'ask', reason: 'this touches production' });

  it('has one asked, in its words, also about a tool that just runs', async () => {
    const { turn, client, uri, tool } = await gatedFixture([ask]);
    const outcome = call(turn, 'write');
    const { action } = await client.action(uri, 'session/toolCallReady');
    expect(action).toMatchObject({ confirmationTitle: 'careful: this touches production' });
    expect(tool.runs).toEqual([]);
    approve({ client, uri });
    expect(await outcome).toMatchObject({ success: true });
  });

  it('asks about this call alone: the tool cannot be allowed for the session in its place', async () => {
    const confirmation: ToolConfirmation = {
      title: 'Write?',
      options: [
        { id: 'approve', label: 'Write', kind: 'approve' },
        { id: ALLOW_IN_SESSION, label: 'Always write', kind: 'approve' },
      ],
    };
    const { turn, client, uri } = await gatedFixture([ask], confirmation);
    const outcome = call(turn, 'write');
    const { action } = await client.action(uri, 'session/toolCallReady');
    expect(action).toMatchObject({
      confirmationTitle: 'careful: this touches production',
      options: [{ id: 'approve', label: 'Write', kind: 'approve' }],
    });
    approve({ client, uri }, { selectedOptionId: 'approve' });
    expect(await outcome).toMatchObject({ success: true });
  });

  it('is heard also where everything was allowed', async () => {
    const fixture = await openPuppetFixture({
      tools: [echoTool('write')],
      extensions: [extension('watch', { gates: [ask] })],
      session: { config: { autoApprove: true } },
    });
    const outcome = call(fixture.puppet.turn, 'write');
    await fixture.client.action(
      fixture.uri,
      ({ type, ...more }) => type === 'session/toolCallReady' && !('confirmed' in more),
    );
    fixture.client.dispatch(fixture.uri, answer(false, { reasonMessage: 'not now' }));
    expect(await outcome).toEqual({ kind: 'denied', reason: 'not now' });
  });
});

describe('input that a person changed', () => {
  const strict = () =>
    gate('ci-watcher', ({ input }) => (JSON.stringify(input).includes('main') ? DENY : { kind: 'pass' }));

  it('[UNI-039] [UNI-103] is put to the gates again', async () => {
    const watcher = strict();
    const { turn, client, uri, tool } = await gatedFixture([watcher], SURE);
    const outcome = call(turn, 'write', { input: { to: 'side' } });
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri }, { editedToolInput: '{"to":"trunk"}' });
    expect(await outcome).toMatchObject({ success: true });
    expect(watcher.asked.map(({ input }) => input)).toEqual([{ to: 'side' }, { to: 'trunk' }]);
    expect(tool.runs).toEqual([{ to: 'trunk' }]);
  });

  it('[UNI-103] is refused like any other, and shown as denied', async () => {
    const { turn, client, uri, tool } = await gatedFixture([strict()], SURE);
    const outcome = call(turn, 'write', { input: { to: 'side' } });
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri }, { editedToolInput: '{"to":"main"}' });
    expect(await outcome).toEqual({ kind: 'denied', reason: 'ci-watcher: CI is failing' });
    expect(await callState(client, uri)).toMatchObject({
      status: 'cancelled',
      reason: 'denied',
      toolInput: '{"to":"main"}',
      reasonMessage: 'ci-watcher: CI is failing',
    });
    expect(tool.runs).toEqual([]);
  });

  it('must still be a JSON object', async () => {
    const { turn, client, uri, tool } = await gatedFixture([], SURE);
    const outcome = call(turn, 'write');
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri }, { editedToolInput: '{"to":' });
    expect(await outcome).toMatchObject({ kind: 'denied', reason: expect.stringContaining('JSON object') });
    expect(tool.runs).toEqual([]);
  });

  it('is not put to them when it stayed as it was', async () => {
    const watcher = strict();
    const { turn, client, uri } = await gatedFixture([watcher], SURE);
    const outcome = call(turn, 'write', { input: { to: 'side' } });
    await client.action(uri, 'session/toolCallReady');
    approve({ client, uri });
    await outcome;
    expect(watcher.asked).toHaveLength(1);
  });
});
