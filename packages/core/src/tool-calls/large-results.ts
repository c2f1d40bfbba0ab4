/**
 * Large results of tools. A session is stored and sent to every client, so it gets what a person can take in at once,
 * and names blobs for the rest. The agent gets the whole result, also when it opens the session again.
 */
import type { ResponsePart, ToolCallResult, ToolResultContent, Turn } from '@atrium/protocol/ahp-1';
import { BLOB_SCHEME, type BlobStore, blobHash, putNamed } from '../contracts/blobs.js';
import { beginning, ending, sizeText } from '../util/text.js';
import { BLOB_MAX_BYTES, INLINE_DATA_MAX_BYTES, INLINE_TEXT_MAX_CHARACTERS, PREVIEW_MAX_CHARACTERS } from './limits.js';

/** Marks where a long text was cut; the next block names the whole text. Stored sessions contain this mark. */
const CUT_MARK = '\n[Cut here: the whole of it is kept aside.]';
/** How much of a preview is the end of the text, in which a command shows its outcome. */
const PREVIEW_END_CHARACTERS = (PREVIEW_MAX_CHARACTERS * 3) / 4;
const TEXT_TYPE = 'text/plain';
const JSON_TYPE = 'application/json';
/** Base64 turns three bytes into four characters. */
const BASE64_GROWTH = 4 / 3;

/** True when something in a result is too large for a session. */
export function isLarge({ content = [], structuredContent }: ToolCallResult): boolean {
  let [text, data] = [0, 0];
  for (const block of content) {
    if (block.type === 'text') text += block.text.length;
    if (block.type === 'embeddedResource') data += block.data.length;
  }
  return text > INLINE_TEXT_MAX_CHARACTERS || data > INLINE_DATA_MAX_BYTES * BASE64_GROWTH || isLong(structuredContent);
}

function isLong(structured: ToolCallResult['structuredContent']): boolean {
  return structured !== undefined && JSON.stringify(structured).length > INLINE_TEXT_MAX_CHARACTERS;
}

/** The result for the session. Blocks stay in their order; blobs replace what no longer fits. */
export async function shownResult(blobs: BlobStore, result: ToolCallResult): Promise<ToolCallResult> {
  const { content = [], structuredContent, ...rest } = result;
  const room = { text: INLINE_TEXT_MAX_CHARACTERS, data: INLINE_DATA_MAX_BYTES };
  const shown: ToolResultContent[] = [];
  for (const block of content) shown.push(...(await shownBlock(blobs, block, room)));
  if (!isLong(structuredContent)) return { ...rest, content: shown, ...(structuredContent && { structuredContent }) };
  const named = await namedBlock(blobs, Buffer.from(JSON.stringify(structuredContent)), JSON_TYPE);
  return { ...rest, content: [...shown, named] };
}

async function shownBlock(
  blobs: BlobStore,
  block: ToolResultContent,
  room: { text: number; data: number },
): Promise<ToolResultContent[]> {
  if (block.type === 'text') {
    const { length } = block.text;
    // A preview of this text would be no shorter than the text.
    const isShown = length <= Math.max(room.text, PREVIEW_MAX_CHARACTERS);
    room.text -= isShown ? length : PREVIEW_MAX_CHARACTERS;
    if (isShown) return [block];
    const preview = { ...block, text: previewOf(block.text) };
    return [preview, await namedBlock(blobs, Buffer.from(block.text), TEXT_TYPE)];
  }
  if (block.type !== 'embeddedResource') return [block];
  const bytes = Buffer.from(block.data, 'base64');
  if (bytes.length > room.data) return [await namedBlock(blobs, bytes, block.contentType)];
  room.data -= bytes.length;
  return [block];
}

/** The beginning and the end of a text. The end begins with a whole line, unless its lines are too long. */
function previewOf(text: string): string {
  const start = beginning(text, PREVIEW_MAX_CHARACTERS - PREVIEW_END_CHARACTERS);
  const end = ending(text, PREVIEW_END_CHARACTERS);
  // Without a line end, all of it is one line.
  const newline = end.indexOf('\n');
  const isNear = newline < PREVIEW_END_CHARACTERS / 2;
  return `${start}${CUT_MARK}\n${isNear ? end.slice(newline + 1) : end}`;
}

async function namedBlock(blobs: BlobStore, bytes: Buffer, contentType: string): Promise<ToolResultContent> {
  if (bytes.length > BLOB_MAX_BYTES) {
    return { type: 'text', text: `[Left out: ${contentType} of ${sizeText(bytes.length)}, which is too large.]` };
  }
  return { type: 'resource', ...(await putNamed(blobs, bytes, contentType)) };
}

/** The content for the agent, restored from what the session has. */
export async function wholeContent(
  blobs: BlobStore,
  content: readonly ToolResultContent[],
): Promise<ToolResultContent[]> {
  const whole: ToolResultContent[] = [];
  for (const block of content) {
    const bytes = block.type === 'resource' ? await blobs.get(blobHash(block.uri) ?? '') : undefined;
    const last = whole.at(-1);
    const isPreviewed = last?.type === 'text' && last.text.includes(CUT_MARK);
    if (!bytes || block.type !== 'resource') whole.push(block);
    else if (isPreviewed) whole.splice(-1, 1, { type: 'text', text: bytes.toString() });
    else whole.push({ type: 'embeddedResource', data: bytes.toString('base64'), contentType: typeOf(block) });
  }
  return whole;
}

function typeOf({ contentType }: Extract<ToolResultContent, { type: 'resource' }>): string {
  return contentType ?? 'application/octet-stream';
}

/** Turns as an agent should remember them, with the content of every blob filled in. */
export function wholeTurns(blobs: BlobStore, turns: readonly Turn[]): Promise<Turn[]> {
  return Promise.all(
    turns.map(async (turn) => {
      if (!turn.responseParts.some(namesBlob)) return turn;
      return { ...turn, responseParts: await Promise.all(turn.responseParts.map((part) => wholePart(blobs, part))) };
    }),
  );
}

async function wholePart(blobs: BlobStore, part: ResponsePart): Promise<ResponsePart> {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed' || !namesBlob(part)) return part;
  const content = await wholeContent(blobs, part.toolCall.content ?? []);
  return { ...part, toolCall: { ...part.toolCall, content } };
}

function namesBlob(part: ResponsePart): boolean {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed') return false;
  return (
    part.toolCall.content?.some((block) => block.type === 'resource' && block.uri.startsWith(BLOB_SCHEME)) ?? false
  );
}
