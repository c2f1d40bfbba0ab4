/** The tokens of providers: one for each spawned process, one for each pairing. Kept in memory only, as digests. */
import { randomBytes, randomUUID } from 'node:crypto';
import { digestOf } from '../server/security/token.js';
import type { Access, AccessToken } from './access.js';

const TOKEN_BYTES = 32;

export class ProviderTokens {
  readonly #accesses = new Map<string, Access>();

  /** For a process that the gateway starts in a session. */
  issueProject(sessionId: string): string {
    return this.#issue('ptk-', { trust: 'project', sessionId, token: newToken() });
  }

  /** For a provider that a person has let into a session. */
  issueExternal(sessionId: string): string {
    return this.#issue('ext-tok-', { trust: 'external', sessionId, token: newToken() });
  }

  /** What a token opens. Looked up by digest, so that how long it takes says nothing about the token. */
  accessOf(token: string): Access | undefined {
    return this.#accesses.get(keyOf(token));
  }

  revoke(token: string): void {
    this.#accesses.delete(keyOf(token));
  }

  /** A session has ended, and with it everything that was let into it. */
  revokeSession(sessionId: string): void {
    for (const [key, access] of this.#accesses) if (access.sessionId === sessionId) this.#accesses.delete(key);
  }

  #issue(prefix: string, access: Access): string {
    const token = prefix + randomBytes(TOKEN_BYTES).toString('hex');
    this.#accesses.set(keyOf(token), access);
    return token;
  }
}

function newToken(): AccessToken {
  return { id: randomUUID(), name: undefined };
}

function keyOf(token: string): string {
  return digestOf(token).toString('hex');
}
