/**
 * A terminal without a process: the emulator of the page as the screen, and streams for a command that runs in this process.
 * What only a system's terminal does (echo, job control, a death of the process) is tested in tmux.
 */
import { createRequire } from 'node:module';
import { PassThrough, Writable } from 'node:stream';
import type { Io, Output } from '../../src/io.js';
import type { TestTerminal } from './terminal.js';

const { Terminal }: typeof import('@xterm/xterm') = createRequire(import.meta.url)('@xterm/xterm');

/** A machine may be busy with other things. */
const TIMEOUT_MS = 30_000;
const SIZE = { cols: 90, rows: 30 };
/** As much as a terminal hands over at once. */
const CHUNK_CHARACTERS = 1_024;

/** What the keys send, by the names that tmux has for them. */
const KEYS: Readonly<Record<string, string>> = {
  ...{ Enter: '\r', Escape: '\u001b', Tab: '\t', BTab: '\u001b[Z', 'C-]': '\u001d', 'M-Enter': '\u001b\r' },
  ...{
    Up: '\u001b[A',
    Down: '\u001b[B',
    Home: '\u001b[H',
    End: '\u001b[F',
    PageUp: '\u001b[5~',
    PageDown: '\u001b[6~',
  },
};
const CTRL_C = '\u0003';

function bytesOf(key: string): string {
  const control = /^C-([a-z])$/.exec(key)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) - 96);
  const bytes = KEYS[key] ?? (key.length === 1 ? key : undefined);
  if (bytes === undefined) throw new Error(`no key is called "${key}"`);
  return bytes;
}

export interface Window extends TestTerminal {
  readonly streams: Pick<Io, 'stdout' | 'stderr'> & { readonly stdin: Writable & Io['stdin'] };
  /** Keys are pressed within the command: `run` calls what it is given there. */
  connect(run: (task: () => void) => void, interrupt: () => void): void;
  /** Every byte that was written to it. */
  written(): string;
  /** What is typed shows, the cursor does too, and pasted text comes as it is. */
  isClean(): Promise<boolean>;
}

export function openWindow(): Window {
  const emulator = new Terminal({ ...SIZE, convertEol: true, scrollback: 10_000, allowProposedApi: true });
  const stdin = new Keyboard();
  let changed = () => {};
  let isCursorShown = true;
  let written = '';
  const output = () =>
    new Paper(emulator, (text) => {
      written += text;
      const shown = text.lastIndexOf('\u001b[?25h');
      const hidden = text.lastIndexOf('\u001b[?25l');
      if (shown !== hidden) isCursorShown = shown > hidden;
      changed();
    });
  const stdout = output();
  let run = (task: () => void) => task();
  let interrupt = () => {};
  /** Everything that was written so far is on the screen. */
  const settled = () => new Promise<void>((resolve) => emulator.write('', resolve));
  const lines = (from: number) => {
    const { active } = emulator.buffer;
    const rows = Array.from({ length: active.baseY + emulator.rows - from }, (_, row) => active.getLine(from + row));
    return rows
      .map((line) => line?.translateToString(true).trimEnd() ?? '')
      .join('\n')
      .trimEnd();
  };
  const screen = async () => {
    await settled();
    return lines(emulator.buffer.active.baseY);
  };
  const press = (text: string) =>
    run(() => {
      if (!stdin.isRaw && text.includes(CTRL_C)) return interrupt();
      // The terminal makes a line feed of the key Enter for a program that reads lines.
      stdin.write(stdin.isRaw ? text : text.replaceAll('\r', '\n'));
    });
  return {
    streams: { stdin, stdout, stderr: output() },
    connect(within, onInterrupt) {
      run = within;
      interrupt = onInterrupt;
    },
    screen,
    written: () => written,
    everything: async () => {
      await settled();
      return lines(0);
    },
    keys: (...keys) => press(keys.map(bytesOf).join('')),
    type: press,
    async paste(text) {
      await settled();
      const lineEnds = text.replaceAll('\n', '\r');
      const whole = emulator.modes.bracketedPasteMode ? `\u001b[200~${lineEnds}\u001b[201~` : lineEnds;
      for (let at = 0; at < whole.length; at += CHUNK_CHARACTERS) press(whole.slice(at, at + CHUNK_CHARACTERS));
    },
    resize(columns, rows) {
      // Nothing that was written for the old size is drawn in the new one.
      emulator.write('', () => {
        emulator.resize(columns, rows);
        run(() => stdout.emit('resize'));
      });
    },
    async sees(pattern) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      for (;;) {
        const isLast = signal.aborted;
        const drawn = new Promise<void>((resolve) => {
          changed = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        const text = await screen();
        if (pattern.test(text)) return text;
        if (isLast) throw new Error(`${pattern} never showed. The screen:\n${text}`);
        await drawn;
      }
    },
    async isClean() {
      await settled();
      return !stdin.isRaw && isCursorShown && !emulator.modes.bracketedPasteMode;
    },
  };
}

class Keyboard extends PassThrough {
  readonly isTTY = true;
  isRaw = false;

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
}

class Paper extends Writable implements Output {
  readonly isTTY = true;
  readonly #decoder = new TextDecoder();

  constructor(
    readonly emulator: InstanceType<typeof Terminal>,
    readonly onDrawn: (text: string) => void,
  ) {
    super();
  }

  get columns(): number {
    return this.emulator.cols;
  }

  get rows(): number {
    return this.emulator.rows;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.emulator.write(text, () => this.onDrawn(text));
    done();
  }
}
