/** Waiting that ends the moment a turn is cancelled, and text that comes bit by bit. */
import type { Clock } from '../../core/util/clock.js';
import { untilAborted } from '../../core/util/waiting.js';

/** Waits; rejects with the signal's reason as soon as that fires. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  let disarm: (() => void) | undefined;
  const waited = new Promise<void>((resolve) => {
    disarm = clock.after(milliseconds, resolve);
  });
  return untilAborted(signal, waited).finally(() => disarm?.());
}

export interface Pace {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Between two chunks; without it all come at once. */
  readonly everyMs: number | undefined;
}

/** Hands on chunks at a pace. */
export async function inPace(chunks: readonly string[], pace: Pace, emit: (chunk: string) => void): Promise<void> {
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0 && pace.everyMs !== undefined) await pause(pace.clock, pace.everyMs, pace.signal);
    pace.signal.throwIfAborted();
    emit(chunk);
  }
}

/** Cuts a text into pieces of so many characters, none of them in the middle of a character. */
export function chunksOf(text: string, characters: number | undefined): string[] {
  if (text === '') return [];
  if (characters === undefined) return [text];
  const all = Array.from(text);
  const pieces = Math.ceil(all.length / characters);
  return Array.from({ length: pieces }, (_, piece) => all.slice(piece * characters, (piece + 1) * characters).join(''));
}
