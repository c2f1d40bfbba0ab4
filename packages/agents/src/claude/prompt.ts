/** What a person says to Claude in one turn: the message, and later messages that steer the turn. */
import { setImmediate } from 'node:timers/promises';
import type { ImagePart } from '@ai-sdk/provider-utils';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { Message } from '@atrium/protocol/ahp-1';
import { attachedImages, embeddedImages, messageText } from '../shared/messages.js';
import type { InputBlock, UserInput } from './sdk.js';

export async function messageBlocks(message: Message, folder: string): Promise<InputBlock[]> {
  return [...(await attachedImages(message, folder)).map(imageBlock), textBlock(messageText(message))];
}

function imageBlock({ image, mediaType }: ImagePart): InputBlock {
  const source = { type: 'base64' as const, media_type: mediaType ?? 'image/png', data: String(image) };
  return { type: 'image', source };
}

export function textBlock(text: string): InputBlock {
  return { type: 'text', text };
}

/** The stream of messages that the SDK reads, open until `end` is called. */
export class PromptStream implements AsyncIterable<UserInput> {
  readonly #waiting: UserInput[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  /** Adds a message, and returns the id that the answer will name. */
  push(content: readonly InputBlock[], more: Pick<UserInput, 'priority'> = {}): string {
    const uuid = crypto.randomUUID();
    this.#waiting.push({ type: 'user', uuid, message: { role: 'user', content }, parent_tool_use_id: null, ...more });
    this.#wake();
    return uuid;
  }

  /** Ends the stream: the program ends by itself once it has answered. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserInput> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#isOver) return;
      else await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Passes on a person's steering messages at points where Claude can take them. */
export class Steering {
  readonly #turn: AgentTurn;
  readonly #prompts: PromptStream;
  /** Messages that no answer of Claude has named yet. */
  readonly #unheard = new Set<string>();

  constructor(turn: AgentTurn, prompts: PromptStream) {
    this.#turn = turn;
    this.#prompts = prompts;
  }

  /** Sends a waiting message before the tool's result, so that the model's next step has both. */
  async afterTool(): Promise<void> {
    if (this.#take()) await setImmediate();
  }

  /**
   * Called at the end of an answer, which names the messages that it answers. Returns true if there is more to answer.
   */
  matches(received: readonly string[]): boolean {
    for (const uuid of received) this.#unheard.delete(uuid);
    this.#take();
    return this.#unheard.size > 0;
  }

  #take(): boolean {
    const message = this.#turn.takeSteering();
    if (!message) return false;
    const content = [...embeddedImages(message).map(imageBlock), textBlock(messageText(message))];
    this.#unheard.add(this.#prompts.push(content, { priority: 'next' }));
    return true;
  }
}
