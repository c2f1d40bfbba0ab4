/**
 * Between storing and showing. What is stored becomes visible here, in the order of the numbers: clients see a tick, and
 * snapshots have it, only when everything below it has been shown.
 */
import type { Logger } from '../util/logger.js';
import type { CommittedBatch } from './writer.js';

export interface Delivery {
  /** The greatest number that a client may have seen. Snapshots are true at this number. */
  readonly shown: number;
  /** A tick is on its way to the log: its number may be below what others write meanwhile. */
  storing?(): void;
  /** It could not be stored. */
  notStored?(): void;
  /** Takes a tick that has been stored, and shows it in its turn. */
  stored(batch: CommittedBatch): void;
}

export interface DirectDeliveryOptions {
  /** Where the log ended when the host started. Whether or not an earlier run showed all of it, snapshots have it. */
  readonly shown: number;
  readonly logger: Logger;
  /** Shows a tick to all subscribers. */
  readonly show: (batch: CommittedBatch) => void;
}

/** For a host that has its log for itself: the tick that was stored is always the next one. */
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

/** A stored tick stays stored: a failing handler must not stop the next tick. */
export function runSafely(logger: Logger, work: () => void): void {
  try {
    work();
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    logger.log('error', 'post-commit handler failed', { error: detail });
  }
}
