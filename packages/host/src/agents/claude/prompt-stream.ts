/** What is said to Claude in one turn: the message, and whatever a person adds while it works. Open until it is ended. */
import type { InputBlock, UserInput } from './sdk.js';

export class PromptStream implements AsyncIterable<UserInput> {
  readonly #waiting: UserInput[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  /** Returns the id under which the answer will name it. */
  push(content: readonly InputBlock[], more: Pick<UserInput, 'priority'> = {}): string {
    const uuid = crypto.randomUUID();
    this.#waiting.push({ type: 'user', uuid, message: { role: 'user', content }, parent_tool_use_id: null, ...more });
    this.#wake();
    return uuid;
  }

  /** The program ends by itself once it has done what it was told. */
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
