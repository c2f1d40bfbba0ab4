/** Puts pieces of output together into lines, none of them endless. */

/** Longer lines are cut: a log is for reading. */
export const LINE_MAX_CHARACTERS = 1_000;

export class OutputLines {
  #rest = '';

  constructor(private readonly line: (text: string) => void) {}

  add(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    // Of a line without an end, only so much is kept as will be shown.
    this.#rest = (lines.pop() ?? '').slice(0, LINE_MAX_CHARACTERS);
    for (const line of lines) this.#say(line);
  }

  end(): void {
    this.#say(this.#rest);
    this.#rest = '';
  }

  #say(line: string): void {
    if (line.trim() !== '') this.line(line.slice(0, LINE_MAX_CHARACTERS));
  }
}
