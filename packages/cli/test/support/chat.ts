/** A chat in a window, and what a person does in it. */
import { expect } from 'vitest';
import { newFolder, startHost, type TestHost } from './host.js';
import { atrium } from './run-cli.js';
import { openTerminal, type TestTerminal } from './terminal.js';
import { openWindow, type Window } from './window.js';

/** What is typed while a question appears is not taken for its answer. */
export const TYPING_GUARD_MS = 600;

/** Nothing happens, and a message can be written. */
export const PROMPT = /write a message\n.*\/help$/;

interface Begun {
  readonly host: TestHost;
  /** Where the chat was begun. */
  readonly folder: string;
}

export interface Chat extends Begun {
  readonly terminal: Window;
  /** The code that the command ends with. */
  ended(): Promise<number | null>;
}

export interface ChatOptions {
  /** Without one, the chat gets a host of its own, in this process. */
  readonly host?: TestHost;
  readonly hostArgs?: readonly string[];
  /** Fills the folder before the chat begins. */
  readonly prepare?: (folder: string) => Promise<void>;
}

/** In this process. The words of `args` are those of the command line. */
export async function openChat(args = 'chat', options: ChatOptions = {}): Promise<Chat> {
  const { host, folder } = await beginning(options);
  return { host, folder, ...startIn({ host, folder, args }) };
}

/** The command in a new window. */
export function startIn({ host, folder, args }: Begun & { readonly args: string }): Pick<Chat, 'terminal' | 'ended'> {
  const terminal = openWindow();
  const { ended } = atrium(
    args === '' ? [] : args.split(' '),
    { TERM: 'xterm-256color', ...host.env },
    { cwd: folder, window: terminal },
  );
  return { terminal, ended };
}

async function beginning({ hostArgs = [], host, prepare }: ChatOptions): Promise<Begun> {
  const running = host ?? (await startHost(hostArgs));
  const folder = await newFolder(running);
  await prepare?.(folder);
  return { host: running, folder };
}

/** The command as a process, typed into the shell of a real terminal. */
export async function openRealChat(
  args = 'chat',
  options: ChatOptions & {
    /** Lines that are typed right behind the command, before it can read them. */
    readonly typedAhead?: readonly string[];
  } = {},
): Promise<Begun & { readonly terminal: TestTerminal }> {
  const { host, folder } = await beginning(options);
  const terminal = await openTerminal(host.env, folder);
  terminal.type(`atrium ${args}`);
  terminal.keys('Enter');
  for (const line of options.typedAhead ?? []) {
    terminal.type(line);
    terminal.keys('Enter');
  }
  return { host, terminal, folder };
}

export async function say(terminal: TestTerminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.sees(new RegExp(`> ${text.replaceAll(/[.[\]]/g, '\\$&')}\\s*\\n`));
  terminal.keys('Enter');
}

export async function answer(terminal: TestTerminal, key: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, TYPING_GUARD_MS));
  terminal.keys(key);
}

/** The terminal is as the shell had it: what is typed shows, Enter works, the cursor is there. */
export async function isClean(terminal: TestTerminal): Promise<void> {
  terminal.type('stty -a | grep -o " icanon\\| echo " | tr -d "\\n"; echo "; left $?"');
  terminal.keys('Enter');
  expect(await terminal.sees(/; left \d/)).toContain(' icanon echo ; left');
}
