/** How far the creation of a session is, for the client that asked to be told. Nothing of it is stored or replayed. */

export interface ProgressUpdate {
  /** Steps that are done. Never decreases; equals `total` in the last update, also when the creation failed. */
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

export type TellProgress = (update: ProgressUpdate) => void;

/** What a client may call its wish. */
export const PROGRESS_TOKEN_MAX_CHARACTERS = 256;

export class CreationProgress {
  #done = 0;
  #isOver = false;

  constructor(
    private readonly total: number,
    private readonly tell: TellProgress,
  ) {}

  /** Says what is being done. */
  readonly says = (message: string): void => {
    if (!this.#isOver) this.tell({ progress: this.#done, total: this.total, message });
  };

  /** A step is done. The last one is that the session is there: only the end says so. */
  finished(message: string): void {
    this.#done = Math.min(this.#done + 1, this.total - 1);
    this.says(message);
  }

  end(message: string): void {
    if (this.#isOver) return;
    this.#done = this.total;
    this.says(message);
    this.#isOver = true;
  }
}
