/**
 * The one module that calls the AI SDK. It is loaded when the first turn needs it, so that a host without a model never
 * pays for it.
 */
import type { LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import { type OnWait, watchedFetch } from './attempts.js';
import { boundedFetch } from './bounded-answer.js';
import { RETRIES_MAX } from './limits.js';
import type { ModelAgentOptions } from './model-agent.js';
import type { ToolTable } from './tool-table.js';

export interface StepRequest {
  readonly modelId: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolTable;
  readonly signal: AbortSignal;
  readonly maxOutputTokens?: number;
  /** Hears of pauses between attempts. */
  readonly onWait?: OnWait;
}

export interface StepStream {
  readonly parts: AsyncIterable<TextStreamPart<ToolSet>>;
  /** What the model said, as it must be sent back to it. Rejects when the stream failed. */
  messages(): Promise<ModelMessage[]>;
  /** Ends the request: nobody wants the rest. */
  stop(): void;
}

/** One request to the model. Tools have no code here: the stream ends at the calls, and the loop goes on from there. */
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
    // What was said stays with us, not with the provider; it also keeps every request complete in itself.
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

/** A key of the environment belongs to the provider's own address; it must not travel to another one. */
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
