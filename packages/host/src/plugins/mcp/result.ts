/** Turns what a tool of a server gave back into what sessions know, within limits. Pure. */
import type { ToolResultContent } from '@atrium/protocol';
import type { ToolOutput } from '../../core/contracts/tool.js';
import { isRecord } from '../../core/util/shape.js';
import { shorten } from '../../core/util/text.js';
import {
  MCP_RESULT_DATA_MAX_CHARACTERS,
  MCP_RESULT_MAX_BLOCKS,
  MCP_RESULT_TEXT_MAX_CHARACTERS,
  MCP_WORDS_MAX_CHARACTERS,
} from './limits.js';

export type McpResult = Readonly<Record<string, unknown>>;

export function outputOf({ content, structuredContent, isError }: McpResult, displayName: string): ToolOutput {
  const structured = structuredOf(structuredContent);
  const blocks = Array.isArray(content) ? content.slice(0, MCP_RESULT_MAX_BLOCKS).flatMap(blocksOf) : [];
  const hasText = blocks.some(({ type }) => type === 'text');
  if (structured && !hasText) blocks.push({ type: 'text', text: JSON.stringify(structured) });
  const fitting = withinLimits(blocks);
  const success = isError !== true;
  return {
    success,
    pastTenseMessage: success ? `Used ${displayName}` : `${displayName} failed`,
    content: fitting,
    ...(structured && { structuredContent: structured }),
    ...(!success && { error: { message: messageOf(fitting), code: 'TOOL_ERROR' } }),
  };
}

/** Anything but an object is wrapped, for clients expect one. Too large a value is left out; its text may be cut. */
function structuredOf(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (JSON.stringify(value).length > MCP_RESULT_TEXT_MAX_CHARACTERS) return undefined;
  return isRecord(value) ? value : { value };
}

function blocksOf(block: unknown): ToolResultContent[] {
  if (!isRecord(block)) return [];
  if (block.type === 'text') return textBlock(block.text);
  if (block.type === 'image' || block.type === 'audio') return dataBlock(block.data, block.mimeType);
  if (block.type === 'resource_link') return linkBlocks(block);
  if (block.type === 'resource' && isRecord(block.resource)) {
    const { text, blob, mimeType } = block.resource;
    // Text stays text, so that the model can read it.
    return typeof text === 'string' ? textBlock(text) : dataBlock(blob, mimeType);
  }
  return textBlock(`[Content of a kind that is not known here: ${shorten(String(block.type), 80)}]`);
}

function textBlock(text: unknown): ToolResultContent[] {
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

function dataBlock(data: unknown, mimeType: unknown): ToolResultContent[] {
  if (typeof data !== 'string') return [];
  const contentType = typeof mimeType === 'string' && mimeType !== '' ? mimeType : 'application/octet-stream';
  return [{ type: 'embeddedResource', data, contentType }];
}

/** The model reads about it, a client can show it. What is no address, such as a bare path, is only read about. */
function linkBlocks({ uri, name, title, mimeType, size }: Record<string, unknown>): ToolResultContent[] {
  if (typeof uri !== 'string') return [];
  const label = [title, name].find((text) => typeof text === 'string' && text !== '') ?? 'resource';
  const read = textBlock(`[${shorten(String(label), 200)}: ${shorten(uri, MCP_WORDS_MAX_CHARACTERS)}]`);
  if (!URL.canParse(uri)) return read;
  const contentType = typeof mimeType === 'string' ? { contentType: mimeType } : {};
  const sizeHint = typeof size === 'number' ? { sizeHint: size } : {};
  return [...read, { type: 'resource', uri, ...contentType, ...sizeHint }];
}

function withinLimits(blocks: readonly ToolResultContent[]): ToolResultContent[] {
  let text = MCP_RESULT_TEXT_MAX_CHARACTERS;
  let data = MCP_RESULT_DATA_MAX_CHARACTERS;
  return blocks.map((block) => {
    if (block.type === 'text') {
      const room = text;
      text -= Math.min(room, block.text.length);
      return block.text.length <= room
        ? block
        : { type: 'text', text: `${block.text.slice(0, room)}\n[Cut: too long.]` };
    }
    if (block.type !== 'embeddedResource') return block;
    if (block.data.length > data) return { type: 'text', text: `[Left out: ${block.contentType}, too large.]` };
    data -= block.data.length;
    return block;
  });
}

function messageOf(content: readonly ToolResultContent[]): string {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  return shorten(text, MCP_WORDS_MAX_CHARACTERS) || 'The tool failed and did not say why.';
}
