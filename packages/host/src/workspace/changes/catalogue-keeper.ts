/** Keeps the catalogue of a session true: counts anew when something changed, and tells only what differs. */
import type { Session } from '../../core/sessions/session.js';
import { type Counted, catalogueOf } from './catalogue.js';

export interface CatalogueKeeperParts {
  readonly session: Session;
  /** Undefined when there is no folder to count in. */
  count(): Promise<Counted | undefined>;
}

export class CatalogueKeeper {
  #counting: Promise<void> | undefined;
  #isStale = false;
  #isOver = false;

  constructor(private readonly parts: CatalogueKeeperParts) {}

  /** One count at a time is enough, and one more when something changed meanwhile. */
  update(): Promise<void> {
    this.#isStale = true;
    this.#counting ??= this.#countUntilFresh().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      await this.#publish().catch((error) => this.#warn(error));
    }
  }

  async #publish(): Promise<void> {
    const { session, count } = this.parts;
    const counted = await count();
    const changesets = counted && catalogueOf(session.uri, counted);
    const isKnown = JSON.stringify(changesets) === JSON.stringify(session.state.summary.changesets);
    if (!this.#isOver && !isKnown) session.write({ type: 'session/changesetsChanged', changesets });
  }

  #warn(error: unknown): void {
    const { session } = this.parts;
    const { logger } = session.parts.core;
    logger.log('warn', 'changes could not be counted', { session: session.uri, error: String(error) });
  }

  /** Waits for what is being counted. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#counting;
  }
}
