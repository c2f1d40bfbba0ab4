/** Contents that are only needed while somebody looks: when there are too many, all are dropped at a quiet moment. */
import { rm } from 'node:fs/promises';
import { ContentStore } from './content-store.js';
import { LOOKED_AT_MAX_BYTES } from './limits.js';

export class TransientStore extends ContentStore {
  #bytes = 0;
  #holders = 0;
  #generation = 0;
  #dropping: Promise<void> | undefined;

  /** Changes when everything was dropped: what was put here before is not here any more. */
  override get generation(): number {
    return this.#generation;
  }

  override async put(bytes: Uint8Array): Promise<string> {
    this.#bytes += bytes.length;
    return super.put(bytes);
  }

  /** Until the returned function is called, everything that is put here stays. */
  async hold(): Promise<() => void> {
    await this.#dropping;
    this.#holders += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0 && this.#bytes > LOOKED_AT_MAX_BYTES) this.#drop();
    };
  }

  #drop(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#dropping = rm(this.folder, { recursive: true, force: true })
      .catch(() => {})
      .finally(() => {
        this.forgetFolders();
        this.#dropping = undefined;
      });
  }
}
