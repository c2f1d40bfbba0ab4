/** `read_file`: reads the text of one file, or some of its lines. */
import { readFile, stat } from 'node:fs/promises';
import { BLOB_SCHEME } from '@atrium/core/contracts/blobs.js';
import { READ_FILE_TOOL, ToolFailure, type ToolOutput } from '@atrium/core/contracts/tool.js';
import { contentFacts } from '@atrium/core/util/content-types.js';
import { fileInside, type InsidePath } from '@atrium/core/util/paths.js';
import { type LineRange, type Lines, readLines } from '@atrium/core/util/streams.js';
import { count, linePieces, RESULT_SCHEME, sizeText } from '@atrium/core/util/text.js';
import { unfitPicture } from '@atrium/protocol/ahp-1';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool, succeeded } from './host-tool.js';

export const READ_MAX_BYTES = 200 * 1024;
/** The result of a call can hold no more as base64. */
export const READ_PICTURE_MAX_BYTES = 3 * 2 ** 20;

export const readFileTool = hostTool({
  name: READ_FILE_TOOL,
  displayName: 'Read file',
  description:
    `Reads a text file or a range of its lines, at most ${sizeText(READ_MAX_BYTES)} at a time. Also shows pictures (PNG, JPEG, ` +
    "GIF, WebP), and reads what was cut from a tool's output or from an attached file, by the path that is named there.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    path: { type: 'string', minLength: 1, description: "The file, relative to the session's folder." },
    startLine: { type: 'integer', minimum: 1, description: 'The first line to read, from 1. Default: 1.' },
    endLine: { type: 'integer', minimum: 1, description: 'The last line to read. Default: the last of the file.' },
  },
  required: ['path'],
  invocation: ({ path }) => `Read ${path}`,
  async run({ path, startLine = 1, endLine = Number.MAX_SAFE_INTEGER }, context) {
    const { signal, result } = context;
    if (endLine < startLine) {
      throw new ToolFailure('BAD_INPUT', `"endLine" (${endLine}) is before "startLine" (${startLine}).`);
    }
    if (path.startsWith(RESULT_SCHEME)) {
      const text = await result?.(path.slice(RESULT_SCHEME.length));
      return resultLines(path, text, { first: startLine, last: endLine });
    }
    if (path.startsWith(BLOB_SCHEME)) {
      const bytes = await context.attachment?.(path);
      if (bytes && contentFacts(bytes).picture) return picture(path, bytes);
      const text = bytes && contentFacts(bytes).isText ? bytes.toString('utf8') : undefined;
      if (bytes && text === undefined) throw new ToolFailure('BINARY', `${path} is not text; it cannot be shown.`);
      return resultLines(path, text, { first: startLine, last: endLine });
    }
    const file = await fileInside(foldersOf(context), path);
    if (PICTURE_NAME.test(file.real)) {
      const { size } = await stat(file.real);
      const bytes = size <= READ_PICTURE_MAX_BYTES ? await readFile(file.real) : undefined;
      if (bytes && contentFacts(bytes).picture) return picture(file.shown, bytes);
      if (size > READ_PICTURE_MAX_BYTES)
        throw new ToolFailure('TOO_LARGE', `${file.shown} cannot be shown: ${tooLarge(size)}.`);
    }
    const range = { first: startLine, last: endLine, maxBytes: READ_MAX_BYTES };
    return outputFor(file, range, await readLines(file.real, range, signal));
  },
});

const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

function tooLarge(size: number): string | undefined {
  const max = sizeText(READ_PICTURE_MAX_BYTES);
  return size > READ_PICTURE_MAX_BYTES ? `it has ${sizeText(size)}, and pictures are shown up to ${max}` : undefined;
}

/** Returns a picture as such: the agent passes it on to a model that can see, and describes it in words to others. */
function picture(shown: string, bytes: Buffer): ToolOutput {
  const { picture: found, contentType } = contentFacts(bytes);
  const unfit = found && (tooLarge(bytes.length) ?? unfitPicture(bytes.length, found));
  if (!found || unfit !== undefined)
    throw new ToolFailure('TOO_LARGE', `${shown} cannot be shown: ${unfit ?? 'it is broken'}.`);
  const about = `${shown}: ${contentType}, ${found.width} × ${found.height}, ${sizeText(bytes.length)}`;
  const { content, ...rest } = succeeded(`Read ${shown}`, about);
  return { ...rest, content: [...content, { type: 'embeddedResource', data: bytes.toString('base64'), contentType }] };
}

/** Lines of a stored result, counted as in the note that says where the result was cut. */
function resultLines(path: string, text: string | undefined, { first, last }: Omit<LineRange, 'maxBytes'>): ToolOutput {
  if (text === undefined) throw new ToolFailure('NOT_FOUND', `${path}: this session has no such result any more.`);
  const pieces = linePieces(text);
  const [from, to] = [pieces[first - 1], pieces[Math.min(last, pieces.length) - 1]];
  if (!from || !to) throw new ToolFailure('PAST_END', `${path} has only ${count(pieces.length, 'line')}.`);
  return succeeded(
    `Read lines ${first} to ${Math.min(last, pieces.length)} of a result`,
    text.slice(from.start, to.end),
  );
}

function outputFor(file: InsidePath, range: LineRange, lines: Lines): ToolOutput {
  if (lines.kind === 'binary') throw new ToolFailure('BINARY', `${file.shown} is not text; it cannot be shown.`);
  if (lines.lineCount < range.first && range.first > 1) {
    const length = count(lines.lineCount, 'line');
    throw new ToolFailure('PAST_END', `${file.shown} has only ${length}; "startLine" is ${range.first}.`);
  }
  const done = `Read ${file.shown}`;
  if (lines.cut) return succeeded(`${done} (cut)`, `${lines.text}\n${cutNote(range, lines.lineCount)}`);
  return succeeded(done, lines.lineCount === 0 ? 'The file is empty.' : lines.text);
}

function cutNote({ first }: LineRange, lastLine: number): string {
  const cut = `Cut after ${sizeText(READ_MAX_BYTES)}, in line ${lastLine}`;
  if (lastLine === first) return `[${cut}, which is longer than that.]`;
  return `[${cut}. Read on with "startLine": ${lastLine}.]`;
}
