/** Lets the customizations of a session act, as far as they are switched on and may: extensions, hooks, MCP servers. */
import type { Customization, SessionState } from '@atrium/protocol';
import type { Step } from '../../core/channels/channel.js';
import type { Session } from '../../core/sessions/session.js';
import type { People } from '../mcp/elicitation.js';
import type { McpServer } from '../mcp/server.js';
import type { Program } from '../trust/programs.js';
import type { Collection } from './collection.js';
import type { Container } from './container.js';
import { AgentModel, selectedAgent } from './custom-agent.js';
import { entryIn, isChildOn, isOn } from './entries.js';
import { containerExtension, sharedExtension } from './extensions.js';
import { Hooks } from './hooks.js';
import type { HookPart } from './parse/hooks.js';
import { type Permissions, programInside, programOfHook, programOfServer } from './permissions.js';
import type { CustomizationsParts } from './ports.js';
import { type DeclaredServer, SessionServers } from './session-servers.js';

export interface ActingParts extends Pick<CustomizationsParts, 'clock' | 'logger'> {
  readonly session: Session;
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly collection: Collection;
  readonly permissions: Permissions;
  changed(server: McpServer): void;
}

export class Acting {
  readonly #parts: ActingParts;
  readonly servers: SessionServers;
  /** The containers that act now. */
  readonly #acting = new Set<Container>();
  /** Kept while a container is off: what starts once with a session does not start again. */
  readonly #hooks = new Map<Container, Hooks>();
  readonly #bare = new Set<string>();
  readonly #agentModel: AgentModel;
  #isUsed = false;
  #isShared = false;

  constructor(parts: ActingParts) {
    this.#parts = parts;
    const { session } = parts;
    this.servers = new SessionServers({ ...parts, people: peopleOf(session) });
    this.#agentModel = new AgentModel({
      session,
      selected: () => selectedAgent(this.#on, session.state.summary.agent),
    });
  }

  observe(step: Step<SessionState>): void {
    this.#agentModel.observe(step);
  }

  /** What is known of the session from before it last left memory. */
  load(): Promise<void> {
    return this.#agentModel.load();
  }

  /** From now on programs may run. */
  use(): void {
    this.#isUsed = true;
    this.servers.wake();
    this.sync();
  }

  /** Makes things so as the entries of the session say. */
  sync(): void {
    const { session } = this.#parts;
    if (session.isClosed) return;
    this.#syncContainers();
    this.#syncBare();
    this.servers.sync(this.#declared());
    session.extensions.changed();
    this.#agentModel.look();
  }

  async close(): Promise<void> {
    const ended = [...this.#hooks.values()].map((hooks) => hooks.ended());
    await Promise.all([...ended, this.servers.stop()]);
  }

  #syncContainers(): void {
    const { session, collection } = this.#parts;
    const wanted = new Set(this.#on.filter(({ hasParts }) => hasParts));
    for (const container of [...this.#acting]) {
      if (wanted.has(container)) continue;
      this.#acting.delete(container);
      session.extensions.remove(container.id);
    }
    for (const container of [...this.#hooks.keys()])
      if (collection.container(container.id) !== container) this.#hooks.delete(container);
    for (const container of wanted) if (!this.#acting.has(container)) this.#start(container);
    this.#shareOnce();
  }

  #shareOnce(): void {
    if (this.#isShared) return;
    this.#isShared = true;
    const { session, folder } = this.#parts;
    const modelNote = () => this.#agentModel.takeNote();
    session.extensions.set(sharedExtension({ session, folder, containers: () => this.#on, modelNote }));
  }

  #start(container: Container): void {
    const { session, folder } = this.#parts;
    const hooks = this.#hooks.get(container) ?? this.#hooksOf(container);
    this.#hooks.set(container, hooks);
    this.#acting.add(container);
    const tools = () => this.servers.toolsOf(container.id);
    session.extensions.set(containerExtension(container, { folder, hooks, tools }));
  }

  #hooksOf(container: Container): Hooks {
    const { session, folder, env, clock, logger } = this.#parts;
    const mayRun = (hook: HookPart) => {
      const program = programOfHook(hook, container, folder);
      return program !== undefined && this.#mayRun(container.id, program);
    };
    return new Hooks({
      ...{ session: session.uri, folder, env, clock, logger },
      name: () => container.name,
      hooks: () => (this.#isOn(container) ? (container.loaded?.hooks ?? []).filter(mayRun) : []),
    });
  }

  /** A server on its own brings nothing but its tools. */
  #syncBare(): void {
    const { session, collection } = this.#parts;
    const wanted = collection.servers.filter(({ id }) => this.#entry(id)?.enabled !== false);
    const ids = new Set(wanted.map(({ id }) => id));
    for (const id of [...this.#bare]) if (!ids.has(id) && this.#bare.delete(id)) session.extensions.remove(id);
    for (const { id, name } of wanted) {
      if (this.#bare.has(id)) continue;
      this.#bare.add(id);
      const toolsOf = () => this.servers.toolsOf(id);
      session.extensions.set({
        id,
        name,
        get tools() {
          return toolsOf();
        },
      });
    }
  }

  #declared(): readonly DeclaredServer[] {
    const { collection } = this.#parts;
    const bare = collection.servers.map((server): DeclaredServer => {
      const { id, name, config, scope } = server;
      const isWanted = this.#mayRun(id, programOfServer(server)) && this.#entry(id)?.enabled !== false;
      return { id, name, config, entry: id, isWanted, isOfUser: scope === 'user' };
    });
    const inside = collection.containers.flatMap((container) => this.#declaredIn(container));
    return [...bare, ...inside];
  }

  #declaredIn(container: Container): readonly DeclaredServer[] {
    const plugin = container.source.kind === 'plugin' ? container.name : undefined;
    const isOn = this.#isOn(container);
    const entry = this.#entry(container.id);
    const shared = { plugin, entry: container.id, isOfUser: container.source.scope === 'user' };
    return (container.loaded?.mcpServers ?? []).map((server) => {
      const { id, name, config } = server;
      const mayRun = isOn && this.#mayRun(container.id, programInside(server, container, this.#parts.folder));
      return { ...shared, id, name, config, isWanted: mayRun && isChildOn(entry, id) };
    });
  }

  #mayRun(id: string, program: Program): boolean {
    return this.#isUsed && this.#parts.permissions.has(id, program);
  }

  get #on(): readonly Container[] {
    return this.#parts.collection.containers.filter((container) => this.#isOn(container));
  }

  #isOn(container: Container): boolean {
    return isOn(container.source, this.#entry(container.id));
  }

  #entry(id: string): Customization | undefined {
    return entryIn(this.#parts.session, id);
  }
}

/** MCP servers may also ask when no call of theirs runs: then the question is one of the session, and of no turn. */
function peopleOf(session: Session): People {
  return {
    ask: (request) =>
      new Promise((resolve) => {
        session.standing.ask(request, (response, answers) => resolve({ response, answers }));
      }),
    withdraw: (requestId) => {
      const isOpen = session.state.inputRequests?.some(({ id }) => id === requestId);
      if (isOpen) session.write({ type: 'session/inputCompleted', requestId, response: 'cancel' });
    },
  };
}
