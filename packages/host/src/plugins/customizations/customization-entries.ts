/**
 * What clients see: one entry for each container, and one for each MCP server that stands for itself. The publisher
 * writes the entries that changed; changes that come close together are written as one.
 */

import type { Clock } from '@atrium/core/util/clock.js';
import type { ChildCustomization, Customization, CustomizationLoadState } from '@atrium/protocol';
import { PUBLISH_MERGE_MS } from '../formats/limits.js';
import { present } from '../formats/load-context.js';
import type { ContainerSource, ServerSource } from '../formats/source.js';
import type { McpServerState } from '../mcp/mcp-server.js';
import type { Container } from './container.js';
import type { HostSession } from './ports.js';

/** Gives the state of an MCP server by its id. */
export type StateOf = (id: string) => McpServerState;

/** The entry of a server on its own. Clients must cope with entries of types that they do not know. */
interface BareServer {
  readonly type: 'mcpServer';
  readonly id: string;
  readonly uri: string;
  readonly name: string;
  readonly range: ServerSource['range'];
  readonly enabled: boolean;
  readonly state: McpServerState;
}

/** The entry as it stands in the session, where people switch things on and off. */
export function entryIn({ state }: Pick<HostSession, 'state'>, id: string): Customization | undefined {
  return state.customizations?.find((entry) => entry.id === id);
}

/** `known`: the entry as it stands in the session. */
export function containerEntry(
  container: Container,
  known: Customization | undefined,
  stateOf: StateOf,
): Customization {
  const { source, loaded } = container;
  const { id, uri, icons } = source;
  const base = { id, uri, ...present({ icons }), name: container.name, enabled: isOn(source, known) };
  if (!loaded) return withKind(source, { ...base, load: { kind: 'loading' } });
  const children = loaded.children.map((child) => withState(child, known, stateOf));
  return withKind(source, { ...base, load: loadOf(loaded.load, children), children });
}

export function bareEntry(source: ServerSource, known: Customization | undefined, stateOf: StateOf): Customization {
  const { id, uri, name, range } = source;
  const enabled = known?.enabled ?? true;
  const entry: BareServer = { type: 'mcpServer', id, uri, name, range, enabled, state: stateOf(id) };
  return entry as unknown as Customization;
}

export function isOn(source: ContainerSource, known: Customization | undefined): boolean {
  return known?.enabled ?? (source.kind === 'directory' || (source.isOn ?? true));
}

/** Whether an MCP server inside of a container is switched on by itself. */
export function isChildOn(known: Customization | undefined, id: string): boolean {
  const child = known?.children?.find((other) => other.id === id);
  return !child || !('enabled' in child) || child.enabled !== false;
}

type Body = Omit<Extract<Customization, { type: 'plugin' }>, 'type' | 'clientId'>;

function withKind(source: ContainerSource, body: Body): Customization {
  if (source.kind === 'plugin') {
    return { type: 'plugin', ...body, ...present({ clientId: source.clientId }) };
  }
  const { contents, writable } = source;
  return { type: 'directory', ...body, contents, writable };
}

function withState(child: ChildCustomization, known: Customization | undefined, stateOf: StateOf): ChildCustomization {
  if (child.type !== 'mcpServer') return child;
  const server = { ...child, enabled: isChildOn(known, child.id), state: stateOf(child.id) };
  return server;
}

/** Clients that do not look at servers learn here that one of them is in trouble. */
function loadOf(load: CustomizationLoadState, children: readonly ChildCustomization[]): CustomizationLoadState {
  const failed = children.flatMap((child) => failureOf(child) ?? []);
  const [first] = failed;
  if (first === undefined || load.kind === 'error' || load.kind === 'loading') return load;
  if (load.kind === 'degraded') return { kind: 'degraded', message: `${load.message} ${first}` };
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return { kind: 'degraded', message: `${first}${more}` };
}

function failureOf(child: ChildCustomization): string | undefined {
  if (child.type !== 'mcpServer' || !('state' in child)) return undefined;
  const state = child.state as McpServerState;
  return state.kind === 'error' ? `The MCP server "${child.name}" does not run: ${state.message}` : undefined;
}

export interface PublisherOptions {
  readonly session: HostSession;
  readonly clock: Clock;
  /** The entry as it should be now; undefined when there is none (any more). */
  entryOf(id: string): Customization | undefined;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #changed = new Set<string>();
  #disarm: (() => void) | undefined;
  /** How many searches run: what they find is written when the last of them is done. */
  #searches = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** This entry may have changed. */
  soon(id: string): void {
    this.#changed.add(id);
    if (this.#searches === 0) this.#disarm ??= this.#options.clock.after(PUBLISH_MERGE_MS, () => this.now());
  }

  /** Writes everything that a search finds at once, when it is over. */
  async during(search: () => Promise<void>): Promise<void> {
    this.#searches += 1;
    try {
      await search();
    } finally {
      this.#searches -= 1;
      if (this.#searches === 0) this.now();
    }
  }

  now(): void {
    this.stop();
    const changes = [...this.#changed].flatMap((id) => this.#changeOf(id) ?? []);
    this.#changed.clear();
    if (changes.some(({ isOfList }) => isOfList)) return this.#writeList(changes);
    for (const { customization } of changes) {
      if (customization) this.#options.session.write({ type: 'session/customizationUpdated', customization });
    }
  }

  /** Writes one entry in this very tick. */
  writeNow(id: string): void {
    const customization = this.#options.entryOf(id);
    if (customization) this.#options.session.write({ type: 'session/customizationUpdated', customization });
  }

  remove(id: string): void {
    this.#changed.delete(id);
    const { session } = this.#options;
    if (entryIn(session, id)) session.write({ type: 'session/customizationRemoved', id });
  }

  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }

  #changeOf(id: string): Change | undefined {
    const { session, entryOf } = this.#options;
    const known = entryIn(session, id);
    const customization = entryOf(id);
    if (customization ? isSame(customization, known) : known?.type !== 'directory') return undefined;
    return { id, customization, isOfList: !known || known.type === 'directory' };
  }

  /** All entries: changed ones in their places, new ones at the end. */
  #writeList(changes: readonly Change[]): void {
    const { session } = this.#options;
    const fresh = new Map(changes.map(({ id, customization }) => [id, customization]));
    const known = (session.state.customizations ?? []).flatMap((entry) => {
      const shown = fresh.has(entry.id) ? fresh.get(entry.id) : entry;
      fresh.delete(entry.id);
      return shown ?? [];
    });
    const added = [...fresh.values()].flatMap((entry) => entry ?? []);
    session.write({ type: 'session/customizationsChanged', customizations: [...known, ...added] });
  }
}

interface Change {
  readonly id: string;
  /** Undefined when it is gone. */
  readonly customization: Customization | undefined;
  /**
   * New entries come with the whole list, and so does everything about directories: published clients (ahpx 0.2.24 to
   * 0.2.26) fail on a directory in `session/customizationUpdated`.
   */
  readonly isOfList: boolean;
}

/** Both are made of JSON, and their members come in the same order. */
function isSame(one: Customization, other: Customization | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
