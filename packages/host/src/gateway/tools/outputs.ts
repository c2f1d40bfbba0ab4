/** What a provider answered, as the result of a tool call. */
import type { ToolResultContent } from '@atrium/protocol';
import { ToolErrorCode, type ToolOutcome } from '@atrium/protocol/provider';
import { isRecord } from '../../tools/shape.js';
import type { ToolOutput } from '../../tools/tool.js';
import { type FileResult, FileResultError, readFileResult } from './file-result.js';

export interface OutputFacts {
  readonly displayName: string;
  /** Where files of this provider may be; undefined when it may not answer by file. */
  readonly persistDir: string | undefined;
}

export async function outputOf(outcome: ToolOutcome, facts: OutputFacts): Promise<ToolOutput> {
  if (outcome.kind === 'failure') return failed(facts, outcome.text, outcome.code);
  if (outcome.kind === 'data') return succeeded(facts, ...blocksOf(outcome.data));
  try {
    return succeeded(facts, [fileBlock(await readFileResult(outcome.file, facts.persistDir))]);
  } catch (error) {
    if (!(error instanceof FileResultError)) throw error;
    return failed(facts, error.message, facts.persistDir ? ToolErrorCode.Internal : ToolErrorCode.Unauthorized);
  }
}

function succeeded(
  { displayName }: OutputFacts,
  content: ToolResultContent[],
  structuredContent?: Record<string, unknown>,
): ToolOutput {
  const structured = structuredContent && { structuredContent };
  return { success: true, pastTenseMessage: `Used ${displayName}`, content, ...structured };
}

function failed({ displayName }: OutputFacts, message: string, code: string): ToolOutput {
  const content: ToolResultContent[] = [{ type: 'text', text: message }];
  return { success: false, pastTenseMessage: `${displayName} failed`, content, error: { message, code } };
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

function blocksOf(data: unknown): [ToolResultContent[], Record<string, unknown>?] {
  if (typeof data === 'string') return [[textOrImage(data)]];
  const { rest, images } = withoutImages(isRecord(data) ? data : { value: data });
  const text = JSON.stringify(isRecord(data) ? rest : (data ?? null));
  return [[{ type: 'text', text }, ...images], rest];
}

/** Pictures among the members become blocks of their own: as text they would only fill the model's window. */
function withoutImages(data: Readonly<Record<string, unknown>>) {
  const images: ToolResultContent[] = [];
  const rest = Object.entries(data).map(([key, value]) => {
    const block = typeof value === 'string' ? textOrImage(value) : undefined;
    if (block?.type !== 'embeddedResource') return [key, value];
    images.push(block);
    return [key, `[${block.contentType}]`];
  });
  return { rest: Object.fromEntries(rest) as Record<string, unknown>, images };
}

function textOrImage(text: string): ToolResultContent {
  const [, contentType, data] = text.startsWith('data:image/') ? (DATA_URL.exec(text) ?? []) : [];
  if (contentType === undefined || data === undefined) return { type: 'text', text };
  return { type: 'embeddedResource', contentType, data: data.replaceAll(/\s/g, '') };
}

function fileBlock({ bytes, mimeType }: FileResult): ToolResultContent {
  if (mimeType.startsWith('text/') || mimeType === 'application/json')
    return { type: 'text', text: bytes.toString('utf8') };
  return { type: 'embeddedResource', contentType: mimeType, data: bytes.toString('base64') };
}
