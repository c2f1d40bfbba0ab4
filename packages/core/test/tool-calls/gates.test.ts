/** What extensions have to say about a call, by itself. */
import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { ToolOutcome } from '../../src/contracts/agent.js';
import type { GateCall } from '../../src/contracts/extension.js';
import { notifyExtensions, passGates, withNotes } from '../../src/tool-calls/gates.js';
import { GATE_TEXT_MAX_CHARACTERS } from '../../src/tool-calls/limits.js';
import { tick, turn } from './support.js';

const CALL: GateCall = { session: 's', chat: 'c', turnId: 't', toolCallId: 'k', toolName: 'look', input: {} };
type Check = (call: GateCall, signal: AbortSignal) => unknown;
const gate = (name: string, check: Check, more: object = {}) => ({ name, concerns: () => true, check, ...more });
const verdict = (kind: string, more: object = {}) => vi.fn(() => ({ kind, ...more }));
const never: Check = () => new Promise(() => {});

function scene(gates: readonly object[], changes: object = {}) {
  const extensions = { all: () => [], gates: () => gates, tools: () => [], hidden: () => () => false };
  const telemetry = {
    count: vi.fn(),
    around: vi.fn((_name: string, _attributes: object, work: () => unknown) => work()),
  };
  const one = turn({ extensions, telemetry, ...changes });
  const waiting = vi.fn();
  const pass = () => passGates(one.context, CALL, waiting);
  return { ...one, telemetry, waiting, pass, log: one.context.logger.log as ReturnType<typeof vi.fn> };
}

describe('the gates of a call', () => {
  it('[UNI-039] that are static are asked first, and their no spares the others the question', async () => {
    const other = verdict('pass');
    const denied = scene([
      gate('other', other),
      gate('rule', verdict('deny', { reason: 'never' }), { isStatic: true }),
    ]);
    expect(await denied.pass()).toEqual({ kind: 'denied', reason: 'rule: never' });
    expect(other).not.toHaveBeenCalled();
    const passed = scene([
      gate('other', verdict('pass', { note: 'b' })),
      gate('rule', verdict('pass', { note: 'a' }), { isStatic: true }),
    ]);
    expect(await passed.pass()).toEqual({ kind: 'cleared', notes: ['rule: a', 'other: b'] });
  });

  it('[UNI-039] are told to stop as soon as one objects, however late', async () => {
    const signals: AbortSignal[] = [];
    const slow = gate('slow', (_, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const { pass } = scene([slow, gate('no', () => tick().then(() => ({ kind: 'deny', reason: 'late' })))]);
    expect(await pass()).toEqual({ kind: 'denied', reason: 'no: late' });
    expect(signals.map(({ aborted, reason }) => [aborted, reason?.name])).toEqual([[true, 'AbortError']]);
  });

  it('[UNI-045] end with the turn, and leave nothing that listens for its end', async () => {
    const { pass, abort, log } = scene([gate('slow', never)]);
    const passing = pass();
    await tick();
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    abort.abort(new Error('the turn is over'));
    await expect(passing).rejects.toThrow('the turn is over');
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    expect(log).not.toHaveBeenCalled();
    await expect(pass()).rejects.toThrow('the turn is over');
    const done = scene([gate('now', verdict('pass'))]);
    await done.pass();
    expect(getEventListeners(done.abort.signal, 'abort')).toHaveLength(0);
  });

  it('[UNI-045] do not clear a call whose turn ended while the last of them answered', async () => {
    const { pass, abort } = scene([
      gate('last', async () => {
        await tick();
        abort.abort(new Error('the turn is over'));
        return { kind: 'pass' };
      }),
    ]);
    await expect(pass()).rejects.toThrow('the turn is over');
  });

  it.each<[string, Check, string]>([
    ['fails', () => Promise.reject(new Error('broken')), 'broken'],
    ['throws what is no error', () => Promise.reject('odd'), 'odd'],
    [
      'throws at once',
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
    ['answers nothing', () => undefined, 'pass, ask or deny'],
    ['answers something else', async () => ({ kind: 'allow' }), 'pass, ask or deny'],
  ])('[UNI-019] one that %s has objected, and the log says so', async (_, check, why) => {
    const { pass, log } = scene([gate('odd', check)]);
    expect(await pass()).toMatchObject({ kind: 'denied', reason: expect.stringContaining(why) });
    expect(log).toHaveBeenCalledExactlyOnceWith('warn', expect.any(String), expect.objectContaining({ gate: 'odd' }));
  });

  it('[UNI-041] ask a person with the words of the first, and one that does not care is not asked', async () => {
    const indifferent = verdict('deny', { reason: 'x' });
    const { pass, telemetry } = scene([
      { ...gate('indifferent', indifferent), concerns: () => false },
      gate('first', verdict('ask', { reason: 'sure?' })),
      gate('second', verdict('ask', { reason: 'really?' })),
      gate('third', verdict('pass', { note: 'y'.repeat(GATE_TEXT_MAX_CHARACTERS) })),
    ]);
    const clearance = await pass();
    expect(clearance).toEqual({ kind: 'cleared', ask: 'first: sure?', notes: [expect.stringMatching(/^third: y+$/)] });
    expect(clearance.kind === 'cleared' && clearance.notes[0]).toHaveLength(GATE_TEXT_MAX_CHARACTERS);
    expect(indifferent).not.toHaveBeenCalled();
    expect(telemetry.count.mock.calls).toEqual(
      ['first', 'second', 'third'].map((name) => ['atrium.gate.checks', '{check}', 1, { 'atrium.gate': name }]),
    );
    expect(telemetry.around).not.toHaveBeenCalled();
  });

  it('that take time are measured, with the call that they are about', async () => {
    const { pass, telemetry } = scene([gate('soon', async () => ({ kind: 'pass' }))]);
    await pass();
    const ids = { 'ahp.session.id': 's', 'ahp.turn.id': 't', 'ahp.tool_call.id': 'k', 'atrium.gate': 'soon' };
    expect(telemetry.around).toHaveBeenCalledExactlyOnceWith('atrium.gate', ids, expect.any(Function));
  });
});

describe('extensions that hear of a call', () => {
  const outcome: ToolOutcome = { kind: 'completed', success: true, text: 'seen', content: [], callId: 'k' };
  const heard = (extensions: readonly object[]) => {
    const all = { all: () => extensions, gates: () => [], tools: () => [], hidden: () => () => false };
    const one = turn({ extensions: all });
    return { ...one, log: one.context.logger.log as ReturnType<typeof vi.fn> };
  };

  it('[UNI-018] add their notes once each, for the model and for people', async () => {
    const { context, told } = heard([
      { name: 'a', afterCall: async () => 'good' },
      { name: 'silent' },
      { name: 'mute', afterCall: async () => undefined },
    ]);
    const noted = await withNotes(context, CALL, { outcome, notes: ['g: seen', 'g: seen'] });
    expect(noted).toEqual({ ...outcome, text: 'seen\n\n[Note of g: seen]\n\n[Note of a: good]' });
    expect(told).toEqual(['g: seen', 'a: good']);
    const quiet = heard([{ name: 'mute', afterCall: async () => undefined }]);
    expect(await withNotes(quiet.context, CALL, { outcome, notes: [] })).toBe(outcome);
  });

  it('[UNI-043] say nothing of a call that did not run', async () => {
    const afterCall = vi.fn(async () => 'good');
    const { context, told } = heard([{ name: 'a', afterCall }]);
    const denied = { kind: 'denied', reason: 'no' } as const;
    expect(await withNotes(context, CALL, { outcome: denied, notes: ['g: seen'] })).toBe(denied);
    expect([afterCall.mock.calls, told]).toEqual([[], []]);
  });

  it('stop nothing when they fail, unless the turn is over', async () => {
    const bad = {
      name: 'bad',
      afterCall: () => Promise.reject(new Error('broken')),
      outsideCallBegins: () => Promise.reject(new Error('broken')),
    };
    const good = { name: 'good', afterCall: async () => 'fine', outsideCallBegins: vi.fn(async () => {}) };
    const { context, log, abort } = heard([bad, good]);
    expect(await withNotes(context, CALL, { outcome, notes: [] })).toMatchObject({
      text: expect.stringContaining('fine'),
    });
    await notifyExtensions(context, (extension) => extension.outsideCallBegins?.(CALL));
    expect(good.outsideCallBegins).toHaveBeenCalledOnce();
    expect(log.mock.calls.map(([, , { extension }]) => extension)).toEqual(['bad', 'bad']);
    abort.abort(new Error('over'));
    await expect(withNotes(context, CALL, { outcome, notes: [] })).rejects.toThrow('over');
  });
});
