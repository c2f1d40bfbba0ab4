/** The terminal in the state that a chat needs, and back in its own whatever happens: at the end, by a signal, by a crash. */
import { type Key, KeyReader } from './keys.js';
import { holdTyped, takeTypedAhead } from './type-ahead.js';

const BRACKETED_PASTE_ON = '\u001b[?2004h';
const BRACKETED_PASTE_OFF = '\u001b[?2004l';
/** Ends an update that was cut off: lines wrap, the cursor shows, and all styles are taken back. */
const CALM = '\u001b[?2026l\u001b[?7h\u001b[?25h\u001b[0m';

export interface TerminalEvents {
  key(key: Key): void;
  resize(): void;
  /** The terminal is ours again after it was taken away (Ctrl+Z, then `fg`). */
  resumed(): void;
  /** Before the terminal is given back: the last chance to tidy up. */
  leaving(): void;
  /** The process was told to end, or nobody can type any more. */
  ended(): void;
}

export class Terminal {
  readonly #events: TerminalEvents;
  readonly #keys: KeyReader;
  readonly #input = process.stdin;
  readonly #output = process.stdout;
  #isOurs = false;

  constructor(events: TerminalEvents) {
    this.#events = events;
    this.#keys = new KeyReader((key) => events.key(key));
  }

  open(): void {
    this.#take();
    this.#input.setEncoding('utf8');
    this.#input.on('data', this.#onData).on('end', this.#events.ended).on('error', this.#events.ended);
    this.#output.on('resize', this.#onResize);
    process.on('exit', this.#giveBack).on('SIGCONT', this.#onContinue);
    // Before an error is printed that nobody caught.
    process.on('uncaughtExceptionMonitor', this.#giveBack);
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, this.#events.ended);
    // Later than this call: whoever opens the terminal wants to draw first.
    setImmediate(() => this.#isOurs && this.#keys.feed(takeTypedAhead()));
  }

  close(): void {
    this.#giveBack();
    this.#keys.close();
    this.#input.off('data', this.#onData).off('end', this.#events.ended).off('error', this.#events.ended).pause();
    this.#output.off('resize', this.#onResize);
    process.off('exit', this.#giveBack).off('SIGCONT', this.#onContinue);
    process.off('uncaughtExceptionMonitor', this.#giveBack);
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.off(signal, this.#events.ended);
  }

  /** What was typed behind the last key is for whoever reads next. */
  passOn(): void {
    holdTyped(this.#keys.takeRest());
  }

  /** Ctrl+Z: the shell gets the terminal until `fg`. */
  suspend(): void {
    this.#giveBack();
    process.kill(process.pid, 'SIGTSTP');
  }

  readonly #onData = (chunk: string): void => this.#keys.feed(chunk);
  readonly #onResize = (): void => this.#events.resize();

  readonly #onContinue = (): void => {
    this.#take();
    this.#events.resumed();
  };

  #take(): void {
    this.#isOurs = true;
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#output.write(BRACKETED_PASTE_ON);
  }

  /** Also the last thing that a process does which ends by an error. */
  readonly #giveBack = (): void => {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    this.#events.leaving();
    this.#output.write(`${CALM}${BRACKETED_PASTE_OFF}`);
    this.#input.setRawMode(false);
  };
}
