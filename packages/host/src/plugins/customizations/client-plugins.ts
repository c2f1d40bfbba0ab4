/** The plugins that the active client publishes in a session: there as long as it is, and as it last said. */
import type { ClientPluginCustomization, SessionActiveClient } from '@atrium/protocol';
import type { Session } from '../../core/sessions/session.js';
import type { Logger } from '../../core/util/logger.js';
import type { Connection } from '../../core/wire/connection.js';
import { isProviderId } from '../../gateway/provider.js';
import { localFolder, publishedFiles } from './client-files.js';
import { CLIENT_PLUGINS_MAX } from './limits.js';
import type { PluginSource } from './sources/source.js';

export interface ClientPluginsParts {
  readonly session: Session;
  readonly logger: Logger;
  connectionOf(clientId: string): Connection | undefined;
  /** Shows the plugin as loading, at once, and reads it. */
  add(source: PluginSource): void;
  remove(id: string): void;
}

interface Published {
  /** As the session knows it. */
  readonly id: string;
  readonly uri: string;
  readonly nonce: string | undefined;
}

export class ClientPlugins {
  readonly #parts: ClientPluginsParts;
  /** By the client and the id that the client gave. */
  readonly #published = new Map<string, Published>();

  constructor(parts: ClientPluginsParts) {
    this.#parts = parts;
  }

  /** The role changed hands, or who has it published another set. What is no longer named goes first. */
  claimed(client: SessionActiveClient | undefined | null): void {
    const wanted = client ? this.#wanted(client) : new Map<string, ClientPluginCustomization>();
    this.#removeOthers(wanted);
    for (const [key, plugin] of wanted) if (client) this.#publish(key, plugin, client.clientId);
  }

  /** Takes entries away that are still shown although their plugin is gone. */
  mend(isThere: (id: string) => boolean): void {
    const shown = (this.#parts.session.state.customizations ?? []).filter(({ clientId }) => clientId !== undefined);
    for (const { id } of shown) if (!isThere(id)) this.#parts.remove(id);
  }

  /** The first of an id counts. */
  #wanted({ clientId, customizations = [] }: SessionActiveClient): Map<string, ClientPluginCustomization> {
    const wanted = new Map<string, ClientPluginCustomization>();
    for (const plugin of customizations) {
      const key = JSON.stringify([clientId, plugin.id]);
      if (!wanted.has(key) && wanted.size < CLIENT_PLUGINS_MAX) wanted.set(key, plugin);
      else this.#parts.logger.log('warn', 'a plugin of a client is left out', { clientId, id: plugin.id });
    }
    return wanted;
  }

  #removeOthers(wanted: ReadonlyMap<string, ClientPluginCustomization>): void {
    const { session, remove } = this.#parts;
    for (const key of [...this.#published.keys()]) if (!wanted.has(key)) this.#published.delete(key);
    const kept = new Set([...this.#published.values()].map(({ id }) => id));
    const shown = (session.state.customizations ?? []).filter(({ clientId }) => clientId !== undefined);
    for (const { id } of shown) if (!kept.has(id)) remove(id);
  }

  /** What has not changed since the client last published it is not read again. */
  #publish(key: string, plugin: ClientPluginCustomization, clientId: string): void {
    const { uri, nonce } = plugin;
    const known = this.#published.get(key);
    if (known && nonce !== undefined && known.nonce === nonce && known.uri === uri) return;
    const id = known?.id ?? this.#freeId(plugin.id, clientId);
    this.#published.set(key, { id, uri, nonce });
    this.#parts.add(this.#source(plugin, id, clientId));
  }

  #source({ uri, name, icons, enabled }: ClientPluginCustomization, id: string, clientId: string): PluginSource {
    const files = () => publishedFiles({ uri, connection: () => this.#parts.connectionOf(clientId) });
    const folder = localFolder(uri);
    return { kind: 'plugin', scope: 'client', id, uri, name, icons, clientId, isOn: enabled, files, folder };
  }

  /** The id is the client's own, unless the session has such an entry already, or may get one from a provider. */
  #freeId(id: string, clientId: string): string {
    const ids = [id, `${clientId}:${id}`];
    return ids.find((candidate) => !isProviderId(candidate) && !this.#isTaken(candidate)) ?? `client:${ids[1]}`;
  }

  #isTaken(id: string): boolean {
    const { customizations = [] } = this.#parts.session.state;
    return customizations.some((entry) => entry.id === id || entry.children?.some((child) => child.id === id));
  }
}
