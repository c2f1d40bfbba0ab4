/** Hands on what a person adds in the middle of a turn, at the points where Claude can hear it. */
import { setImmediate } from 'node:timers/promises';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { messageText, textBlock } from './message.js';
import type { PromptStream } from './prompt-stream.js';

export class Steering {
  readonly #turn: AgentTurn;
  readonly #prompts: PromptStream;
  /** Messages that Claude has not yet said it heard. */
  readonly #unheard = new Set<string>();

  constructor(turn: AgentTurn, prompts: PromptStream) {
    this.#turn = turn;
    this.#prompts = prompts;
  }

  /** After a tool. The message is on its way before the tool's result is, so the next step of the model has both. */
  async afterTool(): Promise<void> {
    if (this.#take()) await setImmediate();
  }

  /** At the end of an answer, which names the messages that it took up. True when there is more to answer. */
  goesOn(heard: readonly string[]): boolean {
    for (const uuid of heard) this.#unheard.delete(uuid);
    this.#take();
    return this.#unheard.size > 0;
  }

  #take(): boolean {
    const message = this.#turn.takeSteering();
    if (message) this.#unheard.add(this.#prompts.push([textBlock(messageText(message))], { priority: 'next' }));
    return message !== undefined;
  }
}
