import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import type { ActionFrame, Dialect } from '../../src/wire/dialects/dialects.js';
import {
  encode,
  encodedOf,
  type NumberedMessage,
  onChannels,
  type TextStep,
  withoutOrigin,
} from '../../src/wire/encoding.js';
import { framed, merged, Outgoing, outgoing } from '../../src/wire/frames.js';
import { MERGED_OUTPUT_MAX_CHARACTERS, OUTBOX_MERGE_BYTES } from '../../src/wire/limits.js';
import { Outbox } from '../../src/wire/outbox.js';
import { missedAction, TranslatedReplay } from '../../src/wire/replay.js';

type Params = Record<string, unknown>;

function encoded(params: Params, version = '1', close?: string, steps: readonly TextStep[] = []) {
  const frames: ActionFrame[] = [{ method: 'action', params, origin: undefined } as unknown as ActionFrame];
  const dialect = { traits: { version }, encodeSteps: () => ({ frames, close }) } as unknown as Dialect;
  return encode(
    dialect,
    {} as never,
    { channel: 'ahp:/s', steps, atHand: { steps }, stateBefore: () => undefined },
    {} as never,
  );
}
const envelope = (action: Params, more: Params = {}) => ({ channel: 'ahp:/s', serverSeq: 5, action, ...more });
const delta = (content: unknown, more: Params = {}) => ({
  type: 'session/delta',
  turnId: 't',
  partId: 'p',
  content,
  ...more,
});
const one = (params: Params, version?: string) => encoded(params, version).numbered[0]?.message as Outgoing;
const paramsOf = ({ text }: { text: string }) => JSON.parse(text).params;

/** One envelope as each wire has it: plain, wrapped, and both. */
const FORMS: [string, (plain: Params) => Params][] = [
  ['plain', (plain) => plain],
  ['wrapped', (plain) => ({ envelope: plain })],
  ['both', (plain) => ({ ...plain, envelope: plain })],
];

describe('what a client gets of several channels', () => {
  const on = (seq: number, channel: string | undefined, clientId?: string): NumberedMessage => ({
    ...{ seq, message: outgoing({ seq }), origin: clientId === undefined ? undefined : { clientId, clientSeq: 1 } },
    ...(channel !== undefined && { channel }),
  });
  const seqs = (watched: readonly string[], clientId?: string) => {
    const all = encodedOf([on(1, 'a'), on(2, 'b'), on(3, undefined), on(4, 'b', 'me'), on(5, 'b', 'you')]);
    return onChannels(all, new Set(watched), clientId).numbered.map(({ seq }) => seq);
  };

  it('is what it watches, what is on no channel, and what became of its own actions', () => {
    expect(seqs(['a'])).toEqual([1, 3]);
    expect(seqs(['b'])).toEqual([2, 3, 4, 5]);
    expect(seqs([], 'me')).toEqual([3, 4]);
    expect(seqs(['a', 'b'])).toEqual([1, 2, 3, 4, 5]);
  });

  it('is the very same object when it is all', () => {
    const all = encodedOf([on(1, 'a'), on(2, 'b')]);
    expect(onChannels(all, new Set(['a', 'b']), undefined)).toBe(all);
    expect(onChannels(all, new Set(['a']), undefined)).not.toBe(all);
  });
});

describe('a message with an action', () => {
  it.each(FORMS)('has the number of its envelope, %s', (_, form) => {
    const params = form(envelope({ type: 'session/titleChanged', title: 'a' }));
    const { numbered, messages, close } = encoded(params, '1', 'because');
    expect(numbered.map(({ seq }) => seq)).toEqual([5]);
    expect(messages).toEqual([numbered[0]?.message]);
    expect(JSON.parse(messages[0]?.text ?? '')).toEqual({ jsonrpc: '2.0', method: 'action', params });
    expect([close, messages[0]?.delta]).toEqual(['because', undefined]);
  });

  it.each([{}, { origin: { clientId: 'c "1"', clientSeq: 1 } }])(
    'is made of the text that was stored, with %o',
    (more) => {
      const action = { type: 'session/titleChanged', title: 'ä"\n' };
      const params = envelope(action, more);
      const stepOf = (serverSeq: number, text: string) => ({
        ...{ envelope: { ...params, serverSeq } as never, before: undefined, after: undefined, text },
      });
      const stored = `${JSON.stringify(action)} `;
      const own = { ...stepOf(5, stored), envelope: params as never };
      const steps = [stepOf(3, 'other'), stepOf(4, 'other'), own, stepOf(6, 'other')];
      const text = encoded(params, '1', undefined, steps).messages[0]?.text ?? '';
      expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', method: 'action', params });
      expect(text).toContain(stored);
      // What a dialect has changed is written anew.
      const changed = { ...params, action: { ...action, title: 'b' } };
      expect(encoded(changed, '1', undefined, steps).messages[0]?.text).toContain('"title":"b"');
    },
  );

  it.each(FORMS)('can be told without whose it is, %s', (_, form) => {
    const action = { type: 'session/titleChanged', title: 'a' };
    const [numbered] = encoded(form(envelope(action, { origin: { clientId: 'c', clientSeq: 1 } }))).numbered;
    const told = withoutOrigin(numbered as NonNullable<typeof numbered>);
    expect([told.seq, told.origin]).toEqual([5, undefined]);
    expect(JSON.parse(told.message.text)).toEqual({ jsonrpc: '2.0', method: 'action', params: form(envelope(action)) });
  });
});

describe('text that grows', () => {
  it.each(FORMS)('[REL-041] is merged with what follows it, %s', (_, form) => {
    const both = merged(one(form(envelope(delta('a')))), one(form(envelope(delta('b'), { serverSeq: 6 }))));
    expect(paramsOf(both as Outgoing)).toEqual(form(envelope(delta('ab'), { serverSeq: 6 })));
    const three = merged(both as Outgoing, one(form(envelope(delta('c'), { serverSeq: 7 }))));
    expect(paramsOf(three as Outgoing)).toEqual(form(envelope(delta('abc'), { serverSeq: 7 })));
    expect((three as Outgoing).size).toBe(one(form(envelope(delta('a')))).size + 2);
  });

  it.each<[string, Params, string?]>([
    ['another part', envelope(delta('b', { partId: 'q' }))],
    ['another turn', envelope(delta('b', { turnId: 'u' }))],
    ['another kind', envelope(delta('b', { type: 'session/reasoning' }))],
    ['another channel', envelope(delta('b'), { channel: 'ahp:/other' })],
    ['another wire', envelope(delta('b')), '2'],
    ['something else', envelope({ type: 'session/titleChanged', content: 'b', turnId: 't', partId: 'p' })],
    ['no text', envelope(delta(7))],
  ])('[REL-041] is not merged with %s', (_, params, version) => {
    expect(merged(one(envelope(delta('a'))), one(params, version))).toBeUndefined();
    expect(merged(one(params, version), one(envelope(delta('a'))))).toBeUndefined();
  });

  it('[REL-041] of an older wire is told apart by its session', () => {
    const of = (session: string) => one({ serverSeq: 5, action: delta('a', { session }) });
    expect(merged(of('s'), of('s'))).toBeDefined();
    expect(merged(of('s'), of('other'))).toBeUndefined();
  });

  it('[REL-041] is merged without an end, but output of a terminal only up to a length', () => {
    const data = (length: number) => one(envelope({ type: 'terminal/data', data: 'x'.repeat(length) }));
    expect(merged(data(MERGED_OUTPUT_MAX_CHARACTERS - 1), data(1))).toBeDefined();
    expect(merged(data(MERGED_OUTPUT_MAX_CHARACTERS), data(1))).toBeUndefined();
    const reasoning = (text: string) => one(envelope({ type: 'session/reasoning', content: text }));
    expect(merged(reasoning('a'), reasoning('b'))).toBeDefined();
    const long = one(envelope(delta('x'.repeat(MERGED_OUTPUT_MAX_CHARACTERS))));
    expect(merged(long, one(envelope(delta('b'))))).toBeDefined();
    expect(merged(one(envelope({ type: 'session/reasoning', content: 'a' })), long)).toBeUndefined();
  });

  it('is written only when it is read', () => {
    const write = vi.fn(() => 'text');
    const lazy = new Outgoing(write, 1);
    expect(write).not.toHaveBeenCalled();
    expect([lazy.text, lazy.text, write.mock.calls.length]).toEqual(['text', 'text', 1]);
  });
});

/** Deltas of one part as a host shows them: each with the states around it. */
class GrowingPart {
  #content: string;
  #seq = 0;

  constructor(content = '') {
    this.#content = content;
  }

  #state(): unknown {
    const part = { kind: 'markdown', id: 'p', content: this.#content };
    return { activeTurn: { id: 't', responseParts: [{ kind: 'reasoning', id: 'q', content: 'x' }, part] } };
  }

  /** `shown`: what a dialect makes of the content. `replaced`: what the part held instead, just before. */
  grow(content: string, { shown = content, replaced = '' } = {}) {
    if (replaced !== '') this.#content = replaced;
    const before = this.#state();
    this.#content += content;
    const action = { type: 'chat/delta', turnId: 't', partId: 'p', content };
    const params = envelope({ ...action, content: shown }, { serverSeq: ++this.#seq });
    const step = { envelope: { ...params, action } as never, before, after: this.#state() };
    const atHand = { steps: [step] };
    const frames = [{ method: 'action', params, origin: undefined } as unknown as ActionFrame];
    const dialect = { traits: { version: '1' }, encodeSteps: () => ({ frames }) } as unknown as Dialect;
    const group = { channel: 'ahp:/s', steps: [step], atHand, stateBefore: () => undefined };
    const message = encode(dialect, {} as never, group, {} as never).messages[0] as Outgoing;
    return { message, forget: () => atHand.steps.splice(0) };
  }
}

describe('text that waits for several clients', () => {
  const contentOf = (message: Outgoing) => paramsOf(message).action.content;

  it('[REL-041] is a piece of what the state holds, whichever of it each client has', () => {
    const part = new GrowingPart('before ');
    const waiting: (Outgoing | undefined)[] = [undefined, undefined, undefined];
    for (let count = 0; count < 30; count++) {
      const { message } = part.grow(`${count} `);
      for (const [client, first] of waiting.entries()) {
        if (count < client * 10) continue;
        waiting[client] = first ? merged(first, message.waiting()) : message.waiting();
      }
    }
    const words = (from: number) => Array.from({ length: 30 - from }, (_, index) => `${from + index} `).join('');
    expect(waiting.map((message) => contentOf(message as Outgoing))).toEqual([words(0), words(10), words(20)]);
    const [whole] = waiting.map((message) => message?.tail.text);
    expect(whole).toBe(`before ${words(0)}`);
    expect(waiting.map((message) => message?.tail.text === whole)).toEqual([true, true, true]);
  });

  it.each<[string, (part: GrowingPart) => { message: Outgoing; forget: () => void }]>([
    ['in the words of a dialect', (part) => part.grow('b', { shown: 'B' })],
    ['after a change that the client does not hear of', (part) => part.grow('b', { replaced: 'other text' })],
    ['of the same length, after such a change', (part) => part.grow('b', { replaced: 'A' })],
  ])('[REL-041] is copied where it is not what the state holds: %s', (kind, next) => {
    const part = new GrowingPart();
    const first = part.grow('a').message.waiting();
    const message = next(part).message.waiting();
    const last = part.grow('c').message.waiting();
    const two = merged(first, message) as Outgoing;
    expect(contentOf(two)).toBe(kind.includes('dialect') ? 'aB' : 'ab');
    expect(contentOf(merged(two, last) as Outgoing)).toBe(kind.includes('dialect') ? 'aBc' : 'abc');
  });

  it('[REL-041] is copied when the tick is over, and keeps no states', () => {
    const part = new GrowingPart();
    const [first, second] = ['a', 'b'].map((content) => part.grow(content));
    for (const tick of [first, second]) tick?.forget();
    const [one, other] = [first, second].map((tick) => tick?.message.waiting());
    const both = merged(one as Outgoing, other as Outgoing) as Outgoing;
    expect([contentOf(both), both.tail]).toEqual(['ab', { text: 'ab', start: 0 }]);
  });
});

describe('the text of a long answer', () => {
  const LONG = 2 ** 20;
  const ROUNDS = 60;

  function heapMegabytes(): number {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed / 2 ** 20;
  }

  /** A client that reads when it is told to. */
  function slowClient() {
    const transport = {
      bufferedBytes: 0,
      send: (frames: readonly { text: string }[]) => sent.push(frames.at(-1)?.text.length ?? 0),
    };
    const sent: number[] = [];
    const outbox = new Outbox({ transport: transport as never, onTooSlow: () => {} });
    const push = (message: Outgoing) => {
      transport.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
      outbox.push(message);
    };
    const read = () => {
      transport.bufferedBytes = 0;
      outbox.flush();
    };
    return { push, read, sent };
  }

  it('[REL-040] is not kept by messages that are kept for clients that come back', () => {
    const part = new GrowingPart('x'.repeat(LONG));
    const kept: Outgoing[] = [];
    const client = slowClient();
    const before = heapMegabytes();
    for (let round = 0; round < ROUNDS; round++) {
      for (const content of ['a', 'b']) {
        const { message, forget } = part.grow(content);
        kept.push(message);
        client.push(message);
        forget();
      }
      client.read();
    }
    expect(client.sent).toHaveLength(ROUNDS);
    expect(kept).toHaveLength(2 * ROUNDS);
    expect(heapMegabytes() - before).toBeLessThan(10);
  });

  it('[REL-040] is not kept once for each message that waits', () => {
    const part = new GrowingPart('x'.repeat(LONG));
    const [stalled, lagging] = [slowClient(), slowClient()];
    const before = heapMegabytes();
    for (let round = 0; round < ROUNDS; round++) {
      for (const content of ['a', 'b']) {
        const { message, forget } = part.grow(content);
        stalled.push(message);
        lagging.push(message);
        forget();
      }
      stalled.push(one(envelope({ type: 'session/titleChanged', title: 'a' })));
      lagging.read();
    }
    expect(heapMegabytes() - before).toBeLessThan(10);
    stalled.read();
    expect(stalled.sent).toHaveLength(1);
  });
});

describe('an action that a client missed', () => {
  const entry = { seq: 5, channel: 'ahp:/"s"', time: 1, action: '{"type":"x"}' };
  it.each([
    [{}, {}],
    [{ origin: { clientId: 'c', epoch: 9, clientSeq: 2 } }, { origin: { clientId: 'c', clientSeq: 2 } }],
  ])('is told as it is stored: %j', (origin, shown) => {
    const { envelope: told, text } = missedAction({ ...entry, ...origin });
    expect(told).toEqual({ channel: 'ahp:/"s"', serverSeq: 5, action: { type: 'x' }, ...shown });
    expect(JSON.parse(text)).toEqual(told);
  });
});

describe('what was translated for an older wire', () => {
  const message = (seq: number, size = 1) => ({
    seq,
    origin: undefined,
    message: new Outgoing('x', size),
  });
  const told = (...numbered: ReturnType<typeof message>[]) => encodedOf(numbered);
  const tick = (upTo: number, isWatched = true, first = upTo) => ({ first, upTo, isWatched });
  const seqs = (replay: TranslatedReplay, seq: number) => replay.after('s', seq)?.map((each) => each.seq);

  it('is kept from when somebody watches, and told behind a number', () => {
    const replay = new TranslatedReplay();
    replay.add('s', told(message(3)), tick(3));
    expect([replay.isFollowed('s'), seqs(replay, 3)]).toEqual([false, undefined]);
    replay.follow('s', 3);
    replay.add('s', told(message(4), message(5)), tick(5, true, 4));
    replay.follow('s', 9);
    expect(replay.isFollowed('s')).toBe(true);
    expect([2, 3, 4, 5].map((seq) => seqs(replay, seq))).toEqual([undefined, [4, 5], [5], []]);
    replay.forget('s');
    expect(seqs(replay, 4)).toBeUndefined();
  });

  it('cannot be told in the middle of an action that is several messages', () => {
    const replay = new TranslatedReplay();
    replay.follow('s', 3);
    replay.add('s', told(message(4), message(4), message(5)), tick(5));
    expect([seqs(replay, 3), seqs(replay, 4)]).toEqual([[4, 4, 5], undefined]);
  });

  it('begins anew when a snapshot is needed', () => {
    const replay = new TranslatedReplay();
    replay.follow('s', 3);
    replay.add('s', told(message(4)), tick(4));
    replay.add('s', { ...told(message(5)), close: 'because' }, tick(5));
    expect([seqs(replay, 4), seqs(replay, 5)]).toEqual([undefined, []]);
    replay.add('s', told(message(6)), tick(6));
    expect(seqs(replay, 5)).toEqual([6]);
  });

  it('does not count what a snapshot has made superfluous', () => {
    const replay = new TranslatedReplay({ messages: 9, bytes: 10 });
    replay.follow('s', 0);
    replay.add('s', { ...told(message(1, 10)), close: 'because' }, tick(1));
    replay.add('s', told(message(2, 10)), tick(2));
    expect(seqs(replay, 1)).toEqual([2]);
  });

  it.each([
    ['messages', { messages: 2, bytes: 100 }, 1],
    ['bytes', { messages: 100, bytes: 20 }, 10],
  ])('is bounded in %s: the oldest go first', (_, limits, size) => {
    const replay = new TranslatedReplay(limits);
    replay.follow('s', 0);
    replay.add('s', told(message(1, size), message(2, size)), tick(2));
    expect(seqs(replay, 0)).toEqual([1, 2]);
    replay.add('s', told(message(3, size)), tick(3));
    expect([seqs(replay, 1), seqs(replay, 2)]).toEqual([undefined, [3]]);
    replay.add('s', told(message(4, size), message(5, size)), tick(5));
    expect([seqs(replay, 3), seqs(replay, 4)]).toEqual([undefined, [5]]);
  });

  it('is dropped when one message alone is too large, and goes on behind it', () => {
    const replay = new TranslatedReplay({ messages: 9, bytes: 10 });
    replay.follow('s', 0);
    replay.add('s', told(message(1, 11)), tick(1));
    expect(seqs(replay, 0)).toBeUndefined();
    replay.add('s', told(message(3, 10)), tick(3));
    expect(seqs(replay, 2)).toEqual([3]);
  });

  it('is forgotten when all who left would have to take a snapshot', () => {
    const replay = new TranslatedReplay({ messages: 3, bytes: 100 });
    replay.follow('s', 0);
    replay.add('s', told(message(1)), tick(1));
    replay.add('s', told(message(2)), tick(2, false));
    replay.add('s', told(message(3)), tick(3, false));
    expect(seqs(replay, 2)).toEqual([3]);
    replay.add('s', told(message(4)), tick(4, false));
    expect(replay.isFollowed('s')).toBe(false);
    replay.follow('s', 4);
    replay.add('s', told(message(5)), tick(5, false));
    // Who left with number 4 has missed nothing that is not here.
    expect(seqs(replay, 4)).toEqual([5]);
  });

  it('stays when somebody is back in time', () => {
    const replay = new TranslatedReplay({ messages: 1, bytes: 100 });
    replay.follow('s', 0);
    replay.add('s', told(message(1)), tick(1));
    replay.add('s', told(), tick(2, false));
    replay.add('s', told(message(3)), tick(3, true));
    replay.add('s', told(message(4)), tick(4, true));
    expect(replay.isFollowed('s')).toBe(true);
  });
});

describe('a message', () => {
  it('is sized by its text', () => {
    expect(outgoing({ a: 1 }).size).toBe('{"a":1}'.length);
  });
});

describe('a WebSocket frame', () => {
  /** Length of the header, and the length that it tells (RFC 6455, 5.2). */
  const headerOf = (frame: Buffer) => {
    const [, short = 0] = frame;
    if (short < 126) return [2, short];
    return short === 126 ? [4, frame.readUInt16BE(2)] : [10, Number(frame.readBigUInt64BE(2))];
  };

  it.each([0, 125, 126, 65_535, 65_536])('of %d bytes says how long it is, in the shortest form', (length) => {
    const frame = framed({ text: 'x'.repeat(length), isFirst: true, isLast: true });
    const start = length < 126 ? 2 : length < 65_536 ? 4 : 10;
    expect([headerOf(frame), frame.length]).toEqual([[start, length], start + length]);
    expect(frame.subarray(start).toString()).toBe('x'.repeat(length));
  });

  it('counts bytes, not characters, and says whether it is the first and the last of its message', () => {
    expect(headerOf(framed({ text: 'ü'.repeat(63), isFirst: true, isLast: true }))).toEqual([4, 126]);
    const first = (isFirst: boolean, isLast: boolean) => framed({ text: '', isFirst, isLast })[0];
    expect([first(true, true), first(true, false), first(false, false), first(false, true)]).toEqual([
      ...[0x81, 0x01, 0x00, 0x80],
    ]);
  });
});
