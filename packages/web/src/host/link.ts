/** The way to the host, from the first attempt on: tries until it is let in, then keeps what the whole page shows. */
import type { Client, SessionList, Status, Subscription } from '@atrium/client';
import { ROOT_CHANNEL, type RootState, type SessionSummary } from '@atrium/protocol';
import { Store } from '../model/store.js';
import { isHostReachable } from './reachable.js';
import { keepToken, keptToken } from './token.js';

/** Between attempts before the first connection; later the client itself waits. */
const RETRY_MS = 1_000;
const REFUSALS_MAX = 2;
/** Between attempts with a token that was refused. Somebody may yet start the host with it again. */
const LOCKED_RETRY_MS = 15_000;

export type Phase =
  | { readonly at: 'connecting' }
  /** Nobody answers at this address. */
  | { readonly at: 'unreachable' }
  /** The host is there and does not let us in. */
  | { readonly at: 'locked'; readonly hadToken: boolean }
  | { readonly at: 'ready'; readonly client: Client };

export class HostLink {
  readonly phase = new Store<Phase>({ at: 'connecting' });
  readonly status = new Store<Status>({ at: 'connecting', failures: 0 });
  readonly sessions = new Store<readonly SessionSummary[] | undefined>(undefined);
  readonly root = new Store<RootState>({ agents: [] });
  #client: Client | undefined;
  /** Attempts in a row that failed although the host is there. */
  #refusals = 0;
  #tokenCame = () => {};

  async start(): Promise<void> {
    this.phase.set({ at: 'connecting' });
    // It served this page a moment ago, so one refusal is enough.
    this.#refusals = REFUSALS_MAX - 1;
    for (;;) {
      const hadToken = keptToken() !== undefined;
      try {
        return await this.#opened(await dial(() => this.#token()));
      } catch {
        if (await this.#isLocked()) return this.phase.set({ at: 'locked', hadToken });
        if (this.#refusals === 0) this.phase.set({ at: 'unreachable' });
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Somebody typed a token. */
  unlock(token: string): void {
    keepToken(token);
    this.retry();
  }

  /** There is a new token. */
  retry(): void {
    const client = this.#client;
    if (!client) return void this.start();
    this.phase.set({ at: 'ready', client });
    this.#tokenCame();
    client.reconnectNow();
  }

  /** Asked before each attempt: the same token would only be refused again. */
  async #token(): Promise<string> {
    if (this.phase.get().at === 'locked') {
      await new Promise<void>((resolve) => {
        this.#tokenCame = resolve;
        setTimeout(resolve, LOCKED_RETRY_MS);
      });
    }
    return keptToken() ?? '';
  }

  async #opened(client: Client): Promise<void> {
    this.#client = client;
    const [list, root] = await Promise.all([client.sessions(), client.subscribe(ROOT_CHANNEL)]);
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
  }

  #statusChanged(client: Client, status: Status): void {
    this.status.set(status);
    if (status.at === 'open') {
      this.#refusals = 0;
      this.phase.set({ at: 'ready', client });
    }
    if (status.at === 'waiting' && status.failures > 0) void this.#lookIfLocked();
  }

  /** A host that was started again may have another token. */
  async #lookIfLocked(): Promise<void> {
    const isLocked = await this.#isLocked();
    if (isLocked && this.status.get().at !== 'open') this.phase.set({ at: 'locked', hadToken: true });
  }

  /** A host may come up between the attempt and the look; only when it refuses again is it the token. */
  async #isLocked(): Promise<boolean> {
    this.#refusals = (await isHostReachable()) ? this.#refusals + 1 : 0;
    return this.#refusals >= REFUSALS_MAX;
  }
}

/** The library checks every message, which makes it large; the page shows itself before it is here. */
const library = () => import('@atrium/client');

async function dial(token: () => Promise<string>): Promise<Client> {
  const { connect } = await library();
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  return connect({
    url: `${scheme}://${location.host}/`,
    locale: navigator.language,
    ...(keptToken() !== undefined && { token }),
  });
}
