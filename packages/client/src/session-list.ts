/** The live list of sessions: read from the host once per connection, then updated by notifications. */
import { Emitter, type Log } from '@atrium/link';
import type {
  HostNotificationMethod,
  HostNotifications,
  SessionSummary,
  SessionSummaryChanges,
} from '@atrium/protocol/ahp-1';
import type { Peer } from './peer.js';
import { readSessions } from './session-pages.js';
import { latest } from './streams.js';

export class SessionList implements AsyncIterable<readonly SessionSummary[]> {
  #catalogue: Catalogue = new Map();
  #items: readonly SessionSummary[] = [];
  /** Events that arrive while the list is being read; the list may be older than they are. */
  #held: CatalogueEvent[] | undefined;
  #closed = false;
  readonly #changed: Emitter<readonly SessionSummary[]>;
  readonly #onClose: () => void;

  /** Lists are made by `client.sessions`. */
  constructor(log: Log, onClose: () => void) {
    this.#changed = new Emitter(log);
    this.#onClose = onClose;
  }

  get items(): readonly SessionSummary[] {
    return this.#items;
  }

  get(uri: string): SessionSummary | undefined {
    return this.#catalogue.get(uri);
  }

  onChange(listener: (items: readonly SessionSummary[]) => void): () => void {
    return this.#changed.on(listener);
  }

  /** The list now, then whenever it has changed; a slow loop gets the latest and skips those in between. */
  [Symbol.asyncIterator](): AsyncGenerator<readonly SessionSummary[], void, undefined> {
    return latest({
      current: () => this.#items,
      ended: () => this.#closed,
      onChange: (listener) => this.#changed.on(listener),
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#changed.emit(this.#items);
    this.#onClose();
  }

  /** Starts to hold events, because a read is under way. For the client only. */
  expect(): void {
    this.#held = [];
  }

  /**
   * Installs the list that the host sent. Returns whether it has every session that events told of meanwhile. For the
   * client only.
   */
  replace(items: readonly SessionSummary[]): boolean {
    const held = this.#held ?? [];
    this.#held = undefined;
    const catalogue = held.reduce(withEvent, catalogueOf(items));
    this.#set(catalogue);
    const removed = new Set(
      held.flatMap((event) => (event.method === 'root/sessionRemoved' ? event.params.session : [])),
    );
    return held.every((event) => {
      const changed = event.method === 'root/sessionSummaryChanged' ? event.params.session : undefined;
      return changed === undefined || catalogue.has(changed) || removed.has(changed);
    });
  }

  /** Applies a notification about a session. For the client only. */
  apply(event: CatalogueEvent): void {
    this.#held?.push(event);
    const next = withEvent(this.#catalogue, event);
    if (next !== this.#catalogue) this.#set(next);
  }

  #set(catalogue: Catalogue): void {
    this.#catalogue = catalogue;
    this.#items = [...catalogue.values()];
    this.#changed.emit(this.#items);
  }
}

/** The lists that users hold open. */
export class SessionLists {
  readonly #lists = new Set<SessionList>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** A new list, read from the host. */
  async open(peer: Peer, onClose: () => void): Promise<SessionList> {
    const list: SessionList = new SessionList(this.#log, () => {
      this.#lists.delete(list);
      onClose();
    });
    this.#lists.add(list);
    try {
      await this.#read(peer, list);
      return list;
    } catch (error) {
      list.close();
      throw error;
    }
  }

  /** Reads every list again after a reconnect: the host does not repeat notifications. */
  readAll(peer: Peer): void {
    for (const list of this.#lists) {
      this.#read(peer, list).catch((error) => this.#log('reading the list of sessions again failed', error));
    }
  }

  apply(event: CatalogueEvent): void {
    for (const list of this.#lists) list.apply(event);
  }

  closeAll(): void {
    for (const list of [...this.#lists]) list.close();
  }

  /** A session that changes while the pages are read may be on none of them; then the list is read again. */
  async #read(peer: Peer, list: SessionList): Promise<void> {
    for (let reads = 1; reads <= LIST_READS_MAX; reads += 1) {
      list.expect();
      const { items, isOneStep } = await readSessions(peer);
      if (list.replace(items) || isOneStep) return;
    }
  }
}

/** How often the list is read to get a complete one. */
const LIST_READS_MAX = 3;

type Catalogue = ReadonlyMap<string, SessionSummary>;

/** A session was added, removed or changed. */
export type CatalogueEvent =
  | { readonly method: 'root/sessionAdded'; readonly params: HostNotifications['root/sessionAdded'] }
  | { readonly method: 'root/sessionRemoved'; readonly params: HostNotifications['root/sessionRemoved'] }
  | { readonly method: 'root/sessionSummaryChanged'; readonly params: HostNotifications['root/sessionSummaryChanged'] };

export function isCatalogueMethod(method: HostNotificationMethod): method is CatalogueEvent['method'] {
  return method.startsWith('root/session');
}

function catalogueOf(items: readonly SessionSummary[]): Catalogue {
  return new Map(items.map((summary) => [summary.resource, summary]));
}

/** The list after an event; the same object when the event is about a session that is not in it. */
function withEvent(catalogue: Catalogue, { method, params }: CatalogueEvent): Catalogue {
  switch (method) {
    case 'root/sessionAdded':
      return new Map(catalogue).set(params.summary.resource, params.summary);
    case 'root/sessionRemoved':
      return without(catalogue, params.session);
    case 'root/sessionSummaryChanged':
      return withChanges(catalogue, params.session, params.changes);
  }
}

function without(catalogue: Catalogue, session: string): Catalogue {
  if (!catalogue.has(session)) return catalogue;
  const rest = new Map(catalogue);
  rest.delete(session);
  return rest;
}

/** The identity of a session never changes: these members are ignored in a change. */
const IDENTITY: ReadonlySet<string> = new Set(['resource', 'provider', 'createdAt']);
/** Members that every summary has; `null` cannot take them away. */
const REQUIRED: ReadonlySet<string> = new Set(['title', 'status', 'modifiedAt']);

function withChanges(catalogue: Catalogue, session: string, changes: SessionSummaryChanges): Catalogue {
  const summary = catalogue.get(session);
  if (!summary) return catalogue;
  const members = new Map<string, unknown>(Object.entries(summary));
  for (const [key, value] of Object.entries(changes)) {
    if (IDENTITY.has(key)) continue;
    if (value !== null) members.set(key, value);
    else if (!REQUIRED.has(key)) members.delete(key);
  }
  return new Map(catalogue).set(session, Object.fromEntries(members) as SessionSummary);
}
