/**
 * Claude's sub-agents. Each works in its own chat, as a worker of the call that started it. If it can have no chat, its
 * calls are shown among those of the turn, and its text is not shown.
 */
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { ClaudeMessage, ContentBlock } from './sdk.js';
import { type HostTools, resultText, TurnCalls } from './tools.js';
import { ClaudeUsage } from './usage.js';

/** Claude's names for the source of the key when a subscription pays. */
const SUBSCRIPTIONS: ReadonlySet<string | undefined> = new Set([undefined, 'none', 'oauth']);

interface SubAgent {
  /** Resolves when the turn of its chat has begun; rejects if the chat ends before that. */
  readonly calls: Promise<TurnCalls>;
}

export class SubAgents {
  /** The calls of Claude itself. */
  readonly main: TurnCalls;
  readonly #place: { readonly hostTools: HostTools; readonly folder: string };
  /** Sub-agents by the model's id of the call that started them; undefined for one without a chat. */
  readonly #agents = new Map<string, SubAgent | undefined>();
  /** Sub-agents by the id that hooks use. */
  readonly #byId = new Map<string, SubAgent>();
  /** The sub-agent that made each call, by the model's id. */
  readonly #owners = new Map<string, SubAgent>();

  readonly #usage = new Map<TurnCalls, ClaudeUsage>();
  readonly #model: string | undefined;
  #isFlat = false;

  constructor(turn: AgentTurn, place: { readonly hostTools: HostTools; readonly folder: string }, model?: string) {
    this.#place = place;
    this.#model = model;
    this.main = new TurnCalls(turn, place.hostTools, place.folder);
  }

  /** Sets who pays, by the source of the key: without a key, a subscription pays. */
  paidBy(apiKeySource: string | undefined): void {
    this.#isFlat = SUBSCRIPTIONS.has(apiKeySource);
  }

  /** The usage in the chat of these calls. */
  usageOf(calls: TurnCalls): ClaudeUsage {
    const known = this.#usage.get(calls) ?? new ClaudeUsage(calls.turn, this.#model, () => this.#isFlat);
    this.#usage.set(calls, known);
    return known;
  }

  /** The calls that include this one, found by its id and by the sub-agent that hooks name. */
  async of(callId: string, agentId?: string): Promise<TurnCalls> {
    const owner = this.#owners.get(callId) ?? (agentId === undefined ? undefined : this.#byId.get(agentId));
    return owner ? owner.calls : this.main;
  }

  /** Shows a message of a sub-agent in its chat. */
  async take(message: ClaudeMessage, parentId: string): Promise<void> {
    const agent = this.#agents.has(parentId) ? this.#agents.get(parentId) : await this.#opened(parentId);
    if (!agent) return this.#settleMain(message);
    if (message.agent_id !== undefined) this.#byId.set(message.agent_id, agent);
    const blocks = blocksIn(message);
    for (const { type, id } of blocks) if (type === 'tool_use' && id !== undefined) this.#owners.set(id, agent);
    const calls = await agent.calls;
    this.usageOf(calls).took(message);
    for (const block of blocks) show(calls, message.type, block);
  }

  async #opened(parentId: string): Promise<SubAgent | undefined> {
    // Set it before the first `await`: another message may come while the chat is being opened.
    this.#agents.set(parentId, undefined);
    const owner = await this.of(parentId);
    const turn = owner.openWorker(parentId);
    const { hostTools, folder } = this.#place;
    const agent = turn && { calls: turn.then((inner) => new TurnCalls(inner, hostTools, folder)) };
    agent?.calls.catch(() => {});
    this.#agents.set(parentId, agent);
    return agent;
  }

  async #settleMain(message: ClaudeMessage): Promise<void> {
    this.usageOf(this.main).took(message);
    for (const block of blocksIn(message)) if (block.type === 'tool_result') settle(this.main, block);
  }
}

function blocksIn({ message }: ClaudeMessage): readonly ContentBlock[] {
  return typeof message?.content === 'string' ? [] : (message?.content ?? []);
}

function show(calls: TurnCalls, type: string, block: ContentBlock): void {
  if (block.type === 'tool_result') settle(calls, block);
  if (type !== 'assistant') return;
  if (block.type === 'text' && block.text) calls.turn.text(block.text);
  else if (block.type === 'thinking' && block.thinking) calls.turn.reasoning(block.thinking);
}

/** Settles a call. Rejections are ignored: when the turn is over, so are its calls. */
export function settle(calls: TurnCalls, { tool_use_id, content, is_error }: ContentBlock): void {
  void calls.settle(tool_use_id ?? '', resultText(content), is_error !== true).catch(() => {});
}
