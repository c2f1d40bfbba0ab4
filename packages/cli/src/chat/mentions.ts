/** What was taken from a completion and belongs to a message: it is sent along where its word is still there. */
import type { MessageAttachment } from '@atrium/protocol';

/** Of a long chat, those that were taken last. */
const KEPT_MAX = 200;
/** What may stand around a word that is meant. */
const BEFORE = /^$|[\s([{"'`]$/;
const AFTER = /^(?:$|[\s)\]}"'`.,;:!?])/;

export class Mentions {
  readonly #taken = new Map<string, MessageAttachment>();
  #carried: readonly MessageAttachment[] = [];

  add(word: string, attachment: MessageAttachment): void {
    const token = word.trim();
    if (token === '') return;
    this.#taken.delete(token);
    this.#taken.set(token, attachment);
    if (this.#taken.size > KEPT_MAX) this.#taken.delete([...this.#taken.keys()][0] ?? '');
  }

  /** A message that comes back into the line brings along what belonged to it. */
  carry(attachments: readonly MessageAttachment[]): void {
    this.#carried = attachments;
  }

  /** What goes along with a text, as the host gave it, member for member. */
  take(text: string): MessageAttachment[] {
    const carried = this.#carried;
    this.#carried = [];
    const known = new Set(carried.map((each) => JSON.stringify(each)));
    const named = [...this.#taken].flatMap(([word, attachment]) => (has(text, word) ? [attachment] : []));
    return [...carried, ...named.filter((each) => !known.has(JSON.stringify(each)))];
  }
}

function has(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (BEFORE.test(text.slice(Math.max(0, at - 1), at)) && AFTER.test(text.slice(end, end + 1))) return true;
  }
  return false;
}
