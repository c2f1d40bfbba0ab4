/** One open session: its channel, its agent, and everything that follows from an action on it. */
import {
  ErrorCode,
  type FetchTurnsParams,
  type FetchTurnsResult,
  type SessionAction,
  type SessionState,
  type StateAction,
} from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';
import type { Channel, Step } from '../channels/channel.js';
import type { Asker, ChannelSnapshot, HostCore, OpenChannel } from '../core.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX } from '../limits.js';
import type { EntryOrigin, Log } from '../log/log.js';
import type { HostTool } from '../tools/tool.js';
import { RequestError } from '../wire/request-error.js';
import type { WindowRequest } from '../wire/subscriptions.js';
import { AgentOpener } from './agent-opener.js';
import type { Catalogue } from './catalogue.js';
import { HeldActions } from './held-actions.js';
import { type Reaction, reactionsTo } from './reactions.js';
import { mustWait, refusal } from './rules.js';
import { isAtWork } from './summaries.js';
import { TurnRunner } from './turn.js';
import { snapshotText, type TurnPages } from './turn-pages.js';

export interface SessionParts {
  readonly core: HostCore;
  readonly log: Log;
  readonly channel: Channel<SessionState>;
  readonly pages: TurnPages;
  readonly backend: AgentBackend | undefined;
  readonly tools: readonly HostTool[];
  readonly catalogue: Catalogue;
}

export class Session implements OpenChannel {
  readonly #parts: SessionParts;
  readonly #held: HeldActions;
  readonly #agent: AgentOpener;
  #runner: TurnRunner | undefined;
  /** Tools that a person allowed for the rest of this session. */
  readonly allowedTools = new Set<string>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#held = new HeldActions(parts.core);
    this.#agent = new AgentOpener(parts);
  }

  get uri(): string {
    return this.#parts.channel.uri;
  }

  get channel(): Channel {
    return this.#parts.channel as unknown as Channel;
  }

  get state(): SessionState {
    return this.#parts.channel.live;
  }

  get committed(): SessionState {
    return this.#parts.channel.committed;
  }

  get parts(): SessionParts {
    return this.#parts;
  }

  /** Whether it can leave memory: nothing runs, nothing waits to be stored. */
  get isIdle(): boolean {
    return !this.state.activeTurn && this.state === this.committed && this.#held.isEmpty && !this.#agent.isOpening;
  }

  /** Takes an action, the host's own or a client's, and does what follows from it. */
  write(action: SessionAction, origin?: EntryOrigin): void {
    const step = this.#parts.core.writer.write({ channel: this.#parts.channel, action, origin });
    this.#parts.core.writer.afterCommit(() => this.#runner?.observe(step));
    this.#note(step);
    for (const reaction of reactionsTo(step)) this.#react(reaction);
  }

  /** Keeps the list of sessions true, in the same tick. */
  #note({ before, after }: Step<SessionState>): void {
    const { catalogue } = this.#parts;
    const { summary, lifecycle } = after;
    if (summary !== before.summary || lifecycle !== before.lifecycle) catalogue.set(this.uri, { summary, lifecycle });
    if (isAtWork(before) !== isAtWork(after)) catalogue.setActive(this.uri, isAtWork(after));
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: Asker): Promise<void> {
    if (action.type === 'session/truncated') await this.#reach(action.turnId);
    const reason = refusal(action, { state: this.state, clientId: origin.clientId }) ?? this.#unknownTurn(action);
    if (reason) return asker.connection.reject(asker.original, origin.clientSeq, reason);
    if (mustWait(action, this.state)) return this.#held.hold(action as SessionAction, origin, asker);
    this.write(action as SessionAction, origin);
  }

  async snapshot(window: WindowRequest | undefined, taken: () => void): Promise<ChannelSnapshot> {
    const { channel, pages } = this.#parts;
    let older = await pages.older(channel.committed, window?.last);
    while (older.end !== pages.base) older = await pages.older(channel.committed, window?.last);
    taken();
    const turns = pages.text(channel.committed, older, window?.last);
    const place = { resource: this.uri, fromSeq: channel.committedSeq };
    return { text: snapshotText(channel.committed, turns.text, place), turns: turns.window };
  }

  /** A page of finished turns: before a turn, or by index for those who count from the oldest. */
  async fetchTurns(params: FetchTurnsParams): Promise<FetchTurnsResult & { startTurn: number; totalTurns: number }> {
    const { pages, channel } = this.#parts;
    const state = channel.committed;
    const total = pages.total(state);
    const { start, end } = rangeOf(params) ?? (await this.#pageBefore(params, total));
    const turns = await pages.slice(state, start, Math.min(end, total));
    return { turns, hasMore: start > 0, startTurn: start, totalTurns: total };
  }

  async #pageBefore({ before, limit }: FetchTurnsParams, total: number): Promise<{ start: number; end: number }> {
    const { pages, channel } = this.#parts;
    const end = before === undefined ? total : await pages.indexOf(channel.committed, before);
    if (end === undefined) throw new RequestError(ErrorCode.InvalidParams, `/before: there is no turn ${before}`);
    const size = Math.max(0, Math.min(Math.trunc(limit ?? FETCH_TURNS_DEFAULT), FETCH_TURNS_MAX));
    return { start: Math.max(0, end - size), end };
  }

  #unknownTurn(action: StateAction): string | undefined {
    if (action.type !== 'session/truncated' || !action.turnId) return undefined;
    const known = this.state.turns.some((turn) => turn.id === action.turnId);
    return known ? undefined : `there is no turn ${action.turnId}`;
  }

  /** Brings a turn into memory that only the log has, so that history can be cut behind it. */
  async #reach(turnId: string | undefined): Promise<void> {
    const { pages, channel, core } = this.#parts;
    if (!turnId || this.state.turns.some((turn) => turn.id === turnId)) return;
    const index = await pages.indexOf(this.state, turnId);
    if (index === undefined) return;
    const turns = await pages.slice(this.state, index, index + 1);
    const takeIn = () => channel.slim((state) => ({ ...state, turns }));
    while (!takeIn()) await core.writer.settled();
    pages.rebase(index);
  }

  #react(reaction: Reaction): void {
    const { writer } = this.#parts.core;
    switch (reaction.kind) {
      case 'release-held':
        return this.#held.release((action, origin) => this.write(action, origin));
      case 'start-queued':
        return this.#startQueued(reaction.message);
      case 'run-turn':
        return writer.afterCommit(() => this.#run(reaction.turnId));
      case 'stop-turn':
        return writer.afterCommit(() => this.#stop(reaction.turnId));
      case 'truncate-agent':
        return writer.afterCommit(() => this.#agent.truncated(reaction.turnId));
      case 'archive':
        return this.archive();
    }
  }

  #startQueued({
    id,
    userMessage,
  }: {
    id: string;
    userMessage: NonNullable<SessionState['steeringMessage']>['userMessage'];
  }): void {
    this.write({ type: 'session/pendingMessageRemoved', kind: 'queued', id });
    this.write({
      type: 'session/turnStarted',
      turnId: `turn-${crypto.randomUUID()}`,
      userMessage,
      queuedMessageId: id,
    });
  }

  /** Stores the state as it is at the end of this tick, so that opening it later needs no replay. */
  archive(): void {
    const { core, pages, channel } = this.#parts;
    core.writer.archive(this.uri, () => pages.archive(channel.live, core.writer.assignedSeq));
    core.writer.afterCommit(() => {
      pages.archivedUpTo(channel.committed);
      this.#slim();
    });
  }

  /** Old turns leave memory once they are stored. */
  #slim(): void {
    const { pages, channel } = this.#parts;
    const surplus = pages.surplus(channel.live);
    if (surplus === 0) return;
    const leaving = channel.live.turns.slice(0, surplus);
    if (channel.slim((state) => ({ ...state, turns: state.turns.slice(surplus) }))) pages.left(leaving);
  }

  #run(turnId: string): void {
    const turn = this.state.activeTurn;
    if (turn?.id !== turnId) return;
    this.#runner = new TurnRunner(this, turn);
    void this.#runner.run(this.#agent.opened());
  }

  #stop(turnId: string): void {
    if (this.#runner?.id === turnId) this.#runner.stop();
  }

  /** Starts the agent of a new session. The outcome shows in the state. */
  create(): void {
    this.#agent.opened().then(
      () => this.write({ type: 'session/ready' }),
      (error) => this.write({ type: 'session/creationFailed', error: AgentOpener.errorInfo(error) }),
    );
  }

  /** A client is gone, or has been gone for too long: its calls fail. */
  abandonCalls(clientId: string): void {
    for (const part of this.state.activeTurn?.responseParts ?? []) {
      if (part.kind !== 'toolCall' || part.toolCall.toolClientId !== clientId) continue;
      const { status, toolCallId } = part.toolCall;
      if (status !== 'running' && status !== 'pending-confirmation') continue;
      const message = `the client ${clientId} left and did not come back`;
      const result = { success: false, pastTenseMessage: 'Lost its client', error: { message, code: 'DISCONNECTED' } };
      this.write({ type: 'session/toolCallComplete', turnId: this.state.activeTurn?.id ?? '', toolCallId, result });
    }
  }

  /** Ends the agent; the state is left to the caller. */
  async close(): Promise<void> {
    this.#runner?.stop();
    await this.#agent.close();
  }
}

function rangeOf(params: FetchTurnsParams): { start: number; end: number } | undefined {
  const { range } = params as { range?: { start?: unknown; end?: unknown } };
  if (typeof range?.start !== 'number') return undefined;
  const start = Math.max(0, Math.trunc(range.start));
  const end = typeof range.end === 'number' ? Math.trunc(range.end) : Number.MAX_SAFE_INTEGER;
  return { start, end: Math.min(Math.max(start, end), start + FETCH_TURNS_MAX) };
}
