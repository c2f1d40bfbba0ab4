/**
 * Writes a value as JSON, part by part: neither the text of a large answer nor a dialect's copy of its content ever
 * exists as a whole. The value must not change meanwhile; states never do.
 */

/** A message is cut into parts of about this length. A shorter one is not cut. */
export const PART_CHARACTERS = 128 * 2 ** 10;

/** One call of `JSON.stringify` writes about this much. */
const PIECE_CHARACTERS = 16 * 2 ** 10;

/** JSON inside a value, as text or as UTF-8. It is written as it is, without being parsed. */
export class RawJson {
  constructor(readonly json: string | Buffer) {}

  /** Throws: `JSON.stringify` would write an object with a text in it, and the client would read nonsense. */
  toJSON(): never {
    throw new TypeError('raw JSON can only be written by JsonParts');
  }
}

/**
 * A list inside a value whose items are read while they are sent, page by page. Dialects may `map` it like an array.
 */
export class LazyList<T> {
  constructor(readonly pages: () => AsyncIterator<readonly T[]>) {}

  map<U>(change: (item: T) => U): LazyList<U> {
    return new LazyList(() => {
      const pages = this.pages();
      return {
        // Transform each item when it is written, not when its page is read, so that only one is in memory at a time.
        next: async () => {
          const { done, value } = await pages.next();
          return done
            ? { done, value: undefined }
            : { value: value.map((item) => new Later(() => change(made(item)))) as U[] };
        },
      };
    });
  }

  /** Throws: `JSON.stringify` cannot wait for pages, and would silently lose them. */
  toJSON(): never {
    throw new TypeError('a lazy list can only be written by JsonParts');
  }
}

/** An item of a list that is made when it is written. */
class Later {
  constructor(readonly make: () => unknown) {}
}

function made<T>(item: T): T {
  return item instanceof Later ? (item.make() as T) : item;
}

export interface JsonPart {
  readonly text: string;
  /** UTF-8 bytes after the text, passed on as they were read. */
  readonly bytes?: Buffer;
  readonly isLast: boolean;
}

/** Pieces of text, bytes that are text, and promises to wait for before the next piece. */
type Pieces = Generator<string | Buffer | Promise<void>, void, undefined>;

export class JsonParts {
  readonly #pieces: Pieces;
  #text = '';
  #bytes: Buffer | undefined;
  #isDone = false;
  #awaited: Promise<void> | undefined;

  /** `before` and `after` are text around the value. */
  constructor(value: unknown, { before = '', after = '' } = {}) {
    this.#pieces = written(value, before, after);
  }

  /** The whole text, if it is no longer than one part and needs no waiting. */
  atOnce(): string | undefined {
    this.#write();
    return this.#isDone ? this.#text : undefined;
  }

  async next(): Promise<JsonPart> {
    do await this.#awaited;
    while (!this.#write());
    const text = this.#text;
    const bytes = this.#bytes;
    this.#text = '';
    this.#bytes = undefined;
    return { text, ...(bytes && { bytes }), isLast: this.#isDone };
  }

  /** Writes until a part is full or ends with bytes; false when something has to be waited for first. */
  #write(): boolean {
    while (!this.#isDone && !this.#bytes && this.#text.length < PART_CHARACTERS) {
      const { done, value } = this.#pieces.next();
      if (done) this.#isDone = true;
      else if (typeof value === 'string') this.#text += value;
      else if (Buffer.isBuffer(value)) this.#bytes = value;
      else {
        // If the reader gives up before this settles, the rejection must not be unhandled.
        value.catch(() => {});
        this.#awaited = value;
        return false;
      }
    }
    return true;
  }
}

function* written(value: unknown, before: string, after: string): Pieces {
  yield before;
  yield* piecesOf(value);
  yield after;
}

function* piecesOf(value: unknown): Pieces {
  if (value instanceof RawJson) {
    if (typeof value.json === 'string') yield* cut(value.json);
    else yield value.json;
  } else if (value instanceof LazyList) yield* lazyPieces(value);
  else if (value instanceof Later) yield* piecesOf(value.make());
  else if (remainingBudget(value, PIECE_CHARACTERS) >= 0) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* stringPieces(value);
  else if (Array.isArray(value)) yield* arrayPieces(value);
  else yield* objectPieces(value as object);
}

/** How much of a budget of characters a value leaves. Negative, too, for values that `JSON.stringify` cannot write. */
function remainingBudget(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length;
  if (typeof value !== 'object' || value === null) return budget - 1;
  if (value instanceof RawJson || value instanceof LazyList || value instanceof Later) return -1;
  let rest = budget;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) rest = remainingBudget(value[index], rest - 1);
    return rest;
  }
  for (const key of Object.keys(value)) {
    rest = remainingBudget((value as Record<string, unknown>)[key], rest - key.length - 1);
    if (rest < 0) break;
  }
  return rest;
}

function* arrayPieces(values: readonly unknown[]): Pieces {
  yield '[';
  for (let start = 0; start < values.length; ) {
    if (start > 0) yield ',';
    const end = endOfRun(values, start);
    if (end > start) yield JSON.stringify(values.slice(start, end)).slice(1, -1);
    else yield* piecesOf(values[start]);
    start = Math.max(end, start + 1);
  }
  yield ']';
}

/**
 * Finds the end of a run of small items that are written as one piece: one by one, they would cost more than their
 * text.
 */
function endOfRun(values: readonly unknown[], start: number): number {
  let end = start;
  for (let rest = PIECE_CHARACTERS; end < values.length; end++) {
    rest = remainingBudget(values[end], rest - 1);
    if (rest < 0) break;
  }
  return end;
}

function* objectPieces(object: object): Pieces {
  let separator = '{';
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* piecesOf(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* lazyPieces(list: LazyList<unknown>): Pieces {
  const pages = list.pages();
  let separator = '';
  yield '[';
  for (;;) {
    let page: IteratorResult<readonly unknown[]> | undefined;
    yield pages.next().then((result) => {
      page = result;
    });
    if (!page) throw new Error('a lazy list was written on before its page was there');
    if (page.done) break;
    for (const item of page.value) {
      yield separator;
      separator = ',';
      yield* piecesOf(item);
    }
  }
  yield ']';
}

function* stringPieces(text: string): Pieces {
  yield '"';
  for (const piece of cut(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

/** Cuts a text into pieces. Surrogate pairs stay together, because half a character cannot be sent. */
function* cut(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    let end = start + PIECE_CHARACTERS;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
