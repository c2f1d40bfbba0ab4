/**
 * The extensions of one session, in the order in which they were added: what they offer, what a change of one leads to,
 * and what they contribute when a turn begins or ends.
 */
import type { SessionAction, SessionState, ToolDefinition } from '@atrium/protocol/ahp-1';
import type { Extension, Gate, TurnAdvice } from '../contracts/extension.js';
import type { HostTool } from '../contracts/tool.js';
import { attributed } from '../tool-calls/gates.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS, TURN_CONTEXT_MAX_CHARACTERS } from '../tool-calls/limits.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { withDeadline } from '../util/waiting.js';

export interface ExtensionsOptions {
  /** The host's own tools that the agent uses. They come before all others. */
  readonly builtins: readonly HostTool[];
  /** Extensions that every session has. */
  readonly standing: readonly Extension[];
  readonly state: () => SessionState;
  readonly write: (action: SessionAction) => void;
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * A tool list with more JSON than this is sent only after it has stopped changing: clients get the whole list each
 * time.
 */
export const TOOLS_AT_ONCE_MAX_CHARACTERS = 32 * 2 ** 10;
/** How long a long list must stay unchanged before it is sent. */
export const TOOLS_QUIET_MS = 250;
/** A long list that keeps changing is sent after this time at the latest. */
export const TOOLS_PUBLISHED_WITHIN_MS = 2_000;
/**
 * Longer lists wait longer: one millisecond more for this many characters, and an eighth of that for the quiet time.
 */
const TOOLS_CHARACTERS_PER_MS = 256;
const TOOLS_LONGER_MAX_MS = 6_000;

export class Extensions {
  readonly #options: ExtensionsOptions;
  readonly #all = new Map<string, Extension>();
  /** How many callers are in the middle of changes that belong together. */
  #holds = 0;
  /** The tools that extensions listed last, without duplicate names. */
  #listed: readonly HostTool[] = [];
  #tools: readonly HostTool[] = [];
  /** True when clients were sent the list in this tick. */
  #isPublishedInTick = false;
  /** Timers for changes of a long list that clients have not been sent. */
  #pendingUpdate: { stopWaiting: () => void; stopQuiet: () => void } | undefined;

  constructor(options: ExtensionsOptions) {
    this.#options = options;
    for (const extension of options.standing) this.#all.set(extension.id, extension);
  }

  /** Adds an extension, or replaces the one with its id. */
  set(extension: Extension): void {
    this.#all.set(extension.id, extension);
    this.changed();
  }

  remove(id: string): void {
    if (this.#all.delete(id)) this.changed();
  }

  all(): readonly Extension[] {
    return [...this.#all.values()];
  }

  /**
   * All tools that the host can run in this session; if two have the same name, the first one wins. Returns the same
   * list until the extensions list other tools, so that derived data can be cached with it.
   */
  tools(): readonly HostTool[] {
    const listed = [...this.#options.builtins];
    for (const { tools = [] } of this.#all.values()) for (const tool of tools) listed.push(tool);
    if (isSameList(listed, this.#listed)) return this.#tools;
    const tools = new Map<string, HostTool>();
    for (const tool of listed) if (!tools.has(tool.definition.name)) tools.set(tool.definition.name, tool);
    this.#listed = listed;
    this.#tools = [...tools.values()];
    return this.#tools;
  }

  /** Returns a test for tools that the model must not see now. */
  hidden(chat: string): (toolName: string) => boolean {
    const hidden = this.all().flatMap((extension) => extension.hidden?.(chat) ?? []);
    return (toolName) => hidden.some((isHidden) => isHidden(toolName));
  }

  gates(): readonly Gate[] {
    return this.all().flatMap((extension) => extension.gates ?? []);
  }

  /** Groups several changes of one tick: clients get the list when the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.changed();
    };
  }

  /**
   * Sends clients the list of tools if it changed: at once, and then once more for all later changes of the same tick.
   * A long list waits until it is quiet, because many providers may arrive one after another.
   */
  changed(): void {
    if (this.#holds > 0 || this.#isPublished()) return;
    if (charactersOf(this.tools()) > TOOLS_AT_ONCE_MAX_CHARACTERS) this.#waitForQuiet();
    else if (!this.#isPublishedInTick) this.publish();
  }

  /**
   * Sends clients the present list, if they lack it. Called before a turn, so that the tools shown are those that run.
   */
  publish(): void {
    this.#cancelPendingUpdate();
    if (this.#isPublished()) return;
    this.#isPublishedInTick = true;
    const published = this.tools();
    setImmediate(() => {
      this.#isPublishedInTick = false;
      // Compare first: a closed session drops the action, and sending the same list would repeat in every tick.
      if (this.tools() !== published) this.changed();
    });
    this.#options.write({ type: 'session/serverToolsChanged', tools: published.map(({ definition }) => definition) });
  }

  /** Cancels pending updates, because the session leaves memory. */
  close(): void {
    this.#cancelPendingUpdate();
  }

  #isPublished(): boolean {
    const known = this.#options.state().serverTools ?? [];
    const tools = this.tools();
    return known.length === tools.length && tools.every(({ definition }, index) => isSame(definition, known[index]));
  }

  #waitForQuiet(): void {
    if (!this.#pendingUpdate) {
      this.#pendingUpdate = { stopWaiting: () => {}, stopQuiet: () => {} };
      this.#waitAtMost(this.#pendingUpdate, 0);
    }
    this.#pendingUpdate.stopQuiet();
    this.#pendingUpdate.stopQuiet = this.#options.clock.after(TOOLS_QUIET_MS + this.#longerMs() / 8, () =>
      this.publish(),
    );
  }

  /** Limits the wait. A list that grew while it waited may wait as long as its new length allows. */
  #waitAtMost(untold: { stopWaiting: () => void }, waitedMs: number): void {
    const limit = TOOLS_PUBLISHED_WITHIN_MS + this.#longerMs();
    if (limit <= waitedMs) return this.publish();
    untold.stopWaiting = this.#options.clock.after(limit - waitedMs, () => this.#waitAtMost(untold, limit));
  }

  #longerMs(): number {
    return Math.min(charactersOf(this.tools()) / TOOLS_CHARACTERS_PER_MS, TOOLS_LONGER_MAX_MS);
  }

  #cancelPendingUpdate(): void {
    this.#pendingUpdate?.stopWaiting();
    this.#pendingUpdate?.stopQuiet();
    this.#pendingUpdate = undefined;
  }
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

/** Compares definitions. They are the same objects, unless the state was read from the log. */
function isSame(definition: ToolDefinition, known: ToolDefinition | undefined): boolean {
  return definition === known || JSON.stringify(definition) === JSON.stringify(known);
}

const lengths = new WeakMap<ToolDefinition, number>();

function charactersOf(tools: readonly HostTool[]): number {
  let characters = 0;
  for (const { definition } of tools) {
    const length = lengths.get(definition) ?? JSON.stringify(definition).length;
    lengths.set(definition, length);
    characters += length;
  }
  return characters;
}

/** The extensions that a turn asks, and the limits of asking. */
export interface ExtensionRequest {
  readonly extensions: readonly Extension[];
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Advice {
  /** Context for the model beside the message. */
  readonly context: readonly string[];
  readonly notes: readonly string[];
  /** Why the turn must not run. */
  readonly blocked?: string;
}

/** Waits for extensions that are still starting. They may add others, so list the extensions of a turn after this. */
export async function untilReady(request: ExtensionRequest): Promise<void> {
  await Promise.all(request.extensions.map((extension) => asked(extension, request, () => extension.untilReady?.())));
}

/** Asks one extension a question. */
export type Question<Answer> = (extension: Extension, stopped: AbortSignal) => Promise<Answer> | undefined;

/** Asks all extensions at once about a beginning turn, and joins their answers in order. */
export async function adviceFor(
  question: Question<TurnAdvice | undefined>,
  request: ExtensionRequest,
): Promise<Advice> {
  const answers = request.extensions.map((extension) =>
    asked(extension, request, (stopped) => question(extension, stopped)),
  );
  const given = (await Promise.all(answers)).flatMap((advice) => advice ?? []);
  const blocked = given.flatMap((advice) => advice.blocked ?? [])[0];
  const context = withinBounds(given.flatMap((advice) => advice.context ?? []));
  const notes = given.flatMap(({ note }) => (note === undefined ? [] : note.slice(0, GATE_TEXT_MAX_CHARACTERS)));
  return { context, notes, ...(blocked !== undefined && { blocked }) };
}

/**
 * Asks all extensions whether they object to the end of a turn. Returns their reasons, each with the extension's name;
 * undefined without objections.
 */
export async function objectionTo(
  question: Question<string | undefined>,
  request: ExtensionRequest,
): Promise<string | undefined> {
  const answers = request.extensions.map(async (extension) => {
    const reason = await asked(extension, request, (stopped) => question(extension, stopped));
    return reason === undefined ? [] : [attributed(extension.name, reason)];
  });
  const given = (await Promise.all(answers)).flat();
  return given.length === 0 ? undefined : given.join('\n');
}

/** The answer of one extension; undefined when it fails or takes too long. */
async function asked<T>(
  { name }: Extension,
  { signal, clock, logger }: ExtensionRequest,
  work: (stopped: AbortSignal) => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    return await withDeadline({ clock, signal, timeoutMs: EXTENSION_TIMEOUT_MS }, work);
  } catch (error) {
    signal.throwIfAborted();
    logger.log('warn', 'an extension failed', { extension: name, error: String(error) });
    return undefined;
  }
}

/** Keeps the first blocks whole, and cuts what no longer fits. */
function withinBounds(blocks: readonly string[]): string[] {
  let left = TURN_CONTEXT_MAX_CHARACTERS;
  return blocks.flatMap((block) => {
    const kept = block.slice(0, left);
    left -= kept.length;
    return kept === '' ? [] : [kept];
  });
}
