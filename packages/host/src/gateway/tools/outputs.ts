/** What a provider answered, as the result of a tool call. */
import type { ToolResultContent } from '@atrium/protocol';
import { type ProviderFileReference, ToolErrorCode, type ToolOutcome } from '@atrium/protocol/provider';
import type { ToolOutput } from '../../core/contracts/tool.js';
import { isRecord } from '../../core/util/shape.js';
import { type FileResult, FileResultError, readFileResult } from './file-result.js';

/** What went wrong is said in a few lines; more is not an error message. */
const ERROR_MAX_CHARACTERS = 16 * 2 ** 10;

export interface OutputFacts {
  readonly displayName: string;
  /** Where files of this provider may be; undefined when it may not answer by file. */
  readonly persistDir: string | undefined;
}

export async function outputOf(outcome: ToolOutcome, facts: OutputFacts): Promise<ToolOutput> {
  if (outcome.kind === 'failure') return failed(facts, outcome.text, outcome.code);
  return outcome.kind === 'data' ? succeeded(facts, blocksOf(outcome.data)) : fileOutput(outcome.file, facts);
}

async function fileOutput(file: ProviderFileReference, facts: OutputFacts): Promise<ToolOutput> {
  const { persistDir } = facts;
  if (persistDir === undefined)
    return failed(facts, 'this provider may not answer by file', ToolErrorCode.Unauthorized);
  try {
    return succeeded(facts, { content: [fileBlock(await readFileResult(file, persistDir))] });
  } catch (error) {
    if (!(error instanceof FileResultError)) throw error;
    return failed(facts, error.message, ToolErrorCode.Internal);
  }
}

function succeeded({ displayName }: OutputFacts, blocks: Blocks): ToolOutput {
  return { success: true, pastTenseMessage: `Used ${displayName}`, ...blocks };
}

function failed({ displayName }: OutputFacts, why: string, code: string): ToolOutput {
  const message = why.slice(0, ERROR_MAX_CHARACTERS);
  const content: ToolResultContent[] = [{ type: 'text', text: message }];
  return { success: false, pastTenseMessage: `${displayName} failed`, content, error: { message, code } };
}

type Blocks = Pick<ToolOutput, 'content' | 'structuredContent'>;

/** Text for the model, and for everything but text the same for programs. */
function blocksOf(data: unknown): Blocks {
  if (typeof data === 'string') return { content: [textOrImage(data)] };
  if (!isRecord(data)) {
    const value = data ?? null;
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { value } };
  }
  const { rest, images } = withoutImages(data);
  return { content: [{ type: 'text', text: JSON.stringify(rest) }, ...images], structuredContent: rest };
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

const DATA_URL = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

function textOrImage(text: string): ToolResultContent {
  const [, contentType, data] = text.startsWith('data:image/') ? (DATA_URL.exec(text) ?? []) : [];
  if (contentType === undefined || data === undefined) return { type: 'text', text };
  return { type: 'embeddedResource', contentType, data: data.replaceAll(/\s/g, '') };
}

/** Never the path: nobody else could read it, and it says where this machine keeps things. */
function fileBlock({ bytes, mimeType }: FileResult): ToolResultContent {
  if (mimeType.startsWith('text/') || mimeType === 'application/json')
    return { type: 'text', text: bytes.toString('utf8') };
  return { type: 'embeddedResource', contentType: mimeType, data: bytes.toString('base64') };
}
