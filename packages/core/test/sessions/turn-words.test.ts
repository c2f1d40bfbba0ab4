import { describe, expect, it, vi } from 'vitest';
import {
  PART_TEXT_MAX_CHARACTERS,
  TURN_ACTIONS_MAX,
  TURN_PARTS_MAX,
  TURN_TEXT_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';
import { SessionObservers } from '../../src/sessions/session-observer.js';
import { TurnBudget, TurnStream } from '../../src/sessions/turn-output.js';

const CUT = /^x*\n\n\[Cut: one part of an answer may have .*\]$/;

describe('what an agent may say in one turn', () => {
  it('[REL-057] has a limit for each part, and says once where it is cut', () => {
    const words = new TurnBudget();
    const part = () => words.take('x'.repeat(PART_TEXT_MAX_CHARACTERS));
    words.beginPart();
    expect(part()).toHaveLength(PART_TEXT_MAX_CHARACTERS);
    expect(words.take('')).toBe('');
    expect(words.take('more')).toMatch(CUT);
    expect(words.take('more')).toBe('');
    words.beginPart();
    expect(words.take('xyz')).toBe('xyz');
    expect(words.take('x'.repeat(PART_TEXT_MAX_CHARACTERS))).toMatch(/^x{10}.*\[Cut/s);
  });

  it('[REL-057] says that it is cut also before the first part', () => {
    expect(new TurnBudget().take('more')).toMatch(CUT);
  });

  it('[REL-057] has a limit for all texts, cut or not', () => {
    const words = new TurnBudget();
    words.take('x'.repeat(TURN_TEXT_MAX_CHARACTERS));
    expect(words.excess).toBeUndefined();
    words.take('x');
    expect(words.excess).toMatch(/of text$/);
  });

  it('[REL-057] has a limit for parts and for pieces', () => {
    const [parts, pieces] = [new TurnBudget(), new TurnBudget()];
    for (let count = 0; count < TURN_PARTS_MAX; count += 1) parts.beginPart();
    for (let count = 0; count < TURN_ACTIONS_MAX; count += 1) pieces.countAction();
    expect([parts.excess, pieces.excess]).toEqual([undefined, undefined]);
    parts.beginPart();
    pieces.countAction();
    expect([parts.excess, pieces.excess]).toEqual([`${TURN_PARTS_MAX} parts`, `${TURN_ACTIONS_MAX} pieces`]);
  });
});

describe('a turn that goes on in place', () => {
  it('[REL-057] may say so much in all, with what it said before', () => {
    const written: { type: string }[] = [];
    const stream = (content: string, parts = 1) => {
      const responseParts = Array.from({ length: parts }, () => ({ kind: 'markdown', content }));
      return new TurnStream({ id: 't', responseParts } as never, (action) => written.push(action));
    };
    const most = 'x'.repeat(TURN_TEXT_MAX_CHARACTERS);
    stream(most.slice(1)).say('markdown', 'x');
    expect(written.map(({ type }) => type)).not.toContain('chat/error');
    stream('', TURN_PARTS_MAX).wrote({ type: 'chat/responsePart' } as never);
    expect(written.at(-1)).toMatchObject({ type: 'chat/error', part: { error: { errorType: 'too-long' } } });
    written.length = 0;
    stream(most).wrote({ type: 'chat/activityChanged' } as never);
    expect(written).toEqual([]);
    stream(`${most}x`).wrote({ type: 'chat/activityChanged' } as never);
    expect(written).toMatchObject([{ type: 'chat/error' }]);
  });
});

describe('what stands beside a session', () => {
  it('is closed as a whole, also when one of it fails', async () => {
    const logger = { log: vi.fn() };
    const [broken, whole] = [vi.fn().mockRejectedValue(new Error('stuck')), vi.fn().mockResolvedValue(undefined)];
    const observers = new SessionObservers([{ close: broken }, { close: whole, rest: whole }] as never, logger);
    await observers.close();
    expect([broken.mock.calls.length, whole.mock.calls.length]).toEqual([1, 1]);
    expect(logger.log).toHaveBeenCalledExactlyOnceWith('warn', expect.any(String), { error: 'Error: stuck' });
    await observers.rest();
    expect(whole).toHaveBeenCalledTimes(2);
    expect(logger.log).toHaveBeenCalledOnce();
  });
});
