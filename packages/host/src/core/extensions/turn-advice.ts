/** What extensions have to say to a turn that is about to begin: something for the model to know, or that it must not be. */

import type { Extension, TurnOpening } from '../contracts/extension.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS, TURN_CONTEXT_MAX_CHARACTERS } from '../limits.js';
import { within } from '../tool-calls/deadline.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';

export interface AdviceRequest {
  readonly extensions: readonly Extension[];
  readonly opening: TurnOpening;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Advice {
  readonly context: readonly string[];
  readonly notes: readonly string[];
  readonly blocked?: string;
}

/** Who comes meanwhile is an extension, too: whatever is asked of all of them is asked after this. */
export async function untilReady(request: Omit<AdviceRequest, 'opening'>): Promise<void> {
  await Promise.all(request.extensions.map((extension) => tried(extension, request, () => extension.untilReady?.())));
}

/** All are asked at once, and heard in their order. One that fails has nothing to say. */
export async function adviceFor(request: AdviceRequest): Promise<Advice> {
  const { extensions, opening } = request;
  const asked = extensions.map((extension) =>
    tried(extension, request, (stopped) => extension.beforeTurn?.(opening, stopped)),
  );
  const given = (await Promise.all(asked)).flatMap((advice) => advice ?? []);
  const blocked = given.flatMap((advice) => advice.blocked ?? [])[0];
  const context = withinBounds(given.flatMap((advice) => advice.context ?? []));
  const notes = given.flatMap(({ note }) => (note === undefined ? [] : note.slice(0, GATE_TEXT_MAX_CHARACTERS)));
  return { context, notes, ...(blocked !== undefined && { blocked }) };
}

async function tried<T>(
  { name }: Extension,
  { signal, clock, logger }: Omit<AdviceRequest, 'opening'>,
  work: (stopped: AbortSignal) => Promise<T> | undefined,
): Promise<T | undefined> {
  const limit = { clock, signal, timeoutMs: EXTENSION_TIMEOUT_MS };
  try {
    return await within(limit, work);
  } catch (error) {
    signal.throwIfAborted();
    logger.log('warn', 'an extension failed', { extension: name, error: String(error) });
    return undefined;
  }
}

/** Those that came first have their say; what does not fit any more is cut. */
function withinBounds(blocks: readonly string[]): string[] {
  let left = TURN_CONTEXT_MAX_CHARACTERS;
  return blocks.flatMap((block) => {
    const kept = block.slice(0, left);
    left -= kept.length;
    return kept === '' ? [] : [kept];
  });
}
