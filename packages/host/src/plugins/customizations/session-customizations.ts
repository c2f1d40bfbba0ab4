/** The customizations of one session: found when it enters memory, at work once it is used, gone when it leaves. */
import type { Customization, SessionState } from '@atrium/protocol';
import type { Step } from '../../core/channels/channel.js';
import type { Session } from '../../core/sessions/session.js';
import { folderOf } from '../../core/sessions/session-agent.js';
import type { SessionObserver } from '../../core/sessions/session-observer.js';
import type { McpServer } from '../mcp/server.js';
import { Acting } from './acting.js';
import { ClientPlugins } from './client-plugins.js';
import { Collection } from './collection.js';
import type { Container } from './container.js';
import { bareEntry, containerEntry, entryIn, Publisher } from './entries.js';
import { Finding } from './finding.js';
import { FIRST_TOOLS_WAIT_MS } from './limits.js';
import { Permissions, programsOf } from './permissions.js';
import type { CustomizationsParts } from './ports.js';
import { SignIn } from './session-servers.js';
import type { DirectorySource, PluginSource } from './sources/source.js';

export class SessionCustomizations implements SessionObserver {
  readonly #session: Session;
  readonly #parts: CustomizationsParts;
  readonly #collection: Collection;
  readonly #publisher: Publisher;
  readonly #permissions: Permissions;
  readonly #acting: Acting;
  readonly #signIn: SignIn;
  readonly #clients: ClientPlugins;
  readonly #finding: Finding;
  readonly #found: Promise<void>;
  #isUsed = false;

  constructor(session: Session, parts: CustomizationsParts) {
    const { clock, options } = parts;
    this.#session = session;
    this.#parts = parts;
    const folder = folderOf(session.state);
    const { env, platform } = process;
    const remove = (id: string) => this.#remove(id);
    const failed = (error: unknown) => this.#failed(error);
    const entryOf = (id: string) => this.#entryOf(id);
    const read = (container: Container) => this.#read(container);
    const surroundings = { env, platform };
    const collection = new Collection({ clock, surroundings, dataFolder: options.dataFolder, read, failed });
    const publisher = new Publisher({ session, clock, entryOf });
    const trust = () => parts.trustOf(session);
    const permissions = new Permissions({ session, trust, granted: (id) => this.#granted(id) });
    const changed = (server: McpServer) => this.#changed(server);
    this.#collection = collection;
    this.#publisher = publisher;
    this.#permissions = permissions;
    this.#acting = new Acting({ ...parts, session, folder, env, collection, permissions, changed });
    this.#signIn = new SignIn({ session, notify: (method, params) => parts.notify(session.uri, method, params) });
    this.#clients = new ClientPlugins({ ...parts, session, add: (source) => this.#addFromClient(source), remove });
    const told = { remove, failed, serverFound: (id: string) => this.#ask(id), found: () => this.#sync() };
    this.#finding = new Finding({ ...parts, ...told, session, folder, collection, publisher });
    // Nothing can be written to a session while it is being made.
    this.#found = Promise.resolve().then(() => this.#open());
  }

  /** Directories that the agent itself declares: it says whether clients may write there. */
  get declaredDirectories(): readonly DirectorySource[] {
    const sources = this.#collection.containers.map(({ source }) => source);
    return sources.filter(
      (source): source is DirectorySource => source.kind === 'directory' && source.scope === 'agent',
    );
  }

  authenticate(resource: string, token: string): boolean {
    return this.#acting.servers.authenticate(resource, token);
  }

  /** Never fails: a session works without its customizations too. */
  async begin(): Promise<void> {
    try {
      await Promise.all([this.#found, this.#session.allowances.load()]);
      this.#isUsed = true;
      for (const id of this.#collection.ids) this.#ask(id);
      this.#acting.use();
      await this.#acting.servers.started(FIRST_TOOLS_WAIT_MS);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** MCP servers end; their tools stay listed. */
  rest(): Promise<void> {
    return this.#acting.servers.rest();
  }

  observe(step: Step<SessionState>): void {
    const { action } = step.envelope;
    this.#acting.observe(step);
    if (action.type === 'session/activeClientChanged') this.#clients.claimed(step.after.activeClient);
    // What follows from a toggle inside of a container is written right behind it.
    if (action.type === 'session/customizationToggled') queueMicrotask(() => this.#sync());
  }

  /** Looking again shows what is missing, and takes away what should be gone. */
  lost(): void {
    this.#clients.mend((id) => this.#collection.container(id) !== undefined);
    void this.#finding.again();
  }

  async close(): Promise<void> {
    this.#collection.close();
    this.#publisher.stop();
    this.#parts.trustOf(this.#session).close();
    await this.#acting.close();
  }

  async #open(): Promise<void> {
    try {
      this.#clients.claimed(this.#session.state.activeClient);
      await this.#acting.load();
      await this.#finding.begin();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Clients see it loading in the very tick in which it was published. From another place it is another plugin. */
  #addFromClient(source: PluginSource): void {
    const before = this.#collection.container(source.id);
    if (before && before.source.uri !== source.uri) this.#permissions.forget(source.id);
    const container = this.#collection.add(source);
    const customization = this.#entryOf(source.id);
    if (customization) this.#session.write({ type: 'session/customizationUpdated', customization });
    void this.#collection.read(container);
  }

  #remove(id: string): void {
    this.#collection.remove(id);
    this.#permissions.forget(id);
    this.#publisher.remove(id);
    this.#sync();
  }

  #read(container: Container): void {
    this.#ask(container.id);
    this.#sync();
    this.#publisher.soon(container.id);
  }

  /** Nobody is asked about programs of a session that is only looked at. */
  #ask(id: string): void {
    if (!this.#isUsed) return;
    const found = this.#collection.container(id) ?? this.#collection.server(id);
    if (!found) return;
    const programs = programsOf(found, folderOf(this.#session.state));
    this.#permissions.request('source' in found ? found.source : found, programs);
  }

  #granted(id: string): void {
    const container = this.#collection.container(id);
    container?.makeDataFolder();
    this.#sync();
    // What a trusted project has counts more than before.
    if (container?.source.scope === 'project') void this.#finding.again();
  }

  #sync(): void {
    this.#acting.sync();
    for (const id of this.#collection.ids) this.#publisher.soon(id);
  }

  #changed(server: McpServer): void {
    const entry = this.#acting.servers.entryOf(server.id);
    if (entry !== undefined) this.#publisher.soon(entry);
    this.#signIn.look(server);
    this.#session.extensions.changed();
  }

  #entryOf(id: string): Customization | undefined {
    const known = entryIn(this.#session, id);
    const stateOf = (server: string) => this.#acting.servers.stateOf(server);
    const container = this.#collection.container(id);
    if (container) return container.isMissing ? undefined : containerEntry(container, known, stateOf);
    const server = this.#collection.server(id);
    return server && bareEntry(server, known, stateOf);
  }

  #failed(error: unknown): void {
    this.#parts.logger.log('error', 'customizations failed', { session: this.#session.uri, error: String(error) });
  }
}
