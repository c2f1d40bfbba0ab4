/** One session as the gateway sees it: who is bound there, and what that adds to the session. */

import { fileURLToPath } from 'node:url';
import type { SessionState } from '@atrium/protocol';
import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import type { Extension } from '../core/contracts/extension.js';
import type { Session } from '../core/sessions/session.js';
import { isRecord } from '../core/util/shape.js';
import { type Binding, extensionId } from './provider.js';

export interface RoomParts {
  /** Makes one extension out of all instances of a provider in a session. */
  extension(group: Group): Extension;
  /** A provider came, changed or went. */
  changed(group: Group): void;
  /** Nobody is bound here any more. */
  emptied(): void;
}

/** All instances of one provider name in one session. They share their tools. */
export interface Group {
  readonly name: string;
  readonly room: Room;
  /** In the order in which they came. Never empty while the group is in the session. */
  readonly bindings: readonly Binding[];
}

export class Room {
  readonly session: Session;
  readonly id: string;
  readonly #parts: RoomParts;
  readonly #bindings: Binding[] = [];
  /** Providers that somebody switched off here; they stay so when they come back. */
  readonly #disabled = new Set<string>();
  /** Providers that were ended because the session rests: what they add stays in place until they are back. */
  readonly #resting = new Set<string>();
  /** Somebody works in it; it was not only looked at. */
  isUsed = false;
  /** It is about to end: nothing new is asked of providers. */
  isEnding = false;

  constructor(session: Session, parts: RoomParts) {
    this.session = session;
    this.id = sessionIdOf(session.uri);
    this.#parts = parts;
  }

  get label(): string {
    return this.session.state.summary.title;
  }

  get bindings(): readonly Binding[] {
    return this.#bindings;
  }

  groups(): readonly Group[] {
    const names = [...new Set(this.#bindings.map(({ provider }) => provider.name))];
    return names.map((name) => this.group(name));
  }

  group(name: string): Group {
    return { name, room: this, bindings: this.#bindings.filter(({ provider }) => provider.name === name) };
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
    if (this.#bindings.length === 0) this.#parts.emptied();
  }

  /** Something of this provider changed here: the session learns of it in this very tick. */
  changed(name: string): void {
    const group = this.group(name);
    if (this.#resting.has(name) && group.bindings.every(({ isAway }) => isAway)) return;
    const { extensions } = this.session;
    if (group.bindings.length === 0 || this.#disabled.has(name)) extensions.remove(extensionId(name));
    else extensions.set(this.#parts.extension(group));
    this.#parts.changed(group);
  }

  /** These providers end until the session works again. Their gates stay closed, their tools and entries listed. */
  rest(names: readonly string[]): void {
    for (const name of names) this.#resting.add(name);
  }

  isResting(name: string): boolean {
    return this.#resting.has(name);
  }

  /** All that come back have come back: what the others left behind goes. */
  wake(): void {
    const names = [...this.#resting];
    this.#resting.clear();
    for (const name of names) if (this.group(name).bindings.every(({ isAway }) => isAway)) this.changed(name);
  }

  /** The names that are switched off. */
  get disabled(): readonly string[] {
    return [...this.#disabled];
  }

  isEnabled(name: string): boolean {
    return !this.#disabled.has(name);
  }

  /** Switched off, a provider adds nothing to this session; it stays connected, and bound elsewhere. */
  setEnabled(name: string, isEnabled: boolean): void {
    if (isEnabled === this.isEnabled(name)) return;
    if (isEnabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.changed(name);
  }

  /** As a provider may see it; the folder only when the session is open to it. */
  entry(isOpen: boolean): ProviderSessionEntry {
    const cwd = isOpen ? folderOf(this.session) : undefined;
    return { id: this.id, label: this.label, ...(cwd !== undefined && { cwd }) };
  }
}

/** Whatever happens to the providers of these sessions meanwhile, everybody sees its outcome only. */
export function asOneChange<T>(rooms: readonly Room[], work: () => T): T {
  const releases = rooms.map(({ session }) => session.extensions.hold());
  try {
    return work();
  } finally {
    for (const release of releases) release();
  }
}

/** The last part of the session's URI: what providers know it by. */
export function sessionIdOf(uri: string): string {
  return uri.slice(Math.max(uri.lastIndexOf('/'), uri.lastIndexOf(':')) + 1);
}

function folderOf({ state }: Session): string | undefined {
  const { workingDirectory } = state.summary;
  if (!workingDirectory?.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(workingDirectory);
  } catch {
    return undefined;
  }
}

/** What the gateway keeps in a session's metadata. Changing it replaces all metadata, so the rest is carried along. */

export interface GatewayMeta {
  /** Notes that were shown while no turn was running, oldest first. */
  readonly timeline?: readonly string[];
  /** Machine-readable facts about the providers. */
  readonly providers?: readonly object[];
  /** Providers that somebody switched off here, by name: they stay so, whenever they come. */
  readonly off?: readonly string[];
}

export function gatewayMeta({ _meta }: SessionState): GatewayMeta {
  const meta = _meta?.gateway;
  return isRecord(meta) ? (meta as GatewayMeta) : {};
}

export function withGatewayMeta(state: SessionState, changes: GatewayMeta): Record<string, unknown> {
  return { ...state._meta, gateway: { ...gatewayMeta(state), ...changes } };
}
