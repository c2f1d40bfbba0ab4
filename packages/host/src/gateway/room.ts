/** One session as the gateway sees it: who is bound there, and what that adds to the session. */
import { fileURLToPath } from 'node:url';
import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import type { Extension } from '../extensions/extension.js';
import type { Session } from '../sessions/session.js';
import type { Binding } from './provider.js';

/** Makes one extension out of all instances of a provider in a session. */
export type MakeExtension = (group: Group) => Extension;

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
  readonly #makeExtension: MakeExtension;
  readonly #bindings: Binding[] = [];
  /** It is about to end: nothing new is asked of providers. */
  isEnding = false;

  constructor(session: Session, makeExtension: MakeExtension) {
    this.session = session;
    this.id = sessionIdOf(session.uri);
    this.#makeExtension = makeExtension;
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
  }

  /** Something of this provider changed here: the session learns of it in this very tick. */
  changed(name: string): void {
    const group = this.group(name);
    const { extensions } = this.session;
    if (group.bindings.length === 0) extensions.remove(extensionId(name));
    else extensions.set(this.#makeExtension(group));
  }

  /** As a provider may see it; the folder only when the session is open to it. */
  entry(isOpen: boolean): ProviderSessionEntry {
    const cwd = isOpen ? folderOf(this.session) : undefined;
    return { id: this.id, label: this.label, ...(cwd !== undefined && { cwd }) };
  }
}

export function extensionId(providerName: string): string {
  return `gateway-provider:/${providerName}`;
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
