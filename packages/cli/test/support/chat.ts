/** A chat in a window, and what a person does in it. */
import { expect } from 'vitest';
import { newFolder, startHost, type TestHost } from './host.js';
import { openTerminal, type TestTerminal } from './terminal.js';

/** What is typed while a question appears is not taken for its answer. */
export const TYPING_GUARD_MS = 600;

/** Nothing happens, and a message can be written. */
export const PROMPT = /write a message\n.*\/help$/;

export interface Chat {
  readonly host: TestHost;
  readonly terminal: TestTerminal;
  /** Where the chat was begun. */
  readonly folder: string;
}

export interface ChatOptions {
  /** Without one, the chat gets a host of its own, in this process. */
  readonly host?: TestHost;
  readonly hostArgs?: readonly string[];
  /** Fills the folder before the chat begins. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** Lines that are typed right behind the command, before it can read them. */
  readonly typedAhead?: readonly string[];
}

export async function openChat(args = 'chat', options: ChatOptions = {}): Promise<Chat> {
  const { hostArgs = [], host = await startHost(hostArgs), prepare, typedAhead = [] } = options;
  const folder = await newFolder(host);
  await prepare?.(folder);
  const terminal = await openTerminal(host.env, folder);
  terminal.type(`atrium ${args}`);
  terminal.keys('Enter');
  for (const line of typedAhead) {
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
