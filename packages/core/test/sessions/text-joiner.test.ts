/** Text that waits for more of it: how long, in which order, and how much. */
import type { ChatAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { Audience } from '../../src/contracts/ports.js';
import { TEXT_WAITING_MAX_CHARACTERS } from '../../src/sessions/limits.js';
import { isJoinable, joinedAction, TextJoiner, textWindowMs } from '../../src/sessions/text-joiner.js';

const said = (content: string, partId = 'p') => ({ type: 'chat/delta', turnId: 't', partId, content }) as ChatAction;
const input = (content: string, toolCallId = 'c') =>
  ({ type: 'chat/toolCallDelta', turnId: 't', toolCallId, content }) as ChatAction;
const output = (text: string, toolCallId = 'c') =>
  ({ type: 'chat/toolCallContentChanged', turnId: 't', toolCallId, content: [{ type: 'text', text }] }) as ChatAction;

/** A window whose ticks and time a test moves. */
function openWindow(audience: Audience) {
  const written: unknown[] = [];
  let endings: (() => void)[] = [];
  let timers: { at: number; run: () => void }[] = [];
  let now = 0;
  const window = new TextJoiner({
    writer: { atEndOfTick: (callback) => void endings.push(callback) },
    clock: {
      now: () => now,
      after: (milliseconds, run) => {
        const timer = { at: now + milliseconds, run };
        timers.push(timer);
        return () => {
          timers = timers.filter((other) => other !== timer);
        };
      },
    },
    audience: () => audience,
    write: (action) => written.push('content' in action ? action.content : action.type),
  });
  const tick = () => {
    const ended = endings;
    endings = [];
    for (const end of ended) end();
  };
  const setClock = (time: number) => {
    now = time;
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { run } of due) run();
  };
  return { window, written, tick, pass, setClock, timers: () => timers.length };
}

describe('a window for text', () => {
  it('[REL-080] is longer for many watchers, but never longer than one of them lets it be', () => {
    const windows = [0, 1, 8, 49, 50, 5_000].map((count) => textWindowMs({ count }));
    expect(windows).toEqual([16, 16, 16, 16, 33, 33]);
    const wishes = [0, 10, 200].map((maxDelayMs) => textWindowMs({ count: 100, maxDelayMs }));
    expect(wishes).toEqual([0, 10, 33]);
  });

  it('[REL-080] joins what is said in one tick, also where nothing may wait', () => {
    const { window, written, tick, timers } = openWindow({ count: 1, maxDelayMs: 0 });
    for (const word of ['a', 'b', 'c']) window.take(said(word));
    expect(written).toEqual([]);
    tick();
    window.take(said('d'));
    tick();
    expect([written, timers()]).toEqual([['abc', 'd'], 0]);
  });

  it('[REL-080] sets no timer while nothing waits: words that come slowly cost none', () => {
    const { window, written, tick, pass, timers } = openWindow({ count: 1 });
    for (const word of ['a', 'b', 'c']) {
      window.take(said(word));
      tick();
      expect(timers()).toBe(0);
      pass(20);
    }
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('is shut when the clock was set back', () => {
    const { window, written, tick, setClock, timers } = openWindow({ count: 1 });
    setClock(10_000);
    window.take(said('a'));
    tick();
    setClock(0);
    window.take(said('b'));
    tick();
    expect([written, timers()]).toEqual([['a', 'b'], 0]);
  });

  it('[REL-080] lets the first piece after a silence go with its tick, and joins those behind it', () => {
    const { window, written, tick, pass, timers } = openWindow({ count: 100 });
    window.take(said('a'));
    tick();
    expect(written).toEqual(['a']);
    for (const word of ['b', 'c', 'd']) {
      window.take(said(word));
      tick();
      pass(10);
    }
    expect(written).toEqual(['a']);
    pass(3);
    expect(written).toEqual(['a', 'bcd']);
    // The window that this opened passes without a word.
    expect(timers()).toBe(0);
    pass(33);
    window.take(said('e'));
    tick();
    expect(written).toEqual(['a', 'bcd', 'e']);
  });

  it('[REL-080] is shut by anything else, behind the text that came before it', () => {
    const { window, written, tick, timers } = openWindow({ count: 100 });
    window.take(said('a'));
    tick();
    window.take(said('b'));
    window.flush();
    expect([written, timers()]).toEqual([['a', 'b'], 0]);
    // It goes out together with what shut the window.
    window.take(said('c'));
    tick();
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('[REL-080] holds no more than so much', () => {
    const { window, written, tick } = openWindow({ count: 100 });
    window.take(said('a'));
    tick();
    window.take(said('x'.repeat(TEXT_WAITING_MAX_CHARACTERS - 1)));
    expect(written).toHaveLength(1);
    window.take(said('y'));
    expect(written).toEqual(['a', `${'x'.repeat(TEXT_WAITING_MAX_CHARACTERS - 1)}y`]);
  });

  it('writes a part to its end before the next one', () => {
    const { window, written, tick } = openWindow({ count: 100 });
    for (const action of [said('a'), said('b', 'q'), input('c'), input('d', 'e')]) window.take(action);
    tick();
    expect(written).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('pieces of text', () => {
  it('[REL-080] are joined when they go to the same place, and newer output takes the place of older', () => {
    expect(joinedAction(said('a'), said('b'))).toEqual(said('ab'));
    expect(joinedAction(input('a'), input('b'))).toEqual(input('ab'));
    expect(joinedAction(output('a'), output('b'))).toEqual(output('b'));
    const thought = { ...said('a'), type: 'chat/reasoning' } as ChatAction;
    const others: [ChatAction, ChatAction][] = [
      [said('a'), said('b', 'q')],
      [said('a'), thought],
      [input('a'), input('b', 'd')],
      [input('a'), output('b')],
      [output('a'), output('b', 'd')],
    ];
    for (const [first, next] of others) expect(joinedAction(first, next)).toBeUndefined();
  });

  it('are nothing that says more than text', () => {
    expect([said('a'), input('a'), output('a')].every(isJoinable)).toBe(true);
    const told = { ...input(''), invocationMessage: 'Waiting for a gate' } as ChatAction;
    const empty = { type: 'chat/toolCallDelta', turnId: 't', toolCallId: 'c' } as ChatAction;
    const ended = { type: 'chat/turnComplete', turnId: 't', duration: 0 } as ChatAction;
    expect([told, empty, ended].some(isJoinable)).toBe(false);
  });
});
