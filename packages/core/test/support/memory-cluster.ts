/** A log that several hosts of one process write to, with the contract of the one in an engine. */
import { type Commit, LogFencedError, LogNotOwnerError, type LogRecord, type Stored } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Change, ChangePosition, HostTerm, SharedCommit, SharedLog, Wanted } from '../../src/log/shared-log.js';

export interface MemoryClusterOptions {
  /** How long a commit is on its way to the log, its answer on its way back, and what is read on its way to a host. */
  readonly delay?: () => Promise<void>;
  readonly lookEveryMs?: number;
}

interface Reading {
  readonly hints: Hints;
  readonly signal: AbortSignal;
}

/** A hint that comes while something is read is not lost: then it is read once more. */
class Hints {
  readonly waiting = new Set<() => void>();
  count = 0;

  tell(): void {
    this.count++;
    for (const look of [...this.waiting]) look();
  }
}

export class MemoryCluster {
  readonly log = new MemoryLog();
  readonly #delay: () => Promise<void>;
  readonly #lookEveryMs: number;
  readonly #terms = new Map<string, number>();
  readonly #alive = new Set<string>();
  readonly #owners = new Map<string, HostTerm>();
  readonly #changed = new Map<string, number>();
  #changes = 0;

  constructor({ delay = async () => {}, lookEveryMs = 20 }: MemoryClusterOptions = {}) {
    this.#delay = delay;
    this.#lookEveryMs = lookEveryMs;
  }

  join(host: string): { readonly log: SharedLog; readonly term: number } {
    const term = (this.#terms.get(host) ?? 0) + 1;
    this.bury(host);
    this.#terms.set(host, term);
    this.#alive.add(host);
    return { log: this.#seenBy({ host, term }), term };
  }

  bury(host: string): void {
    this.#alive.delete(host);
    for (const [channel, owner] of this.#owners) if (owner.host === host) this.#owners.delete(channel);
  }

  #seenBy(me: HostTerm): SharedLog {
    const hints = new Hints();
    const closed = new AbortController();
    const own = {
      append: async (commit: SharedCommit) => {
        await this.#delay();
        const stored = await this.#append(me, commit);
        await this.#delay();
        return stored;
      },
      forget: async (channel: string) => {
        this.#check(me, [channel]);
        await this.log.forget(channel);
      },
      claim: async (channels: readonly string[]) => this.#claim(me, channels),
      release: async (channels: readonly string[]) => {
        for (const channel of channels) if (this.#isOwn(me, channel)) this.#owners.delete(channel);
      },
      position: async () => this.#position(),
      openChannel: async (channel: string, turns: number) => {
        await this.#delay();
        const stored = await this.log.openChannel(channel, turns);
        await this.#delay();
        return stored;
      },
      changes: (after: ChangePosition, wanted: Wanted, signal: AbortSignal) =>
        this.#read(after, wanted, { hints, signal: AbortSignal.any([signal, closed.signal]) }),
      hint: () => {
        hints.tell();
      },
      close: async () => closed.abort(),
    };
    return new Proxy(this.log, {
      get(target, member) {
        if (Object.hasOwn(own, member)) return own[member as keyof typeof own];
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as unknown as SharedLog;
  }

  /** One step, as it is in an engine under its lock: the log in memory stores without waiting. */
  #append(me: HostTerm, { owners = [], ...commit }: SharedCommit): Promise<Stored> {
    this.#checkAlive(me);
    for (const { channel, to } of owners) {
      if (to && isSame(to, me) && !this.#owners.has(channel)) this.#owners.set(channel, me);
    }
    this.#check(
      me,
      [...commit.entries, ...(commit.archives ?? []), ...owners].map(({ channel }) => channel),
    );
    const stored = this.log.append(commit as Commit);
    for (const record of commit.records ?? []) this.#noteChange(record);
    for (const { channel, to } of owners) this.#hand(channel, to);
    return stored;
  }

  #claim(me: HostTerm, channels: readonly string[]) {
    this.#checkAlive(me);
    const owners = channels.flatMap((channel) => {
      const owner = this.#owners.get(channel);
      return owner && !isSame(owner, me) ? { channel, ...owner } : [];
    });
    if (owners.length > 0) return { isMine: false, owners };
    for (const channel of channels) this.#owners.set(channel, me);
    return { isMine: true };
  }

  #hand(channel: string, to: HostTerm | null): void {
    const isThere = to !== null && this.#alive.has(to.host) && this.#terms.get(to.host) === to.term;
    if (isThere) this.#owners.set(channel, to);
    else this.#owners.delete(channel);
  }

  /** Keeps the order of the changes. What was never there cannot be removed. */
  #noteChange({ key, value }: LogRecord): void {
    if (value === null && !this.#changed.has(key)) return;
    this.#changed.delete(key);
    this.#changed.set(key, ++this.#changes);
  }

  #isOwn(me: HostTerm, channel: string): boolean {
    const owner = this.#owners.get(channel);
    return owner !== undefined && isSame(owner, me);
  }

  #checkAlive({ host, term }: HostTerm): void {
    if (!this.#alive.has(host) || this.#terms.get(host) !== term)
      throw new LogFencedError(`${host} (term ${term}) was declared dead`);
  }

  #check(me: HostTerm, channels: readonly string[]): void {
    this.#checkAlive(me);
    const foreign = [...new Set(channels)].filter((channel) => channel !== '' && !this.#isOwn(me, channel));
    if (foreign.length > 0) throw new LogNotOwnerError(foreign.sort());
  }

  #position(): ChangePosition {
    return { seq: this.log.head, records: this.#changes };
  }

  async *#read(after: ChangePosition, wanted: Wanted, { hints, signal }: Reading): AsyncGenerator<Change> {
    for (let position = after; !signal.aborted; ) {
      const told = hints.count;
      const change = await this.#since(position, wanted);
      await this.#delay();
      if (signal.aborted) return;
      const isFurther = change.upTo.seq > position.seq || change.upTo.records > position.records;
      position = change.upTo;
      if (isFurther) yield change;
      else if (told === hints.count) await this.#pause({ hints, signal });
    }
  }

  /** What is read at once: nothing is stored between the position, the entries and the records. */
  async #since(position: ChangePosition, { channels, recordPrefixes }: Wanted): Promise<Change> {
    const names = new Set(channels());
    // What is asked for is on its way, as in an engine: what is stored meanwhile is read as well.
    await this.#delay();
    const upTo = this.#position();
    const changed = [...this.#changed].filter(([, number]) => number > position.records).map(([key]) => key);
    const [entries, records] = await Promise.all([this.log.read({ after: position.seq }), this.log.records('')]);
    const values = new Map(records.map(({ key, value }) => [key, value]));
    return {
      upTo,
      entries: entries.filter(({ seq, channel }) => seq <= upTo.seq && names.has(channel)),
      records: changed
        .filter((key) => recordPrefixes.some((prefix) => key.startsWith(prefix)))
        .map((key) => ({ key, value: values.get(key) ?? null })),
    };
  }

  #pause({ hints, signal }: Reading): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        hints.waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, this.#lookEveryMs);
      hints.waiting.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

function isSame(one: HostTerm, other: HostTerm): boolean {
  return one.host === other.host && one.term === other.term;
}
