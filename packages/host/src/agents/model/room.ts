/** Makes room in what the model remembers, and tells people about it. */
import type { LanguageModelUsage } from 'ai';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { count } from '../../core/util/text.js';
import type { Conversation } from './conversation.js';
import { CONTEXT_WINDOW_DEFAULT_TOKENS, LEARNT_GROWTH } from './limits.js';
import type { ModelAgentOptions, ModelInfo } from './model-agent.js';
import { summarise } from './summary.js';
import { fit, roomFor, tokensIn } from './window.js';

export interface RoomRequest {
  readonly turn: AgentTurn;
  readonly model: ModelInfo;
  readonly conversation: Conversation;
  /** Everything else that goes along: the prompt, the tools. */
  readonly others: unknown;
}

export interface MadeRoom {
  readonly conversation: Conversation;
  /** What a summary cost. */
  readonly usage?: LanguageModelUsage | undefined;
}

export class RoomKeeper {
  readonly #options: ModelAgentOptions;
  /** By model: the largest request that its server is thought to take, in tokens, where that is less than it should. */
  readonly #learnt = new Map<string, number>();

  constructor(options: ModelAgentOptions) {
    this.#options = options;
  }

  async make(request: RoomRequest): Promise<MadeRoom> {
    const { turn, model, conversation: before } = request;
    const window = windowOf(model);
    const learnt = this.#learnt.get(model.id);
    const known = learnt === undefined ? Number.POSITIVE_INFINITY : learnt - tokensIn(request.others);
    const roomTokens = Math.min(roomFor(window, request.others), known);
    const { conversation, shortened, dropped } = fit(before, roomTokens);
    const limit = learnt === undefined ? `the ${window} tokens` : 'what the server takes';
    const why = `to stay within ${limit} of ${model.name}.`;
    if (shortened > 0) turn.notify(`Shortened ${count(shortened, 'tool output')} in the model's memory ${why}`);
    if (dropped.length === 0) return { conversation };
    const turns = `the oldest ${count(dropped.length, 'turn')}`;
    try {
      turn.activity('Summing up earlier turns');
      const { id: modelId } = model;
      const asked = { modelId, before, dropped, roomTokens, signal: turn.signal };
      const { text, usage } = await summarise(this.#options, asked);
      turn.notify(`Summed up ${turns} in the model's memory ${why}`);
      return { conversation: { ...conversation, summary: text, leftOut: [] }, usage };
    } catch {
      turn.signal.throwIfAborted();
      turn.notify(`Left ${turns} out of the model's memory ${why}`);
      return { conversation };
    } finally {
      turn.activity(undefined);
    }
  }

  /** The server says that a request was too long. Says whether a shorter one is worth a try. */
  tooLong({ model, conversation, others }: RoomRequest): boolean {
    const halved = Math.floor(tokensIn(conversation) / 2);
    const { shortened, dropped } = fit(conversation, halved);
    if (shortened === 0 && dropped.length === 0) return false;
    this.#learnt.set(model.id, halved + tokensIn(others));
    return true;
  }

  /** The server took a request. One that was too long may have been an exception, so the next one may be longer. */
  answered(model: ModelInfo): void {
    const learnt = this.#learnt.get(model.id);
    if (learnt === undefined) return;
    const next = learnt * LEARNT_GROWTH;
    if (next < windowOf(model)) this.#learnt.set(model.id, next);
    else this.#learnt.delete(model.id);
  }
}

function windowOf({ maxContextWindow = CONTEXT_WINDOW_DEFAULT_TOKENS }: ModelInfo): number {
  return maxContextWindow;
}
