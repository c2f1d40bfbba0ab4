import { describe, expect, it } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { type CommittedBatch, Writer } from '../../src/channels/writer.js';
import { type EntryOrigin, LogFencedError, LogWriteError } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { systemClock } from '../../src/util/clock.js';
import { silentLogger } from '../../src/util/logger.js';
import type { Identity } from '../../src/wire/handshake.js';
import { SCATTERED_NUMBERS_MAX, SENT_ACTIONS_KEPT_MAX } from '../../src/wire/limits.js';
import { ReceivedActions } from '../../src/wire/received-actions.js';

const CHANNEL = 'ahp-session:/s';

function host(log = new MemoryLog()) {
  const nothing = () => {};
  const show = ({ first, entries }: CommittedBatch) => {
    for (const [index, { origin }] of entries.entries()) if (origin) sent.stored(origin, first + index);
  };
  const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show });
  const writer: Writer = new Writer({
    ...{ log, clock: systemClock, logger: silentLogger, delivery, undone: nothing, superseded: nothing },
    answered: (origin, answer) => sent.answered(origin, answer),
  });
  const sent: ReceivedActions = new ReceivedActions(log, writer);
  const channel = new Channel<number>(CHANNEL, (count) => count + 1, 0);
  /** Answers an action: it is turned down, or written to a channel. */
  const answer = (origin: EntryOrigin, reason?: string) => {
    if (reason !== undefined) return writer.reject({ lost: nothing }, { origin, reason });
    writer.write({ channel, action: { type: 'session/ready' }, origin });
  };
  /** Takes an action and answers it, as the host does. */
  const dispatch = async (identity: Identity, clientSeq: number, action: object, reason?: string) => {
    const type = 'type' in action ? String(action.type) : '';
    const taken = await sent.take(identity, { clientSeq, type, original: { channel: CHANNEL, action } as never });
    if (taken.kind === 'new') {
      answer(taken.origin, reason);
      await writer.settled();
    }
    return taken;
  };
  return { log, writer, sent, dispatch, answer };
}

async function connected({ sent }: ReturnType<typeof host>, clientId = 'c'): Promise<Identity> {
  return connection(clientId, (await sent.begin(clientId, above(0))).epoch);
}

function connection(clientId: string, start: number, lastSeenServerSeq = 0): Identity {
  return { clientId, start, lastSeenServerSeq } as Identity;
}

const above = (epoch: number) => ({ above: epoch, known: { before: '', after: '' } });

const title = (text: string) => ({ type: 'session/titleChanged', title: text });

describe('a number that a client uses again', () => {
  it('with the same action is a resend, with the answer, in whatever order its members stand', async () => {
    const mine = host();
    const identity = await connected(mine);
    const first = await mine.dispatch(identity, 1, {
      type: 'session/turnStarted',
      turnId: 't',
      message: { text: 'a', x: [1] },
    });
    const again = await mine.dispatch(identity, 1, {
      message: { x: [1], text: 'a' },
      turnId: 't',
      type: 'session/turnStarted',
    });
    expect(first.kind).toBe('new');
    expect(again).toMatchObject({ kind: 'resend', origin: first.origin, answer: { serverSeq: 1 } });
  });

  it('with another action is new, in a round of its own', async () => {
    const mine = host();
    const identity = await connected(mine);
    const first = await mine.dispatch(identity, 1, title('a'));
    const second = await mine.dispatch(identity, 1, title('b'));
    expect([first.kind, second.kind]).toEqual(['new', 'new']);
    expect(second.origin.epoch).toBe(first.origin.epoch + 1);
    // The round goes on: a number that is free in it needs no other.
    expect((await mine.dispatch(identity, 2, title('c'))).origin.epoch).toBe(second.origin.epoch);
  });

  it('with another list in it, or on another channel, is new', async () => {
    const mine = host();
    const identity = await connected(mine);
    await mine.dispatch(identity, 1, { type: 'session/turnStarted', list: [1, 2] });
    expect((await mine.dispatch(identity, 1, { type: 'session/turnStarted', list: [2, 1] })).kind).toBe('new');
  });

  it('is a resend also after a restart of the host', async () => {
    const mine = host();
    const identity = await connected(mine);
    await mine.dispatch(identity, 1, title('a'));
    await mine.dispatch(identity, 2, title('b'), 'no');
    const later = host(mine.log);
    expect(await later.dispatch(identity, 1, title('a'))).toMatchObject({ kind: 'resend', answer: { serverSeq: 1 } });
    expect(await later.dispatch(identity, 2, title('b'))).toMatchObject({ answer: { serverSeq: 2, reason: 'no' } });
    expect((await later.dispatch(identity, 2, title('c'))).origin.epoch).toBeGreaterThan(identity.start);
  });

  it('means nothing when another client uses it, or the same client begins anew', async () => {
    const mine = host();
    const identity = await connected(mine);
    await mine.dispatch(identity, 1, title('a'));
    expect((await mine.dispatch(await connected(mine, 'd'), 1, title('a'))).kind).toBe('new');
    const anew = await connected(mine);
    expect(anew.start).toBeGreaterThan(identity.start);
    expect((await mine.dispatch(anew, 1, title('a'))).kind).toBe('new');
  });
});

describe('a client that counts from 1 on every connection', () => {
  const meantAgain = [
    ...['root/configChanged', 'session/titleChanged', 'x-atrium/selectionChanged', 'chat/draftChanged'],
    ...['session/configChanged', 'session/isReadChanged', 'session/isArchivedChanged'],
    ...['session/customizationToggled', 'chat/queuedMessagesReordered', 'chat/inputAnswerChanged'],
    ...['terminal/input', 'terminal/resized', 'terminal/titleChanged', 'terminal/cleared'],
  ];

  /** It has used number 1 twice, and has seen what became of the second. */
  async function counting(type: string, reason?: string) {
    const mine = host();
    const { start } = await connected(mine);
    await mine.dispatch(connection('c', start), 1, title('before'));
    await mine.dispatch(connection('c', start), 1, { type }, reason);
    return { mine, start };
  }

  it.each(meantAgain)('means %s again when it has seen the answer', async (type) => {
    const { mine, start } = await counting(type);
    expect((await mine.dispatch(connection('c', start, 1), 1, { type })).kind).toBe('resend');
    expect((await mine.dispatch(connection('c', start, 2), 1, { type })).kind).toBe('new');
  });

  it('does not mean again what it says only once, and what was turned down', async () => {
    const once = await counting('chat/turnStarted');
    expect((await once.mine.dispatch(connection('c', once.start, 2), 1, { type: 'chat/turnStarted' })).kind).toBe(
      'resend',
    );
    const refused = await counting('terminal/input', 'no');
    expect((await refused.mine.dispatch(connection('c', refused.start, 2), 1, { type: 'terminal/input' })).kind).toBe(
      'resend',
    );
  });

  it('does not mean it again while it has used no number twice', async () => {
    const mine = host();
    const { start } = await connected(mine);
    await mine.dispatch(connection('c', start), 1, title('a'));
    expect((await mine.dispatch(connection('c', start, 1), 1, title('a'))).kind).toBe('resend');
  });

  it.each(['session/activeClientSet', 'session/activeClientRemoved', 'terminal/claimed'])(
    'means %s anew on every connection, and once on each',
    async (type) => {
      const mine = host();
      const identity = await connected(mine);
      await mine.dispatch(identity, 1, { type });
      expect((await mine.dispatch(identity, 1, { type })).kind).toBe('resend');
      expect((await mine.dispatch(connection('c', identity.start), 1, { type })).kind).toBe('new');
    },
  );
});

describe('an action that is not answered yet', () => {
  const take = (mine: ReturnType<typeof host>, identity: Identity, action: object) =>
    mine.sent.take(identity, {
      clientSeq: 1,
      type: 'session/titleChanged',
      original: { channel: CHANNEL, action } as never,
    });

  it('is a resend without an answer', async () => {
    const mine = host();
    const identity = await connected(mine);
    await take(mine, identity, title('a'));
    expect(await take(mine, identity, title('a'))).toMatchObject({ kind: 'resend', answer: undefined });
  });

  it('may be sent again when it came to nothing, under the same number', async () => {
    const mine = host();
    const identity = await connected(mine);
    const { origin } = await take(mine, identity, title('a'));
    await mine.sent.deciding(origin, Promise.resolve());
    const again = await take(mine, identity, title('a'));
    expect(again).toEqual({ kind: 'new', origin });
  });

  it('is waited for while it is being decided, also when that fails', async () => {
    const mine = host();
    const identity = await connected(mine);
    const { origin } = await take(mine, identity, title('a'));
    const decision = new Promise<void>((_, reject) => setImmediate(() => reject(new Error('no'))));
    const deciding = mine.sent.deciding(origin, decision).catch(() => 'failed');
    const decided = mine.sent.decided(origin);
    expect(await deciding).toBe('failed');
    expect(await decided).toBe(true);
    expect(await mine.sent.decided(origin)).toBe(false);
  });

  it('stays while it is deferred to the end of a turn, also in the log', async () => {
    const mine = host();
    const identity = await connected(mine);
    const { origin } = await take(mine, identity, title('a'));
    await mine.sent.deciding(origin, Promise.resolve(mine.sent.deferred(origin)));
    await mine.writer.settled();
    expect(await take(mine, identity, title('a'))).toMatchObject({ kind: 'resend', answer: undefined });
    mine.sent.release(origin, true);
    expect((await take(mine, identity, title('a'))).kind).toBe('resend');
    const later = host(mine.log);
    expect((await take(later, identity, title('a'))).kind).toBe('resend');
    mine.sent.release(origin);
    expect((await take(mine, identity, title('a'))).kind).toBe('new');
  });

  it('leaves what was stored under its number when it came to nothing', async () => {
    const mine = host();
    const identity = await connected(mine);
    await mine.dispatch(identity, 1, title('stored'));
    const { origin } = await take(mine, identity, title('b'));
    mine.sent.release(origin);
    expect(await take(mine, identity, title('stored'))).toMatchObject({ kind: 'resend', answer: { serverSeq: 1 } });
  });
});

describe('what is kept of a client', () => {
  it('tells which of its numbers were taken, and not turned down', async () => {
    const mine = host();
    const identity = await connected(mine);
    await mine.dispatch(identity, 1, title('a'));
    await mine.dispatch(identity, 2, title('b'), 'no');
    expect(await mine.sent.settled(identity, [3, 2, 1])).toEqual([1]);
    mine.answer({ clientId: 'c', epoch: identity.start, clientSeq: 4 });
    await mine.writer.settled();
    expect(await mine.sent.settled(identity, [4, 3])).toEqual([4]);
  });

  it('tells it after a restart as well, of all numbers that it is asked for', async () => {
    const mine = host();
    const identity = await connected(mine);
    for (const seq of [1, 2, 4]) {
      mine.answer({ clientId: 'c', epoch: identity.start, clientSeq: seq });
      await mine.writer.settled();
    }
    const after = host(mine.log);
    expect(await after.sent.settled(identity, [4, 3, 2, 1])).toEqual([4, 2, 1]);
    expect(await after.sent.settled(identity, [2, 4])).toEqual([2, 4]);
  });

  it(`[REL-098] is the answers to its last ${SENT_ACTIONS_KEPT_MAX} actions`, async () => {
    const mine = host();
    const identity = await connected(mine);
    for (let seq = 1; seq <= SENT_ACTIONS_KEPT_MAX + 1; seq += 1) await mine.dispatch(identity, seq, title('a'));
    expect(await mine.log.records('sent:')).toHaveLength(SENT_ACTIONS_KEPT_MAX + 1);
    expect((await mine.dispatch(identity, 2, title('a'))).kind).toBe('resend');
    expect((await mine.dispatch(identity, 1, title('a'))).kind).toBe('new');
  });

  it('is also what waits for the end of a turn, however many answers came since', async () => {
    const mine = host();
    const identity = await connected(mine);
    const waiting = { clientSeq: 5_000, type: 'session/titleChanged' };
    const original = { channel: CHANNEL, action: title('waits') } as never;
    const { origin } = await mine.sent.take(identity, { ...waiting, original });
    mine.sent.deferred(origin);
    for (let seq = 1; seq <= SENT_ACTIONS_KEPT_MAX; seq += 1) await mine.dispatch(identity, seq, title('a'));
    expect(await mine.sent.take(identity, { ...waiting, original })).toMatchObject({ kind: 'resend', origin });
    expect((await mine.dispatch(identity, 2, title('a'))).kind).toBe('resend');
    expect((await mine.dispatch(identity, 1, title('a'))).kind).toBe('new');
  });

  it(`is so many gaps between its numbers: with more than ${SCATTERED_NUMBERS_MAX} a new round begins`, async () => {
    const mine = host();
    const identity = await connected(mine);
    const epochs: number[] = [];
    for (let count = 0; count <= SCATTERED_NUMBERS_MAX + 1; count += 1)
      epochs.push((await mine.dispatch(identity, 2 * count, title('a'))).origin.epoch);
    expect(new Set(epochs.slice(0, -1))).toEqual(new Set([identity.start]));
    expect(epochs.at(-1)).toBe(identity.start + 1);
  });

  it('[REL-098] is the answers to its last actions also after a restart, whatever numbers it used', async () => {
    const before = host();
    const { start } = await connected(before);
    const used = Array.from({ length: SENT_ACTIONS_KEPT_MAX }, (_, index) => SENT_ACTIONS_KEPT_MAX - index);
    for (const seq of used) await before.dispatch(connection('c', start), seq, title('a'));
    const mine = host(before.log);
    const identity = connection('c', start);
    expect((await mine.dispatch(identity, SENT_ACTIONS_KEPT_MAX + 1, title('a'))).kind).toBe('new');
    const kinds = [1, SENT_ACTIONS_KEPT_MAX - 1, SENT_ACTIONS_KEPT_MAX].map(async (seq) => {
      return (await mine.dispatch(identity, seq, title('a'))).kind;
    });
    expect(await Promise.all(kinds)).toEqual(['resend', 'resend', 'new']);
  });

  it('is nothing once it is purged, in memory and in the log; others keep theirs', async () => {
    const mine = host();
    const identity = await connected(mine);
    const other = await connected(mine, 'd');
    await mine.dispatch(identity, 1, title('a'));
    await mine.dispatch(other, 1, title('a'));
    await mine.sent.purge('c');
    await mine.writer.settled();
    expect(await mine.log.records('sent:')).toHaveLength(2);
    expect((await mine.dispatch(other, 1, title('a'))).kind).toBe('resend');
    expect((await mine.dispatch(identity, 1, title('a'))).kind).toBe('new');
  });

  it('[REL-066] has an epoch above every stored one when nothing can be stored', async () => {
    const log = new MemoryLog();
    const first = host(log);
    for (let count = 0; count < 5; count++) await connected(first);
    log.beginClient = async () => {
      throw new LogWriteError('disk-full', 'the disk is full');
    };
    const begun = (epoch: number) => host(log).sent.begin('c', above(epoch));
    expect([await begun(0), await begun(4)]).toEqual(Array(2).fill({ epoch: 6, isStored: false }));
    expect([await begun(5), await begun(9)]).toMatchObject([{ epoch: 6 }, { epoch: 10 }]);
    log.beginClient = async () => {
      throw new LogFencedError('another host has the folder');
    };
    await expect(begun(0)).rejects.toThrow('another host');
  });

  it('is that an action waits, until it is answered', async () => {
    const mine = host();
    const identity = await connected(mine);
    const original = { channel: CHANNEL, action: title('a') } as never;
    const { origin } = await mine.sent.take(identity, { clientSeq: 1, type: 'session/titleChanged', original });
    mine.sent.deferred(origin);
    await mine.writer.settled();
    const stored = async () => (await mine.log.records('sent:')).map(({ value }) => JSON.parse(value));
    expect(await stored()).toContainEqual(expect.objectContaining({ isHeld: true }));
    mine.answer(origin);
    await mine.writer.settled();
    expect(await stored()).not.toContainEqual(expect.objectContaining({ isHeld: true }));
  });

  it('is its greatest epoch, which is noted again after a failure', async () => {
    const mine = host();
    const { start } = await connected(mine);
    mine.sent.noteEpoch('c');
    mine.sent.noteEpoch('stranger');
    await mine.writer.settled();
    expect((await mine.log.records('sent:')).map(({ value }) => value)).toEqual([String(start)]);
    expect(await host(mine.log).sent.begin('c', above(0))).toEqual({ epoch: start + 1, isStored: true });
    expect(await host(mine.log).sent.begin('c', above(40))).toEqual({ epoch: 41, isStored: true });
  });
});
