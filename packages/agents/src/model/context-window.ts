/**
 * Keeps a conversation within the model's context window. At a share of it, `compaction.ts` sums up the older turns. When that
 * fails or is not enough, `fit` shortens huge tool outputs first, then older ones, then leaves out the oldest turns except for
 * one line each, and at last shortens the newest outputs too.
 */

import type { ModelMessage } from '@ai-sdk/provider-utils';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { beginning, count, shorten } from '@atrium/core/util/text.js';
import type { ModelInfo } from '../shared/agent-info.js';
import type { ModelAgentOptions } from './backend.js';
import { ASKED_KEPT_SHARE, COMPACT_KEPT_SHARE, compacted, messageIn, type UsageMeter } from './compaction.js';
import { type Conversation, type Exchange, type ToolPart, textOnly, userText } from './conversation.js';
import { CHARACTERS_PER_TOKEN, tokensIn } from './tokens.js';

/** Assumed for a model that does not tell its window. */
const CONTEXT_WINDOW_DEFAULT_TOKENS = 128_000;
/** After a server refused a request as too long, each answered request may be longer by this factor. */
const LEARNT_GROWTH = 1.05;
/** Kept free for the answer, but never more than a quarter of the window. */
const ANSWER_RESERVE_TOKENS = 8_192;

/** The largest part of the room that a single tool output may take. */
export const OUTPUT_SHARE = 0.5;
/** The newest tool outputs, which are shortened last. */
export const TOOL_OUTPUTS_KEPT = 4;
/** What is left of a shortened tool output. */
export const SHORT_OUTPUT_CHARACTERS = 400;
/** How much of the room stays filled after turns were left out, so that the next message does not leave out more. */
export const KEPT_SHARE = 0.7;
/** The length of the line that is left of a turn, and the number of such lines; the newest stay. */
const LEFT_OUT_LINE_CHARACTERS = 120;
export const LEFT_OUT_LINES_MAX = 20;

/** At this share of the window, earlier turns are summed up before the next request. */
export const COMPACT_AT_SHARE = 0.8;

interface FitRequest {
  readonly turn: AgentTurn;
  readonly model: ModelInfo;
  readonly conversation: Conversation;
  /** Everything else in the request: the prompt, the tools. */
  readonly others: unknown;
  /** Counts what a summary costs. */
  readonly meter: UsageMeter;
}

/** The windows of an agent's models, as far as their servers really take them. */
export class ContextWindow {
  readonly #options: ModelAgentOptions;
  /** By model: the largest request in tokens that its server takes, when that is less than the model's window. */
  readonly #learnt = new Map<string, number>();
  /** The turn in which the model could not sum up. */
  #failedIn: string | undefined;

  constructor(options: ModelAgentOptions) {
    this.#options = options;
  }

  /** Sums up and shortens a conversation as far as needed, and tells people about it. */
  async fit(request: FitRequest): Promise<Conversation> {
    const { turn, model, conversation: whole } = request;
    const window = windowOf(model);
    const learnt = this.#learnt.get(model.id);
    const roomTokens = this.#room(model, request.others);
    const limitTokens = Math.min(window * COMPACT_AT_SHARE - tokensIn(request.others), roomTokens);
    const isDue = tokensIn(whole) > limitTokens && this.#failedIn !== turn.id;
    const before = isDue ? await this.#compacted(request, roomTokens) : whole;
    const { conversation, shortened, dropped } = fit(before, roomTokens);
    const limit = learnt === undefined ? `the ${window} tokens` : 'what the server takes';
    const why = `to stay within ${limit} of ${model.name}.`;
    if (shortened > 0) turn.notify(`Shortened ${count(shortened, 'tool output')} in the model's memory ${why}`);
    if (dropped.length > 0)
      turn.notify(`Left the oldest ${count(dropped.length, 'turn')} out of the model's memory ${why}`);
    return conversation;
  }

  /** A person asked for it: sums up all but the very last turns. Rejects when the model cannot; nothing has changed then. */
  compact(request: FitRequest, keep: string): Promise<Conversation | undefined> {
    const room = Math.max(0, this.#room(request.model, request.others));
    // Of a short conversation, too, a part is summed up.
    const keptTokens = Math.min(room * ASKED_KEPT_SHARE, tokensIn(request.conversation) / 2);
    return compacted(this.#options, { ...request, keep, keptTokens, isAsked: true });
  }

  /** Of the window, what is left for the conversation. */
  #room(model: ModelInfo, others: unknown): number {
    const learnt = this.#learnt.get(model.id);
    const known = learnt === undefined ? Number.POSITIVE_INFINITY : learnt - tokensIn(others);
    return Math.min(roomFor(windowOf(model), others), known);
  }

  /** Once in a turn: a model that cannot sum up would be asked with every step. */
  async #compacted(request: FitRequest, roomTokens: number): Promise<Conversation> {
    const { turn, conversation } = request;
    try {
      const keptTokens = Math.max(0, roomTokens) * COMPACT_KEPT_SHARE;
      const asked = { ...request, keep: '', keptTokens, isAsked: false };
      return (await compacted(this.#options, asked)) ?? conversation;
    } catch (error) {
      turn.signal.throwIfAborted();
      this.#failedIn = turn.id;
      const isLost = fit(conversation, roomTokens).dropped.length > 0;
      if (!isLost) turn.notify(`Earlier turns could not be summed up, and stay as they are: ${messageIn(error)}`);
      return conversation;
    }
  }

  /** The server refused a request as too long. Returns whether a shorter one is worth a try. */
  refused({ model, conversation, others }: Omit<FitRequest, 'meter'>): boolean {
    const halved = Math.floor(tokensIn(conversation) / 2);
    const { shortened, dropped } = fit(conversation, halved);
    if (shortened === 0 && dropped.length === 0) return false;
    this.#learnt.set(model.id, halved + tokensIn(others));
    return true;
  }

  /** The server took a request. A refusal before may have been an exception, so the next request may be longer. */
  answered(model: ModelInfo): void {
    const learnt = this.#learnt.get(model.id);
    if (learnt === undefined) return;
    const next = learnt * LEARNT_GROWTH;
    if (next < windowOf(model)) this.#learnt.set(model.id, next);
    else this.#learnt.delete(model.id);
  }
}

function windowOf({ maxContextWindow = CONTEXT_WINDOW_DEFAULT_TOKENS }: ModelInfo): number {
  return maxContextWindow;
}

/** What is left of a window for the conversation, beside everything else in the request. */
function roomFor(windowTokens: number, others: unknown): number {
  return windowTokens - Math.min(ANSWER_RESERVE_TOKENS, windowTokens / 4) - tokensIn(others);
}

interface Fit {
  readonly conversation: Conversation;
  /** The number of tool outputs that lost text. */
  readonly shortened: number;
  /** The turns that were left out, oldest first, as they were before. */
  readonly dropped: readonly Exchange[];
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

function outputsOf(message: ModelMessage): ToolPart[] {
  return message.role === 'tool' ? message.content.filter(({ type }) => type === 'tool-result') : [];
}

interface Shortening {
  readonly roomTokens: number;
  /** The number of newest outputs that stay as they are. */
  readonly keep: number;
  /** What is left of each output. */
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

function mapOutputs(exchange: Exchange, map: (part: ToolPart) => ToolPart): Exchange {
  const messages = exchange.messages.map((message) =>
    message.role === 'tool' ? { ...message, content: message.content.map(map) } : message,
  );
  return { ...exchange, messages };
}

/** Keeps the beginning, which says most about an output. */
function shortPart(part: ToolPart, maxCharacters = SHORT_OUTPUT_CHARACTERS): ToolPart {
  if (part.type !== 'tool-result') return part;
  if (part.output.type === 'content') return shortPart(textOnly(part), maxCharacters);
  const { output } = part;
  if (output.type !== 'text' && output.type !== 'error-text') return part;
  const lost = output.value.length - maxCharacters;
  // A note that is longer than the text it replaces saves nothing.
  if (lost <= SHORT_OUTPUT_CHARACTERS) return part;
  const value = `${beginning(output.value, maxCharacters)}\n[${lost} more characters were left out for room]`;
  return { ...part, output: { ...output, value } };
}

/** Keeps the running turn, whatever its size. */
function dropOldest(conversation: Conversation, roomTokens: number): Conversation {
  let { leftOut, exchanges } = conversation;
  let tokens = tokensIn(conversation);
  if (tokens <= roomTokens) return conversation;
  while (exchanges.length > 1 && tokens > roomTokens * KEPT_SHARE) {
    const [oldest, ...rest] = exchanges;
    const line = lineOf(oldest);
    tokens += tokensIn(line) - tokensIn(oldest);
    leftOut = [...leftOut, line].slice(-LEFT_OUT_LINES_MAX);
    exchanges = rest;
  }
  return { ...conversation, leftOut, exchanges };
}

function lineOf(exchange: Exchange | undefined): string {
  const first = exchange?.messages[0];
  return shorten((first?.role === 'user' && userText(first)) || '(something without text)', LEFT_OUT_LINE_CHARACTERS);
}
