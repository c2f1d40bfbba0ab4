/** `atrium chat` and `atrium attach`: from one session to the next, until the person leaves. */
import type { Client } from '@atrium/client';
import type { HostOptions } from '../connect/options.js';
import { reachHost } from '../connect/reach.js';
import { ExitCode, NoSessionError, QuietExit, UsageError } from '../exit.js';
import { print, tell } from '../output.js';
import { chooseSession, newSession, type SessionChoice } from '../sessions/open.js';
import { findSession, newestFirst, shortId } from '../sessions/reference.js';
import { printable } from '../text/printable.js';
import { type Style, styleFor } from '../text/style.js';
import { Chat, type ChatEnd } from './chat.js';
import { pickSession } from './picker.js';

/** Turns that are shown of what was said before. */
const EARLIER_TURNS = 10;

export interface ChatCommand extends HostOptions, SessionChoice {
  readonly prompt?: string | undefined;
}

/** Begins a session, or goes on in the one that is named. */
export async function chat(command: ChatCommand): Promise<void> {
  await inTerminal(command, (client) => chooseSession(client, command));
}

/** Goes on in a session: the one that is named, the only one there is, or the one that is picked. */
export async function attach(command: HostOptions, name: string | undefined): Promise<void> {
  await inTerminal(command, async (client, style) => {
    const items = newestFirst(await client.listSessions());
    if (name !== undefined) return findSession(items, name).resource;
    const [only] = items;
    if (!only) throw new NoSessionError('there are no sessions. Begin one with: atrium chat');
    return items.length === 1 ? only.resource : pick(client, style);
  });
}

async function pick(client: Client, style: Style): Promise<string> {
  const choice = await pickSession(newestFirst(await client.listSessions()), style);
  if (!choice) throw new QuietExit(ExitCode.Ok);
  return choice.resource;
}

type First = (client: Client, style: Style) => Promise<string>;

async function inTerminal(command: ChatCommand, first: First): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('this needs a terminal. Without one, use: atrium run "<message>"');
  const style = styleFor(process.stdout, process.env);
  const client = await reachHost(command, { tell });
  try {
    let uri = await first(client, style);
    for (let prompt = command.prompt; ; prompt = undefined) {
      const end = await open(client, uri, { style, prompt, isLocal: command.url === undefined });
      if (end.to === 'shell') return leave(end.code);
      uri = end.to === 'new' ? await newSession(client, {}) : await pick(client, style);
    }
  } finally {
    client.close();
  }
}

interface Opened {
  readonly style: Style;
  readonly prompt: string | undefined;
  readonly isLocal: boolean;
}

async function open(client: Client, uri: string, opened: Opened): Promise<ChatEnd> {
  const session = await client.subscribe(uri, { turns: { last: EARLIER_TURNS } });
  const { style } = opened;
  const { summary } = session.state;
  print(`${style.bold(printable(summary.title))}  ${style.dim(shortId(uri))}`);
  const earlier = session.window.start;
  if (earlier > 0) print(style.dim(`${earlier} earlier turns: atrium sessions show ${shortId(uri)}`));
  print('');
  try {
    const end = await new Chat({ client, session, ...opened }).run();
    if (end.to === 'shell') print(style.dim(farewell(uri, { isWorking: !!session.state.activeTurn, code: end.code })));
    return end;
  } finally {
    session.close();
  }
}

function farewell(uri: string, { isWorking, code }: { isWorking: boolean; code: ExitCode }): string {
  if (code === ExitCode.NoSession) return 'The session was removed.';
  return `${isWorking ? 'It goes on without you. To come back' : 'To go on'}: atrium attach ${shortId(uri)}`;
}

function leave(code: ExitCode): void {
  if (code !== ExitCode.Ok) throw new QuietExit(code);
}
