/** Translates Claude's messages into what people see of the turn. */

import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { ClaudeMessage, StreamEvent } from './sdk.js';
import { type SubAgents, settle } from './sub-agents.js';
import type { TurnCalls } from './tools.js';
import type { ClaudeUsage } from './usage.js';

export class EventReader {
  /** The id of the last message that Claude stores. */
  mark: string | undefined;
  /** The kind of failure that Claude reported, if any. */
  failure: string | undefined;
  readonly #turn: AgentTurn;
  readonly #agents: SubAgents;
  readonly #calls: TurnCalls;
  readonly #usage: ClaudeUsage;
  /** Claude's id of the step that is being written. */
  #stepId = '';
  /** Calls in the answer that is being written, by their index in it. */
  readonly #written = new Map<number, string>();

  constructor(turn: AgentTurn, agents: SubAgents) {
    this.#turn = turn;
    this.#agents = agents;
    this.#calls = agents.main;
    this.#usage = agents.usageOf(agents.main);
  }

  /** Handles a message. Messages of sub-agents go to their chats; other types are ignored. */
  take(message: ClaudeMessage): void {
    const { type, event, parent_tool_use_id: parent } = message;
    const isMessage = type === 'assistant' || type === 'user';
    // Messages after the end of a sub-agent's chat are not shown.
    if (parent && isMessage) return void this.#agents.take(message, parent).catch(() => {});
    if (type === 'user') this.#results(message);
    if (!parent && type === 'stream_event' && event) this.#stream(event);
    else if (isMessage) this.#remember(message);
    else if (type === 'system') this.#system(message);
  }

  #stream(event: StreamEvent): void {
    const { type, index = 0, content_block, delta } = event;
    if (type === 'content_block_delta') this.#delta(index, delta ?? {});
    else if (type === 'content_block_start' && content_block?.type === 'tool_use') this.#begin(index, content_block);
    else if (type === 'message_start') this.#step(event);
    else if (type === 'message_delta') this.#usage.counted(this.#stepId, event.usage);
  }

  #step({ message }: StreamEvent): void {
    this.#written.clear();
    this.#stepId = message?.id ?? crypto.randomUUID();
    this.#usage.works(message?.model);
    this.#usage.begun(this.#stepId, message?.usage);
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

  #remember({ uuid, error }: ClaudeMessage): void {
    this.mark = uuid ?? this.mark;
    this.failure = error ?? this.failure;
  }

  #results({ message }: ClaudeMessage): void {
    if (typeof message?.content === 'string') return;
    for (const block of message?.content ?? []) if (block.type === 'tool_result') settle(this.#calls, block);
  }

  #system({ subtype, attempt, max_retries, apiKeySource }: ClaudeMessage): void {
    if (subtype === 'init') this.#agents.paidBy(apiKeySource);
    if (subtype === 'api_retry') this.#usage.retried();
    const isFirstRetry = subtype === 'api_retry' && attempt === 1;
    if (isFirstRetry) this.#turn.notify(`The model cannot be reached; Claude tries again, up to ${max_retries} times.`);
    if (subtype === 'compact_boundary') this.#turn.notify('Claude summed up the earlier conversation to make room.');
  }
}
