/** When a chat is drawn: soon after something has changed, never while somebody else has the terminal. */
import type { Style } from '../text/style.js';
import type { ViewOptions } from './call-view.js';
import { type Frame, Screen } from './screen.js';
import { noteLines } from './transcript.js';

/** Many changes in a short time are drawn once. */
const DRAW_AFTER_MS = 16;
const NOTHING: Frame = { lines: [''], cursor: { row: 0, column: 0 } };

export interface DisplayParts {
  readonly style: Style;
  /** What goes up for good, and what is drawn below it. */
  draw(view: ViewOptions): { readonly finished: readonly string[]; readonly frame: Frame };
}

export class Display {
  readonly #parts: DisplayParts;
  readonly #screen = new Screen(process.stdout);
  /** Lines that wait to go up. */
  readonly #notes: string[] = [];
  #state: 'ours' | 'away' | 'over' = 'ours';
  #drawing: NodeJS.Timeout | undefined;

  constructor(parts: DisplayParts) {
    this.#parts = parts;
  }

  get view(): ViewOptions {
    return { style: this.#parts.style, columns: this.#screen.columns, rows: this.#screen.wholeRows };
  }

  note(text: string): void {
    this.show([...noteLines(text, this.view), '']);
  }

  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void {
    this.#notes.push(...lines);
    this.changed();
  }

  changed(): void {
    this.#drawing ??= setTimeout(() => this.draw(), DRAW_AFTER_MS);
  }

  draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (this.#state !== 'ours') return;
    const { finished, frame } = this.#parts.draw(this.view);
    this.#screen.update([...this.#notes.splice(0), ...finished], frame);
  }

  /** Takes the live part away, so that whatever comes next starts on a clean line. */
  clear(): void {
    this.#screen.clear();
  }

  /** Somebody else has the terminal: what happens meanwhile is drawn afterwards. */
  leave(): void {
    if (this.#state === 'ours') this.#state = 'away';
  }

  comeBack(): void {
    if (this.#state === 'away') this.#state = 'ours';
    this.changed();
  }

  /** The last lines go up, and nothing is drawn any more. */
  close(last: readonly string[]): void {
    clearTimeout(this.#drawing);
    this.#state = 'over';
    this.#screen.update([...this.#notes.splice(0), ...last], NOTHING);
  }
}
