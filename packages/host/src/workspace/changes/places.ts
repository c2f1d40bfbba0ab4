/** Contents that are only needed while somebody looks: when there are too many, all are dropped at a quiet moment. */

import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ContentStore } from './content-store.js';
import { JournalFile } from './journal-file.js';
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

/** Where changes are kept: a folder for each session, and one for what was only looked at, which goes with the host. */

const SESSIONS = 'sessions';
const LOOKED_AT = 'looked-at';
const JOURNAL = 'journal.jsonl';
const NAME_CHARACTERS = 32;

export class ChangePlaces {
  /** Contents that snapshots had to read. */
  readonly lookedAt: TransientStore;

  constructor(readonly folder: string) {
    this.lookedAt = new TransientStore(path.join(folder, LOOKED_AT));
  }

  contents(session: string): ContentStore {
    return new ContentStore(path.join(this.#of(session), 'contents'));
  }

  journal(session: string): JournalFile {
    return new JournalFile(path.join(this.#of(session), JOURNAL));
  }

  /** Forgets what an earlier host looked at, which may be a lot: it is put aside, and goes in its own time. */
  async forgetLookedAt(): Promise<{ readonly gone: Promise<void> }> {
    const { folder } = this.lookedAt;
    await rename(folder, `${folder}-${randomUUID()}`).catch(() => {});
    const old = (await namesIn(this.folder)).filter((name) => name.startsWith(`${LOOKED_AT}-`));
    const removals = old.map((name) => rm(path.join(this.folder, name), { recursive: true, force: true }));
    return { gone: Promise.all(removals).then(() => {}) };
  }

  /** Forgets sessions that are not kept any more. */
  async sweep(isKept: (session: string) => boolean): Promise<void> {
    const sessions = path.join(this.folder, SESSIONS);
    for (const name of await namesIn(sessions)) {
      const folder = path.join(sessions, name);
      const first = await new JournalFile(path.join(folder, JOURNAL)).readFirst();
      if (first?.kind === 'session' && isKept(first.uri)) continue;
      await rm(folder, { recursive: true, force: true });
    }
  }

  async forget(session: string): Promise<void> {
    await rm(this.#of(session), { recursive: true, force: true });
  }

  /** A URI is no name for a folder. */
  #of(session: string): string {
    const name = createHash('sha256').update(session).digest('hex').slice(0, NAME_CHARACTERS);
    return path.join(this.folder, SESSIONS, name);
  }
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
