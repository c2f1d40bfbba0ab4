/** Saves one file in a writable directory of customizations: as a whole or not at all, and nowhere else. */
import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ErrorCode, type ResourceWriteParams } from '@atrium/protocol';
import { ToolFailure } from '../tools/host-tool.js';
import { replaceFile } from '../tools/replace-file.js';
import { existingFile } from '../tools/text-file.js';
import { resolveTarget } from '../tools/write-target.js';
import { RequestError } from '../wire/request-error.js';
import { FILE_MAX_BYTES } from './parse/limits.js';
import { isInside } from './sources/plugin-folders.js';
import type { DirectorySource } from './sources/source.js';

/** False when the file is not below this directory. */
export async function writeInto(directory: DirectorySource, params: ResourceWriteParams): Promise<boolean> {
  const file = pathOf(params.uri);
  const { folder } = directory;
  if (file === undefined || file === folder || !isInside(folder, file)) return false;
  const content = contentOf(params);
  try {
    await write(directory, file, { content, createOnly: params.createOnly === true });
    return true;
  } catch (error) {
    throw answerTo(error);
  }
}

interface Saving {
  readonly content: Buffer;
  readonly createOnly: boolean;
}

/** Links are followed only as long as they stay inside of the directory. */
async function write(
  { folder, base, scope }: DirectorySource,
  file: string,
  { content, createOnly }: Saving,
): Promise<void> {
  const root = await realBase(base, scope);
  const target = await resolveTarget(root, path.join(root, path.relative(base, file)));
  const realFolder = await realpath(folder).catch(() => undefined);
  if (realFolder !== undefined && !isInside(realFolder, target.real)) {
    throw new RequestError(ErrorCode.PermissionDenied, 'a link leads out of the directory');
  }
  const before = await existingFile(target);
  if (before && createOnly) throw new RequestError(ErrorCode.AlreadyExists, `${target.shown} is there already`);
  await replaceFile(target, { content, before, signal: new AbortController().signal });
}

/** The user's own folder is made when it is first needed; a project that is not there is not made up. */
async function realBase(base: string, scope: DirectorySource['scope']): Promise<string> {
  if (scope === 'user') await mkdir(base, { recursive: true });
  return realpath(base).catch(() => {
    throw new RequestError(ErrorCode.NotFound, 'the folder of the session does not exist (any more)');
  });
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** Customizations are small, and written as a whole. */
function contentOf({ data, encoding, mode = 'truncate', position = 0, ifMatch }: ResourceWriteParams): Buffer {
  if (mode !== 'truncate' || position !== 0 || ifMatch !== undefined) {
    throw new RequestError(
      ErrorCode.InvalidParams,
      'a customization is written as a whole: no mode, position, ifMatch',
    );
  }
  const content = Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8');
  if (content.length <= FILE_MAX_BYTES) return content;
  throw new RequestError(ErrorCode.InvalidParams, `/data: a customization may have ${FILE_MAX_BYTES} bytes`);
}

function answerTo(error: unknown): unknown {
  if (error instanceof ToolFailure) return new RequestError(ErrorCode.PermissionDenied, error.message);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new RequestError(ErrorCode.PermissionDenied, 'the system does not let the host write there');
  }
  return error;
}
