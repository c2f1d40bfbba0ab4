/**
 * Applies everything that is enabled to a session: extensions, hooks, MCP servers, and the model of the selected agent.
 */

import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { AgentPart } from '../formats/markdown-parts.js';
import type { Container } from './container.js';
import { AgentModel, selectedAgent } from './custom-agent.js';
import { type EnabledContainer, type EnabledSet, NOTHING_ENABLED } from './enabled.js';
import { bareExtension, containerExtension, sharedExtension } from './plugin-extensions.js';
import { Hooks } from './plugin-hooks.js';
import type { HostSession, SessionFacts } from './ports.js';
import type { SessionServers } from './session-servers.js';

export interface ContributionsOptions {
  readonly session: HostSession;
  readonly facts: SessionFacts;
  readonly servers: SessionServers;
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Contributions {
  readonly #options: ContributionsOptions;
  readonly #agentModel: AgentModel;
  #enabled: EnabledSet = NOTHING_ENABLED;
  /** The containers whose extensions the session has now. */
  readonly #extending = new Set<Container>();
  /** Kept even while a container is off, so that its start hooks run once per session. */
  readonly #hooks = new Map<Container, Hooks>();
  readonly #bare = new Set<string>();
  #isShared = false;

  constructor(options: ContributionsOptions) {
    this.#options = options;
    this.#agentModel = new AgentModel(options.session, options.facts);
  }

  /** Restores its state after the session was loaded. */
  load(): Promise<void> {
    return this.#agentModel.load();
  }

  observe(step: SessionStep): void {
    this.#agentModel.observe(step, this.#selected);
  }

  apply(enabled: EnabledSet): void {
    const { session, servers } = this.#options;
    this.#enabled = enabled;
    this.#applyContainers();
    this.#applyBareServers();
    servers.sync(enabled.declaredServers);
    session.extensions.changed();
    this.#agentModel.update(this.#selected);
  }

  /** These containers are gone; forgets the state of their hooks. */
  forget(isGone: (container: Container) => boolean): void {
    for (const container of [...this.#hooks.keys()]) if (isGone(container)) this.#hooks.delete(container);
  }

  /** Runs the end hooks. */
  async close(): Promise<void> {
    await Promise.all([...this.#hooks.values()].map((hooks) => hooks.ended()));
  }

  get #containers(): readonly Container[] {
    return this.#enabled.containers.map(({ container }) => container);
  }

  get #selected(): AgentPart | undefined {
    return selectedAgent(this.#containers, this.#options.session.selection.agent);
  }

  #applyContainers(): void {
    const { session } = this.#options;
    const enabled = new Map(this.#enabled.containers.map((each) => [each.container, each.hooks]));
    for (const [container, hooks] of this.#hooks) hooks.allow(enabled.get(container) ?? []);
    for (const container of [...this.#extending]) {
      if (container.hasParts && enabled.has(container)) continue;
      this.#extending.delete(container);
      session.extensions.remove(container.id);
    }
    for (const each of this.#enabled.containers) {
      if (each.container.hasParts && !this.#extending.has(each.container)) this.#extend(each);
    }
    this.#shareOnce();
  }

  #extend({ container, hooks: runnable }: EnabledContainer): void {
    const { session, servers, folder, env, clock, logger } = this.#options;
    const hooks =
      this.#hooks.get(container) ?? new Hooks({ session: session.uri, container, folder, env, clock, logger });
    hooks.allow(runnable);
    this.#hooks.set(container, hooks);
    this.#extending.add(container);
    session.extensions.set(containerExtension(container, { folder, hooks, servers }));
  }

  #shareOnce(): void {
    if (this.#isShared) return;
    this.#isShared = true;
    const { session, facts, folder, servers } = this.#options;
    const modelNote = () => this.#agentModel.takeNote(this.#selected);
    const containers = () => this.#containers;
    session.extensions.set(sharedExtension({ session, agent: facts.agent, folder, servers, containers, modelNote }));
  }

  #applyBareServers(): void {
    const { session, servers } = this.#options;
    const wanted = this.#enabled.bareServers;
    const ids = new Set(wanted.map(({ id }) => id));
    for (const id of [...this.#bare]) if (!ids.has(id) && this.#bare.delete(id)) session.extensions.remove(id);
    for (const source of wanted) {
      if (this.#bare.has(source.id)) continue;
      this.#bare.add(source.id);
      session.extensions.set(bareExtension(source, servers));
    }
  }
}
