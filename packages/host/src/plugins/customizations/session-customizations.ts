/**
 * The customizations of one session. Data goes one way: sources (found on this machine, or published by a client) → the
 * inventory, which reads them → the enabled set → contributions to the session, and entries for its clients.
 */

import type { Report, SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import { childrenOf } from '@atrium/core/sessions/session-rules.js';
import { folderOf } from '@atrium/core/util/folders.js';
import { coalesced, mapSome } from '@atrium/core/util/scheduling.js';
import type { TokenGrant } from '@atrium/core/util/token-grant.js';
import type { ChildCustomization, Customization, CustomizationEnablement } from '@atrium/protocol/ahp-1';
import { FIRST_TOOLS_WAIT_MS, LOADS_AT_ONCE } from '../formats/limits.js';
import { type AnySource, type DirectorySource, HOST_ID_PREFIX, type PluginSource } from '../formats/source.js';
import type { McpServer } from '../mcp/mcp-server.js';
import type { Program } from '../trust/programs.js';
import { ClientPlugins, type Decisions } from './client-plugins.js';
import type { Container } from './container.js';
import {
  bareEntry,
  containerEntry,
  entryIn,
  isOfClient,
  keptDecisions,
  offParts,
  Publisher,
} from './customization-entries.js';
import { enabledSet } from './enabled.js';
import { findSources, foldersToWatch, type SourceOptions } from './find-sources.js';
import { Inventory } from './inventory.js';
import { Permissions, programsOf } from './permissions.js';
import type { CustomizationsPorts, HostSession, SessionFacts } from './ports.js';
import { Contributions } from './session-contributions.js';
import { SessionServers, SignIn } from './session-servers.js';

export class SessionCustomizations implements SessionObserver {
  readonly #session: HostSession;
  readonly #facts: SessionFacts;
  readonly #ports: CustomizationsPorts;
  /** The session's folder. */
  readonly #folder: string | undefined;
  readonly #clients: ClientPlugins;
  readonly #inventory: Inventory;
  readonly #permissions: Permissions;
  readonly #servers: SessionServers;
  readonly #contributions: Contributions;
  readonly #publisher: Publisher;
  readonly #signIn: SignIn;
  /**
   * Searches all places on this machine again. One search runs after another, so that a slow one does not undo a later
   * one.
   */
  readonly #reload: () => Promise<void>;
  readonly #opened: Promise<void>;
  /** False for a session that people only look at: its programs do not start, and people are not asked about them. */
  #isUsed = false;
  /** Whether a person trusted the folder at the last search. */
  #isTrusted = false;

  constructor(session: HostSession, facts: SessionFacts, ports: CustomizationsPorts) {
    const { clock, logger, options, notify } = ports;
    const { env, platform } = process;
    const folder = folderOf(session.state);
    const failed = (error: unknown) =>
      logger.log('error', 'customizations failed', { session: session.uri, error: String(error) });
    const expansion = { env, platform };
    const inventory = new Inventory({ clock, expansion, dataFolder: options.dataFolder, failed });
    const servers = new SessionServers({ session, clock, logger, folder });
    this.#session = session;
    this.#facts = facts;
    this.#ports = ports;
    this.#folder = folder;
    this.#clients = new ClientPlugins(session, ports);
    this.#inventory = inventory;
    this.#permissions = new Permissions(session, facts.trust);
    this.#servers = servers;
    this.#contributions = new Contributions({ session, facts, servers, folder, env, clock, logger });
    this.#publisher = new Publisher({
      session,
      clock,
      entryOf: (id) => shownEntry(id, { session, inventory, servers }),
    });
    this.#signIn = new SignIn(session, (method, params) => notify(session.uri, method, params));
    this.#reload = coalesced(() => this.#publisher.during(() => this.#findSources()).catch(failed));
    inventory.onRead((container) => this.#containerRead(container));
    servers.onChange((server) => this.#serverChanged(server));
    servers.onCallRefused((requirement) => this.#signIn.callRefused(requirement));
    // A session takes no actions while it is being constructed.
    this.#opened = Promise.resolve()
      .then(() => this.#open())
      .catch(failed);
  }

  /** The directories that the agent itself declares, with the agent's word on whether clients may write there. */
  get declaredDirectories(): readonly DirectorySource[] {
    const sources = this.#inventory.containers.map(({ source }) => source);
    return sources.filter(
      (source): source is DirectorySource => source.kind === 'directory' && source.scope === 'agent',
    );
  }

  authenticate(resource: string, grant: TokenGrant): boolean {
    return this.#servers.authenticate(resource, grant);
  }

  /** Never fails, because a session also works without its customizations. */
  async begin(report: Report = () => {}): Promise<void> {
    try {
      await Promise.all([this.#opened, this.#session.toolPermissions.load()]);
      this.#isUsed = true;
      for (const id of this.#inventory.ids) this.#requestPermission(id);
      this.#servers.wake();
      this.#apply();
      await this.#servers.started(FIRST_TOOLS_WAIT_MS, report);
    } catch (error) {
      this.#ports.logger.log('error', 'customizations failed', { session: this.#session.uri, error: String(error) });
    }
  }

  /** Ends the MCP servers; their tools stay listed. */
  suspend(): Promise<void> {
    return this.#servers.suspend();
  }

  observe(step: SessionStep): void {
    const { action } = step;
    this.#contributions.observe(step);
    if (action.type === 'session/activeClientSet') this.#clientClaimed(action.activeClient.clientId);
    if (action.type === 'session/activeClientRemoved') this.#clientClaimed(action.clientId);
    if (action.type === 'session/mcpServerStartRequested') queueMicrotask(() => this.#startServer(action.id));
    if (action.type === 'session/mcpServerStopRequested') this.#servers.stopRequested(action.id);
    if (action.type.startsWith('session/workingDirectory')) this.#servers.rootsChanged();
    // The effects of a toggle are written right after it.
    if (action.type === 'session/customizationToggled') queueMicrotask(() => this.#update());
  }

  /** Writes missing entries again, and removes those that should be gone. */
  lost(): void {
    for (const id of this.#clients.stale((shown) => this.#inventory.container(shown) !== undefined)) this.#remove(id);
    void this.#reload();
  }

  async close(): Promise<void> {
    this.#inventory.close();
    this.#publisher.stop();
    this.#facts.trust.close();
    await Promise.all([this.#contributions.close(), this.#servers.stop()]);
  }

  async #open(): Promise<void> {
    this.#clientClaimed();
    await this.#contributions.load();
    await this.#inventory.watch(foldersToWatch(await this.#sourceOptions()), () => void this.#reload());
    await this.#reload();
  }

  /** Finds the sources; existing ones stay as they are. */
  async #findSources(): Promise<void> {
    const sources = await findSources(await this.#sourceOptions());
    if (this.#session.isClosed) return;
    for (const id of this.#staleIds(sources)) this.#remove(id);
    const added = sources.flatMap((source) => this.#add(source) ?? []);
    await mapSome(added, LOADS_AT_ONCE, (container) => this.#inventory.read(container));
    this.#update();
  }

  async #sourceOptions(): Promise<SourceOptions> {
    const { options, logger, isTrusted } = this.#ports;
    const folder = this.#folder;
    const expansion = { env: process.env, platform: process.platform };
    const declared = this.#facts.agent?.info.customizations ?? [];
    this.#isTrusted = folder !== undefined && (await isTrusted(folder));
    return { ...options, folder, isTrusted: this.#isTrusted, declared, expansion, logger };
  }

  /** The ids of entries that the host made, perhaps before the session was unloaded, and whose sources are gone. */
  #staleIds(sources: readonly AnySource[]): readonly string[] {
    const kept = new Set(sources.map(({ id }) => id));
    const shown = (this.#session.state.customizations ?? []).filter(
      (entry) => !isOfClient(entry) && entry.id.startsWith(HOST_ID_PREFIX),
    );
    return shown.map(({ id }) => id).filter((id) => !kept.has(id));
  }

  /** A server is known at once; a new container must be read. */
  #add(source: AnySource): Container | undefined {
    if (source.kind !== 'mcpServer') {
      return this.#inventory.container(source.id) ? undefined : this.#inventory.add(source);
    }
    this.#inventory.setServer(source);
    this.#requestPermission(source.id);
    return undefined;
  }

  /** `clientId`: the client that became active, left, or published other plugins; if absent, all clients. */
  #clientClaimed(clientId?: string): void {
    for (const change of this.#clients.claimed(this.#session.state.activeClients, clientId)) {
      if (change.kind === 'removed') this.#remove(change.id);
      else if (change.kind === 'published') this.#addFromClient(change.source);
      else this.#clientDecided(change.id, change.decisions);
    }
  }

  /** Decisions for this session alone stay, unless the client decides the same thing again. */
  #clientDecided(id: string, { own, children }: Decisions): void {
    const entry = entryIn(this.#session, id);
    if (!entry) return;
    if (own) this.#toggle(entry, own);
    for (const child of childrenOf(entry)) {
      const decided = children.get(child.name);
      if (decided) this.#toggle(child, decided);
    }
  }

  #toggle(entry: Customization | ChildCustomization, decided: readonly CustomizationEnablement[]): void {
    const known = ('enablement' in entry && entry.enablement) || [];
    const kept = decided.some(({ kind }) => kind === 'session') ? [] : known.filter(({ kind }) => kind === 'session');
    const enablement = [...kept, ...decided];
    this.#session.write({ type: 'session/customizationToggled', id: entry.id, enablement });
  }

  /**
   * Clients see the plugin loading in the very tick in which it was published. With another URI it is another plugin.
   */
  #addFromClient(source: PluginSource): void {
    const before = this.#inventory.container(source.id);
    if (before && before.source.uri !== source.uri) this.#permissions.forget(source.id);
    const childEnablement = before ? keptDecisions(before, entryIn(this.#session, source.id), source) : undefined;
    const container = this.#inventory.add(childEnablement ? { ...source, childEnablement } : source);
    this.#publisher.writeNow(source.id);
    void this.#inventory.read(container);
  }

  #remove(id: string): void {
    this.#inventory.remove(id);
    this.#permissions.forget(id);
    this.#publisher.remove(id);
    this.#update();
  }

  #containerRead({ id }: Container): void {
    this.#requestPermission(id);
    this.#update();
  }

  #requestPermission(id: string): void {
    if (!this.#isUsed) return;
    const found = this.#inventory.container(id) ?? this.#inventory.server(id);
    if (!found) return;
    const source = 'source' in found ? found.source : found;
    this.#permissions.request(source, programsOf(found, this.#folder), () => this.#permissionGranted(id));
  }

  #permissionGranted(id: string): void {
    const container = this.#inventory.container(id);
    container?.makeDataFolder();
    this.#update();
    // Sources of a trusted project take precedence over the user's.
    if (container?.source.scope === 'project') void this.#reload();
  }

  #serverChanged(server: McpServer): void {
    const entry = this.#servers.entryOf(server.id);
    if (entry !== undefined) this.#publisher.soon(entry);
    this.#signIn.serverChanged(server);
    this.#session.extensions.changed();
  }

  /** Clients already see the server starting, so they are told if it does not start. */
  #startServer(id: string): void {
    if (!this.#isUsed) void this.begin();
    this.#servers.startRequested(id);
    const entry = this.#servers.entryOf(id);
    if (entry !== undefined) this.#publisher.soon(entry);
  }

  /** Applies everything that is enabled now, and publishes every entry that changed by that. */
  #update(): void {
    this.#apply();
    for (const id of this.#inventory.ids) this.#publisher.soon(id);
  }

  #apply(): void {
    const session = this.#session;
    if (session.isClosed) return;
    const { containers, servers } = this.#inventory;
    const known = { containers, servers, folder: this.#folder, isTrusted: this.#isTrusted };
    const entryOf = (id: string) => entryIn(session, id);
    const canRun = (id: string, program: Program) => this.#isUsed && this.#permissions.has(id, program);
    for (const container of containers) container.switchOff(offParts(container, entryOf(container.id)));
    this.#contributions.forget((container) => this.#inventory.container(container.id) !== container);
    this.#contributions.apply(enabledSet({ ...known, entryOf, canRun }));
  }
}

interface EntryFacts {
  readonly session: HostSession;
  readonly inventory: Inventory;
  readonly servers: SessionServers;
}

/** The entry as clients should see it now. */
function shownEntry(id: string, { session, inventory, servers }: EntryFacts) {
  const known = entryIn(session, id);
  const facts = {
    stateOf: (server: string) => servers.stateOf(server),
    promptsOf: (server: string) => servers.promptsOf(server),
  };
  const container = inventory.container(id);
  if (container) return container.isMissing ? undefined : containerEntry(container, known, facts);
  const server = inventory.server(id);
  return server && bareEntry(server, known, facts);
}
