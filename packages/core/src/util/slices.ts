/**
 * Does long work in slices. The host has one thread: work that takes more than a few milliseconds awaits `nextSlice`
 * between its slices, so that other sessions and clients are served meanwhile.
 */

/** A text up to this length is parsed at once, in a few milliseconds. */
export const PARSED_AT_ONCE_CHARACTERS = 512 * 2 ** 10;

/** How much of a longer text is parsed in one slice, unless a single string in it is longer. */
const PARSE_SLICE_CHARACTERS = 256 * 2 ** 10;

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Resolves in a later turn of the event loop. Each turn lets only one waiting caller go on. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    waiting.shift()?.();
    schedule();
  });
}

/** Like `JSON.parse`, but parses a long text in slices. */
export async function parseInSlices(text: string): Promise<unknown> {
  if (text.length <= PARSED_AT_ONCE_CHARACTERS) return JSON.parse(text);
  const parsing = new SlicedParser(text).whole();
  for (;;) {
    const { done, value } = parsing.next();
    if (done) return value;
    await nextSlice();
  }
}

/**
 * This parser is a generator, so that it can pause at the end of a slice. `JSON.parse` reads the strings, numbers and
 * words.
 */
type Parsing = Generator<undefined, unknown, undefined>;

const SPACE = /[ \t\r\n]*/y;
const WORD = /[^ \t\r\n,\]}]+/y;

class SlicedParser {
  #at = 0;
  #pauseAt = PARSE_SLICE_CHARACTERS;

  constructor(private readonly text: string) {}

  *whole(): Parsing {
    const value = yield* this.#value();
    this.#skipSpace();
    if (this.#at < this.text.length) throw this.#unexpected();
    return value;
  }

  *#value(): Parsing {
    if (this.#at >= this.#pauseAt) {
      this.#pauseAt = this.#at + PARSE_SLICE_CHARACTERS;
      yield;
    }
    this.#skipSpace();
    const first = this.text[this.#at];
    if (first === '{') return yield* this.#object();
    if (first === '[') return yield* this.#array();
    return first === '"' ? this.#string() : this.#word();
  }

  *#object(): Parsing {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#takes('}')) return object;
    do {
      this.#skipSpace();
      const key = this.#string();
      if (!this.#takes(':')) throw this.#unexpected();
      const value = yield* this.#value();
      // A plain assignment would set the prototype.
      if (key === '__proto__') Object.defineProperty(object, key, { value, ...OWN_MEMBER });
      else object[key] = value;
    } while (this.#takes(','));
    if (!this.#takes('}')) throw this.#unexpected();
    return object;
  }

  *#array(): Parsing {
    const array: unknown[] = [];
    this.#at += 1;
    if (this.#takes(']')) return array;
    do {
      array.push(yield* this.#value());
    } while (this.#takes(','));
    if (!this.#takes(']')) throw this.#unexpected();
    return array;
  }

  #string(): string {
    const start = this.#at;
    if (this.text[start] !== '"') throw this.#unexpected();
    let end = this.text.indexOf('"', start + 1);
    while (end >= 0 && this.#isEscaped(end)) end = this.text.indexOf('"', end + 1);
    if (end < 0) throw this.#unexpected();
    this.#at = end + 1;
    return JSON.parse(this.text.slice(start, end + 1));
  }

  /** True when an odd number of backslashes precedes this place. */
  #isEscaped(place: number): boolean {
    let before = place;
    while (this.text[before - 1] === '\\') before -= 1;
    return (place - before) % 2 === 1;
  }

  #word(): unknown {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.text) ?? [];
    if (word === undefined) throw this.#unexpected();
    this.#at = WORD.lastIndex;
    return JSON.parse(word);
  }

  #takes(character: string): boolean {
    this.#skipSpace();
    if (this.text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.text);
    this.#at = SPACE.lastIndex;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`unexpected ${this.text[this.#at] ?? 'end'} at ${this.#at} of a JSON text`);
  }
}

const OWN_MEMBER = { writable: true, enumerable: true, configurable: true };
