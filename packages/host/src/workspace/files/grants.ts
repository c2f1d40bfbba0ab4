/**
 * What people granted to single clients. It is kept in memory alone, and ends with the session in which it was granted:
 * whoever disposes of the session takes it back.
 */
import { GRANTS_MAX } from './limits.js';
import { grantedPlace } from './root-kinds.js';
import type { Access, Root } from './roots.js';

export interface Grant {
  /** As the client asked for it. */
  readonly given: string;
  /** Where that led when the person said yes. What it leads to later is not granted. */
  readonly real: string;
  readonly access: Access;
  /** The session in which a person said yes. */
  readonly session: string;
}

const NONE: readonly Root[] = [];

export class Grants {
  readonly #grants = new Map<string, readonly Grant[]>();

  /** `isThere`: whether a session still is. */
  constructor(private readonly isThere: (session: string) => boolean) {}

  /** Beyond the limit the oldest goes. */
  add(clientId: string, grant: Grant): void {
    this.#grants.set(clientId, [...(this.#grants.get(clientId) ?? []), grant].slice(-GRANTS_MAX));
  }

  rootsOf(clientId: string): readonly Root[] {
    const grants = this.#grants.get(clientId);
    if (!grants) return NONE;
    const left = grants.filter(({ session }) => this.isThere(session));
    if (left.length === 0) this.#grants.delete(clientId);
    else if (left.length < grants.length) this.#grants.set(clientId, left);
    return left.map(({ given, real, access }) => ({ given, real, kind: grantedPlace(access), isFixed: true }));
  }
}
