/** What extensions have to say to a turn that is about to begin: something for the model to know, or that it must not be. */
import { within } from '../broker/deadline.js';
import type { Clock } from '../clock.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS, TURN_CONTEXT_MAX_CHARACTERS } from '../limits.js';
import type { Logger } from '../logger.js';
import type { Extension, TurnAdvice, TurnOpening } from './extension.js';

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

/** All are asked at once, and heard in their order. One that fails has nothing to say. */
export async function adviceFor(request: AdviceRequest): Promise<Advice> {
  const asked = request.extensions.map((extension) => adviceOf(extension, request));
  const given = (await Promise.all(asked)).flatMap((advice) => advice ?? []);
  const blocked = given.flatMap((advice) => advice.blocked ?? [])[0];
  const context = withinBounds(given.flatMap((advice) => advice.context ?? []));
  const notes = given.flatMap(({ note }) => (note === undefined ? [] : note.slice(0, GATE_TEXT_MAX_CHARACTERS)));
  return { context, notes, ...(blocked !== undefined && { blocked }) };
}

async function adviceOf(extension: Extension, request: AdviceRequest): Promise<TurnAdvice | undefined> {
  const { opening, signal, clock, logger } = request;
  const limit = { clock, signal, timeoutMs: EXTENSION_TIMEOUT_MS };
  try {
    return await within(limit, (stopped) => extension.beforeTurn?.(opening, stopped));
  } catch (error) {
    signal.throwIfAborted();
    logger.log('warn', 'an extension failed', { extension: extension.name, error: String(error) });
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
