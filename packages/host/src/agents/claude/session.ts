/** A session with Claude. It lives in Claude's own files; between turns nothing of it runs. */
import type { Turn } from '@atrium/protocol';
import { AgentError, type AgentOpenContext, type AgentSession, type AgentTurn } from '../../core/contracts/agent.js';
import { titleFrom } from '../offline/title.js';
import type { ClaudeSettings } from './claude-agent.js';
import { HISTORY_TURNS_MAX } from './limits.js';
import { type Beginning, beginningOf, begunAnew, type ClaudeMemory, memoryOf, withMark } from './memory.js';
import { TurnRun } from './run.js';
import type { ClaudeSdk } from './sdk.js';

export class ClaudeSession implements AgentSession {
  readonly #sdk: ClaudeSdk;
  readonly #settings: ClaudeSettings;
  readonly #context: AgentOpenContext;
  readonly #closing = new AbortController();
  /** Turns come one after the other, but a cancelled one may still be ending when the next begins. */
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

  /** Whatever happened to history meanwhile, it is the host's that counts: see `beginningOf`. */
  async #run(turn: AgentTurn): Promise<void> {
    const memory = memoryOf(this.#context.memory.get());
    const turns = await this.#turnsSince(memory);
    if (turns.length === 0) turn.title(titleFrom(turn.message.text) || 'Untitled');
    if (await this.#attempt(turn, beginningOf(memory, turns, turn.id))) return;
    if (await this.#attempt(turn, begunAnew(await this.#context.history(HISTORY_TURNS_MAX)))) return;
    throw new AgentError('other', `${this.#settings.displayName} could not begin a conversation. Try again.`);
  }

  /** As a rule the newest turn is the one that Claude knows last; only otherwise more of them are needed. */
  async #turnsSince(memory: ClaudeMemory | undefined): Promise<Turn[]> {
    const [newest] = await this.#context.history(1);
    if (!newest) return [];
    return newest.id === memory?.marks.at(-1)?.[0] ? [newest] : this.#context.history(HISTORY_TURNS_MAX);
  }

  async #attempt(turn: AgentTurn, beginning: Beginning): Promise<boolean> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const run = new TurnRun({ sdk: this.#sdk, settings: this.#settings, turn, beginning, signal });
    try {
      return await run.run();
    } finally {
      this.#remember(turn.id, beginning, run.mark);
    }
  }

  /** A turn in which nothing came from Claude leaves no trace there, so there is nothing to go on from. */
  #remember(turnId: string, beginning: Beginning, mark: string | undefined): void {
    if (mark === undefined) return;
    const before: ClaudeMemory =
      beginning.kind === 'new' ? { conversation: beginning.conversation, marks: [] } : beginning.memory;
    this.#context.memory.set(withMark(before, [turnId, mark]));
  }
}
