/** One session that is on the screen: its state as of the last frame, and everything that can be done to it. */
import type { ActionOf, Client, Subscription, WindowPosition } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import { type PerFrame, perFrame } from '../model/per-frame.js';
import { Store } from '../model/store.js';

/** Enough to fill any screen; scrolling loads older turns. */
export const TURNS_FIRST = 50;
const TURNS_MORE = 100;

interface SessionView {
  readonly state: SessionState;
  readonly window: WindowPosition;
  /** Disposed, perhaps by another client. */
  readonly isGone: boolean;
}

export class OpenSession {
  readonly view: Store<SessionView>;
  readonly isLoadingOlder = new Store(false);
  readonly #subscription: Subscription;
  readonly #frame: PerFrame;

  private constructor(
    readonly client: Client,
    subscription: Subscription,
    private readonly onProblem: (text: string) => void,
  ) {
    this.#subscription = subscription;
    this.view = new Store(this.#look());
    this.#frame = perFrame(() => this.view.set(this.#look()));
    subscription.onChange(() => this.#frame.request());
    subscription.onGone(() => this.#frame.request());
    subscription.onRejected(({ reason }) => this.onProblem(`The host did not accept that: ${reason}.`));
  }

  static async open(client: Client, uri: string, onProblem: (text: string) => void): Promise<OpenSession> {
    const subscription = await client.subscribe(uri, { kind: 'session', turns: { last: TURNS_FIRST } });
    return new OpenSession(client, subscription, onProblem);
  }

  get uri(): string {
    return this.#subscription.uri;
  }

  get state(): SessionState {
    return this.#subscription.state;
  }

  readonly dispatch = (action: ActionOf<'session'>): void => {
    // A refusal is told by `onRejected`, everything else by the state and the connection banner.
    this.#subscription.dispatch(action).catch(() => {});
  };

  async loadOlder(count: number = TURNS_MORE): Promise<void> {
    if (this.isLoadingOlder.get() || this.#subscription.window.start === 0) return;
    this.isLoadingOlder.set(true);
    try {
      await this.#subscription.loadOlder(count);
    } catch {
      // Without a connection; scrolling asks again.
    } finally {
      this.view.set(this.#look());
      this.isLoadingOlder.set(false);
    }
  }

  close(): void {
    this.#frame.cancel();
    this.#subscription.close();
  }

  #look(): SessionView {
    const { state, window, isGone } = this.#subscription;
    return { state, window, isGone };
  }
}
