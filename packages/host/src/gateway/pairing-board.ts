/**
 * Where people see which programs ask to be let in. A request belongs to the host: it stands here once, whatever sessions
 * there are, and touches none of them. Kept in memory only: no agent, no provider and no log ever reads a code.
 */
import { visibleText } from '@atrium/protocol';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';

/** Clients that show requests ask for them more often than this. */
export const LOOKING_MS = 10_000;

export interface PairingCode {
  /** The session that the code opens. */
  readonly session: string;
  readonly title: string;
  /** As people read it: `123 456`. */
  readonly code: string;
}

export interface PairingRequest {
  readonly id: string;
  /** Who asks, as far as it said; everything invisible is spelled out. */
  readonly name?: string;
  /** Of each session one, the session that was used last first. The code that is typed decides which it is. */
  readonly codes: readonly PairingCode[];
}

interface Posted {
  readonly request: PairingRequest;
  readonly declined: () => void;
}

export interface Notice {
  readonly name: string | undefined;
  readonly codes: readonly PairingCode[];
  /** A person said no. */
  declined(): void;
}

export class PairingBoard {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #posted = new Map<string, Posted>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** What is asked for now, for a client that shows it to people. */
  look(): readonly PairingRequest[] {
    this.#lookedAt = this.#clock.now();
    return [...this.#posted.values()].map(({ request }) => request);
  }

  /** Says whether there was such a request. */
  decline(id: string): boolean {
    const posted = this.#posted.get(id);
    this.#posted.delete(id);
    posted?.declined();
    return posted !== undefined;
  }

  /** Shows a request; the returned function takes it away. */
  post({ name, codes, declined }: Notice): () => void {
    const id = `pair-${crypto.randomUUID()}`;
    const request = { id, ...(name !== undefined && { name: visibleText(name, 'line') }), codes };
    this.#posted.set(id, { request, declined });
    // No client shows it: then the host's own console is where people would look next.
    if (this.#clock.now() - this.#lookedAt > LOOKING_MS) this.#logger.log('warn', wordsOf(request));
    return () => void this.#posted.delete(id);
  }
}

function wordsOf({ name, codes: [first, ...others] }: PairingRequest): string {
  const who = name === undefined ? 'A local program' : `A local program '${name}'`;
  const where = `the session ${visibleText(first?.title ?? '', 'line')}`;
  const more = others.length === 0 ? '' : '; other sessions have other codes: atrium pair --session <id>';
  return `${who} asks for access. Type this code there, for ${where}: ${first?.code}${more}`;
}
