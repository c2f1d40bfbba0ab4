/**
 * Remembers from which turn on each client has the chats that it loaded in part. What the host sends later builds on
 * those turns, so it must still know them when a client comes back, also after a restart. Each entry records the number
 * under which the client was told; entries that the client has not seen are ignored. Assuming fewer turns than a client
 * has does no harm, because getting a turn twice changes nothing.
 */
import type { Writer } from '../channels/writer.js';
import { windowsKey } from '../log/client-records.js';
import { jsonText, type Log } from '../log/log.js';
import { WINDOW_STEPS_MAX, WINDOWED_CHATS_MAX } from './limits.js';

/** A client, and the epoch that began with its `initialize`. */
export interface WindowOwner {
  readonly clientId: string;
  readonly start: number;
}

interface Loaded {
  /** Index of the first turn that it has. */
  readonly from: number;
  /** The number under which the client was told; undefined until it is assigned. */
  readonly seq: number | undefined;
}

interface ClientWindows {
  readonly epoch: number;
  /** Entries by chat, oldest first; chats in the order of their first entries. */
  readonly chats: Map<string, readonly Loaded[]>;
  /** True when entries of some chats were dropped, to stay within the limit. */
  isCut: boolean;
}

/** The stored form: each entry is an index and a number. */
interface StoredWindows {
  readonly epoch: number;
  readonly chats: Readonly<Record<string, readonly (readonly [from: number, seq: number])[]>>;
  readonly isCut?: true;
}

export interface TurnWindowsOptions {
  readonly log: Pick<Log, 'record'>;
  readonly writer: Pick<Writer, 'record'>;
}

export class LoadedTurns {
  readonly #clients = new Map<string, ClientWindows>();

  constructor(private readonly options: TurnWindowsOptions) {}

  /** The first turn of a chat that a client has; 0 when it has all. */
  of(owner: WindowOwner | undefined, chat: string): number {
    return (owner && this.#known(owner)?.chats.get(chat)?.at(-1)?.from) ?? 0;
  }

  /**
   * Records that a client has a chat from a turn on. If the number is not known yet, pass it to the returned function
   * later.
   */
  note(owner: WindowOwner, chat: string, from: number, seq?: number): (seq: number) => void {
    const windows: ClientWindows = this.#known(owner) ?? { epoch: owner.start, chats: new Map(), isCut: false };
    // Nothing to record: nearly all clients have everything.
    if (from === 0 && !windows.chats.has(chat)) return () => {};
    this.#clients.set(owner.clientId, windows);
    const loaded: Loaded = { from, seq };
    windows.chats.set(chat, withinLimit([...(windows.chats.get(chat) ?? []), loaded]));
    this.#boundChats(windows);
    if (seq !== undefined) this.#store(owner.clientId, windows);
    return (number) => {
      const entries = windows.chats
        .get(chat)
        ?.map((entry): Loaded => (entry === loaded ? { from, seq: number } : entry));
      if (!entries) return;
      windows.chats.set(chat, entries);
      // Do not store: the client has started over meanwhile, and its record is about the new start.
      if ((this.#clients.get(owner.clientId) ?? windows) !== windows) return;
      this.#store(owner.clientId, windows);
    };
  }

  /** Records a cut of all turns: every client now has all turns there are. */
  cleared(chat: string, seq: number): void {
    for (const [clientId, { epoch, chats }] of this.#clients)
      if (chats.has(chat)) this.note({ clientId, start: epoch }, chat, 0, seq);
  }

  /**
   * Restores the windows of a client that comes back and has seen everything up to a number. False when it is not known
   * what the client has of one of the chats.
   */
  async returned(owner: WindowOwner, seen: number, chats: readonly string[]): Promise<boolean> {
    const windows = this.#known(owner) ?? (await this.#stored(owner));
    if (!windows) return true;
    const isKnown = !windows.isCut || chats.every((chat) => windows.chats.has(chat));
    const wanted = new Set(chats);
    for (const [chat, entries] of windows.chats) {
      const from = asOf(entries, seen);
      if (from > 0 && wanted.has(chat)) windows.chats.set(chat, [{ from, seq: seen }]);
      else windows.chats.delete(chat);
    }
    // The client gets snapshots of all its channels.
    if (!isKnown) windows.isCut = false;
    if (windows.chats.size === 0 && !windows.isCut) this.#clients.delete(owner.clientId);
    else this.#clients.set(owner.clientId, windows);
    this.#store(owner.clientId, windows);
    return isKnown;
  }

  /** Frees memory for a client that is away; its record stays stored. */
  forget(clientId: string): void {
    this.#clients.delete(clientId);
  }

  #known({ clientId, start }: WindowOwner): ClientWindows | undefined {
    const windows = this.#clients.get(clientId);
    return windows?.epoch === start ? windows : undefined;
  }

  async #stored({ clientId, start }: WindowOwner): Promise<ClientWindows | undefined> {
    const text = await this.options.log.record(windowsKey(clientId));
    const stored = text === undefined ? undefined : (JSON.parse(text) as StoredWindows);
    if (stored?.epoch !== start) return undefined;
    const chats = Object.entries(stored.chats).map(
      ([chat, entries]) => [chat, entries.map(([from, seq]) => ({ from, seq }))] as const,
    );
    return { epoch: start, chats: new Map(chats), isCut: stored.isCut === true };
  }

  #boundChats(windows: ClientWindows): void {
    for (const chat of windows.chats.keys()) {
      if (windows.chats.size <= WINDOWED_CHATS_MAX) return;
      windows.chats.delete(chat);
      windows.isCut = true;
    }
  }

  #store(clientId: string, { epoch, chats, isCut }: ClientWindows): void {
    const numbered = [...chats].map(([chat, entries]) => [
      chat,
      entries.flatMap(({ from, seq }) => (seq === undefined ? [] : [[from, seq]])),
    ]);
    const stored = { epoch, chats: Object.fromEntries(numbered), ...(isCut && { isCut }) };
    const value = chats.size === 0 && !isCut ? null : jsonText(stored);
    this.options.writer.record({ key: windowsKey(clientId), value });
  }
}

/**
 * The turns that a client certainly has if it has seen everything up to a number. It may or may not have got later
 * entries.
 */
function asOf(entries: readonly Loaded[], seen: number): number {
  const last = entries.findLastIndex(({ seq }) => seq !== undefined && seq <= seen);
  return Math.max(...entries.slice(Math.max(0, last)).map(({ from }) => from));
}

/** Merges the two oldest entries into one that claims no more than either. */
function withinLimit(entries: readonly Loaded[]): readonly Loaded[] {
  const [oldest, next, ...rest] = entries;
  if (!oldest || !next || entries.length <= WINDOW_STEPS_MAX) return entries;
  return [{ from: Math.max(oldest.from, next.from), seq: next.seq }, ...rest];
}
