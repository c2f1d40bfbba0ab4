/**
 * A result that a provider left in a file. Only a file inside the provider's own folder is read, and what is read is
 * what was checked: the path is resolved, the file opened, and then it must still be the same one.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { FILE_RESULT_MAX_BYTES, type ProviderFileReference } from '@atrium/protocol/provider';

export interface FileResult {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

/** Why the file was not read, in words for the model. */
export class FileResultError extends Error {
  override readonly name = 'FileResultError';
}

export async function readFileResult(file: ProviderFileReference, persistDir: string | undefined): Promise<FileResult> {
  if (persistDir === undefined) throw new FileResultError('this provider may not answer by file');
  const resolved = await inside(file.path, persistDir);
  const handle = await open(resolved, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(() => {
    throw new FileResultError('the file of the result cannot be read');
  });
  try {
    await mustStillBe(handle, resolved, persistDir);
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
  if (!resolved.startsWith(folder + path.sep))
    throw new FileResultError("the file is outside of the provider's folder");
  return resolved;
}

/** A folder on the way may have been exchanged for a link after the path was resolved. */
async function mustStillBe(handle: FileHandle, resolved: string, persistDir: string): Promise<void> {
  const again = await inside(resolved, persistDir);
  const [opened, named] = await Promise.all([handle.stat(), stat(again)]);
  if (!opened.isFile() || opened.dev !== named.dev || opened.ino !== named.ino)
    throw new FileResultError('the file of the result was exchanged while it was read');
}

async function readAll(handle: FileHandle, declared: number): Promise<Buffer> {
  const { size } = await handle.stat();
  if (size !== declared) throw new FileResultError(`the file has ${size} bytes, not ${declared} as the result says`);
  if (size > FILE_RESULT_MAX_BYTES) throw new FileResultError(`the file has more than ${FILE_RESULT_MAX_BYTES} bytes`);
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  if (bytesRead !== size) throw new FileResultError('the file became shorter while it was read');
  return bytes;
}
