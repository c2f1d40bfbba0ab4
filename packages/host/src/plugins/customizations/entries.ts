/** What clients see: one entry for each container, and one for each MCP server that stands for itself. */
import type { ChildCustomization, Customization, CustomizationLoadState } from '@atrium/protocol';
import type { McpServerState } from '../mcp/state.js';
import type { Container } from './container.js';
import { present } from './parse/present.js';
import type { ContainerSource, ServerSource } from './sources/source.js';

/** How an MCP server is doing, by its id. */
export type StateOf = (id: string) => McpServerState;

/** A server's entry on its own. Clients must cope with entries of types that they do not know. */
export interface BareServer {
  readonly type: 'mcpServer';
  readonly id: string;
  readonly uri: string;
  readonly name: string;
  readonly range: ServerSource['range'];
  readonly enabled: boolean;
  readonly state: McpServerState;
}

/** `known`: the entry as it stands in the session, which is where people switch things on and off. */
export function containerEntry(
  container: Container,
  known: Customization | undefined,
  stateOf: StateOf,
): Customization {
  const { source, loaded } = container;
  const base = { ...baseOf(source), name: container.name, enabled: isOn(source, known) };
  if (!loaded) return withKind(source, { ...base, load: { kind: 'loading' } });
  const children = loaded.children.map((child) => withState(child, known, stateOf));
  return withKind(source, { ...base, load: loadOf(loaded.load, children), children });
}

export function bareEntry(source: ServerSource, known: Customization | undefined, stateOf: StateOf): Customization {
  const { id, uri, name, range } = source;
  const entry: BareServer = {
    type: 'mcpServer',
    id,
    uri,
    name,
    range,
    enabled: known?.enabled ?? true,
    state: stateOf(id),
  };
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

function baseOf({ id, uri, name, icons }: ContainerSource) {
  return { id, uri, name, ...present({ icons }) };
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
