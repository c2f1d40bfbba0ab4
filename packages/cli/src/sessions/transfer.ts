/**
 * Sessions to files and back. A file is JSON Lines, so that a large session can be read and written piece by piece: the
 * first line is the session without its turns, every further line is one finished turn, or a large content that a later
 * turn names.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { type Client, RequestError, type Subscription } from '@atrium/client';
import { type ResourceReadResult, ROOT_CHANNEL, type SessionState, type Turn } from '@atrium/protocol';
import { callRaw } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { findSession, idOf, shortId } from './find-session.js';
import { type ChatTurn, chatTurns, isChatTurn, type ListedChat, readChats, renamed } from './transfer-chats.js';

const OWNER_ONLY = 0o600;
/** Larger files do not fit into one text. */
const FILE_MAX_BYTES = 400 * 2 ** 20;

export async function exportTo(client: Client, name: string, file: string | undefined): Promise<void> {
  const { resource } = findSession(await client.listSessions(), name);
  const lines = archiveLines(client, resource);
  if (file === undefined) {
    for await (const line of lines) await written(line);
    return;
  }
  await writeNew(file, lines);
  tell(`Exported ${shortId(resource)} to ${file}`);
}

async function* archiveLines(client: Client, uri: string): AsyncGenerator<string, void, undefined> {
  const { state, total, pages } = await readSession(client, uri);
  if (state.activeTurn) tell('A turn is running; only what is finished is exported.');
  const annotations = await readAnnotations(client, uri);
  const chats = await readChats(client, uri);
  const header = headerOf(state, total, new Date().toISOString());
  // Programs that know no chats read files without them.
  const listed = chats.length > 0 && { version: FORMAT_VERSION, chats };
  yield `${JSON.stringify({ ...header, ...annotations, ...listed })}\n`;
  const known = new Set<string>();
  for await (const page of joined<readonly object[]>(pages(), chatTurns(client, chats))) {
    const lines = page.map((turn) => `${JSON.stringify(turn)}\n`).join('');
    for (const name of namedContents(lines, known)) {
      const content = await readContent(client, name).catch(leftOut);
      if (content) yield `${JSON.stringify(content)}\n`;
    }
    yield lines;
  }
}

async function* joined<Page>(...sources: AsyncIterable<Page>[]): AsyncGenerator<Page, void, undefined> {
  for (const source of sources) yield* source;
}

/** A host of an earlier version has none. */
async function readAnnotations(client: Client, channel: string): Promise<{ annotations?: unknown[] }> {
  const answer = (await callRaw(client, 'atrium/annotations', { channel }).catch(withoutMethod)) as Annotated;
  return answer?.annotations?.length ? { annotations: answer.annotations } : {};
}

type Annotated = { readonly annotations?: unknown[] } | undefined;

function withoutMethod(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
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
  const onProgress = (done: number, total: number) => {
    if (io().stderr.isTTY && done < total) tell(`${done} of ${total} turns…`);
  };
  const { agent } = options;
  const uri = await importSession(client, archive, { ...(agent !== undefined && { agent }), onProgress });
  if (options.json) printJson({ session: uri, turns: archive.turns.length });
  else
    print(
      `Imported ${archive.turns.length} ${archive.turns.length === 1 ? 'turn' : 'turns'}. Go on with: atrium attach ${idOf(uri)}`,
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
const FORMAT_VERSION = 3;
/** Without further chats. */
const PLAIN_VERSION = 2;

interface ArchiveHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: string;
  /** How many of them follow: a file that was cut off is not taken for a whole one. */
  readonly turns: number;
  readonly state: Omit<SessionState, 'turns'>;
  /** Notes on files, as the host keeps them. The importing host validates them. */
  readonly annotations?: unknown;
  /** The chats beside the default one, as the host lists them, with the number of their turns. */
  readonly chats?: readonly ListedChat[];
}

function headerOf(state: SessionState, turns: number, exportedAt: string): ArchiveHeader {
  const { turns: _turns, ...rest } = state;
  return { format: FORMAT, version: PLAIN_VERSION, exportedAt, turns, state: rest };
}

interface ArchivedContent {
  /** The name by which turns know it. */
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  readonly data: string;
}

interface SessionArchive {
  readonly header: ArchiveHeader;
  readonly turns: readonly Turn[];
  readonly chatTurns: readonly ChatTurn[];
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
  const ofChats = rest.filter(isChatTurn);
  const turns = rest.filter((line) => !isContent(line) && !isChatTurn(line));
  const expected = (header.chats ?? []).reduce((sum, chat) => sum + chat.turns, header.turns);
  const found = turns.length + ofChats.length;
  if (found !== expected)
    throw new Error(`the file should have ${expected} turns and has ${found}: it is not complete`);
  return { header, turns: turns as Turn[], chatTurns: ofChats, contents };
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
  return format === FORMAT && typeof version === 'number' && typeof turns === 'number' && typeof state === 'object';
}

// Reading a whole session from a host, page by page.

/** The most turns that a host sends in one answer. */
const PAGE_MAX_TURNS = 100;
/** The first answer is small; how many turns the next ones hold depends on how large turns are here. */
const FIRST_PAGE_TURNS = 5;
const PAGE_ADVISED_CHARACTERS = 4_000_000;
/** Of a large content, in one answer. */
const PIECE_BYTES = 2 * 2 ** 20;
/** A content by its hash. Hosts that keep none have no such names. */
const NAMED = /atrium-content:\/[0-9a-f]{64}/g;

interface WholeSession {
  readonly state: SessionState;
  readonly total: number;
  /** All finished turns, oldest first. */
  pages(): AsyncGenerator<readonly Turn[], void, undefined>;
}

export async function readSession(client: Client, uri: string): Promise<WholeSession> {
  const session = await client.subscribe(uri, { turns: { last: 1 } });
  const { state, window } = session;
  return { state, total: window.total, pages: () => fetchedPages(client, session, state, window) };
}

/** A host that does not know windows has sent everything already. */
async function* fetchedPages(
  client: Client,
  session: Subscription,
  state: SessionState,
  { start, total }: { start: number; total: number },
): AsyncGenerator<readonly Turn[], void, undefined> {
  try {
    for (let at = 0, count = FIRST_PAGE_TURNS; at < start; ) {
      const range = { start: at, end: Math.min(at + count, start) };
      const { turns } = await client.request('fetchTurns', { channel: session.uri, ...{ range } });
      if (turns.length !== range.end - range.start) throw new Error('history was cut meanwhile: export it again');
      yield turns;
      at = range.end;
      count = fittingCount(turns);
    }
    if (total > start) yield state.turns;
  } finally {
    session.close();
  }
}

function fittingCount(turns: readonly Turn[]): number {
  const average = turns.reduce((sum, turn) => sum + JSON.stringify(turn).length, 0) / turns.length;
  return Math.max(1, Math.min(PAGE_MAX_TURNS, Math.floor(PAGE_ADVISED_CHARACTERS / average)));
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
  readonly onProgress?: (done: number, total: number) => void;
}

/** Resolves with the URI of the new session. */
async function importSession(client: Client, given: SessionArchive, options: ImportOptions): Promise<string> {
  const { header: listed, turns: all, chatTurns: ofChats } = given;
  const channel = `ahp-session:/${randomUUID()}`;
  const sessions = { from: listed.state.summary.resource, to: channel };
  const { value, names } = renamed({ header: listed, turns: all, ofChats }, listed.chats ?? [], sessions);
  const { header, turns } = value;
  const archive = { ...given, ...value };
  const { summary, config } = header.state;
  const { annotations } = header;
  const named = { ...summary, ...(options.agent && { provider: options.agent }) };
  const chats = header.chats?.map(({ turns: _count, ...chat }) => chat);
  const notes = annotations !== undefined && { annotations };
  const state = { summary: named, config, ...notes, ...(chats && { chats }) };
  for (const content of archive.contents) await sendContent(client, content);
  let start = 0;
  for (const page of pagesOf(turns)) {
    if (typeof page === 'string') await sendPieces(client, { channel, start }, page);
    else await callRaw(client, METHOD, { channel, start, turns: page });
    start += typeof page === 'string' ? 1 : page.length;
    options.onProgress?.(start, turns.length);
  }
  if (start === 0 && names.size > 0) await callRaw(client, METHOD, { channel, start, turns: [] });
  for (const chat of names.values()) {
    const own = value.ofChats.filter((line) => line.chat === chat).map(({ turn }) => turn as Turn);
    await sendTurns(client, { channel, chat }, own);
  }
  await callRaw(client, METHOD, { channel, start, turns: [], state });
  return channel;
}

async function sendTurns(client: Client, place: Omit<Place, 'start'>, turns: readonly Turn[]): Promise<void> {
  let start = 0;
  for (const page of pagesOf(turns)) {
    if (typeof page === 'string') await sendPieces(client, { ...place, start }, page);
    else await callRaw(client, METHOD, { ...place, start, turns: page });
    start += typeof page === 'string' ? 1 : page.length;
  }
}

interface Place {
  readonly channel: string;
  readonly chat?: string;
  readonly start: number;
}

async function sendPieces(client: Client, place: Place, json: string): Promise<void> {
  for (const piece of piecesOf(json)) await callRaw(client, METHOD, { ...place, piece });
}

async function sendContent(client: Client, { content: uri, encoding, data }: ArchivedContent): Promise<void> {
  const base64 = encoding === 'base64' ? data : Buffer.from(data).toString('base64');
  for (const piece of piecesOf(base64)) await callRaw(client, CONTENT_METHOD, { channel: ROOT_CHANNEL, uri, ...piece });
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
