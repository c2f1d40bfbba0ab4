import type { ToolCallRiskAssessment } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Judgement } from '../../src/contracts/agent.js';
import { JUDGEMENT_REASON_MAX_CHARACTERS, JUDGEMENT_TIMEOUT_MS } from '../../src/tool-calls/limits.js';
import { assess } from '../../src/tool-calls/risk.js';

const CALL = { toolName: 'shell', question: 'Run it?', input: '{}' };
const UNKNOWN = {
  kind: 'judge',
  status: 'complete',
  reason: expect.stringContaining('could not be assessed'),
  safety: 0,
};

function assessing(judge: ((call: typeof CALL, signal: AbortSignal) => Promise<Judgement>) | undefined) {
  const turn = new AbortController();
  const timers: [number, () => void][] = [];
  const after = (ms: number, run: () => void) => {
    timers.push([ms, run]);
    return () => {};
  };
  const logger = { log: vi.fn() };
  const assessed = vi.fn<(assessment: ToolCallRiskAssessment) => void>();
  const context = { judge, clock: { now: () => 0, after }, logger, signal: turn.signal, session: 's' };
  const stop = assess(context as never, CALL, assessed);
  return { assessed, stop, turn, timers, logger };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the assessment of a call', () => {
  it('[UP-120] is of the call that is shown, and says how safe it is and why', async () => {
    const judge = vi.fn(async () => ({ safety: 0.5, reason: 'r'.repeat(JUDGEMENT_REASON_MAX_CHARACTERS + 1) }));
    const { assessed, logger } = assessing(judge);
    await settled();
    expect(judge.mock.calls).toEqual([[CALL, expect.any(AbortSignal)]]);
    const reason = `${'r'.repeat(JUDGEMENT_REASON_MAX_CHARACTERS - 1)}…`;
    expect(assessed.mock.calls).toEqual([[{ kind: 'judge', status: 'complete', reason, safety: 0.5 }]]);
    expect(logger.log).not.toHaveBeenCalled();
  });

  it.each([0, 1])('[UP-120] may be %d', async (safety) => {
    const { assessed } = assessing(async () => ({ safety, reason: '' }));
    await settled();
    expect(assessed.mock.calls).toMatchObject([[{ safety, reason: '' }]]);
  });

  it.each<[string, () => Promise<Judgement>]>([
    ['too high', async () => ({ safety: 1.1, reason: '' })],
    ['too low', async () => ({ safety: -0.1, reason: '' })],
    ['no number', async () => ({ safety: Number.NaN, reason: '' })],
    ['an error', () => Promise.reject(new Error('away'))],
    [
      'thrown',
      () => {
        throw new Error('away');
      },
    ],
  ])('[UP-120] that is %s counts as unsafe', async (_, judge) => {
    const { assessed, logger } = assessing(judge);
    await settled();
    expect(assessed.mock.calls).toEqual([[UNKNOWN]]);
    expect(logger.log).toHaveBeenCalledOnce();
  });

  it('[UP-120] is given up after a time, and its judge told so', async () => {
    const judge = vi.fn((_call: typeof CALL, _signal: AbortSignal) => new Promise<Judgement>(() => {}));
    const { assessed, timers } = assessing(judge);
    await settled();
    expect(timers.map(([ms]) => ms)).toEqual([JUDGEMENT_TIMEOUT_MS]);
    timers[0]?.[1]();
    await settled();
    expect(assessed.mock.calls).toEqual([[UNKNOWN]]);
    expect(judge.mock.calls[0]?.[1].aborted).toBe(true);
  });

  it.each(['a person has answered', 'the turn is over'])('[UP-120] is not told once %s', async (what) => {
    let signal: AbortSignal | undefined;
    const { assessed, logger, stop, turn } = assessing((_call, own) => {
      signal = own;
      return new Promise((_, reject) => own.addEventListener('abort', () => reject(own.reason)));
    });
    await settled();
    if (what === 'the turn is over') turn.abort();
    else stop();
    await settled();
    expect([signal?.aborted, assessed.mock.calls.length, logger.log.mock.calls.length]).toEqual([true, 0, 0]);
  });

  it('[UP-120] is none without a judge', async () => {
    const { assessed, stop, timers } = assessing(undefined);
    stop();
    await settled();
    expect([assessed.mock.calls.length, timers.length]).toEqual([0, 0]);
  });
});
