/** One question about trust per session, whatever waits there for the answer. */
import type { Session } from '../../core/sessions/session.js';
import { SessionTrust } from './session-trust.js';
import type { FolderTrust } from './trust.js';

export class SessionTrusts {
  readonly #trusts = new WeakMap<Session, SessionTrust>();

  constructor(private readonly trust: FolderTrust) {}

  of(session: Session): SessionTrust {
    const trust = this.#trusts.get(session) ?? new SessionTrust(session, this.trust);
    this.#trusts.set(session, trust);
    return trust;
  }
}
