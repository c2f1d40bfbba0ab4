/**
 * One request to a model's server, by way of the AI SDK. This is the only file that calls the SDK, and it loads the SDK
 * with the first request, so that a host without a model never loads it.
 */

import { AgentError } from '@atrium/core/contracts/agent.js';
import { EventGauge } from '@atrium/core/util/streams.js';
import { sizeText } from '@atrium/core/util/text.js';
import type { LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import type { ToolTable } from '../shared/tool-names.js';
import type { ModelAgentOptions } from './backend.js';

/** Further attempts after a failure that may pass, such as an overloaded server. */
const RETRIES_MAX = 2;
/** One event of a stream, which the SDK keeps until it is complete. Some servers repeat the answer in the last one. */
export const ANSWER_EVENT_MAX_BYTES = 16 * 2 ** 20;
/** A whole stream. Each event carries a word or so in many more bytes, and the SDK may keep all of them. */
const ANSWER_MAX_BYTES = 128 * 2 ** 20;

export interface StepRequest {
  readonly modelId: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolTable;
  readonly signal: AbortSignal;
  readonly maxOutputTokens?: number;
  /** Called when the SDK pauses between two attempts. */
  readonly onWait?: OnWait;
}

/** Gets the reason for the pause, in words for people; undefined when the pause is over. */
type OnWait = (why: string | undefined) => void;

export interface StepStream {
  readonly parts: AsyncIterable<TextStreamPart<ToolSet>>;
  /** The model's answer, as it must be sent back to the model. Rejects when the stream failed. */
  messages(): Promise<ModelMessage[]>;
  /** Ends the request early. */
  stop(): void;
}

/** Tools have no code here: the stream ends at the calls, and the session runs them. */
export async function startStep(options: ModelAgentOptions, request: StepRequest): Promise<StepStream> {
  const [{ streamText, jsonSchema, tool }, model] = await Promise.all([loadSdk(), loadModel(options, request)]);
  const own = new AbortController();
  const tools = [...request.tools].map(([name, { description, inputSchema = NO_INPUT }]) => [
    name,
    tool({ ...(description !== undefined && { description }), inputSchema: jsonSchema({ ...inputSchema }) }),
  ]);
  const result = streamText({
    model,
    ...(request.system !== '' && { system: request.system }),
    messages: [...request.messages],
    ...(tools.length > 0 && { tools: Object.fromEntries(tools) as ToolSet }),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    abortSignal: AbortSignal.any([request.signal, own.signal]),
    maxRetries: retriesOf(options),
    // The provider stores nothing of the conversation, and every request is complete in itself.
    providerOptions: { openai: { store: false } },
    // Errors come as parts of the stream. Without this, the SDK prints them as well.
    onError: () => {},
  });
  return {
    parts: result.fullStream,
    messages: async () => (await result.response).messages,
    stop: () => own.abort(),
  };
}

function retriesOf({ retries = RETRIES_MAX }: ModelAgentOptions): number {
  return retries;
}

const NO_INPUT = { type: 'object', properties: {} } as const;

async function loadSdk() {
  // Its warnings would go to standard output, which belongs to the client when the host is served there.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}

/** A key of the environment belongs to the provider's own address. It is never sent to another one. */
const NO_KEY = 'none';

async function loadModel(options: ModelAgentOptions, { modelId, onWait }: StepRequest): Promise<LanguageModel> {
  const { kind, provider, baseURL, headers } = options;
  const apiKey = options.apiKey ?? (baseURL === undefined ? undefined : NO_KEY);
  const settings = {
    ...(baseURL !== undefined && { baseURL }),
    ...(apiKey !== undefined && { apiKey }),
    ...(headers && { headers: { ...headers } }),
    fetch: boundedFetch(onWait ? watchedFetch(retriesOf(options), onWait) : fetch),
  };
  if (kind === 'openai') return (await import('@ai-sdk/openai')).createOpenAI(settings)(modelId);
  if (kind === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(modelId);
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  // Strict servers count tokens only when they are asked to.
  return createOpenAICompatible({ ...settings, baseURL: baseURL ?? '', name: provider, includeUsage: true })(modelId);
}

/** A `fetch` for one request and its retries. The SDK pauses silently between attempts; this tells why. */
function watchedFetch(retries: number, onWait: OnWait): typeof fetch {
  let failures = 0;
  const failed = (why: string) => {
    failures += 1;
    if (failures <= retries) onWait(why);
  };
  return async (...request) => {
    try {
      const response = await fetch(...request);
      if (isRetried(response.status)) failed(`answered ${response.status}; trying again${pauseOf(response)}`);
      else if (failures > 0) onWait(undefined);
      return response;
    } catch (error) {
      failed('cannot be reached; trying again');
      throw error;
    }
  };
}

/** The statuses after which the SDK tries again. */
function isRetried(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function pauseOf({ headers }: Response): string {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? ` in ${Math.ceil(seconds)} s` : '';
}

interface BodyLimits {
  /** Of one event of a stream, and of an answer that is no stream. */
  readonly eventMaxBytes: number;
  /** Of a whole stream. */
  readonly totalMaxBytes: number;
}

const LIMITS: BodyLimits = { eventMaxBytes: ANSWER_EVENT_MAX_BYTES, totalMaxBytes: ANSWER_MAX_BYTES };

/** The SDK buffers an event until it is complete, and an answer that is no stream until its end. This limits both. */
function boundedFetch(inner: typeof fetch): typeof fetch {
  return async (...request) => boundedAnswer(await inner(...request));
}

export function boundedAnswer(response: Response, limits = LIMITS): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const bounded = ReadableStream.from(isStream ? boundedEvents(body, limits) : boundedText(body, limits));
  return new Response(bounded, { status, statusText, headers });
}

type Body = AsyncIterable<Uint8Array>;

async function* boundedEvents(body: Body, { eventMaxBytes, totalMaxBytes }: BodyLimits): AsyncGenerator<Uint8Array> {
  const gauge = new EventGauge();
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (gauge.push(chunk) > eventMaxBytes) throw tooLong('one event of its answer', eventMaxBytes);
    if (total > totalMaxBytes) throw tooLong('its answer', totalMaxBytes);
    yield chunk;
  }
}

async function* boundedText(body: Body, { eventMaxBytes }: BodyLimits): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > eventMaxBytes) throw tooLong('its answer', eventMaxBytes);
    yield chunk;
  }
}

function tooLong(what: string, maxBytes: number): AgentError {
  const size = sizeText(maxBytes);
  return new AgentError('other', `The model's server was cut off: ${what} has more than ${size}. Look at its own log.`);
}
