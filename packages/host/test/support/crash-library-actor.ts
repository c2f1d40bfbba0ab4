/** An actor that uses our client library, and looks over its shoulder. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, connect, type OpenSession, type Transport, webSocketTransport } from '@atrium/client';
import { ErrorCode, type Snapshot } from '@atrium/protocol/ahp-1';
import type { Actor } from './crash-actor.js';
import { CRASH_WORK_FOLDER } from './crash-script.js';
import { type Answer, type Dispatched, ROOT } from './fuzz-client.js';
import { difference } from './fuzz-difference.js';
import { type Intent, type Seen, said, seenInChat } from './fuzz-speech.js';
import type { AnyEnvelope } from './fuzz-wire.js';

/** The port of a host, once there is one. */
class Address {
  found: (port: number) => void = () => {};
  readonly port = new Promise<number>((resolve) => {
    this.found = resolve;
  });
}

const RETRY_MS = 20;
/** Numbers of questions that the library never uses. */
const FIRST_QUESTION = 900_000_000;

interface ActorFrame extends Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
}

export class LibraryActor implements Actor {
  readonly received: AnyEnvelope[] = [];
  /** As the host and the library agreed. */
  version = '';
  readonly dispatched: Dispatched[] = [];
  readonly violations: string[] = [];
  probes = 0;
  readonly #open = new Map<string, OpenSession>();
  readonly #watched = new Set<string>();
  readonly #shown = new Set<number>();
  /** Those who wait for the answers to our own questions. */
  readonly #questions = new Map<number, () => void>();
  #wire: Transport | undefined;
  #client: Client | undefined;
  #address = new Address();

  constructor(
    readonly clientId: string,
    readonly token?: string,
  ) {}

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

  get isAway(): boolean {
    return !this.isOpen;
  }

  /** Loses its connection. */
  cut(): void {
    this.#wire?.close();
  }

  get undecided(): number {
    return this.#handles.reduce((sum, { pending }) => sum + pending.length, 0);
  }

  get sessions(): [uri: string, seen: Seen][] {
    return [...this.#open].map(([uri, { session, chat }]) => {
      return [uri, seenInChat(session.confirmed, chat.confirmed, this.clientId)];
    });
  }

  get #handles() {
    return [...this.#open.values()].flatMap(({ session, chat }) => [session, chat]);
  }

  enter(port: number): void {
    this.#address.found(port);
  }

  /** Waits until there is a host, and watches everything that it says. */
  async #dial() {
    const port = await this.#address.port;
    this.#address = new Address();
    const transport = await webSocketTransport({
      url: `ws://127.0.0.1:${port}`,
      ...(this.token && { token: this.token }),
    })();
    this.#wire = transport;
    return {
      ...transport,
      onMessage: (listener: (text: string) => void) =>
        transport.onMessage((text) => {
          const frame = JSON.parse(text) as ActorFrame;
          if (!this.#questions.has(frame.id ?? 0)) listener(text);
          this.#overhear(frame);
        }),
    };
  }

  #overhear({ id, method, params, result }: ActorFrame): void {
    if (typeof result?.protocolVersion === 'string') this.version = result.protocolVersion;
    if (method === 'action') this.#note(params as AnyEnvelope);
    for (const envelope of (result?.actions ?? []) as AnyEnvelope[]) this.#note(envelope);
    const snapshots = (result?.snapshots ?? (result?.snapshot ? [result.snapshot] : [])) as Snapshot[];
    for (const snapshot of snapshots) this.#compare(snapshot);
    this.#questions.get(id ?? 0)?.();
  }

  #note(envelope: AnyEnvelope): void {
    const { serverSeq, rejectionReason } = envelope;
    this.received.push(envelope);
    if (rejectionReason !== undefined) return;
    if (this.#shown.has(serverSeq)) this.violations.push(`${this.clientId}: was told ${serverSeq} twice`);
    this.#shown.add(serverSeq);
  }

  #compare({ resource, state }: Snapshot): void {
    const handle = this.#handles.find(({ uri }) => uri === resource);
    if (!handle) return;
    this.probes += 1;
    const found = difference(handle.confirmed, state);
    if (found) this.violations.push(`${this.clientId}: the mirror of ${resource} is not what the host has: ${found}`);
  }

  ask(uri: string, intent: Intent): void {
    const open = this.#open.get(uri);
    if (!open) return;
    const { channel, action } = said({ clientId: this.clientId, hasChats: true }, uri, intent);
    this.dispatched.push({ channel, action });
    void open.dispatch(action as unknown as Parameters<OpenSession['dispatch']>[0]);
  }

  watch(uri: string): void {
    void this.#watch(uri);
  }

  /**
   * A request fails with its connection; whether the session was created then is found out by asking again. It asks for as
   * long as it takes: on a busy machine a host needs seconds to start, and so does a session.
   */
  async #watch(uri: string): Promise<void> {
    for (this.#watched.add(uri); this.#watched.has(uri); await delay(RETRY_MS)) {
      try {
        await this.#create(uri);
        const open = await this.#client?.open(uri);
        if (open && this.#watched.has(uri)) this.#open.set(uri, open);
        return;
      } catch (error) {
        const code = codeOf(error);
        // While the other one's creation is under way, the name is taken and the session is not there yet.
        if (code !== undefined && code !== ErrorCode.SessionNotFound) throw error;
      }
    }
  }

  /** The other one may have been faster: the host refuses to create what is there. */
  async #create(uri: string): Promise<void> {
    await this.#client?.createSession({ channel: uri, workingDirectories: [CRASH_WORK_FOLDER] }).catch((error) => {
      if (codeOf(error) === undefined) throw error;
    });
  }

  leave(uri: string): void {
    this.#watched.delete(uri);
    this.#open.get(uri)?.close();
    this.#open.delete(uri);
  }

  /** Asks behind the back of the library, on its own wire. */
  async probe(): Promise<void> {
    await Promise.all(this.#handles.map(({ uri }) => this.#ask(uri)));
  }

  #ask(channel: string): Promise<void> {
    const id = FIRST_QUESTION + this.#questions.size;
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      this.#wire?.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'subscribe', params: { channel } }));
    });
  }

  close(): void {
    this.#watched.clear();
    this.#client?.close();
  }
}

/** Of an answer of the host; a request that failed with its connection has none. */
function codeOf(error: unknown): number | undefined {
  return (error as { code?: number }).code;
}
