/** An actor that speaks the protocol by itself, over a WebSocket. */
import { CloseCode } from '@atrium/core/wire/transport.js';
import { ErrorCode } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { WebSocket } from 'ws';
import type { Actor } from './crash-actor.js';
import { CRASH_WORK_FOLDER } from './crash-script.js';
import { FuzzClient } from './fuzz-client.js';
import { type Intent, type Seen, said, seenBy } from './fuzz-speech.js';

const RETRY_MS = 20;

export class PlainActor implements Actor {
  protected readonly client: FuzzClient;
  protected readonly watched = new Set<string>();
  #socket: WebSocket | undefined;
  /** How the last connection ended. */
  lastClose = 'none';
  /** Why a host that goes on has sent it away: for a snapshot, which a client asks for at once. */
  readonly sentAway: string[] = [];

  readonly #token: string | undefined;

  constructor(clientId: string, protocolVersions: readonly string[], token?: string) {
    this.client = new FuzzClient(clientId, protocolVersions);
    this.#token = token;
  }

  get clientId() {
    return this.client.clientId;
  }
  get version() {
    return this.client.version;
  }
  get received() {
    return this.client.received;
  }
  get dispatched() {
    return this.client.dispatched;
  }
  get violations() {
    return this.client.violations;
  }
  get probes() {
    return this.client.probes;
  }
  get isOpen() {
    return this.client.isOpen;
  }
  get undecided() {
    return this.client.pending.size;
  }
  get sessions(): [uri: string, seen: Seen][] {
    return this.client.watched.flatMap((uri): [string, Seen][] => {
      const seen = seenBy(this.client, uri);
      return seen ? [[uri, seen]] : [];
    });
  }

  /** Without a connection, and not about to get one. */
  get isAway(): boolean {
    return this.#socket === undefined || this.#socket.readyState === WebSocket.CLOSED;
  }

  /** Loses its connection. */
  cut(): void {
    this.#socket?.terminate();
  }

  enter(port: number): void {
    const headers = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, headers }).setMaxListeners(0);
    this.#socket = socket;
    socket.on('open', () => {
      this.client.attach((text) => socket.send(text));
      for (const uri of this.watched) if (!this.client.channels.has(uri)) this.create(uri);
    });
    socket.on('message', (data) => this.client.receive(data.toString()));
    // The end of an earlier connection may be noticed late.
    socket.on('close', (code, reason) => {
      if (socket !== this.#socket) return;
      this.lastClose = `${code} ${reason}`;
      this.client.detach();
      if (code !== CloseCode.SnapshotNeeded) return;
      this.sentAway.push(String(reason));
      this.enter(port);
    });
    socket.on('error', () => {});
  }

  ask(uri: string, intent: Intent): void {
    const { channel, action } = said(this.client, uri, intent);
    this.client.dispatch(channel, action);
  }

  watch(uri: string): void {
    this.watched.add(uri);
    if (this.isOpen) this.create(uri);
  }

  protected create(uri: string): void {
    const { hasChats } = this.client;
    const folder = hasChats ? { workingDirectories: [CRASH_WORK_FOLDER] } : { workingDirectory: CRASH_WORK_FOLDER };
    this.client.request('createSession', { channel: uri, ...folder }, () => {
      this.subscribe(uri);
      if (hasChats) this.subscribe(defaultChatUri(uri));
    });
  }

  /** While the other one's creation is under way, the name is taken and the session is not there yet. */
  protected subscribe(uri: string): void {
    this.client.subscribe(uri, ({ error }) => {
      if (error?.code !== ErrorCode.SessionNotFound) return;
      setTimeout(() => this.isOpen && this.watched.has(uri) && this.subscribe(uri), RETRY_MS);
    });
  }

  leave(uri: string): void {
    this.watched.delete(uri);
    this.client.unsubscribe(uri);
    if (this.client.hasChats) this.client.unsubscribe(defaultChatUri(uri));
  }

  async probe(): Promise<void> {
    await Promise.all([...this.client.channels.keys()].map((uri) => this.#probeOne(uri)));
  }

  /** Has an answer, or will have none. */
  #probeOne(uri: string): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      socket?.once('close', resolve);
      this.client.probe(uri, () => {
        socket?.off('close', resolve);
        resolve();
      });
    });
  }

  close(): void {
    this.#socket?.terminate();
  }
}
