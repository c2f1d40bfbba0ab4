/** The customizations of all sessions in memory. */
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { TokenGrant } from '@atrium/core/util/token-grant.js';
import type { DirectorySource } from '../formats/source.js';
import type { CustomizationsPorts, HostSession, SessionFacts } from './ports.js';
import { SessionCustomizations } from './session-customizations.js';

export class Customizations {
  readonly #ports: CustomizationsPorts;
  readonly #sessions = new Set<SessionCustomizations>();

  constructor(ports: CustomizationsPorts) {
    this.#ports = ports;
  }

  attach(session: HostSession, facts: SessionFacts): SessionObserver {
    const customizations = new SessionCustomizations(session, facts, this.#ports);
    this.#sessions.add(customizations);
    return {
      begin: (report) => customizations.begin(report),
      rest: () => customizations.rest(),
      observe: (step) => customizations.observe(step),
      lost: () => customizations.lost(),
      close: () => {
        this.#sessions.delete(customizations);
        return customizations.close();
      },
    };
  }

  /** The directories that agents of loaded sessions declare. All others are known by their paths. */
  declaredDirectories(): readonly DirectorySource[] {
    return [...this.#sessions].flatMap(({ declaredDirectories }) => declaredDirectories);
  }

  /** Passes a token to MCP servers that asked for this resource; false if none did. */
  authenticate(resource: string, grant: TokenGrant): boolean {
    return [...this.#sessions].map((session) => session.authenticate(resource, grant)).includes(true);
  }
}
