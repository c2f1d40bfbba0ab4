/** MCP servers that want somebody to sign in: clients are told, and asked when a turn may be waiting for it. */

import type { Session } from '../../core/sessions/session.js';
import type { McpServer } from '../mcp/server.js';

export interface SignInParts {
  readonly session: Session;
  /** To everybody who watches the session. */
  notify(method: string, params: object): void;
}

export class SignIn {
  readonly #parts: SignInParts;
  /** The last need that was told, by server, so that each is told once. */
  readonly #told = new Map<string, string>();
  readonly #withdraw = new Map<string, () => void>();

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** A server changed. */
  look({ id, name, state }: McpServer): void {
    if (state.kind !== 'authRequired') {
      this.#told.delete(id);
      this.#withdraw.get(id)?.();
      this.#withdraw.delete(id);
      return;
    }
    const { resource } = state.resource;
    const need = JSON.stringify([resource, state.reason]);
    if (this.#told.get(id) === need) return;
    this.#told.set(id, need);
    this.#parts.notify('auth/required', { resource, reason: state.reason });
    if (this.#parts.session.state.activeTurn)
      this.#ask(id, `The MCP server ${name} wants you to sign in (${resource}).`);
  }

  #ask(id: string, message: string): void {
    this.#withdraw.get(id)?.();
    const request = { id: `sign-in-${crypto.randomUUID()}`, message, questions: [] };
    this.#withdraw.set(
      id,
      this.#parts.session.standing.ask(request, () => this.#withdraw.delete(id)),
    );
  }
}
