/** What the model remembers of a session, turn by turn. Values only: every change gives a new one. */
import type { ModelMessage } from 'ai';

/** One turn: the person's message first, then what followed. */
export interface Exchange {
  readonly turnId: string;
  readonly messages: readonly ModelMessage[];
}

export interface Conversation {
  /** One line for each of the last turns that were left out to make room, oldest first. */
  readonly leftOut: readonly string[];
  readonly exchanges: readonly Exchange[];
}

export const EMPTY_CONVERSATION: Conversation = { leftOut: [], exchanges: [] };

export function withExchange({ leftOut, exchanges }: Conversation, exchange: Exchange): Conversation {
  return { leftOut, exchanges: [...exchanges, exchange] };
}

/** More of the turn that is running. */
export function withMessages({ leftOut, exchanges }: Conversation, more: readonly ModelMessage[]): Conversation {
  const current = exchanges.at(-1);
  if (!current || more.length === 0) return { leftOut, exchanges };
  const grown = { ...current, messages: [...current.messages, ...more] };
  return { leftOut, exchanges: [...exchanges.slice(0, -1), grown] };
}

/** Everything up to a turn; undefined when that turn is not in memory. */
export function upToTurn({ leftOut, exchanges }: Conversation, turnId: string): Conversation | undefined {
  const index = exchanges.findIndex((exchange) => exchange.turnId === turnId);
  return index < 0 ? undefined : { leftOut, exchanges: exchanges.slice(0, index + 1) };
}

/** As it goes to the model. The summary joins the first message: many servers want people and model to take turns. */
export function messagesOf({ leftOut, exchanges }: Conversation): ModelMessage[] {
  const [first, ...rest] = exchanges.flatMap(({ messages }) => messages);
  if (!first) return [];
  if (leftOut.length === 0 || first.role !== 'user' || typeof first.content !== 'string') return [first, ...rest];
  return [{ ...first, content: `${summaryOf(leftOut)}\n\n${first.content}` }, ...rest];
}

function summaryOf(leftOut: readonly string[]): string {
  const lines = leftOut.map((line) => `- ${line}`);
  return `[Earlier in this session, left out for want of room, the person wrote:\n${lines.join('\n')}]`;
}
