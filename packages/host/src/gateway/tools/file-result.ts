/**
 * A result that a provider left in a file. Only a file inside the provider's own folder is read, and what is read is
 * what was checked: the path is resolved, the file opened, and then asked where it really is.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { FILE_RESULT_MAX_BYTES, type ProviderFileReference } from '@atrium/protocol/provider';

/** A pipe that nobody writes to would keep us waiting for ever; a link in the last place was resolved before. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FileResult {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

/** Why the file was not read, in words for the model. */
export class FileResultError extends Error {
  override readonly name = 'FileResultError';
}

/** Reads at once: when the time that the provider gives us is over, nobody needs its file any more. */
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

/** A folder on the way may have been exchanged for a link after the path was resolved: what counts is what is open. */
async function mustBeInside(handle: FileHandle, resolved: string, persistDir: string): Promise<void> {
  const opened = await handle.stat();
  if (!opened.isFile()) throw new FileResultError('the path of the result is not a file');
  const place = await placeOf(handle);
  if (place !== undefined) return mustLieIn(await realpath(persistDir), place);
  const named = await stat(await inside(resolved, persistDir)).catch(() => undefined);
  if (opened.dev !== named?.dev || opened.ino !== named.ino)
    throw new FileResultError('the file of the result was exchanged while it was read');
}

/** As the system itself knows it. Only Linux tells; elsewhere we can but look at the path once more. */
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
