/**
 * Contents of messages: pictures and files that a person attached. An incoming message is checked, and its embedded
 * contents move into blobs. An agent gets pictures as pictures, the beginning of texts, and a description of everything
 * else.
 */
import { open } from 'node:fs/promises';
import {
  MESSAGE_ATTACHMENTS_MAX,
  MESSAGE_CONTENTS_MAX,
  type Message,
  type MessageAttachment,
  type MessageEmbeddedResourceAttachment,
  type MessageResourceAttachment,
  PICTURE_SIZE,
  type Turn,
  unfitPicture,
} from '@atrium/protocol/ahp-1';
import { type BlobStore, blobHash, putNamed } from '../contracts/blobs.js';
import { BLOB_MAX_BYTES, INLINE_DATA_MAX_BYTES } from '../tool-calls/limits.js';
import { type ContentFacts, contentFacts } from '../util/content-types.js';
import { filePathOf } from '../util/input-files.js';
import { type Folders, fileInside } from '../util/paths.js';
import { beginning, sizeText } from '../util/text.js';
import type { Chat } from './chat.js';

/** Most pictures that an agent gets with one message, or with the history it is told. */
export const PICTURES_MAX = 20;
export const PICTURES_MAX_BYTES = 18 * 2 ** 20;
/** How much of one attached text, and of all texts of a message, a model reads without asking for more. */
export const EXCERPT_MAX_CHARACTERS = 16 * 2 ** 10;
export const EXCERPTS_MAX_CHARACTERS = 64 * 2 ** 10;
/** Less for a file in the session's folder, because the agent can read it itself. */
export const FILE_EXCERPT_MAX_BYTES = 4 * 2 ** 10;

type Content = MessageEmbeddedResourceAttachment | (MessageResourceAttachment & { readonly uri: string });

/** True for contents that are embedded in the message, or stored by the host. */
function isContent(attachment: MessageAttachment): attachment is Content {
  if (attachment.type === 'embeddedResource') return 'data' in attachment;
  return attachment.type === 'resource' && 'uri' in attachment && blobHash(attachment.uri) !== undefined;
}

type PreparedMessage = { readonly message: Message } | { readonly refused: string };

/**
 * The message as the session stores it, or why it is refused. Large contents move into the blob store, and types are
 * those that the bytes show. Every blob that the message names counts as new, so that no sweep removes it before the
 * message is stored.
 */
export async function prepareContents(message: Message, blobs: BlobStore | undefined): Promise<PreparedMessage> {
  const { attachments = [] } = message;
  const refused = tooMany(attachments);
  if (refused !== undefined) return { refused };
  if (!attachments.some(isContent)) return { message };
  const taken: MessageAttachment[] = [];
  for (const attachment of attachments) {
    const next = isContent(attachment) ? await prepareContent(attachment, blobs) : attachment;
    if (typeof next === 'string') return { refused: next };
    taken.push(next);
  }
  return { message: { ...message, attachments: taken } };
}

/** Checks a draft. It changes with every key, so its blobs only have to exist, and nothing is read. */
export async function isKept(draft: Message, blobs: BlobStore | undefined): Promise<PreparedMessage> {
  const { attachments = [] } = draft;
  const refused = tooMany(attachments);
  if (refused !== undefined) return { refused };
  for (const attachment of attachments) {
    if (attachment.type !== 'resource' || !isContent(attachment)) continue;
    if (!(await blobs?.touch(blobHash(attachment.uri) ?? ''))) return { refused: gone(attachment.label) };
  }
  return { message: draft };
}

function tooMany(attachments: readonly MessageAttachment[]): string | undefined {
  if (attachments.length > MESSAGE_ATTACHMENTS_MAX)
    return `a message may have at most ${MESSAGE_ATTACHMENTS_MAX} attachments`;
  const { length: contents } = attachments.filter(isContent);
  return contents > MESSAGE_CONTENTS_MAX
    ? `a message may have at most ${MESSAGE_CONTENTS_MAX} pictures and files attached, and this one has ${contents}`
    : undefined;
}

function gone(label: string): string {
  return `the content of ${label} is no longer stored: attach it again`;
}

async function prepareContent(content: Content, blobs: BlobStore | undefined): Promise<MessageAttachment | string> {
  if (content.type === 'embeddedResource') {
    const { data, contentType, type: _type, ...rest } = content;
    const bytes = Buffer.from(data, 'base64');
    const facts = contentFacts(bytes, contentType);
    if (bytes.length <= INLINE_DATA_MAX_BYTES || bytes.length > BLOB_MAX_BYTES || !blobs)
      return { ...content, contentType: facts.contentType };
    return namedContent({ ...rest, type: 'resource' }, await putNamed(blobs, bytes, facts.contentType), facts);
  }
  const hash = blobHash(content.uri) ?? '';
  const bytes = (await blobs?.touch(hash)) ? await blobs?.get(hash) : undefined;
  if (!bytes) return gone(content.label);
  const facts = contentFacts(bytes, content.contentType);
  return namedContent(content, { sizeHint: bytes.length, contentType: facts.contentType }, facts);
}

/** An attachment by reference, with what is known of its content. */
export function namedContent<A extends object>(
  attachment: A,
  ref: object,
  { picture }: ContentFacts,
): MessageAttachment {
  const { _meta, ...rest } = attachment as { _meta?: Record<string, unknown> };
  const { [PICTURE_SIZE]: _claimed, ...others } = _meta ?? {};
  const meta = picture ? { ...others, [PICTURE_SIZE]: { width: picture.width, height: picture.height } } : others;
  const named = { ...rest, ...ref, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
  return named as unknown as MessageAttachment;
}

/** How much attached content an agent may still get. */
export class ContentBudget {
  #pictures = PICTURES_MAX;
  #bytes = PICTURES_MAX_BYTES;
  #characters = EXCERPTS_MAX_CHARACTERS;

  takesPicture(size: number): boolean {
    if (this.#pictures < 1 || this.#bytes < size) return false;
    this.#pictures -= 1;
    this.#bytes -= size;
    return true;
  }

  excerptOf(text: string): string {
    const excerpt = beginning(text, Math.max(0, Math.min(EXCERPT_MAX_CHARACTERS, this.#characters)));
    this.#characters -= excerpt.length;
    return excerpt;
  }
}

export interface ReadableMessage {
  readonly message: Message;
  /** For people: which pictures the agent does not get, and why. */
  readonly notes: readonly string[];
}

/** A message as an agent gets it: pictures, texts as words, and a description of the rest. */
export async function readableContents(
  message: Message,
  blobs: BlobStore | undefined,
  budget = new ContentBudget(),
): Promise<ReadableMessage> {
  if (!message.attachments?.some(isContent)) return { message, notes: [] };
  const notes: string[] = [];
  const attachments: MessageAttachment[] = [];
  for (const attachment of message.attachments) {
    if (!isContent(attachment)) attachments.push(attachment);
    else attachments.push(await readableContent(attachment, { blobs, budget, note: (text) => notes.push(text) }));
  }
  return { message: { ...message, attachments }, notes };
}

interface Reading {
  readonly blobs: BlobStore | undefined;
  readonly budget: ContentBudget;
  note(text: string): void;
}

async function readableContent(content: Content, { blobs, budget, note }: Reading): Promise<MessageAttachment> {
  const { label } = content;
  const bytes =
    content.type === 'embeddedResource'
      ? Buffer.from(content.data, 'base64')
      : await blobs?.get(blobHash(content.uri) ?? '');
  if (!bytes) return textAttachment(label, `${label}: ${gone('it')}`);
  const facts = contentFacts(bytes, content.contentType);
  const about = `${label} (${facts.contentType}, ${sizeText(bytes.length)})`;
  if (facts.picture) {
    const unfit = unfitPicture(bytes.length, facts.picture) ?? budgetProblem(budget, bytes.length);
    if (unfit === undefined) return carried(content, bytes, facts.contentType);
    note(`${label} is not shown to the model: ${unfit}.`);
    return textAttachment(label, `${about}: a picture that you are not shown, because ${unfit}.`);
  }
  const uri = content.type === 'resource' ? content.uri : undefined;
  if (!facts.isText)
    return textAttachment(label, `${about}: a binary file${uri === undefined ? '' : `, kept as ${uri}`}.`);
  const text = bytes.toString('utf8');
  const excerpt = budget.excerptOf(text);
  const rest = uri === undefined ? '' : ` The tool read_file reads the rest, where you have it: path "${uri}".`;
  const cut =
    excerpt.length < text.length ? `\n[Cut after ${excerpt.length} of ${text.length} characters.${rest}]` : '';
  return textAttachment(label, `${about}:\n<content>\n${excerpt}\n</content>${cut}`);
}

function budgetProblem(budget: ContentBudget, size: number): string | undefined {
  if (budget.takesPicture(size)) return undefined;
  return `there are more pictures than a model is given at once (${PICTURES_MAX}, ${sizeText(PICTURES_MAX_BYTES)})`;
}

function carried({ label, range, displayKind }: Content, bytes: Buffer, contentType: string): MessageAttachment {
  const data = bytes.toString('base64');
  return {
    ...{ type: 'embeddedResource', label, contentType, data },
    ...(range && { range }),
    ...(displayKind !== undefined && { displayKind }),
  };
}

function textAttachment(label: string, modelRepresentation: string): MessageAttachment {
  return { type: 'simple', label, modelRepresentation };
}

/** History as an agent is told it. It includes the newest pictures, as far as there is room. */
export async function readableTurns(turns: readonly Turn[], blobs: BlobStore | undefined): Promise<Turn[]> {
  const budget = new ContentBudget();
  const readable: Turn[] = [];
  for (const turn of turns.toReversed())
    readable.push({ ...turn, message: (await readableContents(turn.message, blobs, budget)).message });
  return readable.reverse();
}

/** The beginning of text files in the session's folders that the message names. Other files are left out. */
export async function attachedExcerpts({ attachments = [] }: Message, folders: Folders): Promise<string[]> {
  const texts: string[] = [];
  let room = EXCERPTS_MAX_CHARACTERS;
  for (const attachment of attachments) {
    const file = attachment.type === 'resource' && 'uri' in attachment ? filePathOf(attachment.uri) : undefined;
    if (file === undefined || !attachmentIsFile(attachment) || room <= 0) continue;
    const found = await fileExcerpt(file, folders).catch(() => undefined);
    if (!found) continue;
    room -= found.text.length;
    const cut = found.isCut ? '\n[It goes on: read the file for the rest.]' : '';
    texts.push(
      `Attached file ${attachment.label}, ${sizeText(found.size)}:\n<content>\n${found.text}\n</content>${cut}`,
    );
  }
  return texts;
}

function attachmentIsFile(attachment: MessageAttachment): boolean {
  return 'uri' in attachment && typeof attachment.uri === 'string' && attachment.uri.startsWith('file:');
}

interface Excerpt {
  readonly text: string;
  readonly size: number;
  readonly isCut: boolean;
}

/** The beginning of a text file; undefined when the file is not text. */
async function fileExcerpt(file: string, folders: Folders): Promise<Excerpt | undefined> {
  const { real } = await fileInside(folders, file);
  const handle = await open(real);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(FILE_EXCERPT_MAX_BYTES), 0, FILE_EXCERPT_MAX_BYTES, 0);
    const isCut = size > bytesRead;
    // The cut may have split the last character.
    const bytes = isCut ? buffer.subarray(0, buffer.lastIndexOf(0x0a) + 1 || bytesRead) : buffer.subarray(0, bytesRead);
    return bytesRead > 0 && contentFacts(bytes).isText ? { text: bytes.toString('utf8'), size, isCut } : undefined;
  } finally {
    await handle.close();
  }
}

/** The bytes of a content that a message of this chat names; undefined for any other content. */
export async function attachedContent(
  chat: Pick<Chat, 'state' | 'turnCount' | 'turnsBetween'>,
  blobs: BlobStore | undefined,
  uri: string,
): Promise<Buffer | undefined> {
  const hash = blobHash(uri);
  if (hash === undefined || !blobs) return undefined;
  const { activeTurn, turns } = chat.state;
  const isNamed = [...turns, ...(activeTurn ? [activeTurn] : [])].some(
    (turn) =>
      names(turn.message, uri) ||
      turn.responseParts.some((part) => part.kind === 'systemNotification' && inside(part, uri)),
  );
  return isNamed || (await isNamedBefore(chat, uri)) ? blobs.get(hash) : undefined;
}

function names({ attachments = [] }: Message, uri: string): boolean {
  return attachments.some((attachment) => 'uri' in attachment && attachment.uri === uri);
}

/** True when a part names a URI. A steering message is stored in a note, so search the whole part. */
function inside(part: object, uri: string): boolean {
  return JSON.stringify(part).includes(`"${uri}"`);
}

const PAGE_TURNS = 50;
/** How many of the newest turns are searched. */
const SEARCHED_TURNS_MAX = 500;

async function isNamedBefore(chat: Pick<Chat, 'state' | 'turnCount' | 'turnsBetween'>, uri: string): Promise<boolean> {
  const end = chat.turnCount() - chat.state.turns.length;
  const first = Math.max(0, end - SEARCHED_TURNS_MAX);
  for (let start = end; start > first; start -= PAGE_TURNS) {
    const turns = await chat.turnsBetween(Math.max(first, start - PAGE_TURNS), start);
    if (turns.some(({ message }) => names(message, uri))) return true;
  }
  return false;
}
