import { type ChatAction, type Message, steeringPart } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import {
  NOTE_MAX_CHARACTERS,
  PART_TEXT_MAX_CHARACTERS,
  TURN_ACTIONS_MAX,
  TURN_PARTS_MAX,
  TURN_TEXT_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';
import { SessionObservers } from '../../src/sessions/session-observer.js';
import { TurnBudget, TurnStream } from '../../src/sessions/turn-output.js';

const CUT = /^x*\n\n\[Cut: one part of an answer may have .*\]$/;

describe('what an agent may say in one turn', () => {
  it('[REL-098] has a limit for each part, and says once where it is cut', () => {
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

  it('[REL-098] says that it is cut also before the first part', () => {
    expect(new TurnBudget().take('more')).toMatch(CUT);
  });

  it('[REL-098] has a limit for all texts, cut or not', () => {
    const words = new TurnBudget();
    words.take('x'.repeat(TURN_TEXT_MAX_CHARACTERS));
    expect(words.excess).toBeUndefined();
    words.take('x');
    expect(words.excess).toMatch(/of text$/);
  });

  it('[REL-098] has a limit for parts and for pieces', () => {
    const [parts, pieces] = [new TurnBudget(), new TurnBudget()];
    for (let count = 0; count < TURN_PARTS_MAX; count += 1) parts.beginPart();
    for (let count = 0; count < TURN_ACTIONS_MAX; count += 1) pieces.countAction();
    expect([parts.excess, pieces.excess]).toEqual([undefined, undefined]);
    parts.beginPart();
    pieces.countAction();
    expect([parts.excess, pieces.excess]).toEqual([`${TURN_PARTS_MAX} parts`, `${TURN_ACTIONS_MAX} pieces`]);
  });
});

describe('what an agent says', () => {
  const turnId = 't';
  function streaming(responseParts: object[] = []) {
    const written: ChatAction[] = [];
    const stream = new TurnStream({ id: turnId, responseParts } as never, (action) => written.push(action));
    return { stream, written };
  }
  const began = (kind: string, id: string) => ({ type: 'chat/responsePart', turnId, part: { kind, id, content: '' } });

  it('[AHP-163] begins an empty part, which grows until something else comes', () => {
    const { stream, written } = streaming([{ kind: 'markdown', content: 'before' }]);
    stream.append('markdown', 'one');
    stream.append('markdown', 'two');
    stream.append('markdown', '');
    stream.append('reasoning', 'hm');
    stream.interrupt();
    stream.append('reasoning', 'again');
    expect(written).toEqual([
      began('markdown', 't-2'),
      { type: 'chat/delta', turnId, partId: 't-2', content: 'one' },
      { type: 'chat/delta', turnId, partId: 't-2', content: 'two' },
      began('reasoning', 't-3'),
      { type: 'chat/reasoning', turnId, partId: 't-3', content: 'hm' },
      began('reasoning', 't-4'),
      { type: 'chat/reasoning', turnId, partId: 't-4', content: 'again' },
    ]);
  });

  it('[REL-098] goes on behind a note, which is short, and behind what a person said, which is whole', () => {
    const { stream, written } = streaming();
    stream.append('markdown', 'one');
    stream.note('n'.repeat(NOTE_MAX_CHARACTERS));
    stream.append('markdown', 'two');
    stream.note('n'.repeat(NOTE_MAX_CHARACTERS + 1));
    stream.steered({ text: 'Stop' } as Message);
    stream.append('markdown', 'three');
    const parts = written.flatMap((action) => (action.type === 'chat/responsePart' ? action.part : []));
    const note = (content: string) => ({ kind: 'systemNotification', content });
    expect(parts).toMatchObject([
      { id: 't-1' },
      note('n'.repeat(NOTE_MAX_CHARACTERS)),
      { id: 't-2' },
      note(`${'n'.repeat(NOTE_MAX_CHARACTERS)}…`),
      steeringPart({ text: 'Stop' } as Message),
      { id: 't-3' },
    ]);
  });

  it('[REL-098] is broken off with its parts or pieces, of which text, calls and notes are some', () => {
    const excess = (write: (stream: TurnStream) => void) => {
      const { stream, written } = streaming();
      write(stream);
      return written.flatMap((action) =>
        action.type === 'chat/error' ? (action.part as { error: object }).error : [],
      );
    };
    const wrote = (type: string, times: number) => (stream: TurnStream) => {
      for (let count = 0; count < times; count += 1) stream.wrote({ type } as ChatAction);
    };
    for (const type of ['chat/responsePart', 'chat/toolCallStart']) {
      expect(excess(wrote(type, TURN_PARTS_MAX))).toEqual([]);
      expect(excess(wrote(type, TURN_PARTS_MAX + 1))).toMatchObject([
        { errorType: 'too-long', message: expect.stringContaining(`${TURN_PARTS_MAX} parts`) },
      ]);
    }
    expect(excess(wrote('chat/delta', TURN_PARTS_MAX + 1))).toEqual([]);
  });
});

describe('a turn that goes on in place', () => {
  it('[REL-098] may say so much in all, with what it said before', () => {
    const written: { type: string }[] = [];
    const stream = (content: string, parts = 1) => {
      const responseParts = Array.from({ length: parts }, () => ({ kind: 'markdown', content }));
      return new TurnStream({ id: 't', responseParts } as never, (action) => written.push(action));
    };
    const most = 'x'.repeat(TURN_TEXT_MAX_CHARACTERS);
    stream(most.slice(1)).append('markdown', 'x');
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
    const observers = new SessionObservers([{ close: broken }, { close: whole, suspend: whole }] as never, logger);
    await observers.close();
    expect([broken.mock.calls.length, whole.mock.calls.length]).toEqual([1, 1]);
    expect(logger.log).toHaveBeenCalledExactlyOnceWith('warn', expect.any(String), { error: 'Error: stuck' });
    await observers.suspend();
    expect(whole).toHaveBeenCalledTimes(2);
    expect(logger.log).toHaveBeenCalledOnce();
  });
});
