/**
 * Makes stored ticks visible, in the order of their numbers: clients see a tick, and snapshots include it, only when
 * everything with a smaller number has been shown.
 */
import type { Logger } from '../util/logger.js';
import type { CommittedBatch } from './writer.js';

export interface Delivery {
  /** The greatest number that a client may have seen. Snapshots are true at this number. */
  readonly shown: number;
  /** A tick is on its way to the log. It may get a smaller number than what other hosts write meanwhile. */
  storing?(): void;
  /** The tick could not be stored. */
  notStored?(): void;
  /** Takes a stored tick and shows it when its turn comes. */
  stored(batch: CommittedBatch): void;
}

export interface DirectDeliveryOptions {
  /**
   * Where the log ended when the host started. Snapshots include everything up to here, even if an earlier run never
   * showed it.
   */
  readonly shown: number;
  readonly logger: Logger;
  /** Shows a tick to all subscribers. */
  readonly show: (batch: CommittedBatch) => void;
}

/** For a host that has its log to itself: the tick just stored is always the next one. */
export class DirectDelivery implements Delivery {
  readonly #options: DirectDeliveryOptions;
  #shown: number;

  constructor(options: DirectDeliveryOptions) {
    this.#options = options;
    this.#shown = options.shown;
  }

  get shown(): number {
    return this.#shown;
  }

  stored(batch: CommittedBatch): void {
    const { logger, show } = this.#options;
    this.#shown = batch.last;
    for (const { channel, after } of batch.steps) channel.markShown(after);
    runSafely(logger, () => show(batch));
    for (const callback of batch.afterCommit) runSafely(logger, callback);
  }
}

/** Runs a handler after a commit. The tick stays stored, so a handler that throws must not stop the next tick. */
export function runSafely(logger: Logger, work: () => void): void {
  try {
    work();
  } catch (error) {
    const detail = error instanceof Error ? error.stack : String(error);
    logger.log('error', 'post-commit handler failed', { error: detail });
  }
}
