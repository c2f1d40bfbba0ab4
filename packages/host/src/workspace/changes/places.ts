/** Where changes are kept: a folder for each session, and one for what was only looked at, which goes with the host. */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ContentStore } from './content-store.js';
import { JournalFile } from './record/journal-file.js';
import { TransientStore } from './transient-store.js';

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
