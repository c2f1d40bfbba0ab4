/**
 * Answers in the formats of OpenAI's responses and Anthropic's messages, through the AI SDK's providers. Only this file
 * calls the SDK, and a host loads it only if it has such an agent.
 */
import type { LanguageModelV3, LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { ModelMessage, UserContent } from '@ai-sdk/provider-utils';
import { EventGauge } from '@atrium/core/util/streams.js';
import type { ModelAgentOptions, ModelApi } from './backend.js';
import { NO_INPUT } from './chat-completions.js';
import { LIMITS, type StreamLimits, tooLong } from './event-stream.js';
import type { AnswerEvent, OpenAnswer, StepRequest, TakeEvent } from './request.js';

type SdkApi = Exclude<ModelApi, 'openai-compatible'>;

export async function openSdkAnswer(
  options: ModelAgentOptions,
  kind: SdkApi,
  request: StepRequest,
): Promise<OpenAnswer> {
  const { system, messages, tools, maxOutputTokens, options: chosen = {}, signal } = request;
  const { reasoningEffort: effort, temperature } = chosen;
  const model = await loadModel(options, kind, request.modelId);
  const offered = [...tools].map(([name, { description, inputSchema = NO_INPUT }]) => ({
    ...{ type: 'function' as const, name, inputSchema: { ...inputSchema } },
    ...(description !== undefined && { description }),
  }));
  const { stream } = await model.doStream({
    prompt: withCacheMarks([
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...messages.map(promptOf),
    ]),
    ...(offered.length > 0 && { tools: offered, toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    abortSignal: signal,
    providerOptions: {
      // The provider stores nothing, and every request is complete in itself. The SDK recognises thinking models by
      // name, but the configuration may name others.
      openai: { store: false, ...(effort !== undefined && { reasoningEffort: effort, forceReasoning: true }) },
      ...(effort !== undefined && { anthropic: { effort } }),
    },
  });
  return { read: (take) => readParts(stream, take, request.caughtUp) };
}

/** Asks the provider to cache everything up to here for the next request. Only Anthropic has to be asked. */
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Puts cache marks after tools and prompt, at the end, and where the previous request ended: however much an answer and
 * its results add, the next request finds what was cached.
 */
function withCacheMarks(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const asked = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []));
  const marked = new Set(asked.slice(-2));
  return prompt.map((message, index) =>
    message.role === 'system' || marked.has(index) ? { ...message, providerOptions: CACHED } : message,
  );
}

/** A key in the environment belongs to the provider's own address. It is never sent to another one. */
const NO_KEY = 'none';

async function loadModel(options: ModelAgentOptions, kind: SdkApi, modelId: string): Promise<LanguageModelV3> {
  const { baseURL, headers } = options;
  const apiKey = options.apiKey ?? (baseURL === undefined ? undefined : NO_KEY);
  const settings = {
    ...(baseURL !== undefined && { baseURL }),
    ...(apiKey !== undefined && { apiKey }),
    ...(headers && { headers: { ...headers } }),
    fetch: boundedFetch,
  };
  const create = await loadProvider(kind);
  return create(settings)(modelId);
}

/** Loads the provider for a format. */
export async function loadProvider(kind: SdkApi) {
  if (kind === 'openai') return (await import('@ai-sdk/openai')).createOpenAI;
  return (await import('@ai-sdk/anthropic')).createAnthropic;
}

/** How long an answer may take to end after it has failed. */
const AFTER_ERROR_MS = 500;

async function readParts(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  take: TakeEvent,
  caughtUp: StepRequest['caughtUp'],
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  for await (const part of failingFast(stream)) {
    const event = eventOf(part);
    if (part.type === 'error') failure ??= part;
    else if (failure) {
      if (event?.type === 'finish') take({ type: 'spent', usage: event.usage });
    } else if (event && !take(event)) return;
    const behind = caughtUp?.();
    if (behind) await behind;
  }
  if (failure) throw failure.error;
}

/**
 * Ends soon after an error, at which the SDK still reports the usage. It does not wait for a server that leaves the
 * connection open.
 */
async function* failingFast(stream: ReadableStream<LanguageModelV3StreamPart>) {
  const reader = stream.getReader();
  let rest: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      if (value.type === 'error') rest ??= setTimeout(() => void reader.cancel().catch(() => {}), AFTER_ERROR_MS);
    }
  } finally {
    clearTimeout(rest);
    reader.cancel().catch(() => {});
  }
}

/** The event for a part; undefined for parts that are not about the answer itself. */
function eventOf(part: LanguageModelV3StreamPart): AnswerEvent | undefined {
  switch (part.type) {
    case 'text-start':
    case 'text-end':
      return { type: 'text', block: part.id, text: '', metadata: part.providerMetadata };
    case 'text-delta':
      return { type: 'text', block: part.id, text: part.delta, metadata: part.providerMetadata };
    case 'reasoning-start':
    case 'reasoning-end':
      return { type: 'reasoning', block: part.id, text: '', metadata: part.providerMetadata };
    case 'reasoning-delta':
      return { type: 'reasoning', block: part.id, text: part.delta, metadata: part.providerMetadata };
    case 'tool-input-start':
      return { type: 'input-start', id: part.id, name: part.toolName };
    case 'tool-input-delta':
      return { type: 'input', id: part.id, text: part.delta };
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input, providerMetadata: metadata } = part;
      return { type: 'call', id, name, input, metadata };
    }
    case 'finish': {
      const { inputTokens, outputTokens } = part.usage;
      const usage = {
        ...{ input: inputTokens.total, cacheRead: inputTokens.cacheRead, cacheWrite: inputTokens.cacheWrite },
        ...{ output: outputTokens.total, reasoning: outputTokens.reasoning },
      };
      return { type: 'finish', reason: part.finishReason.unified, usage };
    }
    default:
      return undefined;
  }
}

type PromptMessage = LanguageModelV3Prompt[number];
type UserPart = Extract<PromptMessage, { role: 'user' }>['content'][number];

function promptOf(message: ModelMessage): PromptMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: userParts(message.content) };
    case 'assistant': {
      const { content } = message;
      const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
      return { role: 'assistant', content: parts.filter(isContent) };
    }
    case 'tool':
      return { role: 'tool', content: message.content.filter(({ type }) => type === 'tool-result') as ResultPart[] };
  }
}

/** The SDK has two types for tool results. For the kinds of output that a conversation has, they are equivalent. */
type ResultPart = Extract<PromptMessage, { role: 'tool' }>['content'][number];
type AssistantPart = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number];
type ContentPart = Extract<AssistantPart, { type: 'text' | 'reasoning' | 'tool-call' }>;

function isContent(part: AssistantPart): part is ContentPart {
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call';
}

function userParts(content: UserContent): UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part): UserPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'image') return [];
    return [{ type: 'file', mediaType: part.mediaType ?? 'image/*', data: String(part.image) }];
  });
}

/**
 * Limits responses: the SDK buffers an event until it is complete, and an answer that is not a stream until its end.
 */
const boundedFetch: typeof fetch = async (...request) => boundedAnswer(await fetch(...request));

export function boundedAnswer(response: Response, limits = LIMITS): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const bounded = ReadableStream.from(isStream ? boundedEvents(body, limits) : boundedText(body, limits));
  return new Response(bounded, { status, statusText, headers });
}

type Body = AsyncIterable<Uint8Array>;

async function* boundedEvents(body: Body, { eventMaxBytes, totalMaxBytes }: StreamLimits): AsyncGenerator<Uint8Array> {
  const gauge = new EventGauge();
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (gauge.push(chunk) > eventMaxBytes) throw tooLong('one event of its answer', eventMaxBytes);
    if (total > totalMaxBytes) throw tooLong('its answer', totalMaxBytes);
    yield chunk;
  }
}

async function* boundedText(body: Body, { eventMaxBytes }: StreamLimits): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > eventMaxBytes) throw tooLong('its answer', eventMaxBytes);
    yield chunk;
  }
}
