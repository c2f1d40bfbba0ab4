/** Progress of creating a session, for the client that asked for it. It is neither stored nor replayed. */

export interface ProgressUpdate {
  /** Finished steps. Never decreases; equals `total` in the last update, even if the creation failed. */
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

export type ReportProgress = (update: ProgressUpdate) => void;

/** Longest progress token that a client may choose. */
export const PROGRESS_TOKEN_MAX_CHARACTERS = 256;

export class CreationProgress {
  #done = 0;
  #isOver = false;

  constructor(
    private readonly total: number,
    private readonly report: ReportProgress,
  ) {}

  /** Reports what is being done. */
  readonly message = (message: string): void => {
    if (!this.#isOver) this.report({ progress: this.#done, total: this.total, message });
  };

  /** Counts a finished step. The last step is that the session exists, which only `end` reports. */
  finished(message: string): void {
    this.#done = Math.min(this.#done + 1, this.total - 1);
    this.message(message);
  }

  end(message: string): void {
    if (this.#isOver) return;
    this.#done = this.total;
    this.message(message);
    this.#isOver = true;
  }
}
