/** What the host remembers of each client: the dialect that it spoke, and what it sent under its numbers. */

import { ErrorCode } from '@atrium/protocol/ahp-1';
import { STORE_RETRY_MS } from '../channels/limits.js';
import type { Writer } from '../channels/writer.js';
import type { Credential } from '../contracts/access.js';
import { RequestError } from '../contracts/request-error.js';
import { CLIENT_RECORDS, knownKey, windowsKey } from '../log/client-records.js';
import { type ClientFacts, jsonText, type Log, LogFencedError } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Connection } from './connection.js';
import type { DialectConnection } from './dialects/dialects.js';
import { CLIENT_KEPT_MS, CLIENT_NOTED_EVERY_MS, CLIENTS_KEPT_MAX } from './limits.js';
import { ReceivedActions } from './received-actions.js';

export interface KnownClient {
  readonly dialect: string;
  /** The epoch that began with its last `initialize`. */
  readonly epoch: number;
  readonly locale?: string | undefined;
  /** What the dialect remembers of the connection. */
  readonly connection?: DialectConnection | undefined;
  /** When the client was last seen, in milliseconds since the epoch, accurate to a day. */
  readonly since: number;
  /** The device or share that owns the client id; absent when the owner's connection token does. */
  readonly credential?: string | undefined;
  /** What it was allowed to see and do when it began, as an `accessKey`; absent when that was everything. */
  readonly access?: string | undefined;
}

/** What a client says in `initialize`. */
type Greeting = Pick<KnownClient, 'dialect' | 'locale' | 'connection' | 'access'>;

/** True when a device or a share has been gone for so long that others may use its client ids. */
export type IsCredentialGone = (id: string) => boolean;

export class Clients {
  readonly received: ReceivedActions;
  /** Clients that are starting over: their records are about to change. */
  readonly #beginning = new Map<string, object>();
  /** Clients that came while nothing could be stored. */
  readonly #unstored = new Map<string, KnownClient>();
  /**
   * Clients that came back since the last purge. The next purge leaves them alone: their handshake may still be under
   * way.
   */
  readonly #returned = new Set<string>();
  /**
   * The owners of the client ids that are starting over. When two credentials claim an id at once, the first one wins.
   */
  readonly #claims = new Map<string, { readonly owner: string | undefined; count: number }>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
    private readonly clock: Clock,
    private readonly isGone: IsCredentialGone,
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
    this.writer.record({ key: knownKey(clientId), value: jsonText(client) });
  }

  /** Starts a client over. Its numbers begin again, so what it sent before no longer counts. */
  async begin(clientId: string, greeting: Greeting, by?: Credential): Promise<number> {
    const beginning = {};
    this.#beginning.set(clientId, beginning);
    let release = (): void => {};
    try {
      const known = await this.#find(clientId);
      const credential = nameSpaceOf(by);
      release = this.#claim(clientId, known, credential);
      const since = this.clock.now();
      const updated = { ...greeting, since, ...(credential !== undefined && { credential }) };
      // A client without a record may have been here long ago. The current time is above any epoch that it had.
      const facts = { above: known?.epoch ?? since, known: aroundEpoch(updated) };
      const { epoch, isStored } = await this.received.begin(clientId, facts);
      if (isStored) this.#unstored.delete(clientId);
      else this.#storeLater(clientId, { ...updated, epoch });
      return epoch;
    } finally {
      release();
      if (this.#beginning.get(clientId) === beginning) this.#beginning.delete(clientId);
    }
  }

  /**
   * Claims an id for the credential that used it first. Throws for any other credential, also when both come at the
   * same time.
   */
  #claim(clientId: string, known: KnownClient | undefined, owner: string | undefined): () => void {
    const claim = this.#claims.get(clientId);
    if (claim ? claim.owner !== owner : known && known.credential !== owner && !this.#isFree(known))
      throw idInUseError();
    const held = claim ?? { owner, count: 0 };
    held.count += 1;
    this.#claims.set(clientId, held);
    return () => {
      held.count -= 1;
      if (held.count === 0) this.#claims.delete(clientId);
    };
  }

  #isFree({ credential }: KnownClient): boolean {
    return credential !== undefined && this.isGone(credential);
  }

  /** Frees an id for the next client that uses it. False when no client had it. */
  async release(clientId: string): Promise<boolean> {
    const known = await this.#find(clientId);
    if (!known || this.#claims.has(clientId)) return false;
    this.#unstored.delete(clientId);
    await this.received.purge(clientId);
    this.writer.record({ key: knownKey(clientId), value: null });
    this.writer.record({ key: windowsKey(clientId), value: null });
    await this.writer.settled();
    return true;
  }

  /**
   * Stores a client when that is possible again. Until then it stays connected, because a client that only reads needs
   * no storing: on a full disk, people look here for the reason.
   */
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

  /**
   * What is known of a client that comes back; undefined when it has to start over. Throws when the id belongs to
   * another credential. No other client can resume an id whose credential is gone; it starts over.
   */
  async returning(clientId: string, by?: Credential): Promise<KnownClient | undefined> {
    this.#returned.add(clientId);
    const found = await this.#find(clientId);
    const isOwn = found?.credential === nameSpaceOf(by);
    if (found && !isOwn && !this.#isFree(found)) {
      this.#returned.delete(clientId);
      throw idInUseError();
    }
    const known = isOwn ? found : undefined;
    if (known) this.#refresh(clientId, known);
    else this.#returned.delete(clientId);
    return known;
  }

  #refresh(clientId: string, client: KnownClient): void {
    const now = this.clock.now();
    if (now - client.since > CLIENT_NOTED_EVERY_MS && !this.#beginning.has(clientId))
      this.#note(clientId, { ...client, since: now });
  }

  /** Forgets clients that were away for too long, and the oldest ones above the limit. Connected clients stay. */
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

  /** Which of these numbers the host has already accepted: the client need not send them again. */
  async settled({ identity }: Connection, clientSeqs: readonly number[]): Promise<number[]> {
    if (!identity || clientSeqs.length === 0) return [];
    // A tick that cannot be stored is undone; its numbers are then missing here, and the client sends them again.
    await this.writer.settled().catch(() => {});
    return this.received.settled(identity, clientSeqs);
  }

  /** Frees memory for a client that has been gone for long: nothing it asked for is still undecided. */
  forget(clientId: string): void {
    this.received.forget(clientId);
  }
}

/** All clients with the connection token share one name space. */
function nameSpaceOf(by: Credential | undefined): string | undefined {
  return by === undefined || by.kind === 'connection' ? undefined : by.id;
}

function idInUseError(): RequestError {
  const message = 'this client id belongs to another device: send initialize with an id of your own';
  return new RequestError(ErrorCode.PermissionDenied, message);
}

/** A client's record as JSON, in two parts around the epoch, which the log fills in. */
function aroundEpoch(client: Omit<KnownClient, 'epoch'>): ClientFacts['known'] {
  return { before: `${JSON.stringify(client).slice(0, -1)},"epoch":`, after: '}' };
}
