/** Captures many files, some at once, up to a limit of bytes. */

import { mapSome } from '../../../core/util/map-some.js';
import type { BytePath } from '../../git/byte-path.js';
import type { Captures } from '../capture.js';
import { FILES_AT_ONCE, FOLDER_MAX_BYTES } from '../limits.js';
import type { Seen } from './snapshot.js';

export interface CapturedAll {
  /** What is not there (any more) is left out. */
  readonly files: Map<BytePath, Seen>;
  /** There was more than may be kept. */
  readonly isCut: boolean;
}

export async function captureAll(
  captures: Captures,
  paths: readonly BytePath[],
  signal: AbortSignal,
): Promise<CapturedAll> {
  const files = new Map<BytePath, Seen>();
  let bytes = 0;
  let isCut = false;
  await mapSome(paths, FILES_AT_ONCE, async (path) => {
    signal.throwIfAborted();
    if (bytes > FOLDER_MAX_BYTES) {
      isCut = true;
      return;
    }
    const now = await captures.capture(path);
    if (now) files.set(path, { now });
    bytes += now && !now.isLost ? now.bytes : 0;
  });
  return { files, isCut };
}
