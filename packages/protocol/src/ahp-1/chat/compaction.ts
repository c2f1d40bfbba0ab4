/**
 * Making room in an agent's memory. A person asks for it with the message `/compact [what to keep]`. The summary then stands in
 * the turn as a notification that every client shows, with its facts in `_meta` for clients that know them. It is later in the
 * chat than everything that it stands for, so that history that is cut takes the summary with it.
 */
import { isLiteral } from '../session/slash-commands.js';
import type { Message } from './messages.js';
import type { ResponsePart, SystemNotificationResponsePart } from './turns.js';

const COMPACTION_META_KEY = 'atrium.compaction';
/** Longer summaries are cut. */
export const SUMMARY_MAX_CHARACTERS = 16_000;

export interface Compaction {
  /** What the agent knows of the turns that it stands for. */
  readonly summary: string;
  /** The first turn that the agent still knows word by word; the summary stands for all before it. */
  readonly firstKept: string;
  /** How many turns it stands for. */
  readonly turns: number;
  /** About how many tokens the conversation had before, and has now. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Whether a person asked for it. */
  readonly isAsked: boolean;
}

/** What to keep, in a message that asks for a compaction; undefined for any other message. */
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
