/**
 * The delivery of a host that shares its log with other hosts. Its own ticks arrive with the numbers that the log gave
 * them; it reads what the other hosts wrote. It shows a number when everything below it has been shown or concerns no
 * channel here.
 *
 * Three rules keep that true. Only a read moves the position: a hint just wakes the reader. While a tick of this host
 * is on its way to the log, its number may turn out to be below those already read, so entries read meanwhile wait for
 * it. And this host starts to watch a channel between two reads, before it loads the channel's state: under load,
 * reading until it had caught up would never end.
 */
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import type { LogEntry, StoredChannel } from '../log/log.js';
import type { Change, ChangedRecord, ChangePosition, SharedLog, Wanted } from '../log/shared-log.js';
import type { Logger } from '../util/logger.js';
import type { Channel } from './channel.js';
import { type Delivery, runSafely } from './delivery.js';
import type { CommittedBatch, CommittedStep } from './writer.js';

export interface OrderedDeliveryOptions {
  readonly log: Pick<SharedLog, 'changes' | 'openChannel' | 'position' | 'hint'>;
  /** Where this host begins: its snapshots include everything up to this position. */
  readonly from: ChangePosition;
  readonly logger: Logger;
  /** Shows a tick to all subscribers. */
  readonly show: (batch: CommittedBatch) => void;
  /** Makes the channel of a replica from its stored state. */
  readonly open: (uri: string, stored: StoredChannel | undefined) => Channel;
  /** Prefixes of the records for which this host wants to hear of changes that other hosts make. */
  readonly recordPrefixes?: readonly string[];
  readonly recordsChanged?: (records: readonly ChangedRecord[]) => void;
}

/** A channel that another host owns, as this host knows it. */
interface Replica {
  /** Entries that are read while its state is loading are held. */
  now: { readonly held: LogEntry[] } | Loaded;
  readonly loading: Promise<Loaded>;
}

interface Loaded {
  readonly channel: Channel;
  /** The state at this number, plus every entry shown since. */
  readonly seq: number;
}

export class OrderedDelivery implements Delivery {
  readonly #options: OrderedDeliveryOptions;
  #shown: number;
  /** How far the reader has come; what it has read may still wait to be shown. */
  #read: ChangePosition;
  /** True while a tick of this host is on its way to the log. */
  #isStoring = false;
  /** Own ticks that are stored but not shown yet, in the order of their numbers. */
  #own: CommittedBatch[] = [];
  /** Changes that are read but not shown yet. */
  #changes: Change[] = [];
  readonly #replicas = new Map<string, Replica>();
  #joining: (() => void)[] = [];
  #reaching: { readonly seq: number; readonly reached: () => void }[] = [];

  constructor(options: OrderedDeliveryOptions) {
    this.#options = options;
    this.#shown = options.from.seq;
    this.#read = options.from;
  }

  get shown(): number {
    return this.#shown;
  }

  /** Reads what other hosts write, until the signal fires. Rejects when the log no longer knows what followed. */
  async follow(signal: AbortSignal): Promise<void> {
    const { log, recordPrefixes = [] } = this.#options;
    const wanted: Wanted = { recordPrefixes, channels: () => this.#watched() };
    for await (const change of log.changes(this.#read, wanted, signal)) {
      this.#read = change.upTo;
      this.#changes.push(change);
      this.#advance();
    }
  }

  /** Wakes the reader: another host may have written something. */
  hint(): void {
    this.#options.log.hint();
  }

  storing(): void {
    this.#isStoring = true;
  }

  notStored(): void {
    this.#isStoring = false;
    this.#advance();
  }

  stored(batch: CommittedBatch): void {
    this.#isStoring = false;
    this.#own.push(batch);
    this.#advance();
  }

  /**
   * Watches a channel of another host, and resolves with its replica once `shown` has reached the replica's number.
   * From then on the replica changes with what is shown.
   */
  async join(uri: string): Promise<Channel> {
    const replica = this.#replicas.get(uri) ?? this.#watch(uri);
    const { channel, seq } = await replica.loading;
    await this.reached(seq);
    if (this.#replicas.get(uri) !== replica) throw new Error(`${uri} is not watched any more`);
    return channel;
  }

  /** Stops watching: no client here needs the replica, or this host now owns the channel. */
  leave(uri: string): void {
    this.#replicas.delete(uri);
  }

  /**
   * Waits until everything up to a number is shown: a client that comes back may have seen more on another host than
   * this one has shown. False for a number above the head of the log, which no client can have seen.
   */
  async canReach(seq: number): Promise<boolean> {
    if (seq <= this.#shown) return true;
    const { seq: head } = await this.#options.log.position();
    if (seq > head) return false;
    await this.reached(seq);
    return true;
  }

  /** Resolves when everything up to a number is shown. */
  reached(seq: number): Promise<void> {
    if (seq <= this.#shown) return Promise.resolve();
    this.hint();
    return new Promise((resolve) => this.#reaching.push({ seq, reached: resolve }));
  }

  /** Called between two reads: from here on the reader gets every entry of these channels. */
  #watched(): string[] {
    const joining = this.#joining;
    this.#joining = [];
    for (const join of joining) join();
    return [...this.#replicas.keys()];
  }

  #nextRead(): Promise<void> {
    const asked = new Promise<void>((resolve) => this.#joining.push(resolve));
    this.hint();
    return asked;
  }

  /** A channel that cannot be loaded is not watched: the next client that needs it tries again. */
  #watch(uri: string): Replica {
    const held: LogEntry[] = [];
    const replica: Replica = { now: { held }, loading: this.#load(uri) };
    this.#replicas.set(uri, replica);
    replica.loading.then(
      (loaded) => {
        replica.now = loaded;
        // The state already has those up to its number.
        for (const entry of held) this.#applied(replica, entry);
      },
      () => this.#replicas.get(uri) === replica && this.leave(uri),
    );
    return replica;
  }

  async #load(uri: string): Promise<Loaded> {
    const { log, open } = this.#options;
    await this.#nextRead();
    const stored = await log.openChannel(uri, 0);
    return { channel: open(uri, stored), seq: stored?.seq ?? this.#read.seq };
  }

  /** Shows what can be shown, in the order of the numbers. */
  #advance(): void {
    while (this.#showOwn() || this.#showRead());
    if (this.#own.length > 0) this.hint();
    const reaching = this.#reaching;
    this.#reaching = [];
    for (const wait of reaching) {
      if (wait.seq <= this.#shown) wait.reached();
      else this.#reaching.push(wait);
    }
  }

  /** Shows the next tick of this host, if nothing below it is missing. */
  #showOwn(): boolean {
    const [batch] = this.#own;
    if (!batch || batch.first > this.#shown + 1) return false;
    this.#own.shift();
    for (const { channel, after } of batch.steps) channel.markShown(after);
    this.#show(batch, batch.last);
    return true;
  }

  /** Shows what was read, up to the next tick of this host. */
  #showRead(): boolean {
    const [change] = this.#changes;
    if (!change || this.#isStoring) return false;
    const { first: below = Number.POSITIVE_INFINITY } = this.#own[0] ?? {};
    const upTo = Math.min(change.upTo.seq, below - 1);
    const entries = change.entries.filter(({ seq }) => seq > this.#shown && seq <= upTo);
    const steps = entries.flatMap((entry) => this.#taken(entry) ?? []);
    if (upTo === change.upTo.seq) {
      this.#changes.shift();
      this.#tellRecords(change);
    }
    const batch = { first: this.#shown + 1, last: upTo, steps, entries, notices: [], afterCommit: [] };
    if (steps.length > 0) this.#show(batch, upTo);
    else this.#shown = Math.max(this.#shown, upTo);
    return true;
  }

  #tellRecords({ records }: Change): void {
    const { logger, recordsChanged } = this.#options;
    if (records.length > 0) runSafely(logger, () => recordsChanged?.(records));
  }

  #taken(entry: LogEntry): CommittedStep | undefined {
    const replica = this.#replicas.get(entry.channel);
    return replica && this.#applied(replica, entry);
  }

  /** Applies an action of another host to its replica; undefined when the state has it already, or is still loading. */
  #applied({ now }: Replica, entry: LogEntry): CommittedStep | undefined {
    const { seq, channel: uri, action: text, origin, time } = entry;
    if ('held' in now) {
      now.held.push(entry);
      return undefined;
    }
    if (seq <= now.seq) return undefined;
    const { channel } = now;
    const action: StateAction = JSON.parse(text);
    const step = channel.accept(action, origin, time);
    channel.markStored(step.after);
    channel.markShown(step.after);
    const whose = origin && { origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } };
    const envelope: ActionEnvelope = { channel: uri, action, serverSeq: seq, ...whose };
    return { ...step, channel, text, entry: 0, envelope };
  }

  #show(batch: CommittedBatch, shown: number): void {
    const { logger, show } = this.#options;
    this.#shown = Math.max(this.#shown, shown);
    runSafely(logger, () => show(batch));
    for (const callback of batch.afterCommit) runSafely(logger, callback);
  }
}
