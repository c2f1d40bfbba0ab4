/** The customizations of all sessions in memory: what clients may do with them beside switching them on and off. */
import { ErrorCode, type ResourceWriteParams } from '@atrium/protocol';
import type { Companion } from '../sessions/companion.js';
import type { Session } from '../sessions/session.js';
import { RequestError } from '../wire/request-error.js';
import type { CustomizationsParts } from './parts.js';
import { SessionCustomizations } from './session-customizations.js';
import { writeInto } from './write-into.js';

export class Customizations {
  readonly #parts: CustomizationsParts;
  readonly #sessions = new Set<SessionCustomizations>();

  constructor(parts: CustomizationsParts) {
    this.#parts = parts;
  }

  attach(session: Session): Companion {
    const customizations = new SessionCustomizations(session, this.#parts);
    this.#sessions.add(customizations);
    return {
      begin: () => customizations.begin(),
      observe: (step) => customizations.observe(step),
      lost: () => customizations.lost(),
      close: () => {
        this.#sessions.delete(customizations);
        return customizations.close();
      },
    };
  }

  /** A token for a resource that MCP servers asked for; false when none did. */
  authenticate(resource: string, token: string): boolean {
    return [...this.#sessions].map((session) => session.authenticate(resource, token)).includes(true);
  }

  /** Saves a customization: a file in a directory that a session shows as writable. */
  async write(params: ResourceWriteParams): Promise<void> {
    for (const session of this.#sessions) {
      for (const directory of session.writable) if (await writeInto(directory, params)) return;
    }
    const message = `${params.uri} is not in a directory of customizations that can be written`;
    throw new RequestError(ErrorCode.PermissionDenied, message);
  }
}
