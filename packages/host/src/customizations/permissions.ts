/** Whether a container may start programs: hooks and MCP servers. Text needs no permission; code always does. */
import type { Session } from '../sessions/session.js';
import { shorten } from '../tools/text.js';
import type { SessionTrust } from '../trust/session-trust.js';
import type { AnySource } from './sources/source.js';

export interface PermissionsParts {
  readonly session: Session;
  trust(): SessionTrust;
  /** From now on it may. */
  granted(id: string): void;
}

/** Names are the client's: on one line, they cannot pass for words of the host. */
const SHOWN_MAX_CHARACTERS = 200;
const shown = (text: string): string => shorten(text, SHOWN_MAX_CHARACTERS);

/** What a person accepted is kept with what else they allowed in this session. */
const OWNER = 'client-plugin';

export class Permissions {
  readonly #parts: PermissionsParts;
  readonly #granted = new Set<string>();
  readonly #asked = new Map<string, () => void>();

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  has(id: string): boolean {
    return this.#granted.has(id);
  }

  /** What the user or an agent brought may run. For the rest somebody is asked, once; `what` is shown to them. */
  request(source: AnySource, what: string): void {
    const { id, scope, isOfFolder = false } = source;
    if (this.#granted.has(id) || this.#asked.has(id)) return;
    if (scope === 'user' || (scope === 'agent' && !isOfFolder)) return this.#grant(id);
    if (scope === 'client') return this.#askForClient(source, what);
    this.#asked.set(id, () => {});
    void this.#parts.trust().whenTrusted(what, () => {
      if (this.#asked.has(id)) this.#grant(id);
    });
  }

  /** It is gone: nobody needs to decide any more. */
  forget(id: string): void {
    this.#granted.delete(id);
    this.#asked.get(id)?.();
    this.#asked.delete(id);
  }

  #askForClient(source: AnySource, what: string): void {
    const { session } = this.#parts;
    const { id, uri, name } = source;
    const accepted = { owner: OWNER, name: JSON.stringify(['clientId' in source ? source.clientId : '', uri]) };
    if (session.allowances.has(accepted)) return this.#grant(id);
    const message = [
      `A client brought the plugin "${shown(name)}" (${shown(uri)}). It wants to start programs on this machine:`,
      `- ${shown(what)}`,
      'Nothing of this runs until you accept. Your answer is remembered for this session.',
    ].join('\n');
    const request = { id: `plugin-${crypto.randomUUID()}`, message, questions: [] };
    const withdraw = session.standing.ask(request, (response) => {
      if (response !== 'accept' || !this.#asked.has(id)) return;
      session.allowances.add(accepted);
      this.#grant(id);
    });
    this.#asked.set(id, withdraw);
  }

  #grant(id: string): void {
    this.#granted.add(id);
    this.#parts.granted(id);
  }
}
