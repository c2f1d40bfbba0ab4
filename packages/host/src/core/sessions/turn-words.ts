/** How much an agent may say in one turn. What is beyond is neither stored nor shown, and it shows that it was cut. */
import { PART_TEXT_MAX_CHARACTERS, TURN_ACTIONS_MAX, TURN_PARTS_MAX, TURN_TEXT_MAX_CHARACTERS } from '../limits.js';
import { sizeText } from '../util/text.js';

const CUT = `\n\n[Cut: one part of an answer may have ${sizeText(PART_TEXT_MAX_CHARACTERS)}.]`;

export class TurnWords {
  #turnLeft = TURN_TEXT_MAX_CHARACTERS;
  #partLeft = 0;
  #isCut = false;
  #parts = 0;
  #actions = 0;

  /** What there was too much of, in words; the turn is to end then. */
  get excess(): string | undefined {
    if (this.#parts > TURN_PARTS_MAX) return `${TURN_PARTS_MAX} parts`;
    if (this.#actions > TURN_ACTIONS_MAX) return `${TURN_ACTIONS_MAX} pieces`;
    return this.#turnLeft < 0 ? `${sizeText(TURN_TEXT_MAX_CHARACTERS)} of text` : undefined;
  }

  countAction(): void {
    this.#actions += 1;
  }

  /** Something begins to be shown: text, thinking, a call, a note. */
  beginPart(): void {
    this.#parts += 1;
    this.#partLeft = PART_TEXT_MAX_CHARACTERS;
    this.#isCut = false;
  }

  /** What is shown of more text of the part; once it was cut, nothing. */
  take(content: string): string {
    const room = this.#partLeft;
    this.#partLeft = Math.max(0, room - content.length);
    // Also what is cut has to come to an end.
    this.#turnLeft -= content.length;
    if (content.length <= room) return content;
    const mark = this.#isCut ? '' : CUT;
    this.#isCut = true;
    return content.slice(0, room) + mark;
  }
}
