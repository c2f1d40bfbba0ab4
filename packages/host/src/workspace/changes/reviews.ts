/**
 * Which files people have reviewed in the views of a session. A review covers a file as it was; it ends when the file
 * changes. Reviews outlive views and the host, and are deleted with their session.
 */
import { createHash } from 'node:crypto';
import { jsonText } from '@atrium/core/log/log.js';
import type { ChangeRecords } from './change-log.js';
import type { ShownFile } from './changeset-views.js';
import { REVIEWS_MAX } from './limits.js';
import { keyOf } from './uri.js';

/** The key of the record that holds the reviews of a session. */
export function reviewsKey(session: string): string {
  return `reviews:${keyOf(session)}`;
}

export interface ViewReviews {
  has(file: ShownFile): boolean;
  set(files: readonly ShownFile[], isReviewed: boolean): void;
}

export class Reviews {
  readonly #records: ChangeRecords;
  readonly #key: string;
  /** For each view and file, the stamp of the reviewed version. The oldest review comes first. */
  #versions = new Map<string, string>();
  #loading: Promise<void> | undefined;

  constructor(records: ChangeRecords, session: string) {
    this.#records = records;
    this.#key = reviewsKey(session);
  }

  /** Reads the stored reviews once. After a failure the next call tries again. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #read(): Promise<void> {
    const stored = await this.#records.log.record(this.#key);
    if (stored !== undefined) this.#versions = new Map(JSON.parse(stored));
  }

  of(view: string): ViewReviews {
    const nameOf = ({ file }: ShownFile) => JSON.stringify([view, file.id]);
    return {
      has: (file) => this.#versions.get(nameOf(file)) === versionOf(file),
      set: (files, isReviewed) => {
        for (const file of files) {
          this.#versions.delete(nameOf(file));
          if (isReviewed) this.#versions.set(nameOf(file), versionOf(file));
        }
        this.#store();
      },
    };
  }

  /** Stores the reviews with the commit of this tick. */
  #store(): void {
    const kept = [...this.#versions].slice(-REVIEWS_MAX);
    this.#versions = new Map(kept);
    this.#records.writer.record({ key: this.#key, value: kept.length > 0 ? jsonText(kept) : null });
  }
}

const VERSION_CHARACTERS = 16;

function versionOf({ file, stamp }: ShownFile): string {
  const text = JSON.stringify([file.edit, stamp]);
  return createHash('sha256').update(text).digest('hex').slice(0, VERSION_CHARACTERS);
}
