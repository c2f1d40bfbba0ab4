/** Reads what Claude says as it streams in, and shows it through the turn. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import type { Calls } from './calls.js';
import type { ClaudeMessage, ContentBlock, StreamEvent } from './sdk-messages.js';
import { resultText } from './tool-words.js';
import { UsageCount } from './usage.js';

export class Reader {
  /** The last message that Claude keeps. */
  mark: string | undefined;
  /** The kind of failure that Claude reported, if any. */
  failure: string | undefined;
  readonly #turn: AgentTurn;
  readonly #calls: Calls;
  readonly #model: string | undefined;
  readonly #usage = new UsageCount();
  /** The calls of the answer that is being written, by their place in it. */
  readonly #written = new Map<number, string>();

  constructor(turn: AgentTurn, calls: Calls, model: string | undefined) {
    this.#turn = turn;
    this.#calls = calls;
    this.#model = model;
  }

  /** What a sub-agent says is its own business, but what it calls is everybody's. Other types say nothing to a person. */
  take(message: ClaudeMessage): void {
    const isOwn = !message.parent_tool_use_id;
    if (message.type === 'user') this.#results(message);
    if (isOwn && message.type === 'stream_event' && message.event) this.#stream(message.event);
    else if (isOwn && (message.type === 'assistant' || message.type === 'user')) this.#kept(message);
    else if (message.type === 'system') this.#system(message);
  }

  #stream(event: StreamEvent): void {
    const { type, index = 0, content_block, delta } = event;
    if (type === 'content_block_delta') this.#delta(index, delta ?? {});
    else if (type === 'content_block_start' && content_block?.type === 'tool_use') this.#begin(index, content_block);
    else if (type === 'message_start') this.#step(event);
    else if (type === 'message_delta') {
      this.#usage.update(event.usage);
      this.#turn.usage(this.#usage.info(this.#model));
    }
  }

  #step({ message }: StreamEvent): void {
    this.#written.clear();
    this.#usage.begin(message?.usage);
  }

  #begin(index: number, { id, name }: NonNullable<StreamEvent['content_block']>): void {
    if (id === undefined || name === undefined) return;
    this.#written.set(index, id);
    this.#calls.begin(id, name);
  }

  #delta(index: number, { type, text, thinking, partial_json }: NonNullable<StreamEvent['delta']>): void {
    const id = this.#written.get(index);
    if (type === 'text_delta' && text) this.#turn.text(text);
    else if (type === 'thinking_delta' && thinking) this.#turn.reasoning(thinking);
    else if (type === 'input_json_delta' && id !== undefined) this.#calls.delta(id, partial_json ?? '');
  }

  #kept({ uuid, error }: ClaudeMessage): void {
    this.mark = uuid ?? this.mark;
    this.failure = error ?? this.failure;
  }

  #results({ message }: ClaudeMessage): void {
    if (typeof message?.content === 'string') return;
    for (const block of message?.content ?? []) if (block.type === 'tool_result') this.#result(block);
  }

  #result({ tool_use_id, content, is_error }: ContentBlock): void {
    // A turn that is over rejects; its calls are over then, too.
    void this.#calls.settle(tool_use_id ?? '', resultText(content), is_error !== true).catch(() => {});
  }

  #system({ subtype, attempt, max_retries }: ClaudeMessage): void {
    const isFirstRetry = subtype === 'api_retry' && attempt === 1;
    if (isFirstRetry) this.#turn.notify(`The model cannot be reached; Claude tries again, up to ${max_retries} times.`);
    if (subtype === 'compact_boundary') this.#turn.notify('Claude summed up the earlier conversation to make room.');
  }
}
