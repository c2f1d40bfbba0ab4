/** The plugins that active clients publish in a session. They are removed when their client stops being active. */

import { isProviderId } from '@atrium/core/contracts/extension.js';
import { childrenOf } from '@atrium/core/sessions/session-rules.js';
import type { ClientPluginCustomization, CustomizationEnablement, SessionActiveClient } from '@atrium/protocol/ahp-1';
import { CLIENT_PLUGINS_MAX } from '../formats/limits.js';
import type { PluginSource } from '../formats/source.js';
import { localFolder, publishedFiles } from './client-files.js';
import { isOfClient } from './customization-entries.js';
import type { CustomizationsPorts, HostSession } from './ports.js';

/** A consequence of what the active clients publish. */
type PluginChange =
  | { readonly kind: 'removed'; readonly id: string }
  /** The plugin is new, or has changed. */
  | { readonly kind: 'published'; readonly source: PluginSource }
  /** Its client switched it, or parts of it, on or off. */
  | { readonly kind: 'decided'; readonly id: string; readonly decisions: Decisions };

/** The decisions of a client about its own plugin. */
export interface Decisions {
  /** Absent when unchanged. */
  readonly own?: readonly CustomizationEnablement[];
  /** For its parts, by name; only new decisions. */
  readonly children: ReadonlyMap<string, readonly CustomizationEnablement[]>;
}

interface RequestedPlugin {
  readonly key: string;
  readonly plugin: ClientPluginCustomization;
  readonly clientId: string;
}

interface Published {
  /** The id by which the session knows it. */
  readonly id: string;
  readonly uri: string;
  readonly nonce: string | undefined;
  readonly plugin: ClientPluginCustomization;
}

export class ClientPlugins {
  readonly #session: HostSession;
  readonly #ports: Pick<CustomizationsPorts, 'logger' | 'connectionOf'>;
  /**
   * The last publication of each active client. Clients repeat it with every change of their tools, and some for no
   * reason.
   */
  readonly #claims = new Map<string, string>();
  /** By the client and the id that the client gave. */
  readonly #published = new Map<string, Published>();

  constructor(session: HostSession, ports: Pick<CustomizationsPorts, 'logger' | 'connectionOf'>) {
    this.#session = session;
    this.#ports = ports;
  }

  /**
   * A client became active, left, or published other plugins. Plugins that no client names any more go first. The
   * caller applies each change before it requests the next, because the id of a plugin depends on the entries of the
   * session. `changed`: the client that published; if absent, all clients are checked.
   */
  *claimed(clients: readonly SessionActiveClient[], changed?: string): Generator<PluginChange> {
    if (changed !== undefined && !this.#isNews(clients, changed)) return;
    const wanted = clients.flatMap((client) => this.#requested(client));
    const keys = new Set(wanted.map(({ key }) => key));
    for (const key of [...this.#published.keys()]) if (!keys.has(key)) this.#published.delete(key);
    const kept = new Set([...this.#published.values()].map(({ id }) => id));
    for (const id of this.stale((shown) => kept.has(shown))) yield { kind: 'removed', id };
    for (const { key, plugin, clientId } of wanted) {
      if (changed !== undefined && clientId !== changed) continue;
      const before = this.#published.get(key);
      const source = this.#publish(key, plugin, clientId);
      if (source) yield { kind: 'published', source };
      const decisions = before && newDecisions(before.plugin, plugin);
      if (decisions) yield { kind: 'decided', id: before.id, decisions };
    }
  }

  #isNews(clients: readonly SessionActiveClient[], clientId: string): boolean {
    const client = clients.find((each) => each.clientId === clientId);
    if (!client) return this.#claims.delete(clientId);
    const claim = JSON.stringify(client.customizations ?? []);
    const isNews = this.#claims.get(clientId) !== claim;
    this.#claims.set(clientId, claim);
    return isNews;
  }

  /** The entries of client plugins that the session still shows although the plugin is gone. */
  stale(isThere: (id: string) => boolean): readonly string[] {
    const entries = (this.#session.state.customizations ?? []).filter(isOfClient);
    return entries.map(({ id }) => id).filter((id) => !isThere(id));
  }

  /** Of several plugins with one id, the first counts. */
  #requested({ clientId, customizations = [] }: SessionActiveClient): readonly RequestedPlugin[] {
    const wanted = new Map<string, RequestedPlugin>();
    for (const plugin of customizations) {
      const key = JSON.stringify([clientId, plugin.id]);
      if (!wanted.has(key) && wanted.size < CLIENT_PLUGINS_MAX) wanted.set(key, { key, plugin, clientId });
      else this.#ports.logger.log('warn', 'a plugin of a client is left out', { clientId, id: plugin.id });
    }
    return [...wanted.values()];
  }

  /** Undefined for a plugin that has not changed since the client last published it; it is not read again. */
  #publish(key: string, plugin: ClientPluginCustomization, clientId: string): PluginSource | undefined {
    const { uri, nonce } = plugin;
    const known = this.#published.get(key);
    const isRead = known && nonce !== undefined && known.nonce === nonce && known.uri === uri;
    const id = known?.id ?? this.#freeId(plugin.id, clientId);
    this.#published.set(key, { id, uri, nonce, plugin });
    return isRead ? undefined : this.#source(plugin, id, clientId);
  }

  #source(plugin: ClientPluginCustomization, id: string, clientId: string): PluginSource {
    const { uri, name, icons, enablement, childEnablement } = plugin;
    const files = () => publishedFiles({ uri, connection: () => this.#ports.connectionOf(clientId) });
    const folder = localFolder(uri);
    const decided = { enablement, childEnablement };
    return { kind: 'plugin', scope: 'client', id, uri, name, icons, clientId, ...decided, files, folder };
  }

  /** The client's own id, unless the session already has such an entry, or may get one from a provider. */
  #freeId(id: string, clientId: string): string {
    const ids = [id, `${clientId}:${id}`];
    return ids.find((candidate) => !isProviderId(candidate) && !this.#isUsed(candidate)) ?? `client:${ids[1]}`;
  }

  #isUsed(id: string): boolean {
    const { customizations = [] } = this.#session.state;
    return customizations.some((entry) => entry.id === id || childrenOf(entry).some((child) => child.id === id));
  }
}

/** Undefined when the client made no new decision. */
function newDecisions(before: ClientPluginCustomization, after: ClientPluginCustomization): Decisions | undefined {
  const { enablement = [], childEnablement = {} } = after;
  const known = new Map(Object.entries(before.childEnablement ?? {}));
  const named = new Map(Object.entries(childEnablement));
  const children = new Map<string, readonly CustomizationEnablement[]>();
  for (const name of new Set([...known.keys(), ...named.keys()])) {
    const decided = named.get(name) ?? [];
    if (!isSame(known.get(name) ?? [], decided)) children.set(name, decided);
  }
  const isOwnNew = !isSame(before.enablement ?? [], enablement);
  return isOwnNew || children.size > 0 ? { ...(isOwnNew && { own: enablement }), children } : undefined;
}

/** Both are JSON from a client, with the members in the client's order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
