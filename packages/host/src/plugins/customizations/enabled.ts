/**
 * Which customizations of a session are on, and which of their programs may run. A pure decision: people switch
 * containers and servers on and off in the session's entries, and grant permissions to programs.
 */
import { type Customization, isCustomizationEnabled } from '@atrium/protocol/ahp-1';
import type { HookPart } from '../formats/hook-declarations.js';
import type { McpServerConfig } from '../formats/mcp-declarations.js';
import { precedence, type ServerSource } from '../formats/source.js';
import type { Program } from '../trust/programs.js';
import type { Container } from './container.js';
import { isChildOn, isOn } from './customization-entries.js';
import { programInside, programOfHook, programOfServer } from './permissions.js';

/**
 * In order of precedence: if several plugins give themselves the same name in their manifests, the first one counts.
 */
export interface EnabledSet {
  readonly containers: readonly EnabledContainer[];
  /** MCP servers outside of any container. */
  readonly bareServers: readonly ServerSource[];
  /** Every declared MCP server; `shouldRun` says whether it should run. */
  readonly declaredServers: readonly DeclaredServer[];
}

export interface EnabledContainer {
  readonly container: Container;
  /** The hooks that may run. */
  readonly hooks: readonly HookPart[];
}

export interface DeclaredServer {
  readonly id: string;
  readonly name: string;
  readonly plugin?: string | undefined;
  readonly config: McpServerConfig;
  /** Whether the user's own configuration or plugins declare it, rather than a project or a client. */
  readonly isOfUser: boolean;
  /** The session's entry that shows it. */
  readonly entry: string;
  /** Whether it is switched on and allowed to run. */
  readonly shouldRun: boolean;
}

export interface EnabledFacts {
  readonly containers: readonly Container[];
  readonly servers: readonly ServerSource[];
  /** The session's folder. */
  readonly folder: string | undefined;
  /** Whether a person trusts that folder. */
  readonly isTrusted: boolean;
  /** The session's present entry. */
  entryOf(id: string): Customization | undefined;
  /** Whether a program of the customization with this id may run. */
  canRun(id: string, program: Program): boolean;
}

export const NOTHING_ENABLED: EnabledSet = { containers: [], bareServers: [], declaredServers: [] };

export function enabledSet(facts: EnabledFacts): EnabledSet {
  const { servers, entryOf } = facts;
  const containers = inPrecedence(facts);
  const isContainerOn = (container: Container) => isOn(container.source, entryOf(container.id));
  return {
    containers: containers
      .filter(isContainerOn)
      .map((container) => ({ container, hooks: runnableHooks(container, facts) })),
    bareServers: servers.filter(({ id }) => isEntryOn(entryOf(id))),
    declaredServers: [
      ...servers.map((server) => bareServer(server, facts)),
      ...containers.flatMap((container) => serversInside(container, isContainerOn(container), facts)),
    ],
  };
}

function inPrecedence({ containers, isTrusted }: EnabledFacts): readonly Container[] {
  return precedence(isTrusted).flatMap((scope) => containers.filter(({ source }) => source.scope === scope));
}

function runnableHooks(container: Container, { folder, canRun }: EnabledFacts): readonly HookPart[] {
  return (container.parts?.hooks ?? []).filter((hook) => {
    const program = programOfHook(hook, container, folder);
    return program !== undefined && canRun(container.id, program);
  });
}

function isEntryOn(entry: Customization | undefined): boolean {
  return !entry || isCustomizationEnabled(entry);
}

function bareServer(server: ServerSource, { entryOf, canRun }: EnabledFacts): DeclaredServer {
  const { id, name, config, scope } = server;
  const shouldRun = canRun(id, programOfServer(server)) && isEntryOn(entryOf(id));
  return { id, name, config, entry: id, shouldRun, isOfUser: scope === 'user' };
}

function serversInside(container: Container, isContainerOn: boolean, facts: EnabledFacts): readonly DeclaredServer[] {
  const { folder, entryOf, canRun } = facts;
  const plugin = container.source.kind === 'plugin' ? container.name : undefined;
  const entry = entryOf(container.id);
  const shared = { plugin, entry: container.id, isOfUser: container.source.scope === 'user' };
  return (container.loaded?.mcpServers ?? []).map((server) => {
    const { id, name, config } = server;
    const isAllowed = isContainerOn && canRun(container.id, programInside(server, container, folder));
    return { ...shared, id, name, config, shouldRun: isAllowed && isChildOn(container.source, entry, server) };
  });
}
