/** Which programs of a customization may run: hooks and MCP servers. Text needs no permission; code always does. */

import { count } from '@atrium/core/util/text.js';
import type { HookPart } from '../formats/hook-declarations.js';
import type { McpServerPart } from '../formats/mcp-declarations.js';
import type { AnySource, ServerSource } from '../formats/source.js';
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
import { Container } from './container.js';
import type { HostSession, SessionFacts } from './ports.js';

/** Called when another program of a customization may run. */
type Granted = (id: string) => void;

/** The session stores accepted programs together with everything else that people allowed in it. */
const OWNER = 'client-plugin';

/** The programs of one customization. */
interface Known {
  readonly grant: Granted;
  /** The user or an agent brought it, so everything that it starts may run. */
  isFree: boolean;
  readonly granted: Set<string>;
  /** Functions that withdraw the question about a program. */
  readonly asked: Map<string, () => void>;
}

export class Permissions {
  readonly #session: HostSession;
  readonly #trust: SessionFacts['trust'];
  readonly #known = new Map<string, Known>();

  constructor(session: HostSession, trust: SessionFacts['trust']) {
    this.#session = session;
    this.#trust = trust;
  }

  has(id: string, { digest }: Program): boolean {
    const known = this.#known.get(id);
    return known !== undefined && (known.isFree || known.granted.has(digest));
  }

  /**
   * Takes all programs that a customization has now. Those of the user's and the agent's own customizations may run.
   * The host asks a person about every other program once; a program that replaces another one needs a new answer.
   */
  request(source: AnySource, programs: readonly Program[], granted: Granted): void {
    const { id, scope, isOfFolder = false } = source;
    if (programs.length === 0 && !this.#known.has(id)) return;
    const known = this.#known.get(id) ?? { grant: granted, isFree: false, granted: new Set(), asked: new Map() };
    this.#known.set(id, known);
    if (known.isFree) return;
    if (scope === 'user' || (scope === 'agent' && !isOfFolder)) {
      known.isFree = true;
      return granted(id);
    }
    withdraw(known, (digest) => !programs.some((program) => program.digest === digest));
    const missing = programs.filter(({ digest }) => !known.granted.has(digest) && !known.asked.has(digest));
    if (scope === 'client') this.#askForClient(source, known, missing);
    else for (const program of missing) this.#askForFolder(id, known, program);
  }

  /** The customization is gone; withdraws its questions. */
  forget(id: string): void {
    const known = this.#known.get(id);
    this.#known.delete(id);
    if (known) withdraw(known, () => true);
  }

  #askForFolder(id: string, known: Known, program: Program): void {
    const wanted = new AbortController();
    known.asked.set(program.digest, () => wanted.abort());
    const start = () => this.#grant(id, known, [program]);
    void this.#trust.whenTrusted(program, { start, signal: wanted.signal });
  }

  /** Programs that do not fit into one question are asked about after it is answered. */
  #askForClient(source: AnySource, known: Known, missing: readonly Program[]): void {
    const session = this.#session;
    const { id, uri, name } = source;
    const keyOf = ({ digest }: Program) =>
      ({ owner: OWNER, name: JSON.stringify(['clientId' in source ? source.clientId : '', uri, digest]) }) as const;
    const isAccepted = (program: Program) => session.toolPermissions.has(keyOf(program));
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
    const withdrawQuestion = session.standing.ask(request, (response) => {
      if (this.#known.get(id) !== known) return;
      if (response !== 'accept') return;
      for (const program of asked) session.toolPermissions.add(keyOf(program));
      this.#grant(id, known, asked);
      this.#askForClient(
        source,
        known,
        missing.filter((program) => !asked.includes(program)),
      );
    });
    for (const { digest } of asked) known.asked.set(digest, withdrawQuestion);
  }

  #grant(id: string, known: Known, programs: readonly Program[]): void {
    if (this.#known.get(id) !== known) return;
    for (const { digest } of programs) {
      known.asked.delete(digest);
      known.granted.add(digest);
    }
    known.grant(id);
  }
}

/** A question about several programs is withdrawn with the first of them; the others are asked about again. */
function withdraw({ asked }: Known, isGone: (digest: string) => boolean): void {
  for (const [digest, withdrawQuestion] of [...asked]) {
    if (!isGone(digest)) continue;
    withdrawQuestion();
    for (const [other, itsQuestion] of [...asked]) if (itsQuestion === withdrawQuestion) asked.delete(other);
  }
}

/** The same declaration always gives the same object, because open questions are compared by identity. */
const known = new WeakMap<HookPart | McpServerPart | ServerSource, Program>();

/** The programs that a customization would start. `folder` is the session's. */
export function programsOf(found: Container | ServerSource, folder: string | undefined): readonly Program[] {
  if (!(found instanceof Container)) return [programOfServer(found)];
  const { hooks = [], mcpServers = [] } = found.loaded ?? {};
  const programs = [
    ...hooks.flatMap((hook) => programOfHook(hook, found, folder) ?? []),
    ...mcpServers.map((server) => programInside(server, found, folder)),
  ];
  return [...new Map(programs.map((program) => [program.digest, program])).values()];
}

/** A server outside of any container. */
export function programOfServer(server: ServerSource): Program {
  return remembered(server, () => serverProgram(server.name, server.declared));
}

/** A server inside a container. */
export function programInside(server: McpServerPart, container: Container, folder: string | undefined): Program {
  return remembered(server, () => serverProgram(server.name, server.declared, ownerOf(container, folder)));
}

/** Undefined for hooks that the host does not run. */
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
