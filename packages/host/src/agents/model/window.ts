/**
 * Keeps a conversation within the model's window: first outputs that are huge by themselves and then older ones are
 * shortened, then the oldest turns are left out but for one line each, and at last the newest outputs are shortened too.
 */
import type { ModelMessage, ToolModelMessage } from 'ai';
import { beginning, shorten } from '../../core/util/text.js';
import { type Conversation, type Exchange, wordsOf } from './conversation.js';
import {
  ANSWER_RESERVE_TOKENS,
  CHARACTERS_PER_TOKEN,
  IMAGE_TOKENS,
  KEPT_SHARE,
  OUTPUT_SHARE,
  SHORT_OUTPUT_CHARACTERS,
  SUMMARY_LINE_CHARACTERS,
  SUMMARY_LINES_MAX,
  TOOL_OUTPUTS_KEPT,
} from './limits.js';
import { isImageValue, withWords } from './sight.js';

export interface Fit {
  readonly conversation: Conversation;
  /** Tool outputs that lost text. */
  readonly shortened: number;
  /** Turns that were left out, oldest first. */
  readonly dropped: readonly Exchange[];
}

/** What is left of a window for the conversation, beside everything else that a request holds. */
export function roomFor(windowTokens: number, others: unknown): number {
  return windowTokens - Math.min(ANSWER_RESERVE_TOKENS, windowTokens / 4) - tokensIn(others);
}

export function fit(conversation: Conversation, roomTokens: number): Fit {
  const maxCharacters = Math.max(SHORT_OUTPUT_CHARACTERS, Math.floor(roomTokens * CHARACTERS_PER_TOKEN * OUTPUT_SHARE));
  const notHuge = shortenOutputs(conversation, { roomTokens, keep: 0, maxCharacters });
  const older = shortenOutputs(notHuge, { roomTokens, keep: TOOL_OUTPUTS_KEPT });
  const fewer = dropOldest(older, roomTokens);
  const fitted = shortenOutputs(fewer, { roomTokens, keep: 0 });
  const left = conversation.exchanges.length - fitted.exchanges.length;
  return {
    conversation: fitted,
    shortened: changedOutputs(conversation.exchanges.slice(left), fitted.exchanges),
    // As they were: whoever sums them up should read all of them.
    dropped: conversation.exchanges.slice(0, left),
  };
}

function changedOutputs(before: readonly Exchange[], after: readonly Exchange[]): number {
  const old = allOutputs(before);
  return allOutputs(after).filter((part, index) => part !== old[index]).length;
}

function allOutputs(exchanges: readonly Exchange[]): ToolPart[] {
  return exchanges.flatMap(({ messages }) => messages.flatMap(outputsOf));
}

/** By the rule of thumb. The bytes of an image say little about what it costs. */
export function tokensIn(value: unknown): number {
  let images = 0;
  const text = JSON.stringify(value, (key, member) => {
    if (key !== 'image' && !isImageValue(member)) return member;
    images += 1;
    return '';
  });
  return Math.ceil((text ?? '').length / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS;
}

interface Shortening {
  readonly roomTokens: number;
  /** The newest outputs, which stay as they are. */
  readonly keep: number;
  /** What is left of each. */
  readonly maxCharacters?: number;
}

/** Oldest first, and only as many as needed. */
function shortenOutputs(conversation: Conversation, { roomTokens, keep, maxCharacters }: Shortening): Conversation {
  let excess = (tokensIn(conversation) - roomTokens) * CHARACTERS_PER_TOKEN;
  let left = allOutputs(conversation.exchanges).length - keep;
  if (excess <= 0 || left <= 0) return conversation;
  const shorter = (part: ToolPart): ToolPart => {
    if (part.type !== 'tool-result' || left-- <= 0 || excess <= 0) return part;
    const short = shortPart(part, maxCharacters);
    excess -= (tokensIn(part) - tokensIn(short)) * CHARACTERS_PER_TOKEN;
    return short;
  };
  return { ...conversation, exchanges: conversation.exchanges.map((exchange) => mapOutputs(exchange, shorter)) };
}

type ToolPart = ToolModelMessage['content'][number];

function outputsOf(message: ModelMessage): ToolPart[] {
  return message.role === 'tool' ? message.content.filter(({ type }) => type === 'tool-result') : [];
}

function mapOutputs(exchange: Exchange, map: (part: ToolPart) => ToolPart): Exchange {
  const messages = exchange.messages.map((message) =>
    message.role === 'tool' ? { ...message, content: message.content.map(map) } : message,
  );
  return { ...exchange, messages };
}

/** The beginning says most about what an output was. */
function shortPart(part: ToolPart, maxCharacters = SHORT_OUTPUT_CHARACTERS): ToolPart {
  if (part.type !== 'tool-result') return part;
  if (part.output.type === 'content') return shortPart(withWords(part), maxCharacters);
  const { output } = part;
  if (output.type !== 'text' && output.type !== 'error-text') return part;
  const lost = output.value.length - maxCharacters;
  // A note that is longer than what it stands for saves nothing.
  if (lost <= SHORT_OUTPUT_CHARACTERS) return part;
  const value = `${beginning(output.value, maxCharacters)}\n[${lost} more characters were left out for room]`;
  return { ...part, output: { ...output, value } };
}

/** The turn that is running stays, whatever its size. */
function dropOldest(conversation: Conversation, roomTokens: number): Conversation {
  let { leftOut, exchanges } = conversation;
  let tokens = tokensIn(conversation);
  if (tokens <= roomTokens) return conversation;
  while (exchanges.length > 1 && tokens > roomTokens * KEPT_SHARE) {
    const [oldest, ...rest] = exchanges;
    const line = lineOf(oldest);
    tokens += tokensIn(line) - tokensIn(oldest);
    leftOut = [...leftOut, line].slice(-SUMMARY_LINES_MAX);
    exchanges = rest;
  }
  return { ...conversation, leftOut, exchanges };
}

function lineOf(exchange: Exchange | undefined): string {
  const first = exchange?.messages[0];
  return shorten((first?.role === 'user' && wordsOf(first)) || '(something without text)', SUMMARY_LINE_CHARACTERS);
}
