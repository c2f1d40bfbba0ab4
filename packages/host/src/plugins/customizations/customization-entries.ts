/**
 * What clients see: one entry for each container, and one for each MCP server outside of them. The publisher writes the
 * entries that changed, and combines changes that are close together.
 */

import { childrenOf } from '@atrium/core/sessions/session-rules.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  type ChildCustomization,
  type Customization,
  type CustomizationEnablement,
  type CustomizationLoadState,
  isCustomizationEnabled,
  type McpServerCustomization,
  type PluginCustomization,
  PROMPTS_META_KEY,
  type ServerPrompt,
  type McpServerState as ShownState,
} from '@atrium/protocol/ahp-1';
import { PUBLISH_MERGE_MS } from '../formats/limits.js';
import { present } from '../formats/load-context.js';
import type { ContainerSource, PluginSource, ServerSource } from '../formats/source.js';
import type { McpServerState } from '../mcp/mcp-server.js';
import type { Container } from './container.js';
import type { HostSession } from './ports.js';

/** The facts about MCP servers, by id. */
export interface ServerFacts {
  stateOf(id: string): McpServerState;
  promptsOf(id: string): readonly ServerPrompt[];
}

/** The session's present entry, with which people switch things on and off. */
export function entryIn({ state }: Pick<HostSession, 'state'>, id: string): Customization | undefined {
  return state.customizations?.find((entry) => entry.id === id);
}

/** `known`: the session's present entry. */
export function containerEntry(
  container: Container,
  known: Customization | undefined,
  servers: ServerFacts,
): Customization {
  const { source, loaded } = container;
  const { id, uri, icons } = source;
  const base = { id, uri, ...present({ icons }), name: container.name };
  if (!loaded) return withKind(source, known, { ...base, load: { kind: 'loading' } });
  const children = loaded.children.map((child) => withState(child, { source, known, servers }));
  return withKind(source, known, { ...base, load: loadOf(loaded.load, children), children });
}

export function bareEntry(source: ServerSource, known: Customization | undefined, servers: ServerFacts): Customization {
  const { id, uri, name, range } = source;
  const decided = enablementOf(known);
  return { type: 'mcpServer', id, uri, name, range, ...decided, ...shownServer(id, servers) };
}

export function isOfClient(entry: Customization): boolean {
  return 'clientId' in entry && entry.clientId !== undefined;
}

/** Whether a container is on: people's decisions in the session take precedence over the source. */
export function isOn(source: ContainerSource, known: Customization | undefined): boolean {
  if (known) return isCustomizationEnabled(known);
  return source.kind === 'directory' || (source.enablement?.[0]?.enabled ?? true);
}

/** Whether an MCP server inside a container is itself switched on. */
export function isChildOn(source: ContainerSource, known: Customization | undefined, server: NamedServer): boolean {
  return childEnablement(source, known, server)?.[0]?.enabled ?? true;
}

type NamedServer = Pick<McpServerCustomization, 'id' | 'name'>;
type Enablement = CustomizationEnablement[] | undefined;

function childEnablement(source: ContainerSource, known: Customization | undefined, server: NamedServer): Enablement {
  const child = known && childrenOf(known).find(({ id }) => id === server.id);
  if (child?.type === 'mcpServer') return child.enablement;
  const { childEnablement: decided = {} } = source.kind === 'plugin' ? source : {};
  return Object.hasOwn(decided, server.name) ? decided[server.name] : undefined;
}

type Flagged = Exclude<ChildCustomization, McpServerCustomization>;

/** The decision about a child that is not a server; undefined if there is none. */
function childFlag(source: ContainerSource, known: Customization | undefined, child: Flagged): boolean | undefined {
  const shown = known && childrenOf(known).find(({ id }) => id === child.id);
  if (shown && shown.type !== 'mcpServer') return shown.enabled;
  const { childEnablement: decided = {} } = source.kind === 'plugin' ? source : {};
  return Object.hasOwn(decided, child.name) ? decided[child.name]?.[0]?.enabled : undefined;
}

/**
 * While a plugin is read again, its entry shows no contents. Returns what people decided about them in this session, by
 * name, ahead of what the plugin's client says now.
 */
export function keptDecisions(
  { source: earlier }: Container,
  entry: Customization | undefined,
  { childEnablement: declared = {} }: PluginSource,
): Readonly<Record<string, CustomizationEnablement[]>> {
  const { childEnablement: declaredBefore = {} } = earlier.kind === 'plugin' ? earlier : {};
  const kept = (entry ? childrenOf(entry) : []).map((child): [string, CustomizationEnablement[]] => {
    const [before, after] = [declaredBefore, declared].map((all) => beyondSession(all, child.name));
    return [child.name, [...ofSession(child, before ?? []), ...(after ?? [])]];
  });
  return { ...declared, ...Object.fromEntries(kept.filter(([, decided]) => decided.length > 0)) };
}

function beyondSession(declared: Readonly<Record<string, CustomizationEnablement[]>>, name: string) {
  const decided = Object.hasOwn(declared, name) ? declared[name] : undefined;
  return decided?.filter(({ kind }) => kind !== 'session');
}

/** A flag that differs from the client's is a person's decision. */
function ofSession(child: ChildCustomization, declared: readonly CustomizationEnablement[]): CustomizationEnablement[] {
  if (child.type === 'mcpServer') return (child.enablement ?? []).filter(({ kind }) => kind === 'session');
  const isOfClient = child.enabled === undefined || child.enabled === (declared[0]?.enabled ?? true);
  return isOfClient ? [] : [{ kind: 'session', enabled: child.enabled ?? true }];
}

/** The ids of a container's parts that are switched off individually. Servers are not among them. */
export function offParts({ source, loaded }: Container, known: Customization | undefined): ReadonlySet<string> {
  const flagged = (loaded?.children ?? []).filter((child): child is Flagged => child.type !== 'mcpServer');
  return new Set(flagged.filter((child) => childFlag(source, known, child) === false).map(({ id }) => id));
}

/** Without a decision the member is absent, as in the reducer. */
function decisions(enablement: Enablement): { enablement?: CustomizationEnablement[] } {
  return enablement && enablement.length > 0 ? { enablement } : {};
}

function enablementOf(known: Customization | undefined): { enablement?: CustomizationEnablement[] } {
  return decisions(known && 'enablement' in known ? known.enablement : undefined);
}

type Body = Omit<PluginCustomization, 'type' | 'clientId' | 'enablement'>;

function withKind(source: ContainerSource, known: Customization | undefined, body: Body): Customization {
  if (source.kind === 'plugin') {
    const decided = known ? enablementOf(known) : decisions(source.enablement);
    return { type: 'plugin', ...body, ...decided, ...present({ clientId: source.clientId }) };
  }
  const { contents, writable } = source;
  return { type: 'directory', ...body, enabled: isOn(source, known), contents, writable };
}

interface ChildFacts {
  readonly source: ContainerSource;
  readonly known: Customization | undefined;
  readonly servers: ServerFacts;
}

function withState(child: ChildCustomization, { source, known, servers }: ChildFacts): ChildCustomization {
  if (child.type !== 'mcpServer') {
    const enabled = childFlag(source, known, child);
    return enabled === undefined ? child : { ...child, enabled };
  }
  const { enablement: _declared, ...server } = child;
  const decided = decisions(childEnablement(source, known, child));
  return { ...server, ...decided, ...shownServer(child.id, servers) };
}

/** The state of a server, and the prompts that people can use. */
function shownServer(id: string, { stateOf, promptsOf }: ServerFacts) {
  const prompts = promptsOf(id);
  return {
    ...(prompts.length > 0 && { _meta: { [PROMPTS_META_KEY]: prompts } }),
    state: shownState(stateOf(id)),
  };
}

function shownState(state: McpServerState): ShownState {
  if (state.kind === 'error') return { kind: 'error', error: { errorType: 'mcp-server', message: state.message } };
  if (state.kind !== 'authRequired') return state;
  const { message, ...rest } = state;
  return { ...rest, ...(message !== undefined && { description: message }) };
}

/** Clients that ignore servers learn here that one of them failed. */
function loadOf(load: CustomizationLoadState, children: readonly ChildCustomization[]): CustomizationLoadState {
  const failed = children.flatMap((child) => failureOf(child) ?? []);
  const [first] = failed;
  if (first === undefined || load.kind === 'error' || load.kind === 'loading') return load;
  if (load.kind === 'degraded') return { kind: 'degraded', message: `${load.message} ${first}` };
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return { kind: 'degraded', message: `${first}${more}` };
}

function failureOf(child: ChildCustomization): string | undefined {
  if (child.type !== 'mcpServer' || child.state.kind !== 'error') return undefined;
  return `The MCP server "${child.name}" does not run: ${child.state.error.message}`;
}

export interface PublisherOptions {
  readonly session: HostSession;
  readonly clock: Clock;
  /** The entry as it should be now; undefined when it does not exist. */
  entryOf(id: string): Customization | undefined;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #changed = new Set<string>();
  #disarm: (() => void) | undefined;
  /** How many searches are running; their results are written when the last one is done. */
  #searches = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** This entry may have changed. */
  soon(id: string): void {
    this.#changed.add(id);
    if (this.#searches === 0) this.#disarm ??= this.#options.clock.after(PUBLISH_MERGE_MS, () => this.now());
  }

  /** Writes all results of a search together when it has ended. */
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

  /** Writes all entries: changed ones in their places, new ones at the end. */
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
   * New entries are sent with the whole list, and so is everything about directories: published clients (ahpx 0.2.24 to
   * 0.2.26) fail on a directory in `session/customizationUpdated`.
   */
  readonly isOfList: boolean;
}

/** Both come from JSON with their members in the same order. */
function isSame(one: Customization, other: Customization | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
