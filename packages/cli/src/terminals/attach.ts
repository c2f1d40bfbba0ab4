/** Makes this window a terminal of the host: every key goes there, and all output appears here. Ctrl+] leaves. */
import type { Client, Subscription } from '@atrium/client';
import type { TerminalState } from '@atrium/protocol/ahp-1';
import { ExitCode, QuietExit, UsageError } from '../exit.js';
import { io, tell } from '../io.js';

/** Ctrl+], as in telnet. */
const LEAVE = '\u001d';
/**
 * Turns off what programs may have left on: pasting, mouse, another screen, a hidden cursor. Saves the position of the
 * cursor
 * first, since leaving the other screen restores the last saved position.
 */
const AS_BEFORE =
  '\u001b[?2004l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b7\u001b[?1049l\u001b[?25h\u001b[0m';
/** The host accepts no more at once. */
const INPUT_CHARACTERS = 32 * 1024;
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Terminal = Subscription<'terminal'>;

export function checkTerminal(): void {
  if (io().stdin.isTTY && io().stdout.isTTY) return;
  throw new UsageError('a terminal is entered from a terminal: standard input and output must be one');
}

export async function attachTo(client: Client, uri: string): Promise<void> {
  const told = untilTold();
  try {
    const terminal = await Promise.race([client.subscribe(uri, { kind: 'terminal' }), told.rejection]);
    await entered(client, terminal, told.rejection);
  } finally {
    told.release();
  }
}

async function entered(client: Client, terminal: Terminal, told: Promise<never>): Promise<void> {
  tell('Ctrl+] leaves the terminal; it goes on without you.');
  const stop = giveKeys(terminal);
  const offStatus = client.onStatus(absenceTold());
  try {
    await Promise.race([show(terminal), stop.asked, told]);
  } finally {
    offStatus();
    stop.release();
    terminal.close();
    io().stdout.write(AS_BEFORE);
  }
  const { lifecycle } = terminal.confirmed;
  if (lifecycle.status === 'exited') tell(`\r\nThe terminal has ended${codeOf(lifecycle)}.`);
  else tell(terminal.isGone ? '\r\nThe terminal is gone: its host has stopped.' : '\r\nLeft the terminal.');
}

/** The exit code; some terminals end without one. */
export function codeOf({ exitCode }: { readonly exitCode?: number }): string {
  return exitCode === undefined ? '' : ` (${exitCode})`;
}

/** Says when the host is gone, so that a person who types and sees nothing knows why. */
function absenceTold(): Parameters<Client['onStatus']>[0] {
  let isGone = false;
  return ({ at }) => {
    if (at === 'waiting' && !isGone) tell('\r\nThe host is gone. Ctrl+] leaves.\r');
    isGone = at !== 'open';
  };
}

/** Rejects on a signal, also before this process reads the keys. */
function untilTold(): { readonly rejection: Promise<never>; release(): void } {
  let end: () => void = () => {};
  const rejection = new Promise<never>((_, reject) => {
    end = () => reject(new QuietExit(ExitCode.Interrupted));
  });
  rejection.catch(() => {});
  for (const signal of END_SIGNALS) io().signals.on(signal, end);
  return {
    rejection,
    release() {
      for (const signal of END_SIGNALS) io().signals.off(signal, end);
    },
  };
}

/** The past output, then new output. */
async function show(terminal: Terminal): Promise<void> {
  const actions = terminal.actions();
  io().stdout.write(pastOf(terminal.confirmed));
  if (terminal.confirmed.lifecycle.status === 'exited') return;
  for await (const { action } of actions) {
    if (action.type === 'terminal/data') io().stdout.write(action.data);
    if (action.type === 'terminal/exited') return;
  }
}

interface Keys {
  readonly asked: Promise<void>;
  release(): void;
}

function giveKeys(terminal: Terminal): Keys {
  const { stdin, stdout } = io();
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
    const { columns: cols = 80, rows = 24 } = stdout;
    quietly(terminal.dispatch({ type: 'terminal/resized', cols, rows }));
  };
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8').on('data', typed).on('end', leave).resume();
  stdout.on('resize', resized);
  resized();
  return {
    asked,
    release() {
      stdout.off('resize', resized);
      stdin.off('data', typed).off('end', leave);
      stdin.setRawMode?.(false);
      stdin.pause();
    },
  };
}

function send(terminal: Terminal, text: string): void {
  for (let from = 0; from < text.length; from += INPUT_CHARACTERS) {
    const data = text.slice(from, from + INPUT_CHARACTERS);
    quietly(terminal.dispatch({ type: 'terminal/input', data }));
  }
}

/** Ignores the failure of a key that came too late. */
function quietly(work: Promise<unknown>): void {
  work.catch(() => {});
}

/**
 * Questions of programs to a terminal: its type, its cursor, its colours. If past output showed them again, this window
 * would
 * answer them, and the shell would take the answers for typed text.
 */
const QUESTIONS = new RegExp(
  [
    String.raw`\x1b\[[?>=]?[\d;]*[cntx]`,
    String.raw`\x1b\[\??[\d;]*\$p`,
    String.raw`\x1b\[>[\d;]*q`,
    String.raw`\x1b\[\?[\d;]*u`,
    String.raw`\x1b\][^\x07\x1b]*;\?(?:\x07|\x1b\\)`,
    String.raw`\x1bP[$+]q[^\x1b]*\x1b\\`,
    String.raw`\x1bZ`,
    String.raw`\x05`,
  ].join('|'),
  'g',
);

export function pastOf({ content }: Pick<TerminalState, 'content'>): string {
  const text = content.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
  return text.replace(QUESTIONS, '');
}
