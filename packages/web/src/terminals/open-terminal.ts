/**
 * One terminal on the screen. Its facts are a value to watch. Its output is not, because it comes too fast for anything
 * but the
 * terminal itself to draw.
 */
import type { ActionOf, Client, Subscription } from '@atrium/client';
import type { TerminalClaim, TerminalContentPart } from '@atrium/protocol/ahp-1';
import { type PerFrame, perFrame } from '../model/per-frame.js';
import { Store } from '../model/store.js';

/** The most that one message may carry. */
const INPUT_MAX_CHARACTERS = 32 * 2 ** 10;

export interface TerminalAbout {
  readonly title: string;
  readonly claim: TerminalClaim;
  readonly cols: number | undefined;
  readonly rows: number | undefined;
  readonly hasExited: boolean;
  readonly exitCode: number | undefined;
  readonly isGone: boolean;
}

export class OpenTerminal {
  readonly about: Store<TerminalAbout>;
  /** Called at most once per frame; `isNew`: the earlier output no longer counts. */
  onOutput: ((isNew: boolean) => void) | undefined;
  readonly #subscription: Subscription<'terminal'>;
  readonly #frame: PerFrame;
  readonly #stopStatus: () => void;
  #isNew = false;

  private constructor(
    readonly client: Client,
    readonly uri: string,
    subscription: Subscription<'terminal'>,
    private readonly onProblem: (text: string) => void,
  ) {
    this.#subscription = subscription;
    this.about = new Store(this.#look());
    this.#frame = perFrame(() => this.#tell());
    subscription.onChange(() => this.#frame.request());
    subscription.onGone(() => this.#frame.request());
    subscription.onRejected(({ reason }) => this.onProblem(`The host did not accept that: ${reason}.`));
    // The state contains the output from an absence, but not at its end.
    this.#stopStatus = client.onStatus(({ at }) => at === 'open' && this.#renew());
  }

  static async open(client: Client, uri: string, onProblem: (text: string) => void): Promise<OpenTerminal> {
    const subscription = await client.subscribe(uri, { kind: 'terminal' });
    return new OpenTerminal(client, uri, subscription, onProblem);
  }

  get content(): readonly TerminalContentPart[] {
    return this.#subscription.state.content;
  }

  readonly dispatch = (action: ActionOf<'terminal'>): void => {
    // A refusal is told by `onRejected`, everything else by the state and the connection banner.
    this.#subscription.dispatch(action).catch(() => {});
  };

  input(data: string): void {
    // Nobody reads it any more, and the panel says that it has ended.
    if (this.about.get().hasExited) return;
    for (let at = 0; at < data.length; at += INPUT_MAX_CHARACTERS)
      this.dispatch({ type: 'terminal/input', data: data.slice(at, at + INPUT_MAX_CHARACTERS) });
  }

  close(): void {
    this.#frame.cancel();
    this.#stopStatus();
    this.#subscription.close();
  }

  #renew(): void {
    this.#isNew = true;
    this.#frame.request();
  }

  #tell(): void {
    const next = this.#look();
    if (!isSame(this.about.get(), next)) this.about.set(next);
    const isNew = this.#isNew;
    this.#isNew = false;
    this.onOutput?.(isNew);
  }

  #look(): TerminalAbout {
    const { state, isGone } = this.#subscription;
    const { title, claim, cols, rows, lifecycle } = state;
    const hasExited = lifecycle.status === 'exited';
    const exitCode = lifecycle.status === 'exited' ? lifecycle.exitCode : undefined;
    return { title, claim, cols, rows, hasExited, exitCode, isGone };
  }
}

function isSame(one: TerminalAbout, other: TerminalAbout): boolean {
  return (Object.keys(one) as (keyof TerminalAbout)[]).every((key) => one[key] === other[key]);
}
