/**
 * One request to a model's server: asks again after failures that may pass, and gives the answer event by event, the same for
 * every wire format. Chat completions are read by us; the other formats come by way of the AI SDK's providers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { AssistantModelMessage, ModelMessage } from '@ai-sdk/provider-utils';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ModelOptions } from '../shared/agent-info.js';
import type { ToolTable } from '../shared/tool-names.js';
import { AnswerMessage } from './answer-message.js';
import type { ModelAgentOptions, ModelApi } from './backend.js';

/** Further attempts after a failure that may pass, such as an overloaded server. */
const RETRIES_MAX = 3;
/** The pause before the second attempt; it doubles with each further one. */
const RETRY_PAUSE_MS = 2_000;
/** A server that wants to be left alone for longer is not waited for, and not asked again. */
const RETRY_AFTER_MAX_MS = 60_000;

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
  /** Asked between pieces of the answer: while there is a promise, the rest of it waits. */
  readonly caughtUp?: () => Promise<void> | undefined;
}

/** Gets the reason for the pause, in words for people; undefined when the pause is over. */
type OnWait = (why: string | undefined) => void;

/** What a provider wants to get back with a part of an answer. */
export type PartMetadata = NonNullable<AssistantModelMessage['providerOptions']>;

/** More of a block of text. Some blocks have nothing but metadata. */
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
  /** A whole call, with its input as the model wrote it. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly metadata?: PartMetadata | undefined;
    }
  | { readonly type: 'finish'; readonly reason: string; readonly usage: AnswerUsage }
  /** The answer breaks off: what the server had counted by then. */
  | { readonly type: 'spent'; readonly usage: AnswerUsage };

/** In tokens; undefined where the server did not count. */
export interface AnswerUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly reasoning: number | undefined;
}

/** Takes an event. False: the rest is not wanted, and the request ends. */
export type TakeEvent = (event: AnswerEvent) => boolean;

/** A server that has begun to answer. */
export interface OpenAnswer {
  /** Gives all events as they come. Rejects when the answer breaks off. */
  read(take: TakeEvent): Promise<void>;
}

/** Reads an answer, and returns it as it must be sent back to the model. */
export async function askModel(
  options: ModelAgentOptions,
  request: StepRequest,
  take: TakeEvent,
): Promise<ModelMessage[]> {
  const answer = await opened(options, request);
  const message = new AnswerMessage();
  await answer.read((event) => {
    message.take(event);
    return take(event);
  });
  return message.messages();
}

/** Once a server has begun to answer, its answer is not asked for again: people have seen it. */
async function opened(options: ModelAgentOptions, request: StepRequest): Promise<OpenAnswer> {
  const { retries = RETRIES_MAX } = options;
  const { signal, onWait, onRequest } = request;
  for (let failures = 0; ; failures++) {
    try {
      onRequest?.();
      const answer = await open(options, request);
      if (failures > 0) onWait?.(undefined);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      const wait = askedPauseMs(error) ?? RETRY_PAUSE_MS * 2 ** failures;
      if (!mayPass(error) || failures >= retries || wait > RETRY_AFTER_MAX_MS) throw error;
      onWait?.(whyOf(error, wait));
      await pause(wait, undefined, { signal });
    }
  }
}

/** Loads what reads the answers of one wire format. */
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
  return openSdkAnswer(options, options.kind, request);
}

/** Our own errors and those of the SDK say so by the same name. */
function mayPass(error: unknown): boolean {
  return isRecord(error) && error.isRetryable === true;
}

function whyOf(error: unknown, waitMs: number): string {
  const status = isRecord(error) && typeof error.statusCode === 'number' ? error.statusCode : undefined;
  const what = status === undefined ? 'cannot be reached' : `answered ${status}`;
  return `${what}; trying again in ${Math.ceil(waitMs / 1_000)} s`;
}

/** As a number of seconds or as a time of day; undefined when the server did not say, or that time is over. */
function askedPauseMs(error: unknown): number | undefined {
  const headers = isRecord(error) && isRecord(error.responseHeaders) ? error.responseHeaders : {};
  const after = headers['retry-after'];
  const seconds = Number(after);
  const until = typeof after === 'string' && Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1_000;
  const milliseconds = Number(headers['retry-after-ms'] ?? until);
  return milliseconds > 0 ? milliseconds : undefined;
}
