/** Whether anybody objects to the end of a turn. The agent is told why then, and works on. */

import type { Extension, TurnEnding } from '../contracts/extension.js';
import { EXTENSION_TIMEOUT_MS } from '../limits.js';
import { within } from '../tool-calls/deadline.js';
import { attributed } from '../tool-calls/notes.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';

export interface EndingRequest {
  readonly extensions: readonly Extension[];
  readonly ending: TurnEnding;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** All are asked at once, and heard in their order. One that fails has no objection. */
export async function objectionTo(request: EndingRequest): Promise<string | undefined> {
  const concerned = request.extensions.filter(({ beforeEnd }) => beforeEnd);
  const asked = concerned.map((extension) => objectionOf(extension, request));
  const given = (await Promise.all(asked)).flatMap((objection) => objection ?? []);
  return given.length === 0 ? undefined : given.join('\n');
}

async function objectionOf(extension: Extension, request: EndingRequest): Promise<string | undefined> {
  const { ending, signal, clock, logger } = request;
  const limit = { clock, signal, timeoutMs: EXTENSION_TIMEOUT_MS };
  try {
    const reason = await within(limit, (stopped) => extension.beforeEnd?.(ending, stopped));
    return reason === undefined ? undefined : attributed(extension.name, reason);
  } catch (error) {
    signal.throwIfAborted();
    logger.log('warn', 'an extension failed', { extension: extension.name, error: String(error) });
    return undefined;
  }
}
