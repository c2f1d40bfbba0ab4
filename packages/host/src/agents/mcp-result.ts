/** What a tool of the host gave back, as agents hear it that take the host's tools from an MCP server. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ToolOutcome } from '../core/contracts/agent.js';
import { dataIn, textWith } from './result-images.js';

export function mcpResult(outcome: ToolOutcome): CallToolResult {
  if (outcome.kind === 'denied') return failedResult(`The call was denied: ${outcome.reason}`);
  const data = dataIn(outcome.content);
  const text = textWith(outcome.text, data);
  const images = data.images.map(({ data: bytes, mediaType: mimeType }) => {
    return { type: 'image' as const, data: bytes, mimeType };
  });
  const hasWords = text !== '' || images.length === 0;
  return { content: [...(hasWords ? [{ type: 'text' as const, text }] : []), ...images], isError: !outcome.success };
}

export function failedResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
