/** Echoes that went out early. */
import type { ActionFrame } from './dialect.js';

/** What a client still needs of some frames when it was told early of its own actions with these numbers. */
export function withoutEchoes(
  frames: readonly ActionFrame[],
  clientId: string,
  echoed: ReadonlySet<number>,
): readonly ActionFrame[] {
  return frames.filter(({ origin }) => origin?.clientId !== clientId || !echoed.has(origin.clientSeq));
}
