/**
 * Keeps a conversation within the model's context window. When a share of it is full, `compaction.ts` summarises the
 * older turns. If that fails or is not enough, `fit` first shortens huge tool outputs, then older ones, then leaves out
 * the oldest turns except for one line each, and finally shortens the newest outputs, too.
 */

import type { ModelMessage } from '@ai-sdk/provider-utils';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { beginning, count, shorten } from '@atrium/core/util/text.js';
import type { ModelInfo } from '../shared/agent-info.js';
import type { ModelAgentOptions } from './backend.js';
import { ASKED_KEPT_SHARE, COMPACT_KEPT_SHARE, compacted, messageIn, type UsageMeter } from './compaction.js';
import { type Conversation, type Exchange, type ToolPart, textOnly, userText } from './conversation.js';
import { CHARACTERS_PER_TOKEN, tokensIn } from './tokens.js';

/** Assumed for a model whose window is unknown. */
const CONTEXT_WINDOW_DEFAULT_TOKENS = 128_000;
/** After a server refused a request as too long, the limit grows by this factor with each request that it accepts. */
const LEARNT_GROWTH = 1.05;
/** Kept free for the answer, but never more than a quarter of the window. */
const ANSWER_RESERVE_TOKENS = 8_192;

/** The largest share of the room for a single tool output. */
export const OUTPUT_SHARE = 0.5;
/** The newest tool outputs, which are shortened last. */
export const TOOL_OUTPUTS_KEPT = 4;
/** How much stays of a shortened tool output. */
export const SHORT_OUTPUT_CHARACTERS = 400;
/** How full the room stays after turns were left out, so that the next message does not cause more to be left out. */
export const KEPT_SHARE = 0.7;
/** Length of the line that remains of a turn, and how many such lines are kept; the newest stay. */
const LEFT_OUT_LINE_CHARACTERS = 120;
export const LEFT_OUT_LINES_MAX = 20;

/** When this share of the window is full, earlier turns are summarised before the next request. */
export const COMPACT_AT_SHARE = 0.8;

interface FitRequest {
  readonly turn: AgentTurn;
  readonly model: ModelInfo;
  readonly conversation: Conversation;
  /** The rest of the request: the prompt, the tools. */
  readonly others: unknown;
  /** Counts what a summary costs. */
  readonly meter: UsageMeter;
}

/** The windows of an agent's models, as far as their servers really accept them. */
export class ContextWindow {
  readonly #options: ModelAgentOptions;
  /** The largest request, in tokens, that each model's server accepts, if that is less than the model's window. */
  readonly #learnt = new Map<string, number>();
  /** The turn in which summarising failed. */
  #failedIn: string | undefined;

  constructor(options: ModelAgentOptions) {
    this.#options = options;
  }

  /** Summarises and shortens a conversation as far as needed, and tells people about it. */
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

  /**
   * Summarises all but the very last turns, because a person asked for it. If the model fails, it rejects, and nothing
   * has changed.
   */
  compact(request: FitRequest, keep: string): Promise<Conversation | undefined> {
    const room = Math.max(0, this.#room(request.model, request.others));
    // Part of a short conversation is summarised, too.
    const keptTokens = Math.min(room * ASKED_KEPT_SHARE, tokensIn(request.conversation) / 2);
    return compacted(this.#options, { ...request, keep, keptTokens, isAsked: true });
  }

  /** The part of the window that remains for the conversation. */
  #room(model: ModelInfo, others: unknown): number {
    const learnt = this.#learnt.get(model.id);
    const known = learnt === undefined ? Number.POSITIVE_INFINITY : learnt - tokensIn(others);
    return Math.min(roomFor(windowOf(model), others), known);
  }

  /** Summarises at most once per turn: otherwise, a model that fails at it would be asked again at every step. */
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

  /** Called when the server refused a request as too long. Returns true if a shorter one is worth a try. */
  refused({ model, conversation, others }: Omit<FitRequest, 'meter'>): boolean {
    const halved = Math.floor(tokensIn(conversation) / 2);
    const { shortened, dropped } = fit(conversation, halved);
    if (shortened === 0 && dropped.length === 0) return false;
    this.#learnt.set(model.id, halved + tokensIn(others));
    return true;
  }

  /**
   * Called when the server accepted a request. An earlier refusal may have been an exception, so the next request may
   * be longer.
   */
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

/** The part of a window that remains for the conversation, next to the rest of the request. */
function roomFor(windowTokens: number, others: unknown): number {
  return windowTokens - Math.min(ANSWER_RESERVE_TOKENS, windowTokens / 4) - tokensIn(others);
}

interface Fit {
  readonly conversation: Conversation;
  /** How many tool outputs lost text. */
  readonly shortened: number;
  /** The turns that were left out, oldest first, unchanged. */
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
  /** How many of the newest outputs stay unchanged. */
  readonly keep: number;
  /** How much stays of each output. */
  readonly maxCharacters?: number;
}

/** Shortens outputs, oldest first, and only as many as needed. */
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

/** Shortens an output to its beginning, which says most. */
function shortPart(part: ToolPart, maxCharacters = SHORT_OUTPUT_CHARACTERS): ToolPart {
  if (part.type !== 'tool-result') return part;
  if (part.output.type === 'content') return shortPart(textOnly(part), maxCharacters);
  const { output } = part;
  if (output.type !== 'text' && output.type !== 'error-text') return part;
  const lost = output.value.length - maxCharacters;
  // If the note is longer than the text it replaces, nothing is saved.
  if (lost <= SHORT_OUTPUT_CHARACTERS) return part;
  const value = `${beginning(output.value, maxCharacters)}\n[${lost} more characters were left out to save room]`;
  return { ...part, output: { ...output, value } };
}

/** Leaves out the oldest turns. The running turn stays, whatever its size. */
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
