/** Whose title a session has. Once a person has named it, agents do not rename it, also not after a restart. */
import type { SessionAction } from '@atrium/protocol';
import type { EntryOrigin } from '../log/log.js';
import type { SessionNotes } from './session-notes.js';

export class Naming {
  #isByPerson = false;

  constructor(
    private readonly notes: SessionNotes,
    private readonly uri: string,
  ) {}

  get isByPerson(): boolean {
    return this.#isByPerson;
  }

  /** Whether a person had named it before the session last left memory. */
  async load(): Promise<void> {
    if (await this.notes.isNamed(this.uri)) this.#isByPerson = true;
  }

  /** Only what clients do has an origin. */
  observe({ type }: SessionAction, origin: EntryOrigin | undefined): void {
    if (type !== 'session/titleChanged' || !origin || this.#isByPerson) return;
    this.#isByPerson = true;
    this.notes.setNamed(this.uri);
  }
}
