/** One open session: its channel, its agent, and everything that follows from an action on it. */
import {
  ErrorCode,
  type ErrorInfo,
  type FetchTurnsParams,
  type FetchTurnsResult,
  type SessionAction,
  type SessionState,
  type StateAction,
} from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';
import type { Channel, Step } from '../channels/channel.js';
import type { Asker, HostCore, OpenChannel, TakeSnapshot } from '../core.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX, STORE_RETRY_MS } from '../limits.js';
import type { EntryOrigin, Log } from '../log/log.js';
import type { HostTool } from '../tools/tool.js';
import { RequestError } from '../wire/request-error.js';
import type { WindowRequest } from '../wire/subscriptions.js';
import { AgentOpener } from './agent-opener.js';
import type { Catalogue } from './catalogue.js';
import { type Held, HeldActions } from './held-actions.js';
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
  /** It left memory or was disposed: nothing more happens here. */
  #isClosed = false;
  /** Tools that a person allowed for the rest of this session. */
  readonly allowedTools = new Set<string>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#held = new HeldActions(parts);
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
    const { channel } = this.#parts;
    return !this.state.activeTurn && channel.isSettled && this.#held.isEmpty && !this.#agent.isOpening;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes an action, the host's own or a client's, and does what follows from it. */
  write(action: SessionAction, origin?: EntryOrigin): void {
    if (this.#isClosed) return;
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
    if (this.#isClosed) return (await this.#parts.core.open(this.uri))?.dispatch(action, origin, asker);
    const reason = refusal(action, { state: this.state, clientId: origin.clientId }) ?? this.#unknownTurn(action);
    if (reason) return asker.connection.reject(asker.original, origin, reason);
    if (mustWait(action, this.state)) return this.#held.hold(action as SessionAction, origin, asker);
    this.write(action as SessionAction, origin);
  }

  async prepareSnapshot(window: WindowRequest | undefined): Promise<TakeSnapshot> {
    const { channel, pages, core } = this.#parts;
    const older = await pages.older(channel.committed, window?.last);
    return () => {
      if (this.#isClosed || older.end !== pages.base) return undefined;
      const turns = pages.text(channel.committed, older, window?.last);
      const place = { resource: this.uri, fromSeq: core.writer.committedSeq };
      return { text: snapshotText(channel.committed, turns.text, place), turns: turns.window };
    };
  }

  /** A page of finished turns: before a turn, or by index for those who count from the oldest. */
  async fetchTurns(params: FetchTurnsParams): Promise<FetchTurnsResult & { startTurn: number; totalTurns: number }> {
    const { pages, channel } = this.#parts;
    const { start, end } = rangeOf(params) ?? (await this.#pageBefore(params));
    const state = channel.committed;
    const total = pages.total(state);
    const turns = await pages.slice(state, start, Math.min(end, total));
    return { turns, hasMore: start > 0, startTurn: start, totalTurns: total };
  }

  async #pageBefore({ before, limit }: FetchTurnsParams): Promise<{ start: number; end: number }> {
    const { pages, channel } = this.#parts;
    const state = channel.committed;
    const end = before === undefined ? pages.total(state) : await pages.indexOf(state, before);
    if (end === undefined) throw new RequestError(ErrorCode.InvalidParams, `/before: there is no turn ${before}`);
    const size = Math.max(0, Math.min(Math.trunc(limit ?? FETCH_TURNS_DEFAULT), FETCH_TURNS_MAX));
    return { start: Math.max(0, end - size), end };
  }

  #unknownTurn(action: StateAction): string | undefined {
    if (action.type !== 'session/truncated' || action.turnId === undefined) return undefined;
    const known = this.state.turns.some((turn) => turn.id === action.turnId);
    return known ? undefined : `there is no turn ${action.turnId}`;
  }

  /** Brings turns into memory that only the log has, so that cutting them off is a step of the state like any other. */
  async #reach(turnId: string | undefined): Promise<void> {
    const { pages, channel, core } = this.#parts;
    const index = turnId === undefined ? 0 : await pages.indexOf(this.state, turnId);
    while (index !== undefined && index < pages.base) {
      const { base } = pages;
      const older = await pages.slice(this.committed, index, base);
      const isCurrent = pages.base === base;
      if (isCurrent && channel.replace((state) => ({ ...state, turns: [...older, ...state.turns] })))
        pages.rebase(index);
      else await core.writer.settled();
    }
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
      case 'update-customization':
        return this.write({ type: 'session/customizationUpdated', customization: reaction.customization });
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
    if (channel.replace((state) => ({ ...state, turns: state.turns.slice(surplus) }))) pages.left(leaving);
  }

  #run(turnId: string): void {
    const turn = this.state.activeTurn;
    if (turn?.id !== turnId) return;
    this.#runner = new TurnRunner(this, turn);
    void this.#runner.run(this.#agent.forTurn());
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

  /** The role of active client is free when whoever had it is not here. */
  dropAbsentClient(): void {
    const clientId = this.state.activeClient?.clientId;
    if (clientId === undefined || this.#parts.core.connections.isConnected(clientId)) return;
    this.write({ type: 'session/activeClientChanged', activeClient: null });
  }

  /** What the host did here could not be stored. An agent whose words are lost is stopped; the rest is done again. */
  mend(lost: readonly StateAction[]): void {
    const { activeTurn } = this.state;
    const types = new Set<string>(lost.map(({ type }) => type));
    const isTurnLost = [...types].some((type) => !OUTSIDE_TURNS.has(type));
    if (activeTurn && isTurnLost) this.#stop(activeTurn.id);
    this.#parts.core.clock.after(STORE_RETRY_MS, () => {
      if (activeTurn && isTurnLost) this.fail(activeTurn.id, NOT_STORED);
      if (types.has('session/ready') || types.has('session/creationFailed')) this.create();
      this.dropAbsentClient();
    });
  }

  /** Whether an action still waits for the end of the turn: its client will hear of it. */
  isHolding(origin: EntryOrigin): boolean {
    return this.#held.has(origin);
  }

  /** A crash cut it off: what waited for the end of the turn is taken now, with that end. */
  interrupted(held: readonly Held[]): void {
    this.#held.restore(held);
    const { activeTurn, lifecycle } = this.state;
    if (activeTurn) this.fail(activeTurn.id, HOST_RESTARTED);
    if (lifecycle === 'creating') this.create();
    else if (!activeTurn) this.#parts.catalogue.setActive(this.uri, false);
  }

  /** Ends a turn as failed, if it still runs. */
  fail(turnId: string, error: ErrorInfo): void {
    if (this.state.activeTurn?.id === turnId) this.write({ type: 'session/error', turnId, error });
  }

  /** Takes it off the list. Nothing more happens here from now on, unless this could not be stored. */
  async dispose(): Promise<void> {
    const { core, catalogue } = this.#parts;
    const { activeTurn } = this.state;
    if (activeTurn) this.write({ type: 'session/turnCancelled', turnId: activeTurn.id });
    this.archive();
    const { summary, lifecycle } = this.state;
    catalogue.setActive(this.uri, false);
    catalogue.set(this.uri, { summary, lifecycle, disposedAt: core.clock.now() });
    this.#isClosed = true;
    await core.writer.settled().catch((error) => {
      this.#isClosed = false;
      throw error;
    });
  }

  /** Ends the agent; the state is left to the caller. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#runner?.stop();
    await this.#agent.close();
  }
}

/** What the host does without an agent: when it is lost, a running turn can go on. */
const OUTSIDE_TURNS: ReadonlySet<string> = new Set([
  'session/ready',
  'session/creationFailed',
  'session/activeClientChanged',
  'session/turnCancelled',
]);

const HOST_RESTARTED: ErrorInfo = {
  errorType: 'host-restarted',
  message: 'The host stopped while this turn was running. Send the message again to go on.',
};

const NOT_STORED: ErrorInfo = {
  errorType: 'not-stored',
  message: 'The host could not store what the agent did. Send the message again to go on.',
};

function rangeOf(params: FetchTurnsParams): { start: number; end: number } | undefined {
  const { range } = params as { range?: { start?: unknown; end?: unknown } };
  if (typeof range?.start !== 'number') return undefined;
  const start = Math.max(0, Math.trunc(range.start));
  const end = typeof range.end === 'number' ? Math.trunc(range.end) : Number.MAX_SAFE_INTEGER;
  return { start, end: Math.min(Math.max(start, end), start + FETCH_TURNS_MAX) };
}
