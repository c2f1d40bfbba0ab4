/**
 * Puts the terminal into the state that a chat needs, and restores it at the end, after a signal, and after a crash.
 */
import { type Input, io } from '../io.js';
import { type Key, KeyReader } from './keys.js';

const BRACKETED_PASTE_ON = '\u001b[?2004h';
const BRACKETED_PASTE_OFF = '\u001b[?2004l';
/** Makes the terminal report when it gets and loses the focus; many do not know this mode, and ignore it. */
const FOCUS_ON = '\u001b[?1004h';
const FOCUS_OFF = '\u001b[?1004l';
/** Ends an update that was cut off: lines wrap again, the cursor shows, and no style is on. */
const CALM = '\u001b[?2026l\u001b[?7h\u001b[?25h\u001b[0m';

const END_SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

interface TerminalEvents {
  key(key: Key): void;
  /** The terminal got the focus, or lost it. */
  focus?(isFocused: boolean): void;
  resize(): void;
  /** The terminal is ours again (Ctrl+Z, then `fg`). */
  resumed(): void;
  /** Before the terminal is given back: the last chance to tidy up. */
  leaving(): void;
  /** The process was told to end, or the terminal is gone. */
  ended(): void;
}

export class Terminal {
  readonly #events: TerminalEvents;
  readonly #keys: KeyReader;
  readonly #io = io();
  #isOurs = false;

  constructor(events: TerminalEvents) {
    this.#events = events;
    this.#keys = new KeyReader((key) => this.#told(key));
  }

  #told(key: Key): void {
    if (key.name === 'focus' || key.name === 'blur') this.#events.focus?.(key.name === 'focus');
    else this.#events.key(key);
  }

  open(): void {
    this.#take();
    const { stdin, stdout, signals } = this.#io;
    stdin.setEncoding('utf8');
    stdin.on('data', this.#onData).on('end', this.#events.ended).on('error', this.#events.ended);
    stdout.on('resize', this.#onResize);
    signals.on('exit', this.#giveBack).on('SIGCONT', this.#onContinue);
    // Before Node prints an uncaught error.
    signals.on('uncaughtExceptionMonitor', this.#giveBack);
    for (const signal of END_SIGNALS) signals.on(signal, this.#events.ended);
    // After this call: the caller draws first.
    setImmediate(() => this.#isOurs && this.#keys.feed(takeTypedAhead(stdin)));
  }

  close(): void {
    this.#giveBack();
    this.#keys.close();
    const { stdin, stdout, signals } = this.#io;
    stdin.off('data', this.#onData).off('end', this.#events.ended).off('error', this.#events.ended).pause();
    stdout.off('resize', this.#onResize);
    signals.off('exit', this.#giveBack).off('SIGCONT', this.#onContinue);
    signals.off('uncaughtExceptionMonitor', this.#giveBack);
    for (const signal of END_SIGNALS) signals.off(signal, this.#events.ended);
  }

  /** Hands the keys after the last one to the next reader. */
  passOn(): void {
    holdTyped(this.#io.stdin, this.#keys.takeRest());
  }

  /** Ctrl+Z: the shell gets the terminal until `fg`. */
  suspend(): void {
    this.#giveBack();
    this.#io.raise('SIGTSTP');
  }

  readonly #onData = (chunk: string): void => this.#keys.feed(chunk);
  readonly #onResize = (): void => this.#events.resize();

  readonly #onContinue = (): void => {
    this.#take();
    this.#events.resumed();
  };

  #take(): void {
    this.#isOurs = true;
    const { stdin, stdout } = this.#io;
    stdin.setRawMode?.(true);
    stdin.resume();
    stdout.write(this.#events.focus ? BRACKETED_PASTE_ON + FOCUS_ON : BRACKETED_PASTE_ON);
  }

  /** Also runs as the last thing in a process that an error ends. */
  readonly #giveBack = (): void => {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    this.#events.leaving();
    this.#io.stdout.write(`${CALM}${this.#events.focus ? FOCUS_OFF : ''}${BRACKETED_PASTE_OFF}`);
    this.#io.stdin.setRawMode?.(false);
  };
}

// Keys that a person types while nothing reads them: before a chat is ready, and between two sessions. The terminal
// itself
// would turn them into lines, with a different Enter, and echo them. So they wait here, and the next reader gets them
// first.

const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';
/** Keys typed ahead beyond this are dropped. */
const HELD_MAX_CHARACTERS = 1_000_000;

const held = new WeakMap<Input, string>();

/** Holds the keys until `work` is done. Ctrl+C and Ctrl+Z still act as in a program that does not read keys. */
export async function typingAhead<T>(work: () => Promise<T>): Promise<T> {
  const { stdin, stdout, signals, raise } = io();
  const giveBack = () => {
    stdout.write(BRACKETED_PASTE_OFF);
    stdin.setRawMode?.(false);
  };
  const hold = (chunk: string) => {
    if (chunk.includes(CTRL_C)) {
      held.delete(stdin);
      raise('SIGINT');
    } else if (chunk.includes(CTRL_Z)) {
      raise('SIGTSTP');
    } else {
      holdTyped(stdin, withEnter(chunk));
    }
  };
  signals.on('exit', giveBack);
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8').on('data', hold).resume();
  stdout.write(BRACKETED_PASTE_ON);
  try {
    return await work();
  } finally {
    stdin.off('data', hold).pause();
    signals.off('exit', giveBack);
    giveBack();
  }
}

/** The keys that were typed ahead, for the current reader. */
function takeTypedAhead(from: Input): string {
  const text = held.get(from) ?? '';
  held.delete(from);
  return text;
}

/** Gives back keys that were read too early. */
function holdTyped(from: Input, text: string): void {
  held.set(from, ((held.get(from) ?? '') + text).slice(0, HELD_MAX_CHARACTERS));
}

/** Keys typed before this program read them went through the terminal, which turned Enter into a line feed. */
function withEnter(chunk: string): string {
  return chunk.replace(/\r?\n/g, '\r');
}
