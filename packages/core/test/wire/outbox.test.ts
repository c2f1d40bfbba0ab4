import { describe, expect, it, vi } from 'vitest';
import { JsonParts, LazyList, PART_CHARACTERS } from '../../src/util/json-parts.js';
import { type Outgoing, outgoing } from '../../src/wire/frames.js';
import { OUTBOX_MAX_BYTES, OUTBOX_MAX_MESSAGES, OUTBOX_MERGE_BYTES } from '../../src/wire/limits.js';
import { Outbox } from '../../src/wire/outbox.js';

/** A client that reads when it is told to. */
function reader(limits?: { messages: number; bytes: number; mergeBytes: number }) {
  const sent: string[][] = [];
  const state = { bufferedBytes: 0, gaveUp: 0 };
  const timers: { readonly ms: number; readonly ring: () => void }[] = [];
  const outbox = new Outbox({
    transport: {
      name: 'test',
      start: () => {},
      send: (frames) => void sent.push(frames.map(({ text }) => text)),
      get bufferedBytes() {
        return state.bufferedBytes;
      },
      close: () => {},
    },
    onTooSlow: () => void state.gaveUp++,
    clock: {
      after: (ms, ring) => {
        timers.push({ ms, ring });
        return () => void timers.splice(0);
      },
    },
    ...(limits && { limits }),
  });
  const stall = () => {
    state.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
  };
  const read = () => {
    state.bufferedBytes = 0;
    outbox.flush();
  };
  return { outbox, sent, state, stall, read, timers };
}

const plain = (text: string) => outgoing({ text });

let built = 0;
function delta(part: string, content: string): Outgoing {
  const write = (text: string) => ({ part, content: text });
  return outgoing(write(content), {
    key: part,
    content,
    withContent: (text) => {
      built++;
      return write(text);
    },
  });
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => plain(`message ${index}`));

describe('a client that keeps up', () => {
  it('is waited for until it has taken what waits', async () => {
    const { outbox, stall, read } = reader();
    stall();
    outbox.push(plain('a'));
    let isSent = false;
    const sent = outbox.sent().then(() => {
      isSent = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(false);
    read();
    await sent;
    await outbox.sent();
  });

  it('is not waited for once it is gone', async () => {
    const { outbox, stall } = reader();
    stall();
    outbox.push(plain('a'));
    const sent = outbox.sent();
    outbox.close();
    await sent;
  });

  it('gets everything at once, what belongs together in one write', () => {
    const { outbox, sent } = reader();
    outbox.push(plain('a'));
    outbox.pushAll([plain('b'), plain('c')]);
    expect(sent).toEqual([['{"text":"a"}'], ['{"text":"b"}', '{"text":"c"}']]);
  });

  it('gets any number of messages in one go, and one of any size', () => {
    const { outbox, sent, state } = reader();
    outbox.pushAll(texts(3 * OUTBOX_MAX_MESSAGES));
    outbox.push(plain('x'.repeat(OUTBOX_MAX_BYTES + 1)));
    expect(state.gaveUp).toBe(0);
    expect(sent.map(({ length }) => length)).toEqual([3 * OUTBOX_MAX_MESSAGES, 1]);
  });

  it('is not given up for what it could have read by now', () => {
    const { outbox, sent, state, stall } = reader();
    stall();
    outbox.push(plain('waits'));
    state.bufferedBytes = 0;
    outbox.pushAll(texts(OUTBOX_MAX_MESSAGES + 5));
    expect(state.gaveUp).toBe(0);
    expect(sent.flat()).toHaveLength(OUTBOX_MAX_MESSAGES + 6);
    expect(sent.flat()[0]).toContain('waits');
  });

  it('gets every delta as it is', () => {
    const { outbox, sent } = reader();
    for (const text of ['a', 'b']) outbox.push(delta('p', text));
    expect(sent.flat()).toEqual(['{"part":"p","content":"a"}', '{"part":"p","content":"b"}']);
  });
});

describe('a client that lags', () => {
  it('[REL-041] gets neighbouring deltas as one, in order, with what stood between them', () => {
    const { outbox, sent, stall, read } = reader();
    stall();
    outbox.pushAll([delta('p', 'a'), delta('p', 'b'), delta('q', 'c'), delta('p', 'd'), delta('p', 'e'), plain('x')]);
    outbox.pushAll([delta('p', 'f'), delta('p', 'g')]);
    expect(sent).toEqual([]);
    read();
    expect(sent).toEqual([
      [
        '{"part":"p","content":"ab"}',
        '{"part":"q","content":"c"}',
        '{"part":"p","content":"de"}',
        '{"text":"x"}',
        '{"part":"p","content":"fg"}',
      ],
    ]);
  });

  it('[REL-041] what is merged for one client is not merged for another', () => {
    const [slow, fast] = [reader(), reader()];
    slow.stall();
    const messages = [delta('p', 'a'), delta('p', 'b')];
    for (const { outbox } of [slow, fast]) outbox.pushAll(messages);
    slow.read();
    expect(fast.sent.flat()).toHaveLength(2);
    expect(slow.sent.flat()).toEqual(['{"part":"p","content":"ab"}']);
  });

  it('[REL-040] costs little: however much is merged, it is written once', () => {
    const { outbox, sent, stall, read } = reader();
    stall();
    built = 0;
    for (let count = 0; count < 5_000; count++) outbox.push(delta('p', 'x'.repeat(100)));
    expect(built).toBe(0);
    read();
    expect(built).toBe(1);
    expect(sent.flat()).toHaveLength(1);
    expect(sent.flat()[0]).toContain('x'.repeat(500_000));
  });

  it(`[REL-040] is given up behind ${OUTBOX_MAX_MESSAGES} messages, once, and gets nothing more`, () => {
    const { outbox, sent, state, stall, read } = reader();
    stall();
    outbox.pushAll(texts(OUTBOX_MAX_MESSAGES));
    expect(state.gaveUp).toBe(0);
    outbox.push(plain('one too many'));
    outbox.push(plain('and another'));
    expect(state.gaveUp).toBe(1);
    read();
    outbox.push(plain('later'));
    expect(sent).toEqual([]);
  });

  it(`[REL-040] is given up behind ${OUTBOX_MAX_BYTES} bytes`, () => {
    const { outbox, state, stall } = reader();
    const overhead = plain('').size;
    stall();
    outbox.push(plain('x'.repeat(OUTBOX_MAX_BYTES - overhead)));
    expect(state.gaveUp).toBe(0);
    outbox.push(plain(''));
    expect(state.gaveUp).toBe(1);
  });

  it('[REL-040] merged text counts too', () => {
    const { outbox, state, stall } = reader({ messages: 10, bytes: 1_000, mergeBytes: OUTBOX_MERGE_BYTES });
    stall();
    for (let count = 0; count < 9; count++) outbox.push(delta('p', 'x'.repeat(100)));
    expect(state.gaveUp).toBe(0);
    for (let count = 0; count < 2; count++) outbox.push(delta('p', 'x'.repeat(100)));
    expect(state.gaveUp).toBe(1);
  });

  it('forgets what it had waiting once that was read', () => {
    const { outbox, state, stall, read } = reader({ messages: 3, bytes: 1_000, mergeBytes: OUTBOX_MERGE_BYTES });
    for (let round = 0; round < 5; round++) {
      stall();
      outbox.pushAll(texts(3));
      read();
    }
    expect(state.gaveUp).toBe(0);
  });
});

describe('what a client has not been sent', () => {
  it('is what waits for it, with one part of each long message, and what its transport holds', async () => {
    const { outbox, stall, read, state } = reader();
    const [one, two] = [plain('one'), plain('and two')];
    const long = () => new JsonParts({ text: 'x'.repeat(2 * PART_CHARACTERS) });
    stall();
    expect(outbox.unsentBytes).toBe(state.bufferedBytes);
    void outbox.pushParts(long());
    outbox.push(one);
    void outbox.pushParts(long());
    outbox.push(two);
    const texts = one.size + two.size;
    expect(outbox.unsentBytes).toBe(state.bufferedBytes + 2 * PART_CHARACTERS + texts);
    read();
    // The first long message is on its way.
    expect(outbox.unsentBytes).toBe(PART_CHARACTERS + texts);
    await outbox.sent();
    expect(outbox.unsentBytes).toBe(0);
  });
});

describe('a client that wishes text to wait for more of it', () => {
  it('[UP-030] gets what came within that time as one message, in one write', () => {
    const { outbox, sent, timers } = reader();
    outbox.holdText(50);
    for (const content of ['a', 'b', 'c']) outbox.push(delta('p', content));
    expect(sent).toEqual([]);
    expect(timers.map(({ ms }) => ms)).toEqual([50]);
    timers[0]?.ring();
    expect(sent).toEqual([[JSON.stringify({ part: 'p', content: 'abc' })]]);
    outbox.push(delta('p', 'd'));
    expect(timers).toHaveLength(1);
  });

  it('[UP-030] gets everything else at once, behind the text that waited', () => {
    const { outbox, sent, timers } = reader();
    outbox.holdText(50);
    outbox.push(plain('first'));
    outbox.push(delta('p', 'a'));
    outbox.push(delta('q', 'b'));
    outbox.pushAll([delta('q', 'c'), plain('last')]);
    expect(timers).toEqual([]);
    expect(sent).toEqual([
      [JSON.stringify({ text: 'first' })],
      [
        JSON.stringify({ part: 'p', content: 'a' }),
        JSON.stringify({ part: 'q', content: 'bc' }),
        JSON.stringify({ text: 'last' }),
      ],
    ]);
  });

  it('[UP-030] gets text at once when it wishes that no more, and nothing when it is gone', () => {
    const { outbox, sent, timers } = reader();
    outbox.holdText(50);
    outbox.push(delta('p', 'a'));
    outbox.holdText(0);
    outbox.push(delta('p', 'b'));
    expect(sent).toHaveLength(2);
    outbox.holdText(50);
    outbox.push(delta('p', 'c'));
    outbox.close();
    expect(timers).toEqual([]);
    expect(sent).toHaveLength(2);
  });
});

describe('a message that is sent in parts', () => {
  const broken = () =>
    new JsonParts({
      text: 'x'.repeat(2 * PART_CHARACTERS),
      list: new LazyList(() => ({ next: () => Promise.reject(new Error('the log cannot be read')) })),
    });

  /** `takes`: what its transport holds once it has a part. */
  function parting(takes = 0) {
    const parts: string[] = [];
    const sent: string[] = [];
    const onBroken = vi.fn();
    const state = { bufferedBytes: 0 };
    const outbox = new Outbox({
      transport: {
        name: 'test',
        start: () => {},
        send: (frames) => void sent.push(...frames.map(({ text }) => text)),
        sendPart: ({ text }) => {
          parts.push(text);
          state.bufferedBytes = takes;
        },
        get bufferedBytes() {
          return state.bufferedBytes;
        },
        close: () => {},
      },
      onTooSlow: () => {},
      onBroken,
    });
    const read = () => {
      state.bufferedBytes = 0;
      outbox.flush();
    };
    return { outbox, parts, sent, onBroken, read };
  }

  const turns = () => new Promise((resolve) => setTimeout(resolve, 20));
  const threeParts = () => new JsonParts({ text: 'x'.repeat(2 * PART_CHARACTERS + 10) });

  it('[REL-058] goes on when the client has room again, and no part comes before', async () => {
    const { outbox, parts, sent, read } = parting(OUTBOX_MERGE_BYTES + 1);
    let isSent = false;
    const done = outbox.pushParts(threeParts()).then(() => {
      isSent = true;
    });
    outbox.push(plain('later'));
    await vi.waitFor(() => expect(parts).toHaveLength(1), 10_000);
    outbox.flush();
    await turns();
    expect([parts.length, isSent]).toEqual([1, false]);
    read();
    await vi.waitFor(() => expect(parts).toHaveLength(2), 10_000);
    await turns();
    expect([parts.length, sent]).toEqual([2, []]);
    read();
    await done;
    expect(parts).toHaveLength(3);
    read();
    expect(sent).toEqual(['{"text":"later"}']);
  });

  it('[REL-058] ends where it is when the client goes, and whoever waits for it goes on', async () => {
    const { outbox, parts, onBroken } = parting(OUTBOX_MERGE_BYTES + 1);
    const done = outbox.pushParts(threeParts());
    const all = outbox.sent();
    await vi.waitFor(() => expect(parts).toHaveLength(1), 10_000);
    outbox.close();
    await Promise.all([done, all, outbox.pushParts(threeParts())]);
    await turns();
    expect([parts.length, onBroken.mock.calls.length]).toEqual([1, 0]);
  });

  it('[REL-058] is told to be broken when it cannot be written to its end', async () => {
    const { outbox, parts, onBroken } = parting();
    void outbox.pushParts(broken());
    await vi.waitFor(
      () => expect(onBroken).toHaveBeenCalledExactlyOnceWith(new Error('the log cannot be read')),
      10_000,
    );
    expect(parts.length).toBeGreaterThan(0);
  });

  it('[REL-058] is not even read for a client that went before its first part', async () => {
    const { outbox, parts } = parting();
    const message = threeParts();
    const next = vi.spyOn(message, 'next');
    const done = outbox.pushParts(message);
    outbox.close();
    await done;
    await turns();
    expect([next.mock.calls.length, parts]).toEqual([0, []]);
  });

  it('[REL-058] is not broken for a client that is gone', async () => {
    const { outbox, parts, onBroken } = parting();
    const message = new JsonParts({
      list: new LazyList(() => ({
        next: () => {
          outbox.close();
          return Promise.reject(new Error('the log is closed'));
        },
      })),
    });
    await outbox.pushParts(message);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([onBroken.mock.calls.length, parts]).toEqual([0, []]);
  });

  it('[REL-058] comes before what is pushed later', async () => {
    const { outbox, parts, sent } = parting();
    const whole = { text: 'x'.repeat(3 * PART_CHARACTERS) };
    const done = outbox.pushParts(new JsonParts(whole));
    outbox.push(plain('later'));
    expect(sent).toEqual([]);
    await done;
    await outbox.sent();
    expect(JSON.parse(parts.join(''))).toEqual(whole);
    expect([parts.length > 1, sent]).toEqual([true, ['{"text":"later"}']]);
  });
});
