/** Three hosts in one process that write to one log, read what the others write, and tell each other that there is something new. */
import type { StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { OrderedDelivery } from '../../src/channels/ordered-delivery.js';
import { type CommittedBatch, Writer } from '../../src/channels/writer.js';
import { type LogEntry, LogWriteError } from '../../src/log/log.js';
import type { Change, ChangedRecord, SharedLog, Wanted } from '../../src/log/shared-log.js';
import { systemClock } from '../../src/util/clock.js';
import { MemoryCluster, type MemoryClusterOptions } from '../support/memory-cluster.js';

const LIMITS = { entries: 1_000, bytes: 2 ** 20 };
type State = readonly string[];

const reduce = (state: State, action: StateAction): State => [...state, (action as unknown as { text: string }).text];
const textOf = ({ action }: Pick<LogEntry, 'action'>): string => JSON.parse(action).text;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Seen {
  readonly seq: number;
  readonly channel: string;
  readonly text: string;
}

class ClusterHost {
  readonly log: SharedLog;
  readonly delivery: OrderedDelivery;
  readonly writer: Writer;
  /** Everything that was shown here, in the order in which it was. */
  readonly seen: Seen[] = [];
  readonly clients = new Set<Client>();
  readonly logged: string[] = [];
  readonly #own = new Map<string, Channel<State>>();
  readonly #watchers = new Map<string, number>();
  readonly #stop = new AbortController();
  ended: Promise<void> = Promise.resolve();

  constructor(
    readonly name: string,
    cluster: MemoryCluster,
  ) {
    this.log = cluster.join(name).log;
    const logger = { log: (level: string, message: string) => void this.logged.push(`${level} ${message}`) };
    this.delivery = new OrderedDelivery({
      log: this.log,
      from: { seq: 0, records: 0 },
      logger,
      show: (batch) => this.#show(batch),
      open: (uri, stored) => new Channel(uri, reduce, (stored?.tail ?? []).map(textOf)) as Channel,
    });
    const { log, delivery } = this;
    this.writer = new Writer({ log, delivery, logger, clock: systemClock, undone: () => {}, superseded: () => {} });
    this.ended = delivery.follow(this.#stop.signal);
    onTestFinished(() => this.#stop.abort());
  }

  async own(uri: string): Promise<void> {
    expect(await this.log.claim([uri])).toEqual({ isMine: true });
    this.#own.set(uri, new Channel<State>(uri, reduce, []));
  }

  owns(uri: string): boolean {
    return this.#own.has(uri);
  }

  write(uri: string, text: string): void {
    const channel = this.#own.get(uri);
    if (!channel) throw new Error(`${this.name} does not own ${uri}`);
    this.writer.write({ channel, action: { type: 'test/said', text } as never });
  }

  /** The channel, own or watched, as subscribers see it. */
  async channel(uri: string): Promise<Channel<State>> {
    return this.#own.get(uri) ?? ((await this.delivery.join(uri)) as Channel<State>);
  }

  watch(channels: readonly string[], by: 1 | -1): void {
    for (const uri of channels) {
      const count = (this.#watchers.get(uri) ?? 0) + by;
      this.#watchers.set(uri, count);
      if (count === 0) this.delivery.leave(uri);
    }
  }

  #show(batch: CommittedBatch): void {
    for (const { envelope, text } of batch.steps) {
      const seen = { seq: envelope.serverSeq, channel: envelope.channel, text: textOf({ action: text }) };
      this.seen.push(seen);
      for (const client of this.clients) client.take(seen);
    }
  }
}

/** A client that goes from host to host with one number. */
class Client {
  readonly received: Seen[] = [];
  #host: ClusterHost | undefined;

  constructor(readonly channels: readonly string[]) {}

  get lastSeen(): number {
    return this.received.at(-1)?.seq ?? 0;
  }

  take(seen: Seen): void {
    if (this.channels.includes(seen.channel)) this.received.push(seen);
  }

  leave(): void {
    this.#host?.clients.delete(this);
    this.#host?.watch(this.channels, -1);
    this.#host = undefined;
  }

  /** As a handshake does it: what was missed and what is shown from now on meet without a gap. */
  async comeTo(host: ClusterHost): Promise<void> {
    host.watch(this.channels, 1);
    for (const uri of this.channels) await host.channel(uri);
    expect(await host.delivery.canReach(this.lastSeen)).toBe(true);
    for (;;) {
      const { shown } = host.delivery;
      const missed = await host.log.missed(this.lastSeen, this.channels, LIMITS);
      if (!missed) expect.fail('the client would need a snapshot');
      if (host.delivery.shown !== shown) continue;
      for (const entry of missed.filter(({ seq }) => seq <= shown))
        this.take({ seq: entry.seq, channel: entry.channel, text: textOf(entry) });
      this.#host = host;
      host.clients.add(this);
      return;
    }
  }
}

/** Hosts whose commits are hints for the others, as soon as they are stored. */
function start(
  names: readonly string[],
  options: MemoryClusterOptions = {},
  hints: (tell: () => void) => void = (tell) => tell(),
) {
  const cluster = new MemoryCluster(options);
  const hosts = names.map((name) => new ClusterHost(name, cluster));
  const append = cluster.log.append.bind(cluster.log);
  cluster.log.append = async (commit) => {
    const stored = append(commit);
    for (const { delivery } of hosts) hints(() => delivery.hint());
    return stored;
  };
  const of = (index: number): ClusterHost => hosts[index] ?? expect.fail(`there is no host ${index}`);
  return { cluster, hosts, of };
}

async function storedIn(cluster: MemoryCluster, channels: readonly string[]): Promise<Seen[]> {
  const entries = await cluster.log.read({ after: 0 });
  return entries
    .filter(({ channel }) => channels.includes(channel))
    .map((entry) => ({ seq: entry.seq, channel: entry.channel, text: textOf(entry) }));
}

describe('a delivery of several writers', () => {
  it('[CLU-002] [CLU-040] shows own ticks and those of others in the order of the log, at every host the same', async () => {
    const { cluster, hosts, of } = start(['a', 'b', 'c'], { delay: tick });
    const channels = ['s:a', 's:b', 's:c'];
    for (const [index, host] of hosts.entries()) await host.own(channels[index] ?? '');
    for (const host of hosts) for (const uri of channels) await host.channel(uri);
    for (let n = 0; n < 60; n++) {
      of(n % 3).write(channels[n % 3] ?? '', `${n}`);
      if (n % 4 === 0) await tick();
    }
    await Promise.all(hosts.map(({ writer }) => writer.settled()));
    const all = await storedIn(cluster, channels);
    expect(all).toHaveLength(60);
    for (const host of hosts) {
      await host.delivery.reached(60);
      expect(host.seen).toEqual(all);
      for (const uri of channels)
        expect((await host.channel(uri)).committed).toEqual(
          all.flatMap(({ channel, text }) => (channel === uri ? text : [])),
        );
    }
  });

  it('[CLU-040] shows nothing of others before an own tick that is below it and whose answer is on its way', async () => {
    let answer: (() => void) | undefined;
    let isHeld = false;
    // The second half of an append is the way of its answer.
    const delay = async () => {
      if (isHeld) await new Promise<void>((resolve) => (answer ??= resolve));
    };
    const { cluster, of } = start(['a', 'b'], { lookEveryMs: 5 });
    const slow = new ClusterHost('slow', slowed(cluster, 'append', delay));
    await slow.own('s:slow');
    await of(1).own('s:b');
    await slow.channel('s:b');
    isHeld = true;
    slow.write('s:slow', 'first');
    await expect.poll(() => cluster.log.head).toBe(1);
    of(1).write('s:b', 'second');
    await of(1).writer.settled();
    for (let ticks = 0; ticks < 20; ticks++) {
      slow.delivery.hint();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect([slow.seen, slow.delivery.shown]).toEqual([[], 0]);
    isHeld = false;
    answer?.();
    await slow.delivery.reached(2);
    expect(slow.seen.map(({ text }) => text)).toEqual(['first', 'second']);
  });

  it('[CLU-040] shows what others wrote below an own tick first, and goes on when an own tick could not be stored', async () => {
    const { cluster, of } = start(['a', 'b'], { lookEveryMs: 60_000 }, () => {});
    await of(0).own('s:a');
    await of(1).own('s:b');
    await of(0).channel('s:b');
    of(1).write('s:b', 'below');
    await of(1).writer.settled();
    of(0).write('s:a', 'above');
    await of(0).writer.settled();
    expect(of(0).seen.map(({ seq, text }) => [seq, text])).toEqual([
      [1, 'below'],
      [2, 'above'],
    ]);
    const { append } = cluster.log;
    cluster.log.append = async () => {
      throw new LogWriteError('failed', 'no');
    };
    of(0).write('s:a', 'never');
    await expect(
      of(0)
        .writer.settled()
        .catch(() => 'undone'),
    ).resolves.toBe('undone');
    cluster.log.append = append;
    of(1).write('s:b', 'later');
    await of(1).writer.settled();
    of(0).delivery.hint();
    await of(0).delivery.reached(3);
    expect(of(0).seen.map(({ text }) => text)).toEqual(['below', 'above', 'later']);
    expect((await of(0).channel('s:a')).live).toEqual(['above']);
    expect(of(0).logged).toEqual(['error could not store a tick; it is undone']);
  });

  it('[CLU-040] joins a channel that never rests, without missing or repeating anything', async () => {
    const { cluster, of } = start(['a', 'b'], { delay: tick });
    await of(0).own('s:a');
    let isWriting = true;
    let written = 0;
    const writing = (async () => {
      while (isWriting) {
        of(0).write('s:a', `${written++}`);
        await tick();
      }
    })();
    await expect.poll(() => written).toBeGreaterThan(20);
    const replica = await of(1).channel('s:a');
    const begun = replica.committed;
    const { shown } = of(1).delivery;
    expect(begun).toEqual((await storedIn(cluster, ['s:a'])).filter(({ seq }) => seq <= shown).map(({ text }) => text));
    const seenBefore = of(1).seen.length;
    await expect.poll(() => of(1).delivery.shown).toBeGreaterThan(shown + 50);
    isWriting = false;
    await writing;
    await of(0).writer.settled();
    const all = await storedIn(cluster, ['s:a']);
    await of(1).delivery.reached(all.length);
    expect(replica.committed).toEqual(all.map(({ text }) => text));
    expect(of(1).seen.slice(seenBefore)).toEqual(all.filter(({ seq }) => seq > shown));
  });

  it('[CLU-040] holds what is read of a channel while its state is on its way, and leaves out what that has already', async () => {
    let isLoaded = (): void => {};
    const loading = new Promise<void>((resolve) => {
      isLoaded = resolve;
    });
    const { cluster, of } = start(['a'], { lookEveryMs: 5 });
    await of(0).own('s:a');
    of(0).write('s:a', 'before');
    await of(0).writer.settled();
    const reader = new ClusterHost(
      'reader',
      slowed(cluster, 'openChannel', () => loading),
    );
    const joined = reader.channel('s:a');
    await tick();
    await tick();
    of(0).write('s:a', 'meanwhile');
    await reader.delivery.reached(2);
    isLoaded();
    expect((await joined).committed).toEqual(['before', 'meanwhile']);
    of(0).write('s:a', 'behind');
    await reader.delivery.reached(3);
    expect((await joined).committed).toEqual(['before', 'meanwhile', 'behind']);
    expect(reader.seen.map(({ text }) => text)).toEqual(['behind']);
  });

  it('[CLU-040] catches up for a client that has seen more elsewhere, and not for one that has seen more than there is', async () => {
    const { of } = start(['a', 'b'], { lookEveryMs: 60_000 }, () => {});
    await of(0).own('s:a');
    const client = new Client(['s:a']);
    await client.comeTo(of(0));
    for (let n = 0; n < 5; n++) of(0).write('s:a', `${n}`);
    await of(0).writer.settled();
    expect([client.lastSeen, of(1).delivery.shown]).toEqual([5, 0]);
    client.leave();
    await client.comeTo(of(1));
    expect([of(1).delivery.shown, client.received.length]).toEqual([5, 5]);
    expect(await of(1).delivery.canReach(6)).toBe(false);
  });

  it('[CLU-039] [CLU-040] goes on from what a read saw, however many hints come and whatever they may mean', async () => {
    const { cluster, of } = start(['a', 'b'], { delay: tick });
    await of(0).own('s:a');
    await of(1).channel('s:a');
    let isOver = false;
    const hinting = (async () => {
      while (!isOver) {
        of(1).delivery.hint();
        await tick();
      }
    })();
    for (let n = 0; n < 100; n++) {
      of(0).write('s:a', `${n}`);
      if (n % 3 === 0) await tick();
    }
    await of(0).writer.settled();
    await of(1).delivery.reached(100);
    isOver = true;
    await hinting;
    expect(of(1).seen).toEqual(await storedIn(cluster, ['s:a']));
  });

  it('[CLU-040] forgets a channel that nobody watches any more, and tells of no entry twice when it is watched again', async () => {
    const { of } = start(['a', 'b']);
    await of(0).own('s:a');
    await of(1).channel('s:a');
    of(0).write('s:a', 'one');
    await of(1).delivery.reached(1);
    of(1).delivery.leave('s:a');
    of(0).write('s:a', 'two');
    await of(1).delivery.reached(2);
    const again = await of(1).channel('s:a');
    of(0).write('s:a', 'three');
    await of(1).delivery.reached(3);
    expect(of(1).seen.map(({ text }) => text)).toEqual(['one', 'three']);
    expect(again.committed).toEqual(['one', 'two', 'three']);
  });
});

/** The same cluster, on which the answers to one kind of question of a host take their time. */
function slowed(cluster: MemoryCluster, question: 'append' | 'openChannel', delay: () => Promise<void>): MemoryCluster {
  const join = (host: string) => {
    const joined = cluster.join(host);
    const log = new Proxy(joined.log, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member, target);
        if (member !== question || typeof value !== 'function') return value;
        return async (...asked: unknown[]) => {
          const answer = await value(...asked);
          await delay();
          return answer;
        };
      },
    });
    return { ...joined, log };
  };
  return { join } as unknown as MemoryCluster;
}

describe('clients that come and go at hosts that all write', () => {
  const SEEDS = process.env.ATRIUM_SEED
    ? [Number(process.env.ATRIUM_SEED)]
    : Array.from({ length: 8 }, () => Math.floor(Math.random() * 2 ** 32));

  it.each(SEEDS)(
    '[CLU-003] [CLU-040] miss nothing and see nothing twice, with one number at every host (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const below = (limit: number) => Math.floor(random() * limit);
      const delay = async () => {
        for (let ticks = below(4); ticks > 0; ticks--) await tick();
      };
      const sometimes = (tell: () => void) => {
        if (random() < 0.7) setTimeout(tell, below(5));
      };
      const { cluster, hosts, of } = start(['a', 'b', 'c'], { delay, lookEveryMs: 10 }, sometimes);
      const channels = Array.from({ length: 6 }, (_, index) => `s:${index}`);
      for (const [index, uri] of channels.entries()) await of(index % 3).own(uri);
      const clients = Array.from({ length: 5 }, () => new Client(channels.filter(() => random() < 0.6)));
      let isWriting = true;
      let written = 0;
      const writing = hosts.map(async (host) => {
        const own = channels.filter((uri) => host.owns(uri));
        while (isWriting && written < 900) {
          for (let count = below(3); count > 0 && written < 900; count--)
            host.write(own[below(own.length)] ?? '', `${written++}`);
          await tick();
          if (random() < 0.1) await new Promise((resolve) => setTimeout(resolve, below(6)));
        }
        await host.writer.settled();
      });
      const moving = clients.map(async (client) => {
        for (let moves = 0; moves < 30; moves++) {
          await client.comeTo(of(below(3)));
          for (let ticks = below(12); ticks > 0; ticks--) await tick();
          client.leave();
        }
      });
      await Promise.all(moving);
      isWriting = false;
      await Promise.all(writing);
      for (const client of clients) {
        const host = of(below(3));
        await client.comeTo(host);
        await host.delivery.reached(cluster.log.head);
        expect(client.received).toEqual(await storedIn(cluster, client.channels));
      }
      for (const host of hosts) {
        const numbers = host.seen.map(({ seq }) => seq);
        expect(numbers).toEqual([...new Set(numbers)].sort((x, y) => x - y));
        expect(host.logged).toEqual([]);
        for (const uri of channels) {
          const { committed } = await host.channel(uri);
          expect(committed).toEqual((await storedIn(cluster, [uri])).map(({ text }) => text));
        }
      }
    },
    60_000,
  );
});

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('what a delivery does with one change after the other', () => {
  const URI = 's:other';
  const entry = (seq: number, more: Partial<LogEntry> = {}): LogEntry => ({
    ...{ seq, channel: URI, time: seq * 10, action: JSON.stringify({ type: 'test/said', text: `${seq}` }) },
    ...more,
  });
  const change = (seq: number, entries: readonly LogEntry[] = [], records: readonly ChangedRecord[] = []): Change => ({
    ...{ upTo: { seq, records: seq }, entries, records },
  });

  /** A delivery that shows everything up to 10, and reads what the test gives it. */
  function begun(more: Partial<ConstructorParameters<typeof OrderedDelivery>[0]> = {}) {
    const given: Change[] = [];
    let goOn = () => {};
    let wanted: Wanted | undefined;
    const log = {
      hint: vi.fn(),
      position: vi.fn(async () => ({ seq: 20, records: 0 })),
      openChannel: vi.fn<SharedLog['openChannel']>(async () => undefined),
      async *changes(_: unknown, asked: Wanted, signal: AbortSignal) {
        wanted = asked;
        while (!signal.aborted) {
          asked.channels();
          yield* given.splice(0);
          await new Promise<void>((resolve) => (goOn = resolve));
        }
      },
    };
    const batches: CommittedBatch[] = [];
    const logger = { log: vi.fn() };
    const delivery = new OrderedDelivery({
      ...{ log, from: { seq: 10, records: 0 }, logger, show: (batch) => void batches.push(batch) },
      open: (uri, stored) => new Channel<State>(uri, reduce, (stored?.tail ?? []).map(textOf)) as Channel,
      ...more,
    });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    void delivery.follow(stop.signal);
    const read = async (...changes: Change[]) => {
      await tick();
      given.push(...changes);
      goOn();
      await tick();
    };
    const join = async (uri: string) => {
      const joined = delivery.join(uri) as Promise<Channel<State>>;
      await read();
      return joined;
    };
    const own = new Channel<State>('s:own', reduce, []);
    /** A tick of this host as the log has stored it. */
    const tickOf = (first: number, last: number, afterCommit: (() => void)[] = []): CommittedBatch => {
      const steps = Array.from({ length: last + 1 - first }, (_, entryIndex) => {
        const action = { type: 'test/said', text: `own ${first + entryIndex}` } as unknown as StateAction;
        const step = own.accept(action, undefined, 0);
        own.markStored(step.after);
        const envelope = { channel: own.uri, action, serverSeq: first + entryIndex };
        return { ...step, channel: own as Channel, text: JSON.stringify(action), entry: entryIndex, envelope };
      });
      return { first, last, steps, entries: [], notices: [], afterCommit };
    };
    const shown = () =>
      batches.map(({ first, last, steps }) => [first, last, ...steps.map(({ text }) => textOf({ action: text }))]);
    return { delivery, log, logger, batches, own, read, join, tickOf, shown, wanted: () => wanted };
  }

  it('[CLU-040] asks the log about numbers above what is shown only, and wakes the reader for these', async () => {
    const { delivery, log, read } = begun();
    expect(await delivery.canReach(10)).toBe(true);
    await delivery.reached(10);
    expect([log.position.mock.calls.length, log.hint.mock.calls.length]).toEqual([0, 0]);
    expect(await delivery.canReach(21)).toBe(false);
    expect(log.hint).not.toHaveBeenCalled();
    const reached = vi.fn();
    const both = [delivery.canReach(20).then(reached), delivery.reached(12).then(reached)];
    await tick();
    expect(log.hint).toHaveBeenCalledTimes(2);
    await read(change(11));
    expect(reached).not.toHaveBeenCalled();
    await read(change(12));
    expect(reached.mock.calls).toEqual([[undefined]]);
    await read(change(20));
    await Promise.all(both);
    expect(reached.mock.calls).toEqual([[undefined], [true]]);
  });

  it('[CLU-040] shows a change up to an own tick, then that, then the rest, each with its numbers and once', async () => {
    const { delivery, read, join, tickOf, shown, log, own } = begun();
    await join(URI);
    log.hint.mockClear();
    const called = vi.fn(() => shown().length);
    delivery.storing();
    delivery.stored(tickOf(13, 14, [called]));
    expect([shown(), delivery.shown, own.committed]).toEqual([[], 10, []]);
    expect(log.hint).toHaveBeenCalled();
    await read(
      change(
        17,
        [11, 12, 15, 17].map((seq) => entry(seq)),
      ),
    );
    expect(shown()).toEqual([
      [11, 12, '11', '12'],
      [13, 14, 'own 13', 'own 14'],
      [15, 17, '15', '17'],
    ]);
    expect([delivery.shown, own.committed, called.mock.results]).toEqual([
      17,
      ['own 13', 'own 14'],
      [{ type: 'return', value: 2 }],
    ]);
    log.hint.mockClear();
    await read(change(18, [entry(18)]));
    expect([shown().at(-1), log.hint.mock.calls]).toEqual([[18, 18, '18'], []]);
  });

  it('[CLU-040] shows all own ticks for which a change makes way, one after the other', async () => {
    const { delivery, read, shown, tickOf } = begun();
    delivery.stored(tickOf(12, 12));
    delivery.stored(tickOf(13, 13));
    const reached = vi.fn();
    void delivery.reached(13).then(reached);
    await read(change(11));
    expect([shown(), delivery.shown, reached.mock.calls.length]).toEqual([
      [
        [12, 12, 'own 12'],
        [13, 13, 'own 13'],
      ],
      ...[13, 1],
    ]);
  });

  it('[CLU-040] goes on from a tick without entries, which the log placed below what others wrote meanwhile', async () => {
    const { delivery, read, shown, tickOf } = begun();
    await read(change(15));
    const called = vi.fn();
    delivery.stored(tickOf(13, 12, [called]));
    expect([delivery.shown, called.mock.calls.length, shown()]).toEqual([15, 1, [[13, 12]]]);
  });

  it('[CLU-040] holds what it reads while an own tick is on its way, stored or not', async () => {
    const { delivery, read, join, shown } = begun();
    await join(URI);
    delivery.storing();
    await read(change(11, [entry(11)]));
    expect([shown(), delivery.shown]).toEqual([[], 10]);
    delivery.notStored();
    expect([shown(), delivery.shown]).toEqual([[[11, 11, '11']], 11]);
  });

  it('[CLU-039] tells of changed records with the change that they came with, and of none when there are none', async () => {
    const recordsChanged = vi.fn(() => {
      throw new Error('a listener failed');
    });
    const { delivery, logger, read, tickOf, wanted } = begun({ recordPrefixes: ['r:'], recordsChanged });
    const records = [{ key: 'r:1', value: null }];
    delivery.stored(tickOf(12, 12));
    await read(change(11));
    await read(change(13, [], records));
    expect([recordsChanged.mock.calls, delivery.shown, wanted()?.recordPrefixes]).toEqual([[[records]], 13, ['r:']]);
    expect(logger.log.mock.calls.map(([level]) => level)).toEqual(['error']);
  });

  it('[CLU-039] needs no listener for records', async () => {
    const { logger, read, wanted, delivery } = begun();
    await read(change(13, [], [{ key: 'r:1', value: null }]));
    expect([delivery.shown, logger.log.mock.calls, wanted()?.recordPrefixes]).toEqual([13, [], []]);
  });

  it('[CLU-040] tells whose an action is, and when it was, as the log has it', async () => {
    const { read, join, batches } = begun();
    const replica = await join(URI);
    const origin = { clientId: 'c', epoch: 2, clientSeq: 3 };
    await read(change(12, [entry(11, { origin }), entry(12)]));
    const [mine, other] = batches.flatMap(({ steps }) => steps);
    expect(mine).toMatchObject({ origin, time: 110, before: [], after: ['11'], channel: replica, entry: 0 });
    const action = { type: 'test/said', text: '11' };
    const whose = { clientId: 'c', clientSeq: 3 };
    expect(mine?.envelope).toEqual({ channel: URI, action, serverSeq: 11, origin: whose });
    expect(other?.envelope).not.toHaveProperty('origin');
    expect([replica.committed, replica.live, replica.isSettled]).toEqual([['11', '12'], ['11', '12'], true]);
  });

  it('[CLU-040] has the state of a channel that has nothing stored yet from where the reader is', async () => {
    const { read, join, shown } = begun();
    await read(change(12));
    const replica = await join(URI);
    await read(change(13, [entry(12), entry(13)]));
    expect([replica.committed, shown()]).toEqual([['13'], [[13, 13, '13']]]);
  });

  it('[CLU-040] waits for a state that is newer than what is shown, and takes no entry twice', async () => {
    const { read, delivery, log, shown } = begun();
    const stored = { seq: 13, archive: undefined, turns: [], tail: [entry(11), entry(13)] };
    log.openChannel.mockResolvedValue(stored);
    const joined = vi.fn((channel: Channel) => channel.committed);
    const joining = Promise.all([delivery.join(URI).then(joined), delivery.join(URI).then(joined)]);
    await read();
    await read(change(12, [entry(11)]));
    expect([joined.mock.calls.length, log.openChannel.mock.calls]).toEqual([0, [[URI, 0]]]);
    await read(change(14, [entry(13), entry(14)]));
    await joining;
    expect(joined.mock.results.map(({ value }) => value)).toEqual(Array(2).fill(['11', '13', '14']));
    expect(shown()).toEqual([[13, 14, '14']]);
  });

  it('[CLU-040] refuses a channel that was left while it was loaded, and reads no more of it', async () => {
    const { delivery, read, wanted, shown } = begun();
    const joining = delivery.join(URI);
    const refused = expect(joining).rejects.toThrow(`${URI} is not watched any more`);
    expect(wanted()?.channels()).toEqual([URI]);
    delivery.leave(URI);
    await refused;
    expect(wanted()?.channels()).toEqual([]);
    await read(change(11, [entry(11)]));
    expect([shown(), delivery.shown]).toEqual([[], 11]);
  });

  it('[CLU-040] tries a channel again that could not be loaded', async () => {
    const { delivery, join, log, read, wanted } = begun();
    log.openChannel.mockRejectedValueOnce(new Error('away'));
    const refused = expect(delivery.join(URI)).rejects.toThrow('away');
    await read();
    await refused;
    expect(wanted()?.channels()).toEqual([]);
    expect((await join(URI)).uri).toBe(URI);
    expect([wanted()?.channels(), log.openChannel.mock.calls.length]).toEqual([[URI], 2]);
  });

  it('[CLU-040] goes on watching a channel that was left and is loaded anew, when the first load fails late', async () => {
    const { delivery, log, read, wanted } = begun();
    let fail = (_: Error) => {};
    log.openChannel.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)));
    const first = expect(delivery.join(URI)).rejects.toThrow('away');
    await read();
    delivery.leave(URI);
    const second = delivery.join(URI);
    fail(new Error('away'));
    await first;
    await read();
    expect((await second).uri).toBe(URI);
    expect(wanted()?.channels()).toEqual([URI]);
  });
});
