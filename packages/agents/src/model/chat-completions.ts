/**
 * Chat completions, as most model servers offer them, over Node's own HTTP. A stream has about one event per word:
 * reading one takes a few microseconds here, and several times that with `fetch` and web streams.
 */
import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { FilePart, ImagePart, ModelMessage, TextPart, ToolCallPart, ToolResultPart } from '@ai-sdk/provider-utils';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ModelAgentOptions } from './backend.js';
import { outputText } from './conversation.js';
import { EventReader, type StreamLimits } from './event-stream.js';
import {
  type AnswerEvent,
  type AnswerUsage,
  type OpenAnswer,
  type PartMetadata,
  SILENCE,
  type StepRequest,
  silenceText,
  type TakeEvent,
} from './request.js';

const REDIRECTS_MAX = 5;

export async function openCompletion(
  options: ModelAgentOptions,
  request: StepRequest,
  limits?: StreamLimits,
): Promise<OpenAnswer> {
  const { baseURL = '', apiKey, headers, displayName, silence: { maxMs } = SILENCE } = options;
  const body = JSON.stringify(bodyOf(request));
  const response = await post(new URL(`${baseURL.replace(/\/+$/, '')}/chat/completions`), {
    signal: request.signal,
    silence: { maxMs, words: silenceText(displayName, maxMs) },
    body,
    headers: {
      'user-agent': 'atrium',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...lowerCased(headers),
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
  });
  const reader = new EventReader(isEventStream(response) ? 'stream' : 'text', limits);
  if (!isSuccess(response)) throw await refusalOf(response, reader);
  const { caughtUp } = request;
  return { read: (take) => readCompletion(response, reader, { take, caughtUp }) };
}

function lowerCased(headers: ModelAgentOptions['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface Post {
  readonly signal: AbortSignal;
  /** A server that sends nothing for this long, not even a sign of life, is given up. */
  readonly silence: { readonly maxMs: number; readonly words: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request, and follows redirects on the same server: no other server may get the key. */
async function post(url: URL, request: Post, redirects = 0): Promise<IncomingMessage> {
  const response = await posted(url, request);
  const { statusCode = 0, headers } = response;
  if ((statusCode !== 307 && statusCode !== 308) || !headers.location || redirects === REDIRECTS_MAX) return response;
  const next = new URL(headers.location, url);
  if (next.origin !== url.origin) return response;
  response.resume();
  return post(next, request, redirects + 1);
}

function posted(url: URL, { signal, silence, headers, body }: Post): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers });
    const stop = () => sent.destroy(new DOMException('the turn is over', 'AbortError'));
    signal.addEventListener('abort', stop, { once: true });
    let isSilent = false;
    sent.setTimeout(silence.maxMs, () => {
      isSilent = true;
      sent.destroy(new AgentError('network', silence.words));
    });
    sent.on('response', resolve);
    // Somebody has waited for minutes already: whether to go on is theirs to decide.
    sent.on('error', (error) => reject(Object.assign(error, { isRetryable: !signal.aborted && !isSilent })));
    sent.on('close', () => signal.removeEventListener('abort', stop));
    sent.end(body);
  });
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.toLowerCase().startsWith('text/event-stream') ?? false;
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

const CLOSED = 'the other side closed the connection';

interface BodyReader {
  readonly caughtUp?: StepRequest['caughtUp'];
  /** Takes a chunk; false when no more is wanted. */
  push(chunk: Buffer): boolean;
  /** True when what has arrived is enough, should the connection be lost. */
  isEnough(): boolean;
}

/**
 * Reads a response while it arrives. Resolves with `enough` when the connection was lost or the reader wanted no more.
 */
function readBody(response: IncomingMessage, { push, isEnough, caughtUp }: BodyReader): Promise<'all' | 'enough'> {
  return new Promise((resolve, reject) => {
    const lost = (error: Error) => (isEnough() ? resolve('enough') : reject(error));
    if (response.destroyed) return lost(new Error(CLOSED));
    let isOver = false;
    const end = (settle: () => void) => {
      isOver = true;
      settle();
      response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      if (isOver) return;
      try {
        if (!push(chunk)) return end(() => resolve('enough'));
        const behind = caughtUp?.();
        if (!behind) return;
        response.pause();
        void behind.then(() => response.resume());
      } catch (error) {
        end(() => reject(error));
      }
    });
    response.on('end', () => resolve('all'));
    response.on('error', lost);
    response.on('close', () => lost(new Error(CLOSED)));
  });
}

interface CompletionReader {
  readonly take: TakeEvent;
  readonly caughtUp: StepRequest['caughtUp'];
}

async function readCompletion(
  response: IncomingMessage,
  reader: EventReader,
  { take: give, caughtUp }: CompletionReader,
): Promise<void> {
  const completion = new Completion(give);
  const take = (data: string) => completion.take(data);
  const isStream = isEventStream(response);
  const chunks: Buffer[] = [];
  const push = (chunk: Buffer) => {
    if (!isStream) chunks.push(chunk);
    return reader.push(chunk, take);
  };
  try {
    const read = await readBody(response, { push, isEnough: () => completion.isComplete, caughtUp });
    // After a complete answer, half an event may remain.
    if (read === 'all') reader.end(take);
    if (!isStream && !completion.isComplete) refuseObject(Buffer.concat(chunks).toString('utf8'));
    completion.end();
  } catch (error) {
    completion.brokeOff();
    throw error;
  }
}

/** Throws for a response that is one object: some servers refuse a request with status 200, and some do not stream. */
function refuseObject(text: string): void {
  if (!text.trimStart().startsWith('{')) return;
  throw new Error(errorMessageIn(text) ?? 'the server sent one object instead of a stream');
}

/** The error of a server that refused a request. */
async function refusalOf(response: IncomingMessage, reader: EventReader): Promise<Error> {
  const { statusCode = 0, statusMessage = '', headers } = response;
  const chunks: Buffer[] = [];
  const push = (chunk: Buffer) => {
    reader.measure(chunk);
    return chunks.push(chunk) > 0;
  };
  // The status says the most.
  await readBody(response, { push, isEnough: () => true });
  const moved =
    statusCode >= 300 && statusCode < 400 && headers.location ? `it is at ${headers.location} now` : undefined;
  const detail = moved ?? errorMessageIn(Buffer.concat(chunks).toString('utf8')) ?? statusMessage;
  const isRetryable = statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500;
  return Object.assign(new Error(detail), { statusCode, responseHeaders: headers, isRetryable });
}

function errorMessageIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (!isRecord(body)) return undefined;
    const error = body.error ?? body.message ?? body.detail;
    if (isRecord(error) && typeof error.message === 'string') return error.message;
    return typeof error === 'string' ? error : undefined;
  } catch {
    return text.trim() === '' ? undefined : text.trim();
  }
}

interface StreamedCall {
  readonly index: unknown;
  id: string;
  name: string;
  input: string;
  /** True when part of the input was shown, which needs the name. */
  isShown: boolean;
  metadata: PartMetadata | undefined;
}

/** One completion: turns its chunks into events. */
class Completion {
  readonly #take: TakeEvent;
  readonly #calls: StreamedCall[] = [];
  #wantsMore = true;
  /** Number of the block. A new one begins when the model changes between text and thinking. */
  #block = 0;
  #kind: 'text' | 'reasoning' | undefined;
  #reason: string | undefined;
  #isDone = false;
  #usage: AnswerUsage | undefined;

  constructor(take: TakeEvent) {
    this.#take = take;
  }

  /** Takes the data of an event; false when no more is wanted. */
  take(data: string): boolean {
    if (data === '[DONE]') this.#isDone = true;
    else this.#chunk(chunkOf(data));
    return this.#wantsMore;
  }

  /** True when the server has said that the answer is complete. Some servers give an empty reason with every word. */
  get isComplete(): boolean {
    return Boolean(this.#reason) || this.#isDone;
  }

  /** Ends the stream and its calls. */
  end(): void {
    if (!this.#wantsMore) return;
    if (this.#reason === undefined && !this.#isDone) throw new Error(`${CLOSED} before the answer was complete`);
    for (const { id, name, input, metadata } of this.#calls) this.#give({ type: 'call', id, name, input, metadata });
    const reason = REASONS[this.#reason ?? ''] ?? 'other';
    this.#give({ type: 'finish', reason, usage: this.#usage ?? UNCOUNTED });
  }

  /** Called when the stream broke off. Some servers send counts with every chunk, and what they counted is paid for. */
  brokeOff(): void {
    if (this.#usage) this.#give({ type: 'spent', usage: this.#usage });
  }

  #give(event: AnswerEvent): void {
    if (this.#wantsMore) this.#wantsMore = this.#take(event);
  }

  #chunk({ error, usage, choices }: Record<string, unknown>): void {
    // The server's own error: an object, or a text.
    if (error !== undefined && error !== null) throw error;
    if (isRecord(usage)) this.#usage = usageOf(usage);
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isRecord(choice)) return;
    if (typeof choice.finish_reason === 'string') this.#reason = choice.finish_reason;
    if (isRecord(choice.delta)) this.#delta(choice.delta);
  }

  #delta({ content, reasoning_content, reasoning, tool_calls }: Record<string, unknown>): void {
    const thought = reasoning_content ?? reasoning;
    if (typeof thought === 'string') this.#emit('reasoning', thought);
    if (typeof content === 'string') this.#emit('text', content);
    else if (Array.isArray(content)) for (const part of content) this.#part(part);
    if (Array.isArray(tool_calls)) for (const call of tool_calls) if (isRecord(call)) this.#call(call);
  }

  /** Some servers send parts, and thinking among them. */
  #part(part: unknown): void {
    if (!isRecord(part)) return;
    if (part.type === 'text' && typeof part.text === 'string') this.#emit('text', part.text);
    if (part.type === 'thinking' && Array.isArray(part.thinking))
      for (const { text } of part.thinking.filter(isRecord))
        if (typeof text === 'string') this.#emit('reasoning', text);
  }

  #emit(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    if (kind !== this.#kind) this.#block += 1;
    this.#kind = kind;
    this.#give({ type: kind, block: String(this.#block), text });
  }

  #call(delta: Record<string, unknown>): void {
    const { name, arguments: input } = isRecord(delta.function) ? delta.function : {};
    const call = this.#callOf(delta, textOf(name));
    const more =
      typeof input === 'string' || input === undefined || input === null ? textOf(input) : JSON.stringify(input);
    call.input += more;
    if (call.name === '') call.name = textOf(name);
    if (isRecord(delta.extra_content)) call.metadata = { chat: { extra_content: delta.extra_content as never } };
    if (call.name === '') return;
    const shown = call.isShown ? more : call.input;
    if (!call.isShown) this.#give({ type: 'input-start', id: call.id, name: call.name });
    call.isShown = true;
    if (shown !== '') this.#give({ type: 'input', id: call.id, text: shown });
  }

  /**
   * The call that a piece belongs to. Not every server gives an index, an id and a name, or gives them in every piece.
   */
  #callOf(delta: Record<string, unknown>, name: string): StreamedCall {
    const id = textOf(delta.id);
    const { index } = delta;
    const isNumbered = typeof index === 'number';
    const same = isNumbered ? this.#calls.findLast((call) => call.index === index) : this.#sameCall(id, name);
    // Some servers give all of their calls the same index.
    const isOther = same !== undefined && id !== '' && name !== '' && id !== same.id;
    if (same && !isOther) return same;
    const call = { index, id: id || `call-${randomUUID()}`, name, input: '', isShown: false, metadata: undefined };
    this.#calls.push(call);
    return call;
  }

  #sameCall(id: string, name: string): StreamedCall | undefined {
    if (id !== '') return this.#calls.findLast((call) => call.id === id);
    return name === '' ? this.#calls.at(-1) : undefined;
  }
}

function chunkOf(data: string): Record<string, unknown> {
  const chunk: unknown = JSON.parse(data);
  if (!isRecord(chunk)) throw new Error('the server sent something that is no part of an answer');
  return chunk;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const REASONS: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  function_call: 'tool-calls',
  tool_calls: 'tool-calls',
};

const UNCOUNTED: AnswerUsage = {
  input: undefined,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  reasoning: undefined,
};

function usageOf(usage: Record<string, unknown>): AnswerUsage {
  const prompt = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    input: countOf(usage.prompt_tokens),
    output: countOf(usage.completion_tokens),
    cacheRead: countOf(prompt.cached_tokens),
    // Servers in front of Anthropic's models use this name.
    cacheWrite: 'cache_write_tokens' in prompt ? countOf(prompt.cache_write_tokens) : undefined,
    reasoning: countOf(completion.reasoning_tokens),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function bodyOf({ modelId, system, messages, tools, maxOutputTokens, options = {} }: StepRequest): object {
  const { reasoningEffort, temperature } = options;
  const offered = [...tools].map(([name, { description, inputSchema = NO_INPUT }]) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }));
  return {
    model: modelId,
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(temperature !== undefined && { temperature }),
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap(wireMessages)],
    ...(offered.length > 0 && { tools: offered, tool_choice: 'auto' }),
    stream: true,
    // Strict servers count tokens only when asked to.
    stream_options: { include_usage: true },
  };
}

export const NO_INPUT = { type: 'object', properties: {} } as const;

function wireMessages(message: ModelMessage): object[] {
  const { role, content } = message;
  if (role === 'system') return [{ role, content }];
  if (role === 'user') return [{ role, content: typeof content === 'string' ? content : content.map(wirePart) }];
  if (role === 'assistant')
    return [answerOf(typeof content === 'string' ? [{ type: 'text', text: content }] : content)];
  return content.flatMap((part) => (part.type === 'tool-result' ? [resultOf(part)] : []));
}

function wirePart(part: TextPart | ImagePart | FilePart): object {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'file') throw new TypeError('chat completions take no files');
  return {
    type: 'image_url',
    image_url: { url: `data:${part.mediaType ?? 'image/jpeg'};base64,${String(part.image)}` },
  };
}

type AnswerPart = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number];

function answerOf(parts: readonly AnswerPart[]): object {
  const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
  const thought = parts.flatMap((part) => (part.type === 'reasoning' ? part.text : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [callOf(part)] : []));
  return {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function callOf({ toolCallId, toolName, input, providerOptions }: ToolCallPart): object {
  const call = { name: toolName, arguments: JSON.stringify(input) };
  return { id: toolCallId, type: 'function', function: call, ...providerOptions?.chat };
}

function resultOf({ toolCallId, output }: ToolResultPart): object {
  return { role: 'tool', tool_call_id: toolCallId, content: outputText(output) };
}
