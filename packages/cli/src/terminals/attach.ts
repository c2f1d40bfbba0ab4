/** This window becomes a terminal of the host: every key goes there, everything there is shown here. Ctrl+] leaves. */
import type { Client, Subscription } from '@atrium/client';
import { UsageError } from '../exit.js';
import { tell } from '../output.js';
import { pastOf } from './past.js';

/** Ctrl+], as telnet has it. */
const LEAVE = '\u001d';
/** What programs may have turned on, and what nobody would turn off: pasting, mouse, another screen, a hidden cursor. */
const AS_BEFORE = '\u001b[?2004l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?1049l\u001b[?25h\u001b[0m';
/** The host takes no more at once. */
const INPUT_CHARACTERS = 32 * 1024;

type Terminal = Subscription<'terminal'>;

export function checkTerminal(): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new UsageError('a terminal is entered from a terminal: standard input and output must be one');
}

export async function attachTo(client: Client, uri: string): Promise<void> {
  const terminal = await client.subscribe(uri, { kind: 'terminal' });
  tell('Ctrl+] leaves the terminal; it goes on without you.');
  const stop = giveKeys(terminal);
  const shown = show(terminal);
  try {
    await Promise.race([shown, stop.asked]);
  } finally {
    stop.release();
    terminal.close();
    process.stdout.write(AS_BEFORE);
  }
  const { exitCode } = terminal.confirmed;
  tell(exitCode === undefined ? '\r\nLeft the terminal.' : `\r\nThe terminal has ended (${exitCode}).`);
}

/** What is there already, and then what comes. */
async function show(terminal: Terminal): Promise<void> {
  const actions = terminal.actions();
  process.stdout.write(pastOf(terminal.confirmed));
  if (terminal.confirmed.exitCode !== undefined) return;
  for await (const { action } of actions) {
    if (action.type === 'terminal/data') process.stdout.write(action.data);
    if (action.type === 'terminal/exited') return;
  }
}

interface Keys {
  readonly asked: Promise<void>;
  release(): void;
}

function giveKeys(terminal: Terminal): Keys {
  const { stdin, stdout } = process;
  let leave: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const typed = (text: string): void => {
    const end = text.indexOf(LEAVE);
    send(terminal, end < 0 ? text : text.slice(0, end));
    if (end >= 0) leave();
  };
  const resized = (): void => {
    const { columns: cols, rows } = stdout;
    quietly(terminal.dispatch({ type: 'terminal/resized', cols, rows }));
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', typed).resume();
  stdout.on('resize', resized);
  resized();
  return {
    asked,
    release() {
      stdout.off('resize', resized);
      stdin.off('data', typed).setRawMode(false).pause();
    },
  };
}

function send(terminal: Terminal, text: string): void {
  for (let from = 0; from < text.length; from += INPUT_CHARACTERS) {
    const data = text.slice(from, from + INPUT_CHARACTERS);
    quietly(terminal.dispatch({ type: 'terminal/input', data }));
  }
}

/** A key that came too late is no error. */
function quietly(work: Promise<unknown>): void {
  work.catch(() => {});
}
