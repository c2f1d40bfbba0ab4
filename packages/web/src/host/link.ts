/** The connection to the host: tries until the host lets it in, then holds the state of the whole page. */
import type { Client, SessionList, Status, Subscription } from '@atrium/client';
import { ROOT_CHANNEL, type RootState, type SessionSummary } from '@atrium/protocol/ahp-1';
import { Store } from '../model/store.js';
import { exchangeToken, keepToken, keptToken, wasDevice } from './token.js';

/** The pause between attempts before the first connection; later the client itself waits. */
const RETRY_MS = 1_000;
const REFUSALS_MAX = 2;
/** The pause before trying a refused token again, doubled each time: the host may accept the token later. */
const LOCKED_RETRY_MS = 15_000;
const LOCKED_RETRY_MAX_MS = 60 * 60_000;

/**
 * `missing`: there is no token. `refused`: the token is wrong. `changed`: the token was right until now. `removed`:
 * this browser
 * was a device.
 */
export type Refusal = 'missing' | 'refused' | 'changed' | 'removed';

type Phase =
  | { readonly at: 'connecting' }
  /** No host answers at this address. */
  | { readonly at: 'unreachable' }
  /** The host answers and does not let us in. */
  | { readonly at: 'locked'; readonly why: Refusal }
  | { readonly at: 'ready'; readonly client: Client };

export interface Creation {
  readonly uri: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly message: string;
}

export class HostLink {
  readonly phase = new Store<Phase>({ at: 'connecting' });
  readonly status = new Store<Status>({ at: 'connecting', failures: 0 });
  readonly sessions = new Store<readonly SessionSummary[] | undefined>(undefined);
  readonly root = new Store<RootState>({ agents: [] });
  /** The progress of the session that this page creates. */
  readonly creation = new Store<Creation | undefined>(undefined);
  #client: Client | undefined;
  /** Failed attempts in a row although the host answers. */
  #refusals = 0;
  #lockedWaitMs = LOCKED_RETRY_MS;
  #lockedUntil = 0;
  /** The person has typed a token that is not checked yet. */
  #isTyped = false;

  /** `share`: the token of a share. Only this page uses it, and stores it nowhere. */
  constructor(private readonly share?: string) {
    addEventListener('focus', () => this.#lookedAt());
  }

  get isShare(): boolean {
    return this.share !== undefined;
  }

  #kept(): string | undefined {
    return this.share ?? keptToken();
  }

  async start(): Promise<void> {
    this.phase.set({ at: 'connecting' });
    // The host served this page a moment ago, so one refusal is enough.
    this.#refusals = REFUSALS_MAX - 1;
    for (;;) {
      const hadToken = this.#kept() !== undefined;
      try {
        return await this.#opened(await dial(() => this.#token()));
      } catch {
        if (await this.#isLocked()) return this.#lock(hadToken ? 'refused' : 'missing');
        if (this.#refusals === 0) this.phase.set({ at: 'unreachable' });
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  unlock(token: string): void {
    keepToken(token);
    this.#isTyped = true;
    this.retry();
  }

  /** Tries again with a new token. */
  retry(): void {
    const client = this.#client;
    if (!client) return void this.start();
    this.phase.set({ at: 'ready', client });
    client.reconnectNow();
  }

  #lock(why: Refusal): void {
    this.phase.set({ at: 'locked', why: why !== 'refused' && wasDevice() ? 'removed' : why });
  }

  /**
   * Called before each attempt. After an error the attempt does not reach the host. Undefined: the cookie takes its
   * place.
   */
  async #token(): Promise<string | undefined> {
    if (this.phase.get().at === 'locked') {
      if (Date.now() < this.#lockedUntil) throw new Error('The host has refused this token.');
      this.#rest();
    }
    if (this.share !== undefined) return this.share;
    await exchangeToken();
    return keptToken();
  }

  #rest(): void {
    this.#lockedUntil = Date.now() + this.#lockedWaitMs;
    this.#lockedWaitMs = Math.min(2 * this.#lockedWaitMs, LOCKED_RETRY_MAX_MS);
  }

  /** Tries at once when the page gets the focus back. */
  #lookedAt(): void {
    if (this.phase.get().at !== 'locked') return;
    this.#lockedUntil = 0;
    this.#client?.reconnectNow();
  }

  async #opened(client: Client): Promise<void> {
    const first = Promise.all([client.sessions(), client.subscribe(ROOT_CHANNEL)]);
    const [list, root] = await first.catch((error) => {
      // The next attempt makes another client.
      client.close();
      throw error;
    });
    this.#client = client;
    this.#refusals = 0;
    this.#watch(client, list, root);
    this.phase.set({ at: 'ready', client });
  }

  #watch(client: Client, list: SessionList, root: Subscription<'root'>): void {
    this.status.set(client.status);
    client.onStatus((status) => this.#statusChanged(client, status));
    this.sessions.set(list.items);
    list.onChange(this.sessions.set);
    this.root.set(root.state);
    root.onChange(this.root.set);
    client.onProgress((uri, progress) => {
      const { done, total, message = '' } = progress;
      this.creation.set(done === total ? undefined : { uri, done, total, message });
    });
  }

  #statusChanged(client: Client, status: Status): void {
    this.status.set(status);
    if (status.at === 'open') {
      this.#refusals = 0;
      this.#isTyped = false;
      this.#lockedWaitMs = LOCKED_RETRY_MS;
      this.phase.set({ at: 'ready', client });
    }
    // The first failure is the loss of the connection itself.
    if (status.at === 'waiting' && status.failures > 1) void this.#lookIfLocked();
  }

  /** A restarted host may have another token. */
  async #lookIfLocked(): Promise<void> {
    if (this.phase.get().at === 'locked' || !(await this.#isLocked())) return;
    if (this.status.get().at === 'open') return;
    this.#rest();
    this.#lock(this.#isTyped ? 'refused' : 'changed');
  }

  /** A host may come up between the attempt and this check, so only a second refusal means that the token is wrong. */
  async #isLocked(): Promise<boolean> {
    this.#refusals = (await isHostReachable()) ? this.#refusals + 1 : 0;
    return this.#refusals >= REFUSALS_MAX;
  }
}

/** The library checks every message, which makes it large, so the page appears before it has loaded. */
const library = () => import('@atrium/client');

async function dial(token: () => Promise<string | undefined>): Promise<Client> {
  const { connect } = await library();
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  return connect({
    url: `${scheme}://${location.host}/`,
    locale: navigator.language,
    token,
  });
}

const TIMEOUT_MS = 3_000;

/**
 * A browser does not say why a WebSocket was refused. A host that still serves this page and refuses the WebSocket has
 * another token.
 */
async function isHostReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok } = await fetch('/', { method: 'HEAD', cache: 'no-store', signal });
    return ok;
  } catch {
    return false;
  }
}
