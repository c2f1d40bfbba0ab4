/**
 * Every change of a section goes through here: one that makes it too large is left out, and every other is written down
 * at debug level. Who, which section, and hashes of the text before and after; never the text.
 */
import { createHash } from 'node:crypto';
import { PROMPT_SECTION_MAX_CHARACTERS } from '../limits.js';
import { isHeard, type Logger } from '../util/logger.js';

export interface Change {
  readonly stage: 'rules' | 'static' | 'callback' | 'client';
  /** The extension or the client that made it. */
  readonly by: string;
  readonly section: string;
  readonly before: string;
  readonly after: string;
}

export interface Journal {
  readonly session: string;
  readonly logger: Logger;
}

/** The text as it is from now on. */
export function taken(change: Change, journal: Journal): string {
  const { before, after } = change;
  if (after === before) return before;
  if (after.length > PROMPT_SECTION_MAX_CHARACTERS && after.length > before.length) {
    leftOut(change, journal);
    return before;
  }
  noted(change, journal);
  return after;
}

/** Writes down who had a text in hands, and what became of it. */
export function noted({ stage, by, section, before, after }: Change, { session, logger }: Journal): void {
  if (!isHeard(logger, 'debug')) return;
  logger.log('debug', 'prompt transform', { session, stage, by, section, before: hash(before), after: hash(after) });
}

function leftOut({ stage, by, section, after }: Change, { session, logger }: Journal): void {
  const [characters, allowed] = [after.length, PROMPT_SECTION_MAX_CHARACTERS];
  logger.log('warn', 'prompt text left out: the section is too large', {
    session,
    stage,
    by,
    section,
    characters,
    allowed,
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
