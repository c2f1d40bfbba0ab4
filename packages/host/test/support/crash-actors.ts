/** Those who work with a host that is killed again and again: one with our client library, one without. */
import { type Client, connect, type Subscription, webSocketTransport } from '@atrium/client';
import type { ActionEnvelope, SessionState, Snapshot, StateAction } from '@atrium/protocol';
import { WebSocket } from 'ws';
import { type Answer, type Dispatched, FuzzClient, ROOT } from './fuzz-client.js';
import { difference, withoutTimes } from './fuzz-difference.js';

export interface Actor {
  readonly clientId: string;
  readonly received: readonly ActionEnvelope[];
  readonly dispatched: readonly Dispatched[];
  readonly violations: readonly string[];
  /** Comparisons of a mirror with a fresh snapshot so far. */
  readonly probes: number;
  readonly isOpen: boolean;
  /** Actions that the host has not decided yet, as far as is known. */
  readonly undecided: number;
  /** The confirmed states of the sessions it watches. */
  readonly sessions: readonly [uri: string, state: SessionState][];
  /** A host is there. */
  enter(port: number): void;
  dispatch(uri: string, action: StateAction): void;
  /** Creates a session, if it is not there yet, and watches it. */
  watch(uri: string): void;
  leave(uri: string): void;
  /** Compares all mirrors with fresh snapshots. */
  probe(): Promise<void>;
  close(): void;
}

/** Speaks the protocol by itself. */
export class PlainActor implements Actor {
  readonly #client: FuzzClient;
  readonly #watched = new Set<string>();
  #socket: WebSocket | undefined;

  constructor(clientId: string, protocolVersions: readonly string[]) {
    this.#client = new FuzzClient(clientId, protocolVersions);
  }

  get clientId() {
    return this.#client.clientId;
  }
  get received() {
    return this.#client.received;
  }
  get dispatched() {
    return this.#client.dispatched;
  }
  get violations() {
    return this.#client.violations;
  }
  get probes() {
    return this.#client.probes;
  }
  get isOpen() {
    return this.#client.isOpen;
  }
  get undecided() {
    return this.#client.pending.size;
  }
  get sessions() {
    return this.#client.sessions;
  }

  enter(port: number): void {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    this.#socket = socket;
    socket.on('open', () => {
      this.#client.attach((text) => socket.send(text));
      for (const uri of this.#watched) if (!this.#client.channels.has(uri)) this.#create(uri);
    });
    socket.on('message', (data) => this.#client.receive(data.toString()));
    socket.on('close', () => this.#client.detach());
    socket.on('error', () => {});
  }

  dispatch(uri: string, action: StateAction): void {
    this.#client.dispatch(uri, action);
  }

  watch(uri: string): void {
    this.#watched.add(uri);
    if (this.isOpen) this.#create(uri);
  }

  #create(uri: string): void {
    this.#client.request('createSession', { channel: uri }, () => this.#client.subscribe(uri));
  }

  leave(uri: string): void {
    this.#watched.delete(uri);
    this.#client.unsubscribe(uri);
  }

  async probe(): Promise<void> {
    await Promise.all([...this.#client.channels.keys()].map((uri) => this.#probeOne(uri)));
  }

  #probeOne(uri: string): Promise<void> {
    return new Promise((resolve) => this.#client.probe(uri, resolve));
  }

  close(): void {
    this.#socket?.terminate();
  }
}

/** Closed until there is a host behind it. */
class Door {
  open: (port: number) => void = () => {};
  readonly opened = new Promise<number>((resolve) => {
    this.open = resolve;
  });
}

interface ActorFrame extends Answer {
  readonly method?: string;
  readonly params?: unknown;
}

/** Uses the client library, and looks over its shoulder. */
export class LibraryActor implements Actor {
  readonly received: ActionEnvelope[] = [];
  readonly dispatched: Dispatched[] = [];
  readonly violations: string[] = [];
  probes = 0;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #shown = new Set<number>();
  #client: Client | undefined;
  #door = new Door();

  constructor(readonly clientId: string) {}

  async connect(): Promise<void> {
    this.#client = await connect({
      clientId: this.clientId,
      transport: () => this.#dial(),
      initialSubscriptions: [ROOT],
      log: () => {},
    });
    this.#client.onStatus(({ at }) => {
      if (at === 'waiting') queueMicrotask(() => this.#client?.reconnectNow());
    });
  }

  get isOpen(): boolean {
    return this.#client?.status.at === 'open';
  }

  get undecided(): number {
    return [...this.#subscriptions.values()].reduce((sum, { pending }) => sum + pending.length, 0);
  }

  get sessions(): [uri: string, state: SessionState][] {
    return [...this.#subscriptions].map(([uri, { confirmed }]) => [uri, confirmed]);
  }

  enter(port: number): void {
    this.#door.open(port);
  }

  /** Waits until there is a host, and watches everything that it says. */
  async #dial() {
    const port = await this.#door.opened;
    this.#door = new Door();
    const transport = await webSocketTransport({ url: `ws://127.0.0.1:${port}` })();
    return {
      ...transport,
      onMessage: (listener: (text: string) => void) =>
        transport.onMessage((text) => {
          listener(text);
          this.#overhear(JSON.parse(text));
        }),
    };
  }

  #overhear({ method, params, result }: ActorFrame): void {
    if (method === 'action') this.#note(params as ActionEnvelope);
    for (const envelope of (result?.actions ?? []) as ActionEnvelope[]) this.#note(envelope);
    const snapshots = (result?.snapshots ?? (result?.snapshot ? [result.snapshot] : [])) as Snapshot[];
    for (const snapshot of snapshots) this.#compare(snapshot);
  }

  #note(envelope: ActionEnvelope): void {
    const { serverSeq, rejectionReason } = envelope;
    this.received.push(envelope);
    if (rejectionReason !== undefined) return;
    if (this.#shown.has(serverSeq)) this.violations.push(`${this.clientId}: was told ${serverSeq} twice`);
    this.#shown.add(serverSeq);
  }

  #compare({ resource, state }: Snapshot): void {
    const subscription = this.#subscriptions.get(resource);
    if (!subscription) return;
    this.probes += 1;
    const found = difference(withoutTimes(subscription.confirmed), withoutTimes(state));
    if (found) this.violations.push(`${this.clientId}: the mirror of ${resource} is not what the host has: ${found}`);
  }

  dispatch(uri: string, action: StateAction): void {
    const subscription = this.#subscriptions.get(uri);
    if (!subscription) return;
    this.dispatched.push({ channel: uri, action });
    void subscription.dispatch(action as Parameters<Subscription['dispatch']>[0]);
  }

  watch(uri: string): void {
    void this.#watch(uri);
  }

  /** A request fails with its connection; whether the session was created then is found out by asking again. */
  async #watch(uri: string): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      try {
        await this.#client?.createSession({ channel: uri });
        break;
      } catch (error) {
        if ((error as { code?: number }).code !== undefined) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    const subscription = await this.#client?.subscribe(uri as `ahp-session:/${string}`);
    if (subscription) this.#subscriptions.set(uri, subscription as Subscription);
  }

  leave(uri: string): void {
    this.#subscriptions.get(uri)?.close();
    this.#subscriptions.delete(uri);
  }

  async probe(): Promise<void> {
    const asked = [...this.#subscriptions.keys()].map((uri) => this.#client?.request('subscribe', { channel: uri }));
    await Promise.allSettled(asked);
  }

  close(): void {
    this.#client?.close();
  }
}
