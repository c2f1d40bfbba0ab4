/** What the model remembers of a session, turn by turn. Values only: every change gives a new one. */
import type { ModelMessage, UserContent, UserModelMessage } from 'ai';
import { type Sight, seenResults } from './sight.js';

/** One turn: the person's message first, then what followed. */
export interface Exchange {
  readonly turnId: string;
  readonly messages: readonly ModelMessage[];
}

export interface Conversation {
  /** What the model itself noted about turns that were left out to make room. */
  readonly summary?: string;
  /** One line for each of the last turns that were left out and that nobody summed up, oldest first. */
  readonly leftOut: readonly string[];
  readonly exchanges: readonly Exchange[];
}

export const EMPTY_CONVERSATION: Conversation = { leftOut: [], exchanges: [] };

export function withExchange(conversation: Conversation, exchange: Exchange): Conversation {
  return { ...conversation, exchanges: [...conversation.exchanges, exchange] };
}

/** More of the turn that is running. */
export function withMessages(conversation: Conversation, more: readonly ModelMessage[]): Conversation {
  const { exchanges } = conversation;
  const current = exchanges.at(-1);
  if (!current || more.length === 0) return conversation;
  const grown = { ...current, messages: [...current.messages, ...more] };
  return { ...conversation, exchanges: [...exchanges.slice(0, -1), grown] };
}

/** Everything up to a turn, which may have had several messages; undefined when that turn is not in memory. */
export function upToTurn(conversation: Conversation, turnId: string): Conversation | undefined {
  const { exchanges } = conversation;
  const index = exchanges.findLastIndex((exchange) => exchange.turnId === turnId);
  return index < 0 ? undefined : { ...conversation, exchanges: exchanges.slice(0, index + 1) };
}

/**
 * As it goes to the model. What was left out joins the first message, and messages of the person that follow each other
 * become one: many servers want people and model to take turns. A model that cannot see gets no images.
 */
export function messagesOf(conversation: Conversation, sight: Sight = 'none'): ModelMessage[] {
  const messages: ModelMessage[] = [];
  const seen = conversation.exchanges.flatMap((exchange) => exchange.messages.flatMap((one) => seenBy(one, sight)));
  for (const message of seen) {
    const last = messages.at(-1);
    if (last?.role === 'user' && message.role === 'user') messages[messages.length - 1] = joined(last, message);
    else messages.push(message);
  }
  const [first] = messages;
  const earlier = earlierText(conversation);
  if (earlier !== undefined && first?.role === 'user') {
    messages[0] = joined({ role: 'user', content: earlier }, first);
  }
  return messages;
}

/** The words of a message of a person. */
export function wordsOf({ content }: UserModelMessage): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n\n');
}

function seenBy(message: ModelMessage, sight: Sight): ModelMessage[] {
  if (message.role === 'tool') return seenResults(message, sight);
  return [message.role === 'user' && sight === 'none' ? withoutImages(message) : message];
}

function withoutImages(message: UserModelMessage): UserModelMessage {
  return typeof message.content === 'string' ? message : { ...message, content: wordsOf(message) };
}

function joined(one: UserModelMessage, other: UserModelMessage): UserModelMessage {
  if (typeof one.content === 'string' && typeof other.content === 'string') {
    return { role: 'user', content: `${one.content}\n\n${other.content}` };
  }
  return { role: 'user', content: [...partsOf(one.content), ...partsOf(other.content)] };
}

function partsOf(content: UserContent): Exclude<UserContent, string> {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function earlierText({ summary, leftOut }: Conversation): string | undefined {
  const texts: string[] = [];
  if (summary !== undefined) texts.push(`[Earlier in this session, summed up to save room:\n${summary}]`);
  if (leftOut.length > 0) {
    const lines = leftOut.map((line) => `- ${line}`).join('\n');
    texts.push(`[Earlier in this session, left out for want of room, the person wrote:\n${lines}]`);
  }
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
