/**
 * One request to a model's server: repeats it after temporary failures, and returns the answer event by event, in the
 * same form for every wire format. We read chat completions ourselves; the AI SDK's providers read the other formats.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { AssistantModelMessage, ModelMessage } from '@ai-sdk/provider-utils';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ModelOptions } from '../shared/agent-info.js';
import type { ToolTable } from '../shared/tool-names.js';
import { AnswerMessage } from './answer-message.js';
import type { ModelAgentOptions, ModelApi } from './backend.js';

/** Further attempts after a temporary failure, such as an overloaded server. */
const RETRIES_MAX = 3;
/** The pause before the second attempt; it doubles with each further one. */
const RETRY_PAUSE_MS = 2_000;
/** If a server asks for a longer pause, the request is not repeated. */
const RETRY_AFTER_MAX_MS = 60_000;
/** How long a server may say nothing. A model that thinks without a word takes minutes. */
export const SILENCE = { noticeMs: 15_000, maxMs: 300_000 };

export interface StepRequest {
  readonly modelId: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolTable;
  readonly signal: AbortSignal;
  readonly maxOutputTokens?: number;
  readonly options?: ModelOptions;
  /** Called at a pause between two attempts. */
  readonly onWait?: OnWait;
  /** Called before each attempt. */
  readonly onRequest?: () => void;
  /** Asked between pieces of the answer: while it returns a promise, the rest of the answer waits. */
  readonly caughtUp?: () => Promise<void> | undefined;
}

/** Called with the reason for a pause, in words for people, and with undefined when it is over. */
type OnWait = (why: string | undefined) => void;

/** What a provider wants back with a part of an answer. */
export type PartMetadata = NonNullable<AssistantModelMessage['providerOptions']>;

/** More of a text block. Some blocks have only metadata. */
interface TextEvent<Type extends string> {
  readonly type: Type;
  readonly block: string;
  readonly text: string;
  readonly metadata?: PartMetadata | undefined;
}

export type AnswerEvent =
  | TextEvent<'text'>
  | TextEvent<'reasoning'>
  | { readonly type: 'input-start'; readonly id: string; readonly name: string }
  | { readonly type: 'input'; readonly id: string; readonly text: string }
  /** A complete call, with its input as the model wrote it. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly metadata?: PartMetadata | undefined;
    }
  | { readonly type: 'finish'; readonly reason: string; readonly usage: AnswerUsage }
  /** The answer breaks off; `usage` is what the server had counted by then. */
  | { readonly type: 'spent'; readonly usage: AnswerUsage };

/** In tokens; undefined where the server did not count. */
export interface AnswerUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly reasoning: number | undefined;
}

/** Takes an event. If it returns false, the rest is not wanted, and the request ends. */
export type TakeEvent = (event: AnswerEvent) => boolean;

/** The answer of a server that has begun to send it. */
export interface OpenAnswer {
  /** Passes on all events as they arrive. Rejects when the answer breaks off. */
  read(take: TakeEvent): Promise<void>;
}

/** Reads an answer, and returns it as it must go back to the model. */
export async function askModel(
  options: ModelAgentOptions,
  request: StepRequest,
  take: TakeEvent,
): Promise<ModelMessage[]> {
  const silence = new SilenceNotice(request.onWait, options.silence?.noticeMs);
  const message = new AnswerMessage();
  try {
    const answer = await opened(options, request, silence);
    await answer.read((event) => {
      silence.end();
      message.take(event);
      return take(event);
    });
  } finally {
    silence.end();
  }
  return message.messages();
}

/** Tells people that a server has said nothing yet: first after a while, then whenever the wait has doubled. */
class SilenceNotice {
  readonly #onWait: OnWait | undefined;
  readonly #noticeMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isShown = false;

  constructor(onWait: OnWait | undefined, noticeMs = SILENCE.noticeMs) {
    this.#onWait = onWait;
    this.#noticeMs = noticeMs;
  }

  begin(): void {
    this.end();
    this.#wait(this.#noticeMs, this.#noticeMs);
  }

  /** The server has answered, or the attempt is over. */
  end(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) this.#onWait?.(undefined);
    this.#isShown = false;
  }

  #wait(ms: number, silentMs: number): void {
    this.#timer = setTimeout(() => {
      this.#isShown = true;
      this.#onWait?.(`has not answered for ${Math.round(silentMs / 1_000)} s`);
      this.#wait(silentMs, 2 * silentMs);
    }, ms);
    this.#timer.unref();
  }
}

/** Opens an answer. Once it has begun, the request is not repeated: people have seen part of the answer. */
async function opened(options: ModelAgentOptions, request: StepRequest, silence: SilenceNotice): Promise<OpenAnswer> {
  const { retries = RETRIES_MAX } = options;
  const { signal, onWait, onRequest } = request;
  for (let failures = 0; ; failures++) {
    try {
      if (failures > 0) onWait?.(undefined);
      onRequest?.();
      silence.begin();
      return await open(options, request);
    } catch (error) {
      silence.end();
      signal.throwIfAborted();
      const wait = askedPauseMs(error) ?? RETRY_PAUSE_MS * 2 ** failures;
      if (!isTransient(error) || failures >= retries || wait > RETRY_AFTER_MAX_MS) throw error;
      onWait?.(whyOf(error, wait));
      await pause(wait, undefined, { signal });
    }
  }
}

/** Loads the reader for one wire format. */
export async function loadFormat(kind: ModelApi): Promise<void> {
  if (kind === 'openai-compatible') await import('./chat-completions.js');
  else await (await import('./sdk-answer.js')).loadProvider(kind);
}

async function open(options: ModelAgentOptions, request: StepRequest): Promise<OpenAnswer> {
  if (options.kind === 'openai-compatible') {
    const { openCompletion } = await import('./chat-completions.js');
    return openCompletion(options, request);
  }
  const { openSdkAnswer } = await import('./sdk-answer.js');
  const { silence: { maxMs } = SILENCE, displayName } = options;
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), maxMs);
  try {
    const signal = AbortSignal.any([request.signal, silent.signal]);
    return await openSdkAnswer(options, options.kind, { ...request, signal });
  } catch (error) {
    throw silent.signal.aborted ? new AgentError('network', silenceText(displayName, maxMs)) : error;
  } finally {
    clearTimeout(timer);
  }
}

export function silenceText(displayName: string, ms: number): string {
  return `${displayName} said nothing for ${Math.round(ms / 1_000)} s. Check the server.`;
}

/** True for temporary failures: our own errors and those of the SDK use the same member. */
function isTransient(error: unknown): boolean {
  return isRecord(error) && error.isRetryable === true;
}

function whyOf(error: unknown, waitMs: number): string {
  const status = isRecord(error) && typeof error.statusCode === 'number' ? error.statusCode : undefined;
  const what = status === undefined ? 'cannot be reached' : `answered ${status}`;
  return `${what}; trying again in ${Math.ceil(waitMs / 1_000)} s`;
}

/**
 * The pause that the server asks for, in seconds or as a time of day; undefined when it asks for none, or the time has
 * passed.
 */
function askedPauseMs(error: unknown): number | undefined {
  const headers = isRecord(error) && isRecord(error.responseHeaders) ? error.responseHeaders : {};
  const after = headers['retry-after'];
  const seconds = Number(after);
  const until = typeof after === 'string' && Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1_000;
  const milliseconds = Number(headers['retry-after-ms'] ?? until);
  return milliseconds > 0 ? milliseconds : undefined;
}
