/** A mention in a message: whether one is being typed, and what the message is once something was chosen for it. */
import { type ArgumentFacts, type CompletionItem, completeCommand } from '@atrium/protocol/ahp-1';

/** Something to insert: found by the host, or a command of the page or a word of its argument. */
export interface Offered extends Omit<CompletionItem, 'attachment'> {
  /** Absent for what belongs to a command: it brings nothing along. */
  readonly attachment?: CompletionItem['attachment'];
  /** How it is shown, and what it means; without them, the text and the attachment say it. */
  readonly label?: string;
  readonly about?: string;
}

/** What was found for the message as it was then. */
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

/** Whether Enter sends although a list is open: the command is whole, and nothing of a further word was typed. */
export function isWhole({ text }: Found, item: Offered): boolean {
  const isCommand = item.attachment === undefined;
  return isCommand && (/^\/\S+\s+(?:.*\s)?$/.test(text) || item.insertText.trim() === text.trim());
}

export const NOTHING: Found = { text: '', caret: 0, items: [] };

/** A mention may also begin inside of brackets and quotes. */
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
 * Inserts an item into the message. The text may have changed since the item was found; the item still fits as long as
 * the change lies inside of what it replaces. Otherwise: undefined.
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
