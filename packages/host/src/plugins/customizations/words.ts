/** What a customization would start: the programs that a person is asked about, and by which each of them is allowed. */
import { hookProgram, type Program, type ProgramOwner, placeIn, serverProgram } from '../trust/programs.js';
import { Container } from './container.js';
import type { HookPart } from './parse/hooks.js';
import type { McpServerPart } from './parse/mcp-parts.js';
import type { ServerSource } from './sources/source.js';

/** Asked for at every tool call, and always the same for what was read once. */
const known = new WeakMap<HookPart | McpServerPart | ServerSource, Program>();

/** Nothing when there is nothing to start. `folder` is the session's. */
export function programsOf(found: Container | ServerSource, folder: string | undefined): readonly Program[] {
  if (!(found instanceof Container)) return [programOfServer(found)];
  const { hooks = [], mcpServers = [] } = found.loaded ?? {};
  const programs = [
    ...hooks.flatMap((hook) => programOfHook(hook, found, folder) ?? []),
    ...mcpServers.map((server) => programInside(server, found, folder)),
  ];
  return [...new Map(programs.map((program) => [program.digest, program])).values()];
}

/** A server that stands for itself. */
export function programOfServer(server: ServerSource): Program {
  return remembered(server, () => serverProgram(server.name, server.declared));
}

/** A server inside of a container. */
export function programInside(server: McpServerPart, container: Container, folder: string | undefined): Program {
  return remembered(server, () => serverProgram(server.name, server.declared, ownerOf(container, folder)));
}

/** Undefined for what the host does not run. */
export function programOfHook(hook: HookPart, container: Container, folder: string | undefined): Program | undefined {
  const { action, declared, event, matcher } = hook;
  const shown = declared.kind === 'command' ? declared : action;
  if (action.kind !== 'command' || shown.kind !== 'command') return undefined;
  return remembered(hook, () => hookProgram({ event, matcher, action: shown }, ownerOf(container, folder)));
}

function remembered(part: HookPart | McpServerPart | ServerSource, make: () => Program): Program {
  const program = known.get(part) ?? make();
  known.set(part, program);
  return program;
}

function ownerOf({ name, source }: Container, folder: string | undefined): ProgramOwner {
  const place = source.folder ?? source.uri;
  return { name, place: folder === undefined ? place : placeIn(folder, place) };
}
