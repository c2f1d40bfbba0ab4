/**
 * Making room in an agent's memory. A person asks for it with the message `/compact [what to keep]`. The summary then
 * becomes a notification in the turn that every client shows, with its facts in `_meta` for clients that know them. It
 * comes later in the chat than everything that it covers, so that cutting history takes the summary away, too.
 */
import { isLiteral } from '../session/slash-commands.js';
import type { Message } from './messages.js';
import type { ResponsePart, SystemNotificationResponsePart } from './turns.js';

const COMPACTION_META_KEY = 'atrium.compaction';
/** Longer summaries are cut. */
export const SUMMARY_MAX_CHARACTERS = 16_000;

export interface Compaction {
  /** What the agent knows of the turns that the summary covers. */
  readonly summary: string;
  /** The first turn that the agent still knows word by word; the summary covers all turns before it. */
  readonly firstKept: string;
  /** How many turns it covers. */
  readonly turns: number;
  /** Approximate size of the conversation before and after, in tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** A person asked for it. */
  readonly isAsked: boolean;
}

/** What to keep, from a message that asks for a compaction; undefined for any other message. */
export function compactCommand(message: Pick<Message, 'text' | '_meta'>): string | undefined {
  const [whole, keep = ''] = /^\/compact(?:\s+([\s\S]*))?$/.exec(message.text.trim()) ?? [];
  return whole === undefined || isLiteral(message) ? undefined : keep.trim();
}

export function compactionPart(compaction: Compaction): SystemNotificationResponsePart {
  const { turns, tokensBefore, tokensAfter, summary } = compaction;
  const what = turns === 1 ? 'the turn' : `the ${turns} turns`;
  const size = `${kilo(tokensBefore)} to ${kilo(tokensAfter)} tokens`;
  return {
    kind: 'systemNotification',
    content: `Summed up ${what} before this in the agent's memory, from about ${size}. It goes on with:\n\n${summary}`,
    _meta: { [COMPACTION_META_KEY]: compaction },
  };
}

/** The facts of a part that is a summary; undefined for any other part. */
export function compactionIn(part: ResponsePart): Compaction | undefined {
  const value = part.kind === 'systemNotification' ? part._meta?.[COMPACTION_META_KEY] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const { summary, firstKept, turns, tokensBefore, tokensAfter, isAsked } = value as Partial<Compaction>;
  const isWhole =
    typeof summary === 'string' &&
    typeof firstKept === 'string' &&
    [turns, tokensBefore, tokensAfter].every((count) => typeof count === 'number') &&
    typeof isAsked === 'boolean';
  return isWhole ? (value as Compaction) : undefined;
}

function kilo(tokens: number): string {
  return tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}
