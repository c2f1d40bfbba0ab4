/** A mention in a message: whether one is being typed, and what the message is once something was chosen for it. */
import type { CompletionItem } from '@atrium/protocol/ahp-1';

/** What the host found for the message as it was then. */
export interface Found {
  readonly text: string;
  readonly caret: number;
  readonly items: readonly CompletionItem[];
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
  item: CompletionItem,
  now: string,
): { readonly text: string; readonly caret: number } | undefined {
  if (!items.includes(item)) return undefined;
  const { insertText, rangeStart = caret, rangeEnd = caret } = item;
  const end = rangeEnd + now.length - then.length;
  const isSame = now.slice(0, rangeStart) === then.slice(0, rangeStart) && now.slice(end) === then.slice(rangeEnd);
  if (!isSame || end < rangeStart) return undefined;
  return { text: now.slice(0, rangeStart) + insertText + now.slice(end), caret: rangeStart + insertText.length };
}
