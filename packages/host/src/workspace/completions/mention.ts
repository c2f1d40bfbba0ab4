/** Finds what is being typed at the caret: `@parser`, `#openFile`, or `/deploy` at the very beginning. */

export interface Mention {
  readonly trigger: '@' | '#' | '/';
  /** What stands between the trigger and the caret. */
  readonly query: string;
  /** The whole word, trigger included, in UTF-16 units: what an answer replaces. */
  readonly start: number;
  readonly end: number;
}

export const TRIGGERS: readonly string[] = ['@', '#', '/'];
/** Longer words are not mentions; nobody types them. */
const MENTION_MAX_CHARACTERS = 500;

export function mentionAt(text: string, offset: number): Mention | undefined {
  const before = text.slice(Math.max(0, offset - MENTION_MAX_CHARACTERS), offset);
  const typed = /(?:^|[\s([{"'`])([@#/]\S*)$/.exec(before)?.[1];
  if (typed === undefined) return undefined;
  const start = offset - typed.length;
  const trigger = typed[0] as Mention['trigger'];
  if (trigger === '/' && text.slice(0, start).trim() !== '') return undefined;
  const rest = /^\S*/.exec(text.slice(offset, offset + MENTION_MAX_CHARACTERS))?.[0] ?? '';
  return { trigger, query: typed.slice(1), start, end: offset + rest.length };
}
