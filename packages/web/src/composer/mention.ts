/** Mentions in a message: recognises one that the person types, and inserts the chosen item. */
import { type ArgumentFacts, type CompletionItem, completeCommand } from '@atrium/protocol/ahp-1';

/** An item to insert: found by the host, a command of the page, or a word of its argument. */
export interface Offered extends Omit<CompletionItem, 'attachment'> {
  /** Absent for commands and their words, which attach nothing. */
  readonly attachment?: CompletionItem['attachment'];
  /** Its label and description; without them the list shows the text and the attachment. */
  readonly label?: string;
  readonly about?: string;
}

/** Items for the message as it was at that time. */
export interface Found {
  readonly text: string;
  readonly caret: number;
  readonly items: readonly Offered[];
}

/** The commands, or the words of an argument, that the text may become. */
export function commandsFor(text: string, caret: number, facts: ArgumentFacts): Offered[] {
  return completeCommand(text, caret, facts).map(({ label, about, text: whole }) => ({
    ...{ insertText: whole, rangeStart: 0, rangeEnd: text.length, label, about },
  }));
}

/** Whether Enter sends although a list is open: the command is complete, and no further word was begun. */
export function isWhole({ text }: Found, item: Offered): boolean {
  const isCommand = item.attachment === undefined;
  return isCommand && (/^\/\S+\s+(?:.*\s)?$/.test(text) || item.insertText.trim() === text.trim());
}

export const NOTHING: Found = { text: '', caret: 0, items: [] };

/** A mention may also begin after an opening bracket or quote. */
const OPENERS = ['(', '[', '{', '"', "'", '`'];
/** Longer words are not mentions. */
const WORD_MAX_CHARACTERS = 500;

/** Whether the word in front of the caret begins with one of the host's trigger characters. */
export function isMention(text: string, caret: number, triggers: readonly string[]): boolean {
  const before = text.slice(Math.max(0, caret - WORD_MAX_CHARACTERS), caret);
  const word = /\S*$/.exec(before)?.[0] ?? '';
  return triggers.some(
    (trigger) =>
      trigger !== '' && (word.startsWith(trigger) || OPENERS.some((opener) => word.includes(opener + trigger))),
  );
}

/**
 * Inserts an item into the message. If the text has changed since the item was found, the item still fits as long as
 * the
 * change is inside the replaced range; otherwise the result is undefined.
 */
export function inserted(
  { text: then, caret, items }: Found,
  item: Offered,
  now: string,
): { readonly text: string; readonly caret: number } | undefined {
  if (!items.includes(item)) return undefined;
  const { insertText, rangeStart = caret, rangeEnd = caret } = item;
  const end = rangeEnd + now.length - then.length;
  const isSame = now.slice(0, rangeStart) === then.slice(0, rangeStart) && now.slice(end) === then.slice(rangeEnd);
  if (!isSame || end < rangeStart) return undefined;
  return { text: now.slice(0, rangeStart) + insertText + now.slice(end), caret: rangeStart + insertText.length };
}
