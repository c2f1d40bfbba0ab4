/** Which programs of a customization may run: hooks and MCP servers. Text needs no permission; code always does. */

import type { Session } from '../../core/sessions/session.js';
import { count } from '../../core/util/text.js';
import {
  askedTogether,
  hookProgram,
  type Program,
  type ProgramOwner,
  placeIn,
  quoted,
  serverProgram,
  word,
} from '../trust/programs.js';
import type { SessionTrust } from '../trust/session-trust.js';
import { Container } from './container.js';
import type { HookPart } from './parse/hooks.js';
import type { McpServerPart } from './parse/mcp.js';
import type { AnySource, ServerSource } from './sources/source.js';

export interface PermissionsParts {
  readonly session: Session;
  trust(): SessionTrust;
  /** From now on one more program of it may run. */
  granted(id: string): void;
}

/** What a person accepted is kept with what else they allowed in this session. */
const OWNER = 'client-plugin';

/** The programs of one customization. */
interface Known {
  /** The user or an agent brought it: whatever it starts may run. */
  isFree: boolean;
  readonly granted: Set<string>;
  /** Takes back the question about a program. */
  readonly asked: Map<string, () => void>;
}

export class Permissions {
  readonly #parts: PermissionsParts;
  readonly #known = new Map<string, Known>();

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  has(id: string, { digest }: Program): boolean {
    const known = this.#known.get(id);
    return known !== undefined && (known.isFree || known.granted.has(digest));
  }

  /**
   * These are all programs of a customization now. What the user or an agent brought may run. For the rest somebody is
   * asked, once for each program: another one in its place is asked about again.
   */
  request(source: AnySource, programs: readonly Program[]): void {
    const { id, scope, isOfFolder = false } = source;
    if (programs.length === 0 && !this.#known.has(id)) return;
    const known = this.#known.get(id) ?? { isFree: false, granted: new Set(), asked: new Map() };
    this.#known.set(id, known);
    if (known.isFree) return;
    if (scope === 'user' || (scope === 'agent' && !isOfFolder)) {
      known.isFree = true;
      return this.#parts.granted(id);
    }
    withdraw(known, (digest) => !programs.some((program) => program.digest === digest));
    const missing = programs.filter(({ digest }) => !known.granted.has(digest) && !known.asked.has(digest));
    if (scope === 'client') this.#askForClient(source, known, missing);
    else for (const program of missing) this.#askForFolder(id, known, program);
  }

  /** It is gone: nobody needs to decide any more. */
  forget(id: string): void {
    const known = this.#known.get(id);
    this.#known.delete(id);
    if (known) withdraw(known, () => true);
  }

  #askForFolder(id: string, known: Known, program: Program): void {
    const wanted = new AbortController();
    known.asked.set(program.digest, () => wanted.abort());
    const start = () => this.#grant(id, known, [program]);
    void this.#parts.trust().whenTrusted(program, { start, signal: wanted.signal });
  }

  /** What does not fit into one question is asked about when that is answered. */
  #askForClient(source: AnySource, known: Known, missing: readonly Program[]): void {
    const { session } = this.#parts;
    const { id, uri, name } = source;
    const keyOf = ({ digest }: Program) =>
      ({ owner: OWNER, name: JSON.stringify(['clientId' in source ? source.clientId : '', uri, digest]) }) as const;
    const isAccepted = (program: Program) => session.allowances.has(keyOf(program));
    const accepted = missing.filter(isAccepted);
    if (accepted.length > 0) this.#grant(id, known, accepted);
    const asked = askedTogether(missing.filter((program) => !isAccepted(program)));
    if (asked.length === 0) return;
    const message = [
      'A client brought a plugin that wants to start programs on this machine.',
      ...quoted([`${word(name)} from ${word(uri)}`]),
      `It would start ${count(asked.length, 'program')}:`,
      ...quoted(asked.map(({ line }) => line)),
      'Nothing of this runs until you accept. Your answer is remembered for this session and for exactly these programs.',
    ].join('\n');
    const request = { id: `plugin-${crypto.randomUUID()}`, message, questions: [] };
    const takeBack = session.standing.ask(request, (response) => {
      if (this.#known.get(id) !== known) return;
      if (response !== 'accept') return;
      for (const program of asked) session.allowances.add(keyOf(program));
      this.#grant(id, known, asked);
      this.#askForClient(
        source,
        known,
        missing.filter((program) => !asked.includes(program)),
      );
    });
    for (const { digest } of asked) known.asked.set(digest, takeBack);
  }

  #grant(id: string, known: Known, programs: readonly Program[]): void {
    if (this.#known.get(id) !== known) return;
    for (const { digest } of programs) {
      known.asked.delete(digest);
      known.granted.add(digest);
    }
    this.#parts.granted(id);
  }
}

/** A question about several programs is taken back with the first of them; what is left of them is asked anew. */
function withdraw({ asked }: Known, isGone: (digest: string) => boolean): void {
  for (const [digest, takeBack] of [...asked]) {
    if (!isGone(digest)) continue;
    takeBack();
    for (const [other, itsQuestion] of [...asked]) if (itsQuestion === takeBack) asked.delete(other);
  }
}

/** What a customization would start: the programs that a person is asked about, and by which each of them is allowed. */

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
