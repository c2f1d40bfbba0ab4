/**
 * Titles made by a model: after the first turn of a session, the host asks its agent for a title with one small
 * request. A title that a person chose stays. A failed request is repeated once, after the next turn.
 */
import type { Turn } from '@atrium/protocol/ahp-1';
import type { FirstExchange } from '../contracts/agent.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { errorText, shorten } from '../util/text.js';
import type { Session } from './session.js';
import type { AttachObserver, SessionObserver, SessionStep } from './session-observer.js';
import type { SessionRecords } from './session-records.js';

/** Longest title that a model may make. */
export const MADE_TITLE_MAX_CHARACTERS = 60;
export const TITLE_ATTEMPTS_MAX = 2;
/** How long the model may take; after that, there is no title. */
export const TITLE_TIMEOUT_MS = 30_000;

export interface SessionTitlesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly records: SessionRecords;
  /** Calls back when this tick has been stored. */
  afterCommit(callback: () => void): void;
}

export function sessionTitles(options: SessionTitlesOptions): AttachObserver {
  return (session) => new SessionTitle(session, options);
}

class SessionTitle implements SessionObserver {
  #asking: Promise<void> | undefined;
  readonly #abort = new AbortController();

  constructor(
    private readonly session: Session,
    private readonly options: SessionTitlesOptions,
  ) {}

  get keepsAwake(): boolean {
    return this.#asking !== undefined;
  }

  observe({ chat, before, after }: SessionStep): void {
    const { session } = this;
    if (!chat || chat !== session.chat || !before.activeTurn || after.activeTurn) return;
    const turn = after.turns.at(-1);
    // A session that an automation started already has its name.
    if (turn?.state !== 'complete' || session.state.origin || !session.backend?.titleFor) return;
    this.options.afterCommit(() => this.#ended(turn, chat.turnCount()));
  }

  #ended(turn: Turn, count: number): void {
    if (count > TITLE_ATTEMPTS_MAX || this.#asking) return;
    this.#asking = this.#title(turn, count).finally(() => {
      this.#asking = undefined;
    });
  }

  async #title(turn: Turn, count: number): Promise<void> {
    const { session } = this;
    const { records, logger } = this.options;
    const attempts = await records.titleAttempts(session.uri);
    // A copied session has the title of its source: its first turn here is not its first.
    if (attempts !== count - 1 || session.naming.isByPerson) return;
    records.setTitleAttempts(session.uri, attempts + 1);
    try {
      const title = titleIn(await this.#ask(exchangeOf(turn)));
      if (title === '') throw new Error('the model answered with no title');
      records.setTitleAttempts(session.uri, TITLE_ATTEMPTS_MAX);
      if (!session.naming.isByPerson) session.write({ type: 'session/titleChanged', title });
    } catch (error) {
      if (!this.#abort.signal.aborted)
        logger.log('info', 'no title was made', { session: session.uri, error: errorText(error) });
    }
  }

  async #ask(exchange: FirstExchange): Promise<string> {
    const late = new AbortController();
    const cancel = this.options.clock.after(TITLE_TIMEOUT_MS, () => late.abort(new Error('the model took too long')));
    const signal = AbortSignal.any([late.signal, this.#abort.signal]);
    try {
      return (await this.session.backend?.titleFor?.(exchange, signal, (usage) => this.session.spent(usage))) ?? '';
    } finally {
      cancel();
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#asking;
  }
}

function exchangeOf({ message, responseParts, usage }: Turn): FirstExchange {
  const answer = responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n');
  return { message: message.text, answer, model: message.model?.id ?? usage?.model };
}

/** Extracts the title. Models like to put it in quotation marks or a heading, or to explain it below. */
export function titleIn(text: string): string {
  const [line = ''] = text.trim().split('\n');
  const plain = line.replace(/^[#>*\s]*(?:title\s*:\s*)?/i, '').replace(/^["'“”«»„‘’`*]+|["'“”«»„‘’`*.]+$/gu, '');
  return shorten(plain, MADE_TITLE_MAX_CHARACTERS);
}
