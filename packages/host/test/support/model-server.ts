/**
 * A model's HTTP endpoint on loopback, which says what a test tells it to, in three wire formats. The only fake in tests
 * of the model agent: everything in front of it is real.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface ServedCall {
  readonly id?: string;
  readonly name: string;
  /** As an object, or as the text that the model writes, right or wrong. */
  readonly input: unknown;
}

/** One answer of the model. */
export interface ServedAnswer {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly ServedCall[];
  /** The calls come before the text, in chat completions. */
  readonly callsFirst?: boolean;
  readonly usage?: { input: number; output: number; cached?: number; reasoning?: number } | undefined;
  /** Refuses the request with this status. */
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long it says nothing, not even a status. */
  readonly delayMs?: number;
  /** Only for a request in which the model reads this: of agents that work side by side, any may ask first. */
  readonly to?: string;
  /** After what it said: nothing more, until the other side gives up; or the line is cut at once. */
  readonly ending?: 'hang' | 'cut';
}

export interface ServedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export class ModelServer {
  readonly requests: ServedRequest[] = [];
  /** Requests that the other side broke off. */
  aborted = 0;
  #answers: ServedAnswer[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(...answers: ServedAnswer[]): Promise<ModelServer> {
    const server = new ModelServer();
    server.answer(...answers);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Further answers, one for each request. */
  answer(...answers: ServedAnswer[]): void {
    this.#answers.push(...answers);
  }

  /** Leaves out the answers that nobody has asked for. */
  forget(): void {
    this.#answers = [];
  }

  /** Everything that the model read in a request, by default the last. */
  heard(index = -1): string {
    return stringsIn(this.requests.at(index)?.body).join('\n');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    if (request.method === 'GET')
      return sendJson(response, 200, { object: 'list', data: [{ id: 'm-1' }, { id: 'm-2' }] });
    const body = JSON.parse(await textOf(request));
    this.requests.push({ path, headers: request.headers, body });
    response.on('close', () => {
      if (!response.writableEnded) this.aborted++;
    });
    const answer = this.#next(body) ?? { status: 500, message: 'the test has no more answers' };
    const { status, message = '', headers = {} } = answer;
    const error = { type: 'error', error: { type: 'refused', message } };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (answer.delayMs !== undefined) await pause(answer.delayMs, undefined, { ref: false });
    if (status !== undefined) return sendJson(response, status, error);
    this.#stream(response, asksForUsage(path, body) ? answer : { ...answer, usage: undefined }, formatOf(path));
  }

  #next(body: unknown): ServedAnswer | undefined {
    const heard = stringsIn(body).join('\n');
    const index = this.#answers.findIndex(({ to = '' }) => heard.includes(to));
    return index < 0 ? undefined : this.#answers.splice(index, 1)[0];
  }

  #stream(response: ServerResponse, answer: ServedAnswer, format: Format): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of format.start(answer)) write(response, event);
    if (answer.ending === 'cut') return void setImmediate(() => response.destroy());
    if (answer.ending === 'hang') return;
    for (const event of format.end(answer)) write(response, event);
    response.end();
  }
}

type Event = Record<string, unknown> | '[DONE]';

interface Format {
  /** What the model says. */
  start(answer: ServedAnswer): Event[];
  /** How it says that it is done. */
  end(answer: ServedAnswer): Event[];
}

const FORMATS: readonly (readonly [RegExp, Format])[] = [
  [/\/chat\/completions$/, { start: chatStart, end: chatEnd }],
  [/\/responses$/, { start: responsesStart, end: responsesEnd }],
  [/\/messages$/, { start: messagesStart, end: messagesEnd }],
];

function formatOf(path: string): Format {
  const format = FORMATS.find(([pattern]) => pattern.test(path))?.[1];
  if (!format) throw new Error(`no model speaks at ${path}`);
  return format;
}

/** Strict servers of chat completions count tokens only on request. */
function asksForUsage(path: string, { stream_options }: { stream_options?: { include_usage?: boolean } }): boolean {
  return !path.endsWith('/chat/completions') || stream_options?.include_usage === true;
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chat-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason }],
});

function chatStart({ reasoning = [], text = [], calls = [], callsFirst = false }: ServedAnswer): Event[] {
  const words = text.map((content) => chunk({ content }));
  const called = calls.flatMap((call, index) => [
    chunk({
      tool_calls: [{ index, id: idOf(call, index), type: 'function', function: { name: call.name, arguments: '' } }],
    }),
    ...halves(inputOf(call)).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  return [
    chunk({ role: 'assistant' }),
    ...reasoning.map((reasoning_content) => chunk({ reasoning_content })),
    ...(callsFirst ? [...called, ...words] : [...words, ...called]),
  ];
}

function chatEnd({ calls = [], usage }: ServedAnswer): Event[] {
  const spent = usage && {
    ...chunk({}),
    choices: [],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    },
  };
  return [chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'), ...(spent ? [spent] : []), '[DONE]'];
}

function responsesStart({ reasoning = [], text = [], calls = [] }: ServedAnswer): Event[] {
  const thought = { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed', summary: [] };
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
  const at = { output_index: 0 };
  const part = { item_id: 'rs_1', summary_index: 0 };
  return [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm-1' } },
    ...within(reasoning, [
      { type: 'response.output_item.added', ...at, item: thought },
      ...reasoning.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...part, delta })),
      { type: 'response.output_item.done', ...at, item: thought },
    ]),
    ...within(text, [
      { type: 'response.output_item.added', output_index: 1, item: message },
      ...text.map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, delta })),
    ]),
    ...calls.flatMap((call, index) => responsesCall(call, index)),
  ];
}

function responsesCall(call: ServedCall, index: number): Event[] {
  const output_index = index + 2;
  const item = { type: 'function_call', id: `fc_${index}`, call_id: idOf(call, index), name: call.name };
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
    ...halves(inputOf(call)).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: item.id,
      output_index,
      delta,
    })),
    {
      type: 'response.output_item.done',
      output_index,
      item: { ...item, arguments: inputOf(call), status: 'completed' },
    },
  ];
}

function responsesEnd(answer: ServedAnswer): Event[] {
  const { text = [], usage } = answer;
  const spent = usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  };
  return [
    ...within(text, [{ type: 'response.output_item.done', output_index: 1, item: { type: 'message', id: 'msg_1' } }]),
    {
      type: 'response.completed',
      response: { status: 'completed', incomplete_details: null, output: outputOf(answer), usage: spent },
    },
  ];
}

/** Everything once more, in whole: some readers look only here. */
function outputOf({ text = [], calls = [] }: ServedAnswer): object[] {
  const content = [{ type: 'output_text', text: text.join(''), annotations: [] }];
  return [
    ...within(text, [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]),
    ...calls.map((call, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: idOf(call, index),
      name: call.name,
      arguments: inputOf(call),
      status: 'completed',
    })),
  ];
}

function messagesStart({ reasoning = [], text = [], calls = [], usage }: ServedAnswer): Event[] {
  const { input = 1, cached = 0 } = usage ?? {};
  // Anthropic counts what it read from its cache apart from the rest.
  const spent = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  // Answers of the same id would be taken for parts of one answer.
  const id = `msg_${crypto.randomUUID()}`;
  const message = { id, type: 'message', role: 'assistant', model: 'm-1', content: [], usage: spent };
  const thoughts = reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }));
  const blocks = [
    ...within(reasoning, [
      block({ type: 'thinking', thinking: '' }, [...thoughts, { type: 'signature_delta', signature: 'signed' }]),
    ]),
    ...within(text, [
      block(
        { type: 'text', text: '' },
        text.map((part) => ({ type: 'text_delta', text: part })),
      ),
    ]),
    ...calls.map((call, index) =>
      block(
        { type: 'tool_use', id: idOf(call, index), name: call.name, input: {} },
        halves(inputOf(call)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ),
    ),
  ];
  const events = blocks.flatMap((make, index) => make(index));
  return [{ type: 'message_start', message }, ...events];
}

function block(content_block: object, deltas: readonly object[]): (index: number) => Event[] {
  return (index) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function messagesEnd({ calls = [], usage }: ServedAnswer): Event[] {
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  return [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: usage?.output ?? 1 } },
    { type: 'message_stop' },
  ];
}

function within<T>(said: readonly string[], events: T[]): T[] {
  return said.length > 0 ? events : [];
}

/** The same in every answer, as with some local servers: nothing may count on ids that differ. */
const idOf = (call: ServedCall, index: number) => call.id ?? `call_${index}`;

function inputOf({ input }: ServedCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function write(response: ServerResponse, event: Event): void {
  const name = event === '[DONE]' ? '' : `event: ${event.type ?? 'message'}\n`;
  response.write(`${name}data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
