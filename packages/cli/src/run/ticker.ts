/** Says on a terminal that work goes on, and takes that back before anything else is written there. */
import { io } from '../io.js';

const TICK_MS = 1_000;
/** Who waits less does not wonder. */
const SILENCE_MS = 2_000;
const ERASE_LINE = '\r\u001b[K';

export interface TickerOutput {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

export class Ticker {
  readonly #out: TickerOutput;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #heardAt = performance.now();
  #mayShow = true;
  #isShown = false;

  constructor(out: TickerOutput, env: NodeJS.ProcessEnv = io().env) {
    this.#out = out;
    if (out.isTTY && env.TERM !== 'dumb') this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Something is about to be written. `endsLine`: whether the cursor is at the beginning of a line afterwards. */
  hush(endsLine: boolean): void {
    if (this.#isShown) this.#out.write(ERASE_LINE);
    this.#isShown = false;
    this.#mayShow = endsLine;
    this.#heardAt = performance.now();
  }

  stop(): void {
    this.hush(false);
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    if (!this.#mayShow || now - this.#heardAt < SILENCE_MS) return;
    this.#isShown = true;
    this.#out.write(`${ERASE_LINE}… working, ${Math.floor((now - this.#began) / 1_000)} s`);
  }
}
