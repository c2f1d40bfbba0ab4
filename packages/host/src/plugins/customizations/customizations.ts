/** The customizations of all sessions in memory: what clients may do with them beside switching them on and off. */

import type { Session } from '../../core/sessions/session.js';
import type { SessionObserver } from '../../core/sessions/session-observer.js';
import type { CustomizationsParts } from './ports.js';
import { SessionCustomizations } from './session-customizations.js';
import type { DirectorySource } from './sources/source.js';

export class Customizations {
  readonly #parts: CustomizationsParts;
  readonly #sessions = new Set<SessionCustomizations>();

  constructor(parts: CustomizationsParts) {
    this.#parts = parts;
  }

  attach(session: Session): SessionObserver {
    const customizations = new SessionCustomizations(session, this.#parts);
    this.#sessions.add(customizations);
    return {
      begin: () => customizations.begin(),
      rest: () => customizations.rest(),
      observe: (step) => customizations.observe(step),
      lost: () => customizations.lost(),
      close: () => {
        this.#sessions.delete(customizations);
        return customizations.close();
      },
    };
  }

  /** Directories of sessions in memory that their agents declare. All others are known by where they are. */
  declaredDirectories(): readonly DirectorySource[] {
    return [...this.#sessions].flatMap(({ declaredDirectories }) => declaredDirectories);
  }

  /** A token for a resource that MCP servers asked for; false when none did. */
  authenticate(resource: string, token: string): boolean {
    return [...this.#sessions].map((session) => session.authenticate(resource, token)).includes(true);
  }
}
