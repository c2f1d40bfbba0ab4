/** What the host remembers of clients: which wire each spoke, and what it sent under its numbers. */

import { STORE_RETRY_MS } from '../channels/limits.js';
import type { Writer } from '../channels/writer.js';
import { CLIENT_RECORDS, knownKey, windowsKey } from '../log/client-records.js';
import { type ClientFacts, type Log, LogFencedError } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Connection } from './connection.js';
import type { DialectConnection } from './dialects/dialects.js';
import { CLIENT_KEPT_MS, CLIENT_NOTED_EVERY_MS, CLIENTS_KEPT_MAX } from './limits.js';
import { ReceivedActions } from './received-actions.js';

export interface KnownClient {
  readonly dialect: string;
  /** The epoch in which it began with `initialize`. */
  readonly epoch: number;
  readonly locale?: string | undefined;
  /** What its wire remembers of it. */
  readonly connection?: DialectConnection | undefined;
  /** When it was last seen, to the day, in milliseconds since the epoch. */
  readonly since: number;
}

export class Clients {
  readonly received: ReceivedActions;
  /** Clients that are beginning anew: their records are about to change. */
  readonly #beginning = new Map<string, object>();
  /** Clients that came while nothing could be stored. */
  readonly #unstored = new Map<string, KnownClient>();
  /** Who came back since the last purge: the next one leaves them alone, for they may not quite be here yet. */
  readonly #returned = new Set<string>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
    private readonly clock: Clock,
  ) {
    this.received = new ReceivedActions(log, writer);
  }

  async #find(clientId: string): Promise<KnownClient | undefined> {
    const unstored = this.#unstored.get(clientId);
    if (unstored) return unstored;
    const text = await this.log.record(knownKey(clientId));
    return text === undefined ? undefined : JSON.parse(text);
  }

  #note(clientId: string, client: KnownClient): void {
    this.writer.record({ key: knownKey(clientId), value: JSON.stringify(client) });
  }

  /** A fresh start under this id. Its numbers begin anew, so what it used before no longer counts. */
  async begin(clientId: string, greeting: Pick<KnownClient, 'dialect' | 'locale' | 'connection'>): Promise<number> {
    const beginning = {};
    this.#beginning.set(clientId, beginning);
    try {
      const known = await this.#find(clientId);
      const since = this.clock.now();
      // Who is not known may have been here long ago. The time of day is above any epoch that it had.
      const facts = { above: known?.epoch ?? since, known: aroundEpoch({ ...greeting, since }) };
      const { epoch, isStored } = await this.received.begin(clientId, facts);
      if (isStored) this.#unstored.delete(clientId);
      else this.#storeLater(clientId, { ...greeting, epoch, since });
      return epoch;
    } finally {
      if (this.#beginning.get(clientId) === beginning) this.#beginning.delete(clientId);
    }
  }

  /** A client that only reads must be able to connect when nothing can be stored: on a full disk, people look for the reason here. */
  #storeLater(clientId: string, client: KnownClient): void {
    this.#unstored.set(clientId, client);
    if (this.#unstored.size === 1) this.clock.after(STORE_RETRY_MS, () => void this.#storeNow());
  }

  async #storeNow(): Promise<void> {
    const clients = [...this.#unstored];
    for (const [clientId, client] of clients) {
      this.#note(clientId, client);
      this.received.noteEpoch(clientId);
    }
    const isStored = await this.writer.settled().then(
      () => true,
      (error) => error instanceof LogFencedError,
    );
    if (!isStored) return void this.clock.after(STORE_RETRY_MS, () => void this.#storeNow());
    for (const [clientId, client] of clients) {
      if (this.#unstored.get(clientId) === client) this.#unstored.delete(clientId);
    }
    if (this.#unstored.size > 0) return this.#storeNow();
  }

  /** What is known of a client that comes back; undefined when it has to begin anew. */
  async returning(clientId: string): Promise<KnownClient | undefined> {
    this.#returned.add(clientId);
    const known = await this.#find(clientId);
    if (known) this.#refresh(clientId, known);
    else this.#returned.delete(clientId);
    return known;
  }

  #refresh(clientId: string, client: KnownClient): void {
    const now = this.clock.now();
    if (now - client.since > CLIENT_NOTED_EVERY_MS && !this.#beginning.has(clientId))
      this.#note(clientId, { ...client, since: now });
  }

  /** Forgets those who have been away for too long to come back, and the oldest of too many. Those who are here stay. */
  async purge(isHere: (clientId: string) => boolean): Promise<void> {
    const before = this.clock.now() - CLIENT_KEPT_MS;
    const isComing = (clientId: string) => this.#beginning.has(clientId) || this.#returned.has(clientId);
    const known = (await this.log.records(CLIENT_RECORDS))
      .map(({ key, value }) => ({
        clientId: key.slice(CLIENT_RECORDS.length),
        client: JSON.parse(value) as KnownClient,
      }))
      .sort((a, b) => b.client.since - a.client.since);
    const gone: string[] = [];
    for (const [place, { clientId, client }] of known.entries()) {
      const isTooMuch = client.since < before || place >= CLIENTS_KEPT_MAX;
      if (isHere(clientId)) this.#refresh(clientId, client);
      else if (isTooMuch && !isComing(clientId)) gone.push(clientId);
    }
    for (const clientId of gone) {
      await this.received.purge(clientId);
      this.writer.record({ key: knownKey(clientId), value: null });
      this.writer.record({ key: windowsKey(clientId), value: null });
    }
    await this.writer.settled();
    for (const clientId of gone) {
      if (!isHere(clientId) && !isComing(clientId)) await this.log.forgetClient(clientId);
    }
    this.#returned.clear();
  }

  /** Which of these numbers stand for actions that were taken: the client need not send them again. */
  async settled({ identity }: Connection, clientSeqs: readonly number[]): Promise<number[]> {
    if (!identity || clientSeqs.length === 0) return [];
    // What could not be stored is undone, and is sent again because it is not among these.
    await this.writer.settled().catch(() => {});
    return this.received.settled(identity, clientSeqs);
  }

  /** It has been gone for long: everything it asked for is decided. */
  forget(clientId: string): void {
    this.received.forget(clientId);
  }
}

/** What is known of a client as JSON, around the epoch that the log gives it. */
function aroundEpoch(client: Omit<KnownClient, 'epoch'>): ClientFacts['known'] {
  return { before: `${JSON.stringify(client).slice(0, -1)},"epoch":`, after: '}' };
}
