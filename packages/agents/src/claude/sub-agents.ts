/**
 * Claude's sub-agents. Each works in a chat of its own, as a worker of the call that started it. Where there can be no such
 * chat, its calls are shown among those of the turn, and its words are not shown.
 */
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { ClaudeMessage, ContentBlock } from './sdk.js';
import { type HostTools, resultText, TurnCalls } from './tools.js';
import { ClaudeUsage } from './usage.js';

/** Where the key comes from when a subscription pays. */
const SUBSCRIPTIONS: ReadonlySet<string | undefined> = new Set([undefined, 'none', 'oauth']);

interface SubAgent {
  /** Resolves when the turn of its chat has begun; rejects when that is over. */
  readonly calls: Promise<TurnCalls>;
}

export class SubAgents {
  /** The calls of Claude itself. */
  readonly main: TurnCalls;
  readonly #place: { readonly hostTools: HostTools; readonly folder: string };
  /** By the model's id of the call that started each; undefined for one without a chat. */
  readonly #agents = new Map<string, SubAgent | undefined>();
  /** By the id that hooks name a sub-agent by. */
  readonly #byId = new Map<string, SubAgent>();
  /** Whose call each is, by the model's id. */
  readonly #owners = new Map<string, SubAgent>();

  readonly #usage = new Map<TurnCalls, ClaudeUsage>();
  readonly #model: string | undefined;
  #isFlat = false;

  constructor(turn: AgentTurn, place: { readonly hostTools: HostTools; readonly folder: string }, model?: string) {
    this.#place = place;
    this.#model = model;
    this.main = new TurnCalls(turn, place.hostTools, place.folder);
  }

  /** Claude says where its key comes from: without one, a subscription pays. */
  paidBy(apiKeySource: string | undefined): void {
    this.#isFlat = SUBSCRIPTIONS.has(apiKeySource);
  }

  /** What is used in the chat of these calls. */
  usageOf(calls: TurnCalls): ClaudeUsage {
    const known = this.#usage.get(calls) ?? new ClaudeUsage(calls.turn, this.#model, () => this.#isFlat);
    this.#usage.set(calls, known);
    return known;
  }

  /** The calls among which one is, by its id and the sub-agent that hooks name. */
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
    // Another message of it may come while its own starter is being opened.
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

/** Rejects when the turn is over; its calls are over then, too. */
export function settle(calls: TurnCalls, { tool_use_id, content, is_error }: ContentBlock): void {
  void calls.settle(tool_use_id ?? '', resultText(content), is_error !== true).catch(() => {});
}
