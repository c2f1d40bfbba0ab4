/**
 * Sessions to files and back. A file is JSON Lines, so that a large session can be read and written piece by piece: the
 * first line is the session without its conversation, every further line is one finished turn of its default chat, or a
 * large content that a later turn names. A line that names another chat begins the turns of that one.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { type Client, RequestError } from '@atrium/client';
import {
  type Annotation,
  annotationsChannel,
  type ChatState,
  type ChatSummary,
  type ResourceReadResult,
  ROOT_CHANNEL,
  type SessionState,
  type SessionSummary,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { findSession, idOf, shortId } from './find-session.js';

const OWNER_ONLY = 0o600;
/** Larger files do not fit into one text. */
const FILE_MAX_BYTES = 400 * 2 ** 20;

export async function exportTo(client: Client, name: string, file: string | undefined): Promise<void> {
  const summary = findSession(await client.listSessions(), name);
  const { resource } = summary;
  const lines = archiveLines(client, summary);
  if (file === undefined) {
    for await (const line of lines) await written(line);
    return;
  }
  await writeNew(file, lines);
  tell(`Exported ${shortId(resource)} to ${file}`);
}

async function* archiveLines(client: Client, summary: SessionSummary): AsyncGenerator<string, void, undefined> {
  const state = await readState(client, summary.resource);
  const [first, ...others] = chatsOf(state);
  const known = new Set<string>();
  const main = first && (await readChat(client, first.resource));
  const annotations = await readAnnotations(client, summary.resource);
  const head = { summary, state, turns: main?.turns.length ?? 0, chats: others.length, ...annotations };
  yield `${JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, exportedAt: new Date().toISOString(), ...head })}\n`;
  if (main) yield* chatLines(client, main, known);
  for (const { resource } of others) {
    const chat = await readChat(client, resource);
    const { turns, activeTurn: _active, ...rest } = chat;
    yield `${JSON.stringify({ chat: rest, turns: turns.length })}\n`;
    yield* chatLines(client, chat, known);
  }
}

/** The default chat is the first. */
function chatsOf({ chats, defaultChat }: SessionState): ChatSummary[] {
  return chats.toSorted((a, b) => Number(b.resource === defaultChat) - Number(a.resource === defaultChat));
}

async function* chatLines(
  client: Client,
  { turns, activeTurn }: ChatState,
  known: Set<string>,
): AsyncGenerator<string, void, undefined> {
  if (activeTurn) tell('A turn is running; only what is finished is exported.');
  for (const turn of turns) {
    const line = `${JSON.stringify(turn)}\n`;
    for (const name of namedContents(line, known)) {
      const content = await readContent(client, name).catch(leftOut);
      if (content) yield `${JSON.stringify(content)}\n`;
    }
    yield line;
  }
}

/** Notes on files. Not every host has them. */
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

/** A session may hold secrets: the file is the user's alone. What is there already is never written over. */
async function writeNew(file: string, lines: AsyncIterable<string>): Promise<void> {
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
  const archive = parseArchive(await readText(file));
  const total = archive.chats.reduce((sum, { turns }) => sum + turns.length, 0);
  let done = 0;
  const onProgress = (count: number) => {
    done += count;
    if (io().stderr.isTTY && done < total) tell(`${done} of ${total} turns…`);
  };
  for (const content of archive.contents) await sendContent(client, content);
  const [uri = '', ...others] = await importChats(client, archive, { ...options, onProgress });
  const turns = archive.chats[0]?.turns.length ?? 0;
  if (options.json) return printJson({ session: uri, turns, ...(others.length > 0 && { others }) });
  print(`Imported ${turns} ${turns === 1 ? 'turn' : 'turns'}. Go on with: atrium attach ${idOf(uri)}`);
  for (const other of others) print(`Another chat of it is a session of its own here: atrium attach ${idOf(other)}`);
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
const FORMAT_VERSION = 3;

/** Versions 1 and 2 hold the shapes of protocol 0.3.0, which the importing host knows, too. */
interface ArchiveHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: string;
  /** How many of the default chat follow: a file that was cut off is not taken for a whole one. */
  readonly turns: number;
  /** How many further chats follow; since version 3. */
  readonly chats?: number;
  /** Since version 3. */
  readonly summary?: SessionSummary;
  /** Before version 3 the summary is in here. */
  readonly state: object;
  /** Notes on files, as the host keeps them. The importing host validates them. */
  readonly annotations?: unknown;
}

/** The line before the turns of a further chat. */
interface ChatLine {
  readonly chat: Omit<ChatState, 'turns'>;
  readonly turns: number;
}

interface ArchivedContent {
  /** The name by which turns know it. */
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  readonly data: string;
}

interface ArchivedChat {
  /** Undefined for the default chat, which has the title of the session. */
  readonly title?: string;
  readonly turns: readonly Turn[];
}

interface SessionArchive {
  /** What the importing host takes for the session: its summary. */
  readonly summary: object;
  readonly annotations?: unknown;
  /** The default chat is the first. */
  readonly chats: readonly ArchivedChat[];
  readonly contents: readonly ArchivedContent[];
}

/** The importing host validates the turns. */
function parseArchive(text: string): SessionArchive {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [header, ...rest] = lines.map((line, index) => parsedLine(line, index + 1));
  if (!isHeader(header)) throw new Error('line 1 is no header: this is not a file of "atrium sessions export"');
  if (header.version > FORMAT_VERSION)
    throw new Error(
      `the file has version ${header.version}, and this program reads up to ${FORMAT_VERSION}: update it`,
    );
  const contents = rest.filter(isContent);
  const chats = parsedChats(
    header,
    rest.filter((line) => !isContent(line)),
  );
  const { summary = (header.state as { summary?: object }).summary, annotations } = header;
  return { summary: summary ?? {}, annotations, chats, contents };
}

function parsedChats(header: ArchiveHeader, lines: readonly unknown[]): ArchivedChat[] {
  const chats: { title?: string; expected: number; turns: Turn[] }[] = [{ expected: header.turns, turns: [] }];
  for (const line of lines) {
    if (isChatLine(line)) chats.push({ title: line.chat.title, expected: line.turns, turns: [] });
    else chats.at(-1)?.turns.push(line as Turn);
  }
  if (chats.length - 1 !== (header.chats ?? 0))
    throw new Error(
      `the file should have ${header.chats ?? 0} more chats and has ${chats.length - 1}: it is not complete`,
    );
  for (const { expected, turns } of chats)
    if (turns.length !== expected)
      throw new Error(`the file should have ${expected} turns and has ${turns.length}: it is not complete`);
  return chats;
}

function isChatLine(value: unknown): value is ChatLine {
  if (typeof value !== 'object' || value === null) return false;
  const { chat, turns } = value as Record<keyof ChatLine, unknown>;
  return typeof chat === 'object' && chat !== null && typeof turns === 'number';
}

function parsedLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`line ${number} is not JSON`);
  }
}

function isContent(value: unknown): value is ArchivedContent {
  if (typeof value !== 'object' || value === null) return false;
  const { content, encoding, data } = value as Record<keyof ArchivedContent, unknown>;
  return typeof content === 'string' && (encoding === 'utf-8' || encoding === 'base64') && typeof data === 'string';
}

function isHeader(value: unknown): value is ArchiveHeader {
  if (typeof value !== 'object' || value === null) return false;
  const { format, version, turns, state } = value as Record<keyof ArchiveHeader, unknown>;
  const isOurs = format === FORMAT && typeof version === 'number' && typeof turns === 'number';
  return isOurs && typeof state === 'object' && state !== null;
}

// Reading a whole session from a host, page by page.

/** The most turns that are asked for at once; the host makes its pages smaller. */
const PAGE_TURNS = 100;
/** Of a large content, in one answer. */
const PIECE_BYTES = 2 * 2 ** 20;
/** A content by its hash. Hosts that keep none have no such names. */
const NAMED = /atrium-content:\/[0-9a-f]{64}/g;

export async function readState(client: Client, uri: string): Promise<SessionState> {
  const session = await client.subscribe(uri, { kind: 'session' });
  const { state } = session;
  session.close();
  return state;
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
async function readContent(client: Client, uri: string): Promise<ArchivedContent> {
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
  /** The agent to go on with, when the one of the file is not here. */
  readonly agent?: string;
  /** So many more turns are there. */
  readonly onProgress: (count: number) => void;
}

/** A host imports one conversation at a time: further chats become sessions. Resolves with the URIs. */
async function importChats(client: Client, archive: SessionArchive, options: ImportOptions): Promise<string[]> {
  const uris: string[] = [];
  for (const { title, turns } of archive.chats) {
    const named = title === undefined || title === '' ? {} : { title };
    const summary = { ...archive.summary, ...named, ...(options.agent && { provider: options.agent }) };
    // They belong to the session, and so to its default chat.
    const annotations = uris.length === 0 ? archive.annotations : undefined;
    const state = { summary, ...(annotations !== undefined && { annotations }) };
    uris.push(await importSession(client, { state, turns, onProgress: options.onProgress }));
  }
  return uris;
}

interface Imported extends Pick<ImportOptions, 'onProgress'> {
  readonly state: object;
  readonly turns: readonly Turn[];
}

/** Resolves with the URI of the new session. */
async function importSession(client: Client, { state, turns, onProgress }: Imported): Promise<string> {
  const channel = `ahp-session:/${randomUUID()}`;
  let start = 0;
  for (const page of pagesOf(turns)) {
    if (typeof page === 'string') await sendPieces(client, { channel, start }, page);
    else await callExtension(client, METHOD, { channel, start, turns: page });
    const count = typeof page === 'string' ? 1 : page.length;
    start += count;
    onProgress(count);
  }
  await callExtension(client, METHOD, { channel, start, turns: [], state });
  return channel;
}

async function sendPieces(client: Client, place: { channel: string; start: number }, json: string): Promise<void> {
  for (const piece of piecesOf(json)) await callExtension(client, METHOD, { ...place, piece });
}

async function sendContent(client: Client, { content: uri, encoding, data }: ArchivedContent): Promise<void> {
  const base64 = encoding === 'base64' ? data : Buffer.from(data).toString('base64');
  for (const piece of piecesOf(base64))
    await callExtension(client, CONTENT_METHOD, { channel: ROOT_CHANNEL, uri, ...piece });
}

function* piecesOf(whole: string): Generator<{ at: number; text: string; isLast: boolean }> {
  for (let at = 0; at < whole.length; at += PIECE_CHARACTERS) {
    yield { at, text: whole.slice(at, at + PIECE_CHARACTERS), isLast: at + PIECE_CHARACTERS >= whole.length };
  }
}

/** Turns that go together, or the JSON of one that is too large for a message. */
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
