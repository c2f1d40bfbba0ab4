/**
 * Two views of what a tool gave back. The session gets what people can take in at once, and names the rest; everything
 * of it is stored and sent to everybody. The agent gets the text itself, as before.
 */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import { beginning, sizeText } from '../core/util/text.js';
import {
  CONTENT_MAX_BYTES,
  INLINE_DATA_MAX_BYTES,
  INLINE_TEXT_MAX_CHARACTERS,
  PREVIEW_MAX_CHARACTERS,
} from '../workspace/files/limits.js';
import { hashIn, type KeptContents } from './kept-contents.js';

/** Ends what is shown of a long text. The whole of it is named by the block behind. */
const PREVIEW_END = '\n[Cut here: the whole of it is kept aside.]';
const TEXT_TYPE = 'text/plain';
const JSON_TYPE = 'application/json';
/** Base64 makes four characters of three bytes. */
const BASE64_GROWTH = 4 / 3;

/** Whether anything in a result is too large for a session. */
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

/** What the session gets. Blocks stay in their order; what does not fit any more is kept aside. */
export async function shownResult(contents: KeptContents, result: ToolCallResult): Promise<ToolCallResult> {
  const { content = [], structuredContent, ...rest } = result;
  const room = { text: INLINE_TEXT_MAX_CHARACTERS, data: INLINE_DATA_MAX_BYTES };
  const shown: ToolResultContent[] = [];
  for (const block of content) shown.push(...(await shownBlock(contents, block, room)));
  if (structuredContent === undefined) return { ...rest, content: shown };
  if (!isLong(structuredContent)) return { ...rest, content: shown, structuredContent };
  const ref = await kept(contents, Buffer.from(JSON.stringify(structuredContent)), JSON_TYPE);
  return { ...rest, content: [...shown, ref] };
}

async function shownBlock(
  contents: KeptContents,
  block: ToolResultContent,
  room: { text: number; data: number },
): Promise<ToolResultContent[]> {
  if (block.type === 'text') {
    const { length } = block.text;
    // As much is shown of every text, so this one would only become longer.
    const isShown = length <= Math.max(room.text, PREVIEW_MAX_CHARACTERS);
    room.text -= isShown ? length : PREVIEW_MAX_CHARACTERS;
    if (isShown) return [block];
    const preview = { ...block, text: `${beginning(block.text, PREVIEW_MAX_CHARACTERS)}${PREVIEW_END}` };
    return [preview, await kept(contents, Buffer.from(block.text), TEXT_TYPE)];
  }
  if (block.type !== 'embeddedResource') return [block];
  const bytes = Buffer.from(block.data, 'base64');
  if (bytes.length > room.data) return [await kept(contents, bytes, block.contentType)];
  room.data -= bytes.length;
  return [block];
}

async function kept(contents: KeptContents, bytes: Buffer, contentType: string): Promise<ToolResultContent> {
  if (bytes.length > CONTENT_MAX_BYTES) {
    return { type: 'text', text: `[Left out: ${contentType} of ${sizeText(bytes.length)}, which is too large.]` };
  }
  return { type: 'resource', ...(await contents.keep(bytes, contentType)) };
}

/** What the agent gets, from what the session has: for a history that is read again. */
export async function wholeContent(
  contents: KeptContents,
  content: readonly ToolResultContent[],
): Promise<ToolResultContent[]> {
  const whole: ToolResultContent[] = [];
  for (const block of content) {
    const bytes = block.type === 'resource' ? await bytesOf(contents, block.uri) : undefined;
    const last = whole.at(-1);
    const isPreviewed = last?.type === 'text' && last.text.endsWith(PREVIEW_END);
    if (!bytes || block.type !== 'resource') whole.push(block);
    else if (isPreviewed) whole.splice(-1, 1, { type: 'text', text: bytes.toString() });
    else whole.push({ type: 'embeddedResource', data: bytes.toString('base64'), contentType: typeOf(block) });
  }
  return whole;
}

async function bytesOf(contents: KeptContents, uri: string): Promise<Buffer | undefined> {
  if (hashIn(uri) === undefined) return undefined;
  const stored = await contents.read(uri);
  return stored && Buffer.from(stored.bytes);
}

function typeOf({ contentType }: Extract<ToolResultContent, { type: 'resource' }>): string {
  return contentType ?? 'application/octet-stream';
}
