/** The plugins that the active client publishes in a session. They go when the client stops being active. */

import { isProviderId } from '@atrium/core/contracts/extension.js';
import type { ClientPluginCustomization, SessionActiveClient } from '@atrium/protocol';
import { CLIENT_PLUGINS_MAX } from '../formats/limits.js';
import type { PluginSource } from '../formats/source.js';
import { localFolder, publishedFiles } from './client-files.js';
import type { CustomizationsPorts, HostSession } from './ports.js';

/** Something that follows from a claim of the active client. */
type PluginChange =
  | { readonly kind: 'removed'; readonly id: string }
  /** The plugin is new, or has changed. */
  | { readonly kind: 'published'; readonly source: PluginSource };

interface Published {
  /** As the session knows it. */
  readonly id: string;
  readonly uri: string;
  readonly nonce: string | undefined;
}

export class ClientPlugins {
  readonly #session: HostSession;
  readonly #ports: Pick<CustomizationsPorts, 'logger' | 'connectionOf'>;
  /** By the client and the id that the client gave. */
  readonly #published = new Map<string, Published>();

  constructor(session: HostSession, ports: Pick<CustomizationsPorts, 'logger' | 'connectionOf'>) {
    this.#session = session;
    this.#ports = ports;
  }

  /**
   * The active client changed, or published another set: plugins that it no longer names go first. The caller applies
   * each change before it asks for the next one, because the id of a plugin depends on the entries of the session.
   */
  *claimed(client: SessionActiveClient | undefined | null): Generator<PluginChange> {
    const wanted = client ? this.#wanted(client) : new Map<string, ClientPluginCustomization>();
    for (const key of [...this.#published.keys()]) if (!wanted.has(key)) this.#published.delete(key);
    const kept = new Set([...this.#published.values()].map(({ id }) => id));
    for (const id of this.stale((shown) => kept.has(shown))) yield { kind: 'removed', id };
    if (!client) return;
    for (const [key, plugin] of wanted) {
      const source = this.#publish(key, plugin, client.clientId);
      if (source) yield { kind: 'published', source };
    }
  }

  /** The entries of client plugins that the session still shows although their plugin is gone. */
  stale(isThere: (id: string) => boolean): readonly string[] {
    const entries = (this.#session.state.customizations ?? []).filter(({ clientId }) => clientId !== undefined);
    return entries.map(({ id }) => id).filter((id) => !isThere(id));
  }

  /** The first of an id counts. */
  #wanted({ clientId, customizations = [] }: SessionActiveClient): Map<string, ClientPluginCustomization> {
    const wanted = new Map<string, ClientPluginCustomization>();
    for (const plugin of customizations) {
      const key = JSON.stringify([clientId, plugin.id]);
      if (!wanted.has(key) && wanted.size < CLIENT_PLUGINS_MAX) wanted.set(key, plugin);
      else this.#ports.logger.log('warn', 'a plugin of a client is left out', { clientId, id: plugin.id });
    }
    return wanted;
  }

  /** Undefined for a plugin that has not changed since the client last published it: it is not read again. */
  #publish(key: string, plugin: ClientPluginCustomization, clientId: string): PluginSource | undefined {
    const { uri, nonce } = plugin;
    const known = this.#published.get(key);
    if (known && nonce !== undefined && known.nonce === nonce && known.uri === uri) return undefined;
    const id = known?.id ?? this.#freeId(plugin.id, clientId);
    this.#published.set(key, { id, uri, nonce });
    return this.#source(plugin, id, clientId);
  }

  #source({ uri, name, icons, enabled }: ClientPluginCustomization, id: string, clientId: string): PluginSource {
    const files = () => publishedFiles({ uri, connection: () => this.#ports.connectionOf(clientId) });
    const folder = localFolder(uri);
    return { kind: 'plugin', scope: 'client', id, uri, name, icons, clientId, isOn: enabled, files, folder };
  }

  /** The id is the client's own, unless the session has such an entry already, or may get one from a provider. */
  #freeId(id: string, clientId: string): string {
    const ids = [id, `${clientId}:${id}`];
    return ids.find((candidate) => !isProviderId(candidate) && !this.#isTaken(candidate)) ?? `client:${ids[1]}`;
  }

  #isTaken(id: string): boolean {
    const { customizations = [] } = this.#session.state;
    return customizations.some((entry) => entry.id === id || entry.children?.some((child) => child.id === id));
  }
}
