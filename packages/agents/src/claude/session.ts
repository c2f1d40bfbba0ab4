/**
 * A session with Claude. The conversation is in Claude's own files, and nothing runs between turns. The host stores
 * Claude's id of the conversation, and where in it each turn ended.
 */

import { AgentError, type AgentOpenContext, type AgentSession, type AgentTurn } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { Turn } from '@atrium/protocol/ahp-1';
import { titleFrom } from '../shared/messages.js';
import type { ClaudeSettings } from './backend.js';
import type { ClaudeSdk } from './sdk.js';
import { ClaudeTurn } from './turn.js';

/** Longest JSON of the stored ends of turns. The newest are kept, within what an agent may store with a session. */
export const MARKS_MAX_CHARACTERS = 12_000;
/** How many finished turns are read to find the last one that Claude knows. */
const HISTORY_TURNS_MAX = 50;

export class ClaudeSession implements AgentSession {
  readonly #sdk: ClaudeSdk;
  readonly #settings: ClaudeSettings;
  readonly #context: AgentOpenContext;
  readonly #closing = new AbortController();
  /** Settles when the last turn has ended, which for a cancelled turn takes a moment. The next turn waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(sdk: ClaudeSdk, settings: ClaudeSettings, context: AgentOpenContext) {
    this.#sdk = sdk;
    this.#settings = settings;
    this.#context = context;
  }

  runTurn(turn: AgentTurn): Promise<void> {
    const running = this.#last.then(() => this.#run(turn));
    this.#last = running.catch(() => {});
    return running;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the session is closed'));
    await this.#last;
  }

  /** Runs a turn. The host's history counts, whatever Claude remembers: see `beginningOf`. */
  async #run(turn: AgentTurn): Promise<void> {
    const memory = memoryOf(this.#context.memory.get());
    const turns = await this.#turnsSince(memory);
    if (turns.length === 0) turn.title(titleFrom(turn.message.text) || 'Untitled');
    if (await this.#attempt(turn, beginningOf(memory, turns, turn.id))) return;
    if (await this.#attempt(turn, startedOver(await this.#context.history(HISTORY_TURNS_MAX)))) return;
    throw new AgentError('other', `${this.#settings.displayName} could not begin a conversation. Try again.`);
  }

  /** The host's newest turns. Usually Claude knows the newest one; only if not, more are read. */
  async #turnsSince(memory: ClaudeMemory | undefined): Promise<Turn[]> {
    const [newest] = await this.#context.history(1);
    if (!newest) return [];
    return newest.id === memory?.marks.at(-1)?.[0] ? [newest] : this.#context.history(HISTORY_TURNS_MAX);
  }

  async #attempt(turn: AgentTurn, beginning: Beginning): Promise<boolean> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const run = new ClaudeTurn({ sdk: this.#sdk, settings: this.#settings, turn, beginning, signal });
    try {
      return await run.run();
    } finally {
      this.#remember(turn.id, beginning, run.mark);
    }
  }

  /**
   * Stores where the turn ended. A turn without an answer leaves no trace in Claude's files, so there is nothing to
   * resume from.
   */
  #remember(turnId: string, beginning: Beginning, mark: string | undefined): void {
    if (mark === undefined) return;
    const before: ClaudeMemory =
      beginning.kind === 'new' ? { conversation: beginning.conversation, marks: [] } : beginning.memory;
    this.#context.memory.set(withMark(before, [turnId, mark]));
  }
}

/** A turn, and the id of Claude's last message in it. */
type Mark = readonly [turnId: string, message: string];

export interface ClaudeMemory {
  readonly conversation: string;
  /** Oldest first. */
  readonly marks: readonly Mark[];
}

/** How Claude begins a turn. */
export type Beginning =
  /** A new conversation, which gets these turns as text first. */
  | { readonly kind: 'new'; readonly conversation: string; readonly turns: readonly Turn[] }
  /** The conversation continues, from an earlier message if history was cut. */
  | { readonly kind: 'resume'; readonly memory: ClaudeMemory; readonly isCut: boolean };

/** Reads a stored value, which another version of the host may have written. */
export function memoryOf(value: unknown): ClaudeMemory | undefined {
  if (!isRecord(value) || typeof value.conversation !== 'string' || !Array.isArray(value.marks)) return undefined;
  const isMark = (mark: unknown): mark is Mark =>
    Array.isArray(mark) && mark.length === 2 && mark.every((part) => typeof part === 'string');
  return value.marks.every(isMark) ? { conversation: value.conversation, marks: value.marks } : undefined;
}

/** Claude continues after the newest turn of the host's history that it knows, which may be the current turn itself. */
export function beginningOf(memory: ClaudeMemory | undefined, turns: readonly Turn[], current?: string): Beginning {
  const isThere = (turnId: string) => turnId === current || turns.some(({ id }) => id === turnId);
  const known = memory?.marks.findLastIndex(([turnId]) => isThere(turnId)) ?? -1;
  if (!memory || known < 0) return startedOver(turns);
  const marks = memory.marks.slice(0, known + 1);
  return { kind: 'resume', memory: { ...memory, marks }, isCut: marks.length < memory.marks.length };
}

function startedOver(turns: readonly Turn[]): Beginning {
  return { kind: 'new', conversation: crypto.randomUUID(), turns };
}

/** Adds how far Claude came in a turn. */
export function withMark({ conversation, marks }: ClaudeMemory, [turnId, message]: Mark): ClaudeMemory {
  const others = marks.filter(([id]) => id !== turnId);
  return { conversation, marks: newest([...others, [turnId, message] as const]) };
}

function newest(marks: readonly Mark[]): Mark[] {
  let room = MARKS_MAX_CHARACTERS;
  const tooOld = marks.findLastIndex((mark) => {
    room -= JSON.stringify(mark).length + 1;
    return room < 0;
  });
  return marks.slice(tooOld + 1);
}
