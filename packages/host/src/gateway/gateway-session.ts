/** A session as the gateway sees it: the providers bound to it, and what they add to it. */

import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import { folderOf } from '@atrium/core/util/folders.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ChatState, SessionAction, SessionState } from '@atrium/protocol/ahp-1';
import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import type { GatewayService, HostChat, HostSession, SessionFacts } from './ports.js';
import { type Binding, extensionId } from './provider.js';

export interface GatewaySessionOptions {
  readonly host: HostSession;
  readonly facts: SessionFacts;
  readonly services: readonly Pick<GatewayService, 'extend' | 'changed'>[];
  /** The last provider left. */
  emptied(): void;
}

/** All instances of one provider name in one session. They share their tools. */
export interface ProviderGroup {
  readonly name: string;
  readonly session: GatewaySession;
  /** In the order in which they bound. Never empty while the group is in the session. */
  readonly bindings: readonly Binding[];
}

export class GatewaySession {
  /** The name by which providers know the session. */
  readonly id: string;
  readonly #options: GatewaySessionOptions;
  readonly #bindings: Binding[] = [];
  /** Names of providers that a person switched off here; they stay off when the provider comes back. */
  readonly #disabled = new Set<string>();
  /**
   * Providers whose processes ended because the session is idle. What they added stays in place until they are back.
   */
  readonly #suspended = new Set<string>();
  /** Whether a person has worked in it, not only opened it for reading. */
  isUsed = false;
  /** The session is about to end: the gateway asks its providers nothing new. */
  isEnding = false;

  constructor(options: GatewaySessionOptions) {
    this.#options = options;
    this.id = sessionIdOf(options.host.uri);
  }

  get uri(): string {
    return this.#options.host.uri;
  }

  get state(): SessionState {
    return this.#options.host.state;
  }

  /** The chat that providers follow, and that their messages go to. */
  get chat(): HostChat {
    return this.#options.host.chat;
  }

  get chats(): readonly HostChat[] {
    return this.#options.host.chats;
  }

  /** Whether nothing runs and no message waits in any of its chats. */
  get isIdle(): boolean {
    return this.state.lifecycle === 'ready' && this.chats.every(({ state }) => isIdle(state));
  }

  get label(): string {
    return this.state.title;
  }

  get isClosed(): boolean {
    return this.#options.host.isClosed;
  }

  get extensions(): HostSession['extensions'] {
    return this.#options.host.extensions;
  }

  get trust(): SessionFacts['trust'] {
    return this.#options.facts.trust;
  }

  get abilities(): AgentAbilities | undefined {
    return this.#options.facts.abilities;
  }

  isListed(): boolean {
    return this.#options.facts.isListed();
  }

  withdrawStaleQuestions(): void {
    this.#options.facts.withdrawStaleQuestions();
  }

  write(action: SessionAction): void {
    this.#options.host.write(action);
  }

  /** Writing metadata replaces all of it, so this also writes the unchanged rest. */
  writeMeta(changes: GatewayMeta): void {
    const gateway = { ...gatewayMeta(this.state), ...changes };
    this.write({ type: 'session/metaChanged', _meta: { ...this.state._meta, gateway } });
  }

  get bindings(): readonly Binding[] {
    return this.#bindings;
  }

  groups(): readonly ProviderGroup[] {
    const names = [...new Set(this.#bindings.map(({ provider }) => provider.name))];
    return names.map((name) => this.group(name));
  }

  group(name: string): ProviderGroup {
    return { name, session: this, bindings: this.#bindings.filter(({ provider }) => provider.name === name) };
  }

  add(binding: Binding): void {
    this.#bindings.push(binding);
    this.changed(binding.provider.name);
  }

  remove(binding: Binding): void {
    const index = this.#bindings.indexOf(binding);
    if (index < 0) return;
    this.#bindings.splice(index, 1);
    this.changed(binding.provider.name);
    if (this.#bindings.length === 0) this.#options.emptied();
  }

  /** Replaces what a provider added before with what it adds now, in the same tick. */
  changed(name: string): void {
    const group = this.group(name);
    if (this.#suspended.has(name) && isAway(group)) return;
    if (group.bindings.length === 0 || this.#disabled.has(name)) this.extensions.remove(extensionId(name));
    else this.extensions.set(this.#extensionOf(group));
    for (const service of this.#options.services) service.changed?.(group);
  }

  #extensionOf(group: ProviderGroup) {
    const { name } = group;
    const added = this.#options.services.map((service) => service.extend?.(group));
    return Object.assign({ id: extensionId(name), name, isConnected: true as const }, ...added);
  }

  /**
   * Call it when the processes of these providers end until the session is used again. Their gates stay closed and
   * their tools listed.
   */
  suspend(names: readonly string[]): void {
    for (const name of names) this.#suspended.add(name);
  }

  isSuspended(name: string): boolean {
    return this.#suspended.has(name);
  }

  /** Every provider that comes back has come back by now: removes what the others left in place. */
  resume(): void {
    const names = [...this.#suspended];
    this.#suspended.clear();
    for (const name of names) if (isAway(this.group(name))) this.changed(name);
  }

  get disabled(): readonly string[] {
    return [...this.#disabled];
  }

  isEnabled(name: string): boolean {
    return !this.#disabled.has(name);
  }

  /**
   * A provider that is switched off adds nothing to this session, but stays connected, and bound to its other sessions.
   */
  setEnabled(name: string, isEnabled: boolean): void {
    if (isEnabled === this.isEnabled(name)) return;
    if (isEnabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.changed(name);
  }

  /** The session as a provider may see it; its folder only if the provider may enter it. */
  entry(mayEnter: boolean): ProviderSessionEntry {
    const cwd = mayEnter ? folderOf(this.state) : undefined;
    return { id: this.id, label: this.label, ...(cwd !== undefined && { cwd }) };
  }
}

/** Clients see only the outcome of what the work does to the providers of these sessions. */
export function asOneChange<T>(sessions: readonly GatewaySession[], work: () => T): T {
  const releases = sessions.map(({ extensions }) => extensions.hold());
  try {
    return work();
  } finally {
    for (const release of releases) release();
  }
}

/** Whether no turn runs in the chat and no message waits for one. */
export function isIdle({ activeTurn, queuedMessages = [] }: ChatState): boolean {
  return !activeTurn && queuedMessages.length === 0;
}

/** The last part of the session's URI. */
export function sessionIdOf(uri: string): string {
  return uri.slice(Math.max(uri.lastIndexOf('/'), uri.lastIndexOf(':')) + 1);
}

/** The gateway's part of a session's metadata. */
export interface GatewayMeta {
  /** Notes that were shown while no turn was running, oldest first. */
  readonly timeline?: readonly string[];
  /** Machine-readable facts about the providers. */
  readonly providers?: readonly object[];
  /** Names of providers that a person switched off here. */
  readonly off?: readonly string[];
}

export function gatewayMeta({ _meta }: Pick<SessionState, '_meta'>): GatewayMeta {
  const meta = _meta?.gateway;
  return isRecord(meta) ? (meta as GatewayMeta) : {};
}

function isAway({ bindings }: ProviderGroup): boolean {
  return bindings.every((binding) => binding.isAway);
}
