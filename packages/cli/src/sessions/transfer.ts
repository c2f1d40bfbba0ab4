/**
 * Sessions to files and back. A file is JSON Lines, so that a large session can be read and written piece by piece: the
 * first line is the session without its conversations, every further line is one finished turn of its default chat, a
 * large content that a later turn names, a turn of another chat with its name, or a turn that only the agent of a side
 * chat
 * knows.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { type Client, RequestError } from '@atrium/client';
import {
  type Annotation,
  annotationsChannel,
  type ChatState,
  type ChatSummary,
  defaultChatUri,
  type ResourceReadResult,
  type ResponsePart,
  ROOT_CHANNEL,
  type SessionState,
  type SessionSummary,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { findSession, idOf, shortId } from './find-session.js';
import { folderText } from './summary-text.js';
import {
  type ChatTurn,
  type ContextTurn,
  isChatTurn,
  isContextTurn,
  type ListedChat,
  renamed,
} from './transfer-chats.js';

const OWNER_ONLY = 0o600;
/** A larger file does not fit into one string. */
const FILE_MAX_BYTES = 400 * 2 ** 20;

export async function exportTo(client: Client, name: string, file: string | undefined): Promise<void> {
  const summary = findSession(await client.listSessions(), name);
  const { resource } = summary;
  const lines = exportLines(client, summary);
  if (file === undefined) {
    for await (const line of lines) await written(line);
    return;
  }
  await writeNew(file, lines);
  tell(`Exported ${shortId(resource)} to ${file}`);
}

/** Holds one chat at a time in memory: the first line tells how many turns of each chat follow. */
export async function* exportLines(client: Client, summary: SessionSummary): AsyncGenerator<string, void, undefined> {
  const state = await readState(client, summary.resource);
  const [first, ...others] = chatsOf(state);
  const contexts = await contextCounts(client, summary.resource, others);
  const turns = first ? await turnCount(client, first.resource) : 0;
  const chats: ListedChat[] = [];
  for (const chat of others) {
    const context = contexts.get(chat.resource);
    chats.push({ ...chat, turns: await turnCount(client, chat.resource), ...(context !== undefined && { context }) });
  }
  const annotations = await readAnnotations(client, summary.resource);
  const version = contexts.size > 0 ? FORMAT_VERSION : VERSION_WITHOUT_CONTEXTS;
  const head = { summary, state, turns, ...(chats.length > 0 && { chats }), ...annotations };
  yield `${JSON.stringify({ format: FORMAT, version, exportedAt: new Date().toISOString(), ...head })}\n`;
  const known = new Set<string>();
  if (first) yield* turnLines(client, await finishedTurns(client, first.resource, turns), known);
  for (const { resource: chat, turns: count, context = 0 } of chats) {
    const own = await finishedTurns(client, chat, count);
    yield* turnLines(client, own, known, (turn) => ({ chat, turn }));
    for await (const page of contextPages(client, chat, context))
      yield* turnLines(client, page, known, (turn) => ({ context: chat, turn }));
  }
}

/** Leaves out turns that end after the count. */
async function finishedTurns(client: Client, chat: string, count: number): Promise<readonly Turn[]> {
  const { turns, activeTurn } = await readChat(client, chat);
  if (activeTurn) tell('A turn is running; only what is finished is exported.');
  if (turns.length < count) throw new Error('the history was cut while it was being exported: try it again');
  return turns.slice(0, count);
}

/** How many turns only the agents of side chats know. Hosts of others do not tell. */
async function contextCounts(
  client: Client,
  channel: string,
  chats: readonly ChatSummary[],
): Promise<ReadonlyMap<string, number>> {
  if (!chats.some(({ origin }) => origin?.kind === 'sideChat')) return new Map();
  try {
    const answer = (await client.requestExtension('atrium/chats', { channel })) as { chats: readonly ListedChat[] };
    return new Map(answer.chats.flatMap(({ resource, context = 0 }) => (context > 0 ? [[resource, context]] : [])));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    tell('What side chats were told beforehand is not in the export: this host does not tell it.');
    return new Map();
  }
}

async function* contextPages(
  client: Client,
  channel: string,
  count: number,
): AsyncGenerator<readonly Turn[], void, undefined> {
  for (let start = 0; start < count; ) {
    const params = { channel, context: true, start, end: count };
    const { turns } = (await callExtension(client, 'atrium/chatTurns', params)) as { turns: readonly Turn[] };
    if (turns.length === 0) throw new Error('a side chat was removed while it was being exported: try it again');
    yield turns;
    start += turns.length;
  }
}

/** The default chat is the first. */
function chatsOf({ chats, defaultChat }: SessionState): ChatSummary[] {
  return chats.toSorted((a, b) => Number(b.resource === defaultChat) - Number(a.resource === defaultChat));
}

async function* turnLines(
  client: Client,
  turns: readonly Turn[],
  known: Set<string>,
  asLine: (turn: Turn) => object = (turn) => turn,
): AsyncGenerator<string, void, undefined> {
  for (const given of turns) {
    const turn = await withInputs(client, given);
    const line = `${JSON.stringify(asLine(turn))}\n`;
    for (const name of namedContents(line, known)) {
      const content = await readContent(client, name).catch(leftOut);
      if (content) yield `${JSON.stringify(content)}\n`;
    }
    yield line;
  }
}

/** A turn with the text of all tool input, so that the file does not need the host behind its references. */
async function withInputs(client: Client, turn: Turn): Promise<Turn> {
  const responseParts: ResponsePart[] = [];
  for (const part of turn.responseParts) {
    const input = part.kind === 'toolCall' && 'toolInput' in part.toolCall ? part.toolCall.toolInput : undefined;
    const content = typeof input === 'object' ? await readContent(client, input.uri).catch(inputLeftOut) : undefined;
    if (part.kind !== 'toolCall' || content?.encoding !== 'utf-8') responseParts.push(part);
    else responseParts.push({ ...part, toolCall: { ...part.toolCall, toolInput: content.data } as ToolCallState });
  }
  return { ...turn, responseParts };
}

function inputLeftOut(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
  tell(`The input of a tool call is not in the export: ${error.message}`);
}

/** Comments on files. Not every host has them. */
async function readAnnotations(client: Client, uri: string): Promise<{ annotations?: readonly Annotation[] }> {
  try {
    const channel = await client.subscribe(annotationsChannel(uri), { kind: 'annotations' });
    const { annotations } = channel.state;
    channel.close();
    return annotations.length > 0 ? { annotations } : {};
  } catch (error) {
    if (error instanceof RequestError) return {};
    throw error;
  }
}

function leftOut(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
  tell(`A large result is not in the export: ${error.message}`);
}

/** Waits for a slow reader: a large session must not pile up in memory. */
function written(text: string): Promise<void> {
  return new Promise((resolve) => {
    if (io().stdout.write(text)) resolve();
    else io().stdout.once('drain', resolve);
  });
}

/**
 * Only the user can read the file, since a session may hold secrets. Never overwrites a file; removes an unfinished
 * one.
 */
export async function writeNew(file: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const handle = await open(file, 'wx', OWNER_ONLY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${file} is there already; name another file`);
    const why = error.code === 'ENOENT' ? 'its folder is not there' : error.message;
    throw new UsageError(`${file} cannot be written: ${why}`);
  });
  try {
    for await (const line of lines) await handle.write(line);
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(file, { force: true });
    throw error;
  }
}

interface ImportCommandOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

export async function importFrom(client: Client, file: string, options: ImportCommandOptions): Promise<void> {
  const exported = parseExport(await readText(file));
  const total = exported.turns.length + exported.chatTurns.length;
  let done = 0;
  const onProgress = (count: number) => {
    done += count;
    if (io().stderr.isTTY && done < total) tell(`${done} of ${total} turns…`);
  };
  const uri = await importSession(client, exported, { ...options, onProgress });
  await tellWhatTheFileChose(client, uri, exported);
  if (options.json) return printJson({ session: uri, turns: total });
  print(`Imported ${total} ${total === 1 ? 'turn' : 'turns'}. Go on with: atrium attach ${idOf(uri)}`);
}

/** Tells the folders that the author of the file chose, and which agents know turns that people do not see. */
async function tellWhatTheFileChose(client: Client, uri: string, exported: SessionExport): Promise<void> {
  const { workingDirectories = [] } = await readState(client, uri);
  if (workingDirectories.length > 0)
    tell(`Its agents work in ${workingDirectories.map(folderText).join(', ')}, as the file says.`);
  const shown = new Set(
    [...exported.turns, ...exported.chatTurns.map(({ turn }) => turn)].map((turn) => JSON.stringify(turn)),
  );
  const hidden = exported.contextTurns.filter(({ turn }) => !shown.has(JSON.stringify(turn))).length;
  if (hidden > 0)
    tell(
      `Agents of its side chats know ${hidden} ${hidden === 1 ? 'turn' : 'turns'} that no chat shows: look at the file.`,
    );
}

async function readText(file: string): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of io().stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString('utf8');
  }
  const text = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  if (text.length > FILE_MAX_BYTES) throw new UsageError(`${file} is larger than ${FILE_MAX_BYTES} bytes`);
  return text.toString('utf8');
}

// The format of the file.

const FORMAT = 'atrium-session';
const FORMAT_VERSION = 4;
/** The version for a file without hidden turns of side chats, which older programs can read. */
const VERSION_WITHOUT_CONTEXTS = 3;

/** Versions 1 and 2 hold the shapes of protocol 0.3.0, which the importing host also knows. */
interface ExportHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: string;
  /** How many turns of the default chat follow, so that an import notices a file that was cut off. */
  readonly turns: number;
  /** The chats beside the default one; since version 3. */
  readonly chats?: readonly ListedChat[];
  /** Since version 3. */
  readonly summary?: SessionSummary;
  /** Before version 3 the summary is in here. */
  readonly state: { readonly summary?: SessionSummary; readonly defaultChat?: string };
  /** Comments on files, as the host stores them. The importing host validates them. */
  readonly annotations?: unknown;
}

interface ExportedContent {
  /** The name by which turns know it. */
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  readonly data: string;
}

interface SessionExport {
  readonly header: ExportHeader;
  /** The turns of the default chat. */
  readonly turns: readonly Turn[];
  /** The turns of the other chats. */
  readonly chatTurns: readonly ChatTurn[];
  /** The turns that only the agents of side chats know. */
  readonly contextTurns: readonly ContextTurn[];
  readonly contents: readonly ExportedContent[];
}

/** The importing host validates the turns. */
function parseExport(text: string): SessionExport {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [header, ...rest] = lines.map((line, index) => parsedLine(line, index + 1));
  if (!isHeader(header)) throw new Error('line 1 is no header: this is not a file of "atrium sessions export"');
  if (header.version > FORMAT_VERSION)
    throw new Error(
      `the file has version ${header.version}, and this program reads up to ${FORMAT_VERSION}: update it`,
    );
  const contents = rest.filter(isContent);
  const chatTurns = rest.filter(isChatTurn);
  const contextTurns = rest.filter(isContextTurn);
  const turns = rest.filter((line) => !isContent(line) && !isChatTurn(line) && !isContextTurn(line));
  const ofChats = (header.chats ?? []).map((chat) => chat.turns + (chat.context ?? 0));
  const expected = ofChats.reduce((sum, count) => sum + count, header.turns);
  const found = turns.length + chatTurns.length + contextTurns.length;
  if (found !== expected)
    throw new Error(`the file should have ${expected} turns and has ${found}: it is not complete`);
  return { header, turns: turns as Turn[], chatTurns, contextTurns, contents };
}

function parsedLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`line ${number} is not JSON`);
  }
}

function isContent(value: unknown): value is ExportedContent {
  if (typeof value !== 'object' || value === null) return false;
  const { content, encoding, data } = value as Record<keyof ExportedContent, unknown>;
  return typeof content === 'string' && (encoding === 'utf-8' || encoding === 'base64') && typeof data === 'string';
}

function isHeader(value: unknown): value is ExportHeader {
  if (typeof value !== 'object' || value === null) return false;
  const { format, version, turns, state } = value as Record<keyof ExportHeader, unknown>;
  const isOurs = format === FORMAT && typeof version === 'number' && typeof turns === 'number';
  const { chats = [] } = value as { readonly chats?: unknown };
  if (!Array.isArray(chats) || chats.some((chat) => typeof chat !== 'object' || chat === null)) return false;
  return isOurs && typeof state === 'object' && state !== null;
}

// Reading a whole session from a host, page by page.

/** How many turns one request asks for; the host may send smaller pages. */
const PAGE_TURNS = 100;
/** The size of a piece of a large content. */
const PIECE_BYTES = 2 * 2 ** 20;
/** The name of a content, with its hash. Hosts without contents have no such names. */
const NAMED = /atrium-content:\/[0-9a-f]{64}/g;

export async function readState(client: Client, uri: string): Promise<SessionState> {
  const session = await client.subscribe(uri, { kind: 'session' });
  const { state } = session;
  session.close();
  return state;
}

/** How many turns of a chat are finished. A host that does not say so sends them all. */
async function turnCount(client: Client, uri: string): Promise<number> {
  const { turns, olderCount } = await readChat(client, uri, 1);
  return olderCount === undefined ? (await readChat(client, uri)).turns.length : olderCount + turns.length;
}

export interface ReadChat extends ChatState {
  /** How many turns are older than those that were read; undefined when the host does not say how many. */
  readonly olderCount?: number | undefined;
}

/** A chat with its last turns, or with all of them. */
export async function readChat(client: Client, uri: string, last?: number): Promise<ReadChat> {
  const chat = await client.subscribe(uri, { kind: 'chat', turns: { last: last ?? 1 } });
  try {
    while (last === undefined && chat.hasOlder) {
      if ((await chat.loadOlder(PAGE_TURNS)) === 0)
        throw new Error('the host does not send the older turns: try it again');
    }
    return { ...chat.state, olderCount: chat.olderCount };
  } finally {
    chat.close();
  }
}

/** The contents that a text names and `known` does not have; adds them to it. */
function namedContents(text: string, known: Set<string>): string[] {
  const names = [...new Set(text.match(NAMED))].filter((name) => !known.has(name));
  for (const name of names) known.add(name);
  return names;
}

/** Text stays readable in the file. */
async function readContent(client: Client, uri: string): Promise<ExportedContent> {
  const pieces: Buffer[] = [];
  for (let start = 0, size = 1; start < size; start += PIECE_BYTES) {
    const range = { start, end: start + PIECE_BYTES };
    const params = { channel: ROOT_CHANNEL, uri, encoding: 'base64' as const, ...{ range } };
    const answer: ResourceReadResult & { size?: number } = await client.request('resourceRead', params);
    pieces.push(Buffer.from(answer.data, answer.encoding === 'base64' ? 'base64' : 'utf8'));
    size = answer.size ?? 0;
  }
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return { content: uri, encoding: 'utf-8', data: text };
  return { content: uri, encoding: 'base64', data: bytes.toString('base64') };
}

// Importing a session, in pages that fit into a message.

const METHOD = 'atrium/importSession';
const CONTENT_METHOD = 'atrium/keepContent';
/** The host reads messages of two megabytes. */
const PAGE_MAX_BYTES = 1_000_000;
/** A larger turn, and every large content, travels in pieces. A character takes up to three bytes. */
const PIECE_CHARACTERS = 500_000;

interface ImportOptions {
  /** The agent that continues the session if this host does not have the file's agent. */
  readonly agent?: string;
  /** Called with the number of turns that have arrived since the last call. */
  readonly onProgress: (count: number) => void;
}

/** Resolves with the URI of the new session. */
async function importSession(client: Client, given: SessionExport, options: ImportOptions): Promise<string> {
  const channel = `ahp-session:/${randomUUID()}`;
  const { header, turns, chatTurns, contextTurns } = given;
  const { summary: past = header.state.summary, chats = [] } = header;
  const from = header.state.defaultChat ?? defaultChatUri(past?.resource ?? '');
  const { value, names } = renamed({ turns, chats, chatTurns, contextTurns }, { chats, from, to: channel });
  for (const content of given.contents) await sendContent(client, content);
  const sent = await sendTurns(client, { channel }, value.turns, options);
  // Further chats need a session whose import has begun.
  if (sent === 0 && names.size > 0) await callExtension(client, METHOD, { channel, start: 0, turns: [] });
  for (const chat of names.values()) {
    const own = value.chatTurns.filter((line) => line.chat === chat).map(({ turn }) => turn);
    await sendTurns(client, { channel, chat }, own, options);
    const beforehand = value.contextTurns.filter(({ context }) => context === chat).map(({ turn }) => turn);
    await sendTurns(client, { channel, chat, context: true }, beforehand, { ...options, onProgress: () => {} });
  }
  const summary = { ...past, ...(options.agent && { provider: options.agent }) };
  const notes = header.annotations !== undefined && { annotations: header.annotations };
  const listed = value.chats.map(({ turns: _count, context: _beforehand, ...chat }) => chat);
  const state = { summary, ...notes, ...(listed.length > 0 && { chats: listed }) };
  await callExtension(client, METHOD, { channel, start: sent, turns: [], state });
  return channel;
}

interface Conversation {
  readonly channel: string;
  /** Absent for the default one. */
  readonly chat?: string;
  /** The page has turns that only the agent knows, instead of the chat's own. */
  readonly context?: true;
}

/** Resolves with the number of turns sent. */
async function sendTurns(
  client: Client,
  target: Conversation,
  turns: readonly Turn[],
  { onProgress }: ImportOptions,
): Promise<number> {
  let start = 0;
  for (const page of pagesOf(turns)) {
    if (typeof page === 'string') await sendPieces(client, { ...target, start }, page);
    else await callExtension(client, METHOD, { ...target, start, turns: page });
    const count = typeof page === 'string' ? 1 : page.length;
    start += count;
    onProgress(count);
  }
  return start;
}

async function sendPieces(client: Client, place: Conversation & { start: number }, json: string): Promise<void> {
  for (const piece of piecesOf(json)) await callExtension(client, METHOD, { ...place, piece });
}

async function sendContent(client: Client, { content: uri, encoding, data }: ExportedContent): Promise<void> {
  const base64 = encoding === 'base64' ? data : Buffer.from(data).toString('base64');
  for (const piece of piecesOf(base64))
    await callExtension(client, CONTENT_METHOD, { channel: ROOT_CHANNEL, uri, ...piece });
}

function* piecesOf(whole: string): Generator<{ at: number; text: string; isLast: boolean }> {
  for (let at = 0; at < whole.length; at += PIECE_CHARACTERS) {
    yield { at, text: whole.slice(at, at + PIECE_CHARACTERS), isLast: at + PIECE_CHARACTERS >= whole.length };
  }
}

/** Pages of turns, or the JSON of one turn that is too large for a message. */
function* pagesOf(turns: readonly Turn[]): Generator<readonly Turn[] | string> {
  let page: Turn[] = [];
  let bytes = 0;
  for (const turn of turns) {
    const json = JSON.stringify(turn);
    const size = Buffer.byteLength(json);
    if (page.length > 0 && bytes + size > PAGE_MAX_BYTES) {
      yield page;
      page = [];
      bytes = 0;
    }
    if (size > PAGE_MAX_BYTES) yield json;
    else {
      page.push(turn);
      bytes += size;
    }
  }
  if (page.length > 0) yield page;
}
