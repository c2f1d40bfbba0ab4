/** `atrium chat` and `atrium attach`: from one session to the next, until the person leaves. */
import type { Client, OpenSession } from '@atrium/client';
import { type ModelSelection, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import type { HostOptions } from '../connect/host-options.js';
import { reachHost } from '../connect/reach.js';
import { ExitCode, NoSessionError, QuietExit, UsageError } from '../exit.js';
import { io, print, tell } from '../io.js';
import { chatName, chatTree, findChat, kindWord } from '../sessions/chats.js';
import { findSession, newestFirst, projectsOf, shortId } from '../sessions/find-session.js';
import { type ChosenSession, chooseSession, type SessionChoice } from '../sessions/open-session.js';
import { folderOf, folderText, isArchived, placeText } from '../sessions/summary-text.js';
import { readState } from '../sessions/transfer.js';
import { modelOf } from '../sessions/turn-text.js';
import { printable } from '../text/printable.js';
import { type Style, styleFor } from '../text/style.js';
import { Chat, type ChatEnd } from './chat.js';
import { typingAhead } from './chat-terminal.js';
import { chooseFound } from './found.js';
import { chatPicker, pick, sessionPicker } from './picker.js';
import type { Draft } from './slash.js';

/** Earlier turns to show. */
const EARLIER_TURNS = 10;
/** The same for a chat that was on the screen before. */
const EARLIER_TURNS_AGAIN = 2;

interface ChatCommand extends HostOptions, SessionChoice {
  readonly prompt?: string | undefined;
}

/** Begins a session, or continues the named one. */
export async function chat(command: ChatCommand): Promise<void> {
  await inTerminal(command, (client) => waiting(() => chooseSession(client, { ...command, isLikeLast: true })));
}

/** Continues a session: the named one, the only one, or the one that the person picks. */
export async function attach(command: AttachCommand, name: string | undefined): Promise<void> {
  const { chat: wanted } = command;
  await inTerminal(command, async (client, style) => {
    const chosen = await attachedSession(client, style, name);
    if (wanted === undefined) return chosen;
    return { ...chosen, chat: findChat(await readState(client, chosen.uri), wanted).resource };
  });
}

interface AttachCommand extends HostOptions {
  /** The chat of the session to open. */
  readonly chat?: string;
}

async function attachedSession(client: Client, style: Style, name: string | undefined): Promise<ChosenSession> {
  const items = newestFirst(await waiting(() => client.listSessions()));
  if (name !== undefined) return { uri: findSession(items, name).resource };
  if (items.length === 0) throw new NoSessionError('there are no sessions. Begin one with: atrium chat');
  const listed = items.filter((item) => !isArchived(item));
  const [only] = listed.length > 0 ? listed : items;
  if (only && (listed.length === 1 || items.length === 1)) return { uri: only.resource };
  const picker = sessionPicker(items, await projectsOf(client));
  const picked = await unlessInterrupted(pick({ picker, style, onEscape: 'leaves' }));
  if (picked === 'escape' || picked === 'interrupt')
    throw new QuietExit(picked === 'escape' ? ExitCode.Ok : ExitCode.Interrupted);
  return { uri: picked.resource };
}

interface FirstSession extends ChosenSession {
  readonly chat?: string;
}

type First = (client: Client, style: Style) => Promise<FirstSession>;

async function inTerminal(command: ChatCommand, first: First): Promise<void> {
  const instead = 'Use: atrium run "<message>"';
  if (!io().stdin.isTTY || !io().stdout.isTTY) throw new UsageError(`this needs a terminal. ${instead}`);
  if (io().env.TERM === 'dumb')
    throw new UsageError(`this needs a terminal that can move the cursor, and TERM is "dumb". ${instead}`);
  const style = styleFor(io().stdout, io().env);
  const isDone = reportAbruptExit();
  try {
    await chatUntilLeft(command, first, style);
  } finally {
    isDone();
  }
}

async function chatUntilLeft(command: ChatCommand, first: First, style: Style): Promise<void> {
  const client = await waiting(() => reachHost(command, { tell }));
  try {
    const common = {
      style,
      isLocal: command.url === undefined,
      drafts: new Map<string, Draft>(),
      shown: new Set<string>(),
    };
    let opened: Opened = { ...common, ...(await first(client, style)), prompt: command.prompt };
    for (;;) {
      const { end, session } = await open(client, opened);
      if (end.to === 'shell') return leave(end.code);
      opened = { ...common, ...(await following(client, opened, { end, session })) };
    }
  } finally {
    client.close();
  }
}

type Left = { readonly end: Exclude<ChatEnd, { to: 'shell' }>; readonly session: OpenSession };
type Next = Pick<Opened, 'uri' | 'chat' | 'from' | 'model' | 'prompt' | 'isShown' | 'isFamiliar'>;

function following(client: Client, opened: Opened, { end, session }: Left): Promise<Next> {
  const from = session.chat.uri;
  if (end.to === 'new') return another(client, session);
  if (end.to === 'sessions') return chosen(client, opened, from);
  if (end.to === 'found') return chosenFound(client, opened, { from, query: end.query });
  if (end.to !== 'chat') return chosenChat(client, opened, from);
  const { model, uri } = opened;
  const { chat, prompt, isFamiliar } = end;
  return Promise.resolve({ uri, model, chat, from, prompt, isFamiliar });
}

/** Keeps keys that are typed meanwhile; Ctrl+C leaves. */
function waiting<T>(work: () => Promise<T>): Promise<T> {
  return typingAhead(() => unlessInterrupted(work()));
}

/** A new session like the one before it. */
async function another(client: Client, { state }: OpenSession): Promise<ChosenSession> {
  const { provider, workingDirectories } = state.session;
  const model = modelOf(state);
  const like = { provider, ...(workingDirectories && { workingDirectories }), ...(model && { model }) };
  return { uri: await waiting(() => client.createSession(like)), ...(model && { model }) };
}

/** The session that the person picks; Esc goes back to the previous one. */
async function chosen(client: Client, { uri, style }: Opened, chat: string): Promise<Next> {
  const items = newestFirst(await waiting(() => client.listSessions()));
  const picker = sessionPicker(items, await projectsOf(client), uri);
  const picked = await unlessInterrupted(pick({ picker, style, onEscape: 'goes back' }));
  if (picked === 'interrupt') throw new QuietExit(ExitCode.Interrupted);
  if (picked === 'escape' || picked.resource === uri) return { uri, chat, isShown: true };
  return { uri: picked.resource };
}

/** The session of the hit that the person picks; Esc goes back to the previous one. */
async function chosenFound(
  client: Client,
  { uri, style, model }: Opened,
  { from, query }: { readonly from: string; readonly query: string },
): Promise<Next> {
  const picked = await unlessInterrupted(chooseFound({ client, style, query }));
  if (picked === 'interrupt') throw new QuietExit(ExitCode.Interrupted);
  if (picked === 'escape' || (picked.session === uri && picked.chat === from))
    return { uri, model, chat: from, isShown: true };
  return { uri: picked.session, ...(picked.chat !== undefined && { chat: picked.chat }), isFamiliar: false };
}

/** The chat that the person picks; Esc goes back to the previous one. */
async function chosenChat(client: Client, { uri, style, model }: Opened, from: string): Promise<Next> {
  const session = await waiting(() => client.subscribe(uri, { kind: 'session' }));
  const picker = chatPicker(() => session.state, from);
  const follow = (changed: () => void) => session.onChange(changed);
  const picked = await unlessInterrupted(pick({ picker, style, onEscape: 'goes back', follow }));
  session.close();
  if (picked === 'interrupt') throw new QuietExit(ExitCode.Interrupted);
  if (picked === 'escape' || picked.chat.resource === from) return { uri, model, chat: from, isShown: true };
  return { uri, model, chat: picked.chat.resource, from };
}

interface Opened {
  readonly uri: string;
  readonly model?: ModelSelection | undefined;
  /** The default chat, if left out. */
  readonly chat?: string | undefined;
  /** The chat that the person came from. */
  readonly from?: string | undefined;
  readonly drafts: Map<string, Draft>;
  /** Chats that have been on the screen. */
  readonly shown: Set<string>;
  readonly style: Style;
  readonly isLocal: boolean;
  readonly prompt?: string | undefined;
  /** The earlier conversation is already on the screen. */
  readonly isShown?: boolean;
  /** The conversation was on the screen some time ago, or is a copy of one that was. */
  readonly isFamiliar?: boolean | undefined;
}

async function open(client: Client, opened: Opened): Promise<{ end: ChatEnd; session: OpenSession }> {
  const { uri, style, chat, shown, isShown = false } = opened;
  const isFamiliar = opened.isFamiliar || (chat !== undefined && shown.has(chat) && !isShown);
  const last = isFamiliar ? EARLIER_TURNS_AGAIN : EARLIER_TURNS;
  const session = await waiting(() => client.open(uri, { turns: { last }, ...(chat !== undefined && { chat }) }));
  const root = await waiting(() => client.subscribe(ROOT_CHANNEL));
  const agent = () => root.state.agents.find(({ provider }) => provider === session.state.session.provider);
  if (!isShown) printHead(session, style);
  shown.add(session.chat.uri);
  try {
    const end = await new Chat({ client, open: session, agent, ...opened }).run();
    if (end.to === 'shell') for (const line of closingLines(client, session, end.code)) print(style.dim(line));
    return { end, session };
  } finally {
    session.close();
    root.close();
  }
}

function printHead({ session, chat, state: both }: OpenSession, style: Style): void {
  const { uri, state } = session;
  const row = chatTree(state).find((each) => each.chat.resource === chat.uri);
  const isFirst = row?.isDefault ?? true;
  const own = isFirst ? '' : ` › ${chatName(state, both.chat)}`;
  print(
    `${style.bold(`${printable(state.title)}${own}`)}  ${style.dim(row && !isFirst ? kindWord(row) : shortId(uri))}`,
  );
  if (state.project && isFirst)
    print(style.dim(`${placeText(state)}, in a folder of its own: ${folderText(folderOf(state))}`));
  const { olderCount } = chat;
  const earlier = olderCount === undefined ? 'There are earlier turns' : `${olderCount} earlier turns`;
  const how = `atrium sessions show ${shortId(uri)}${isFirst ? '' : ' --chat'}`;
  if (olderCount !== 0) print(style.dim(`${earlier}: ${how}`));
  print('');
}

function closingLines(client: Client, { session, chat }: OpenSession, code: ExitCode): string[] {
  if (code === ExitCode.NoSession) return ['The session was removed.'];
  const isHere = client.status.at === 'open';
  const pending = [...session.pending, ...chat.pending];
  const isLost = !isHere && pending.some(({ action }) => action.type !== 'session/isReadChanged');
  const how = chat.state.activeTurn && isHere ? 'It goes on without you. To come back' : 'To go on';
  const back = `${how}: atrium attach ${shortId(session.uri)}`;
  return [...(isLost ? ['What you did last has not reached the host.'] : []), back];
}

function leave(code: ExitCode): void {
  if (code !== ExitCode.Ok) throw new QuietExit(code);
}

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Waits for work while no chat has the terminal: between two sessions Ctrl+C is a signal, not a key. */
async function unlessInterrupted<T>(work: Promise<T>): Promise<T> {
  let end: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    end = () => reject(new QuietExit(ExitCode.Interrupted));
  });
  for (const signal of END_SIGNALS) io().signals.on(signal, end);
  try {
    return await Promise.race([work, interrupted]);
  } catch (error) {
    if (error instanceof QuietExit && error.code === ExitCode.Interrupted) tell('Left.');
    throw error;
  } finally {
    for (const signal of END_SIGNALS) io().signals.off(signal, end);
  }
}

/** Prints a message when the process ends unexpectedly. The returned function cancels that. */
function reportAbruptExit(): () => void {
  const say = (code: number) => tell(`The chat broke off (${code}). Its session is in the host: atrium attach last`);
  const { signals } = io();
  signals.on('exit', say);
  return () => void signals.off('exit', say);
}
