/** Two ways to read with `for await`: the latest value only, or every value. */

/** How many actions an `actions()` loop may lag behind before it ends with an error. */
export const STREAM_MAX_WAITING = 10_000;

interface Changing<T> {
  current(): T;
  ended(): boolean;
  onChange(listener: () => void): () => void;
}

/** Yields the current value, then each new one; changes during one step of the loop count as one. */
export async function* latest<T>({ current, ended, onChange }: Changing<T>): AsyncGenerator<T, void, undefined> {
  let wake = () => {};
  const off = onChange(() => wake());
  try {
    for (let seen: T | typeof NOTHING = NOTHING; !ended(); ) {
      const value = current();
      if (value !== seen) {
        seen = value;
        yield value;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    off();
  }
}

const NOTHING = Symbol('nothing yet');

type End = { readonly error?: Error };

/** Every value in order, kept until it is read. Reading too slowly ends it with an error instead of filling memory. */
export class Queue<T> implements AsyncIterator<T, void, undefined>, AsyncIterable<T> {
  readonly #values: T[] = [];
  #end: End | undefined;
  #wake = () => {};
  readonly #onReturn: () => void;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(value: T): void {
    if (this.#end) return;
    if (this.#values.length < STREAM_MAX_WAITING) this.#values.push(value);
    else
      this.end(new Error(`${STREAM_MAX_WAITING} actions wait to be read. Read faster, or follow the state instead.`));
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#wake();
  }

  async next(): Promise<IteratorResult<T, void>> {
    while (this.#values.length === 0) {
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return { done: false, value: this.#values.shift() as T };
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#values.length = 0;
    this.end();
    this.#onReturn();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
