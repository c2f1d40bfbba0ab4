/** Reads keys from the bytes that terminals send. Pasted text comes as one piece. */

export interface Key {
  /** `text` and `paste` carry text; all others are keys. */
  readonly name: string;
  readonly text?: string;
  readonly ctrl?: boolean;
  readonly alt?: boolean;
  readonly shift?: boolean;
}

/** After this time an escape is the Escape key, and not the beginning of a sequence. Slow links need a moment. */
const ESCAPE_WAIT_MS = 60;
const PASTE_BEGIN = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** A longer paste is cut here. */
const PASTE_MAX_CHARACTERS = 1_000_000;

const LETTERS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'tab',
  // Not keys: the terminal reports that it got or lost the focus (mode 1004).
  I: 'focus',
  O: 'blur',
};
const NUMBERS: Readonly<Record<string, string>> = {
  ...{ 1: 'home', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' },
  ...{ 9: 'tab', 13: 'enter', 27: 'escape', 127: 'backspace' },
};
const CONTROLS: Readonly<Record<string, Key>> = {
  '\r': { name: 'enter' },
  '\n': { name: 'newline' },
  '\t': { name: 'tab' },
  '\u007f': { name: 'backspace' },
  '\b': { name: 'backspace' },
};

export class KeyReader {
  #buffer = '';
  #paste: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastLook: NodeJS.Immediate | undefined;
  readonly #onKey: (key: Key) => void;

  constructor(onKey: (key: Key) => void) {
    this.#onKey = onKey;
  }

  feed(chunk: string): void {
    this.close();
    this.#buffer += chunk;
    while (this.#buffer !== '') {
      const read = this.#paste === undefined ? this.#next() : this.#more(this.#paste);
      if (!read) break;
    }
    const isBegun = this.#buffer.startsWith('\u001b') && this.#paste === undefined;
    if (isBegun) this.#timer = setTimeout(() => this.#lookOnce(), ESCAPE_WAIT_MS);
  }

  /** Stops reading, also in the middle of a chunk, and returns the unread rest. */
  takeRest(): string {
    const rest = this.#buffer;
    this.#buffer = '';
    return rest;
  }

  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
  }

  /** On a busy machine the rest may have arrived and wait unread, so this reads once more first. */
  #lookOnce(): void {
    this.#lastLook = setImmediate(() => this.#giveUp());
  }

  /** The rest of the sequence did not come: it was the Escape key, or an unknown sequence. */
  #giveUp(): void {
    const isKey = this.#buffer === '\u001b';
    this.#buffer = '';
    if (isKey) this.#onKey({ name: 'escape' });
  }

  /** Reads one key. False when the buffer holds only the beginning of one. */
  #next(): boolean {
    const buffer = this.#buffer;
    if (buffer.startsWith(PASTE_BEGIN)) {
      this.#take(PASTE_BEGIN.length);
      this.#paste = '';
      return true;
    }
    if (buffer.startsWith('\u001b')) return this.#sequence(buffer);
    const [text] = /^[^\p{Cc}]+/u.exec(buffer) ?? [''];
    if (text !== '') return this.#told(text.length, { name: 'text', text });
    const [control = ''] = buffer;
    const known = CONTROLS[control];
    if (known) return this.#told(1, known);
    const letter = String.fromCharCode(control.charCodeAt(0) + 96);
    return this.#told(1, { name: letter, ctrl: true });
  }

  #sequence(buffer: string): boolean {
    if (buffer.length === 1) return false;
    const rest = buffer.slice(1);
    const [whole, numbers = '', final = ''] = /^[[O]([\d;:]*)([~A-Za-z])/.exec(rest) ?? [];
    if (whole) return this.#told(1 + whole.length, keyOf(numbers, final));
    // The beginning of a sequence; the rest is on its way.
    if (/^[[O][\d;:<?]*$/.test(rest)) return false;
    if (rest.startsWith('\u001b')) return this.#told(1, { name: 'escape' });
    const [letter = ''] = [...rest];
    const key = CONTROLS[letter] ?? { name: 'text', text: letter };
    return this.#told(1 + letter.length, { ...key, name: key.name === 'text' ? letter : key.name, alt: true });
  }

  #more(pasted: string): boolean {
    const end = this.#buffer.indexOf(PASTE_END);
    // The end mark may be cut in two.
    const ready = end < 0 ? Math.max(0, this.#buffer.length - PASTE_END.length) : end;
    const text = (pasted + this.#buffer.slice(0, ready)).slice(0, PASTE_MAX_CHARACTERS);
    this.#paste = text;
    this.#take(ready);
    if (end < 0) return false;
    this.#paste = undefined;
    return this.#told(PASTE_END.length, { name: 'paste', text: text.replace(/\r\n?/g, '\n') });
  }

  #told(length: number, key: Key): boolean {
    this.#take(length);
    this.#onKey(key);
    return true;
  }

  #take(length: number): void {
    this.#buffer = this.#buffer.slice(length);
  }
}

/** `1;5C` is Ctrl+Right: the second number counts shift, alt and ctrl as bits, plus one. */
function keyOf(numbers: string, final: string): Key {
  const [first = '', modifiers = '1'] = numbers.split(';');
  const bits = Number.parseInt(modifiers, 10) - 1;
  const held = { ...(bits & 1 && { shift: true }), ...(bits & 2 && { alt: true }), ...(bits & 4 && { ctrl: true }) };
  if (final === 'u' && Number(first) > 127) return { name: 'text', text: String.fromCodePoint(Number(first)) };
  if (final === 'u' && NUMBERS[first] === undefined) return { name: String.fromCharCode(Number(first)), ...held };
  const name = final === '~' || final === 'u' ? NUMBERS[first] : LETTERS[final];
  return { name: name ?? 'unknown', ...(final === 'Z' && { shift: true }), ...held };
}
