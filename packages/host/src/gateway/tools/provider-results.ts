/**
 * Turns a provider's answer into the result of a tool call: data, an error, or a file that the provider left in its own
 * folder.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ToolOutput } from '@atrium/core/contracts/tool.js';
import { folderOf, makeFolderSync } from '@atrium/core/util/folders.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';
import {
  FILE_RESULT_MAX_BYTES,
  grantOf,
  type ProviderFileReference,
  ToolErrorCode,
  type ToolOutcome,
} from '@atrium/protocol/provider';
import type { Provider } from '../provider.js';

/** An error message is a few lines long; the rest is cut. */
const ERROR_MAX_CHARACTERS = 16 * 2 ** 10;

export interface OutputFacts {
  readonly displayName: string;
  /** The provider's folder; undefined when it may not answer by file. */
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

/** Text is for the model; structured data is also for programs. */
function blocksOf(data: unknown): Blocks {
  if (typeof data === 'string') return { content: [textOrImage(data)] };
  if (!isRecord(data)) {
    const value = data ?? null;
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { value } };
  }
  const { rest, images } = withoutImages(data);
  return { content: [{ type: 'text', text: JSON.stringify(rest) }, ...images], structuredContent: rest };
}

/** Images among the members become content blocks; as text they would only fill the model's context window. */
function withoutImages(data: Readonly<Record<string, unknown>>) {
  const images: ToolResultContent[] = [];
  if (!Object.values(data).some(mayBeImage)) return { rest: data, images };
  const rest = Object.entries(data).map(([key, value]) => {
    const block = typeof value === 'string' ? textOrImage(value) : undefined;
    if (block?.type !== 'embeddedResource') return [key, value];
    images.push(block);
    return [key, `[${block.contentType}]`];
  });
  return { rest: Object.fromEntries(rest) as Record<string, unknown>, images };
}

function mayBeImage(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(IMAGE_START);
}

const IMAGE_START = 'data:image/';
const DATA_URL = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

function textOrImage(text: string): ToolResultContent {
  const [, contentType, data] = mayBeImage(text) ? (DATA_URL.exec(text) ?? []) : [];
  if (contentType === undefined || data === undefined) return { type: 'text', text };
  return { type: 'embeddedResource', contentType, data: data.replaceAll(/\s/g, '') };
}

/** Never shows the path: clients cannot read it, and it reveals where this machine stores things. */
function fileBlock({ bytes, mimeType }: FileResult): ToolResultContent {
  if (mimeType.startsWith('text/') || mimeType === 'application/json')
    return { type: 'text', text: bytes.toString('utf8') };
  return { type: 'embeddedResource', contentType: mimeType, data: bytes.toString('base64') };
}

/** Opening does not block on a pipe without a writer, and follows no link, because the path is resolved before. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FileResult {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

/** The message tells the model why the file was not read. */
export class FileResultError extends Error {
  override readonly name = 'FileResultError';
}

/**
 * Reads only a file inside the provider's own folder, and makes sure to read the one that it checked: it resolves the
 * path, opens the file, and then asks the system where the open file really is.
 */
export async function readFileResult(file: ProviderFileReference, persistDir: string): Promise<FileResult> {
  const resolved = await inside(file.path, persistDir);
  const handle = await open(resolved, READ_FLAGS).catch(() => {
    throw new FileResultError('the file of the result cannot be read');
  });
  try {
    await mustBeInside(handle, resolved, persistDir);
    return { bytes: await readAll(handle, file.size), mimeType: file.mimeType };
  } finally {
    await handle.close();
  }
}

async function inside(file: string, persistDir: string): Promise<string> {
  if (!path.isAbsolute(file)) throw new FileResultError('the path of a result by file must be absolute');
  const [resolved, folder] = await Promise.all([realpath(file), realpath(persistDir)]).catch(() => {
    throw new FileResultError('the file of the result does not exist');
  });
  mustLieIn(folder, resolved);
  return resolved;
}

function mustLieIn(folder: string, file: string): void {
  if (!file.startsWith(folder + path.sep)) throw new FileResultError("the file is outside of the provider's folder");
}

/** A folder of the path may have been replaced by a link after the path was resolved, so this checks the open file. */
async function mustBeInside(handle: FileHandle, resolved: string, persistDir: string): Promise<void> {
  const opened = await handle.stat();
  if (!opened.isFile()) throw new FileResultError('the path of the result is not a file');
  const place = await placeOf(handle);
  if (place !== undefined) return mustLieIn(await realpath(persistDir), place);
  const named = await stat(await inside(resolved, persistDir)).catch(() => undefined);
  if (opened.dev !== named?.dev || opened.ino !== named.ino)
    throw new FileResultError('the file of the result was replaced while it was read');
}

/**
 * The path of an open file according to the system. Only Linux reports it; elsewhere the caller resolves the path
 * again.
 */
function placeOf({ fd }: FileHandle): Promise<string | undefined> {
  return readlink(`/proc/self/fd/${fd}`).catch(() => undefined);
}

async function readAll(handle: FileHandle, declared: number): Promise<Buffer> {
  const { size } = await handle.stat();
  if (size > FILE_RESULT_MAX_BYTES) throw new FileResultError(`the file has more than ${FILE_RESULT_MAX_BYTES} bytes`);
  if (size !== declared) throw new FileResultError(`the file has ${size} bytes, not ${declared} as the result says`);
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw new FileResultError('the file became shorter while it was read');
    at += bytesRead;
  }
  return bytes;
}

const DIGEST_CHARACTERS = 16;

/**
 * Folders of providers that run on this machine. Different providers may share a name, such as one of the host and one
 * in each project. Each has its own folder, and gets it again when it comes back.
 */
export class ResultFolders {
  readonly #known = new WeakMap<Provider, string>();

  /** Without `base`, providers have no folders. */
  constructor(private readonly base: string | undefined) {}

  /** Creates the folder of a provider; undefined if the provider may not leave files. */
  of(provider: Provider): string | undefined {
    if (this.base === undefined || !grantOf('fileResults', provider.trust)) return undefined;
    const folder = this.#known.get(provider) ?? path.join(this.base, nameFor(provider));
    if (!this.#known.has(provider)) makeFolderSync(folder, { mode: 0o700 });
    this.#known.set(provider, folder);
    return folder;
  }
}

/** The name is for people; the digest keeps folders apart, even where file names ignore case. */
function nameFor(provider: Provider): string {
  const { name, trust } = provider;
  const text = JSON.stringify([trust, homeOf(provider) ?? null, name]);
  return `${name}-${createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS)}`;
}

/** A provider of a project belongs to the project's folder, in whichever session it runs. */
function homeOf({ trust, scope, bindings }: Provider): string | undefined {
  if (trust !== 'project') return undefined;
  const [binding] = bindings.values();
  return (binding && folderOf(binding.session.state)) ?? scope;
}
