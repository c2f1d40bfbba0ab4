/** One open session: its channel, its agent, and everything that follows from an action on it. */
import type { FetchTurnsParams, PendingMessage, SessionAction, SessionState, StateAction } from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';
import type { Channel, Step } from '../channels/channel.js';
import type { Asker, HostCore, OpenChannel, TakeSnapshot } from '../core.js';
import type { Extension } from '../extensions/extension.js';
import { Extensions } from '../extensions/extensions.js';
import type { EntryOrigin, Log } from '../log/log.js';
import type { HostTool } from '../tools/tool.js';
import type { WindowRequest } from '../wire/subscriptions.js';
import { AgentOpener } from './agent-opener.js';
import { Allowances } from './allowances.js';
import type { Catalogue } from './catalogue.js';
import type { AttachCompanion, Companion } from './companion.js';
import { type Held, HeldActions } from './held-actions.js';
import { History, type TurnsPage } from './history.js';
import { Naming } from './naming.js';
import { type Reaction, reactionsTo } from './reactions.js';
import { mustWait, refusal } from './rules.js';
import { StandingRequests } from './standing-requests.js';
import { isAtWork } from './summaries.js';
import { TurnRunner } from './turn.js';
import { TurnActivity } from './turn-activity.js';
import type { TurnPages } from './turn-pages.js';

export interface SessionParts {
  readonly core: HostCore;
  readonly log: Log;
  readonly channel: Channel<SessionState>;
  readonly pages: TurnPages;
  readonly backend: AgentBackend | undefined;
  readonly tools: readonly HostTool[];
  readonly catalogue: Catalogue;
  /** What every session is extended by. */
  readonly extensions: readonly Extension[];
  /** What lives beside every session. */
  readonly companions: readonly AttachCompanion[];
}

export class Session implements OpenChannel {
  readonly #parts: SessionParts;
  readonly #held: HeldActions;
  readonly #agent: AgentOpener;
  readonly #history: History;
  #runner: TurnRunner | undefined;
  /** It left memory or was disposed: nothing more happens here. */
  #isClosed = false;
  /** Tools that a person allowed for the rest of this session. */
  readonly allowances: Allowances;
  /** Whose title it has. */
  readonly naming: Naming;
  /** Whoever adds tools, gates or prompt text to it. */
  readonly extensions: Extensions;
  /** Questions to people that outlive turns. */
  readonly standing = new StandingRequests({
    write: (action) => this.write(action),
    state: () => this.state,
    isNoteNeeded: () => this.#parts.core.isWatchedWithoutQuestions(this.uri),
  });
  readonly #companions: readonly Companion[];
  readonly #activity: TurnActivity;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#held = new HeldActions(parts);
    this.#agent = new AgentOpener(parts, () => this.#begin());
    this.#history = new History(parts);
    this.allowances = new Allowances(parts.catalogue, parts.channel.uri);
    this.naming = new Naming(parts.catalogue, parts.channel.uri);
    this.extensions = new Extensions({
      builtins: offeredBuiltins(parts),
      standing: parts.extensions,
      state: () => this.state,
      write: (action) => this.write(action),
    });
    this.#activity = new TurnActivity(this.state);
    this.#companions = parts.companions.map((attach) => attach(this));
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
    const isNeeded = this.#companions.some(({ keepsAwake }) => keepsAwake);
    return !this.state.activeTurn && channel.isSettled && this.#held.isEmpty && !this.#agent.isOpening && !isNeeded;
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
    this.naming.observe(action, origin);
    this.standing.observe(step);
    for (const companion of this.#companions) companion.observe?.(step);
    if (this.#activity.hasOutlived(step)) this.write({ type: 'session/activityChanged', activity: undefined });
    for (const reaction of reactionsTo(step)) this.#react(reaction);
  }

  /** What lives beside the session gets ready before its agent opens. */
  async #begin(): Promise<void> {
    this.extensions.changed();
    for (const companion of this.#companions) await companion.place?.();
    const memories = [this.allowances.load(), this.naming.load()];
    await Promise.all([...memories, ...this.#companions.map((companion) => companion.begin?.())]);
  }

  /** Something that the host wrote here could not be stored. */
  lost(): void {
    for (const companion of this.#companions) companion.lost?.();
  }

  /** Keeps the list of sessions true, in the same tick. */
  #note({ before, after }: Step<SessionState>): void {
    const { catalogue } = this.#parts;
    const { summary, lifecycle } = after;
    if (summary !== before.summary || lifecycle !== before.lifecycle) catalogue.set(this.uri, { summary, lifecycle });
    if (isAtWork(before) !== isAtWork(after)) catalogue.setActive(this.uri, isAtWork(after));
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: Asker): Promise<void> {
    if (action.type === 'session/truncated') await this.#history.reach(action.turnId);
    const isRepeated = action.type === 'session/turnStarted' && (await this.#history.has(action.turnId));
    if (this.#isClosed) return (await this.#parts.core.open(this.uri))?.dispatch(action, origin, asker);
    if (isRepeated) return asker.connection.reject(asker.original, origin, 'a turn of that id is over: make a new id');
    const reason = refusal(action, { state: this.state, clientId: origin.clientId }) ?? this.#unknownTurn(action);
    if (reason) return asker.connection.reject(asker.original, origin, reason);
    if (mustWait(action, this.state)) return this.#held.hold(action as SessionAction, origin, asker);
    this.write(action as SessionAction, origin);
  }

  async prepareSnapshot(window: WindowRequest | undefined): Promise<TakeSnapshot> {
    const take = await this.#history.prepareSnapshot(window);
    return () => (this.#isClosed ? undefined : take());
  }

  fetchTurns(params: FetchTurnsParams): Promise<TurnsPage> {
    return this.#history.fetch(params);
  }

  #unknownTurn(action: StateAction): string | undefined {
    if (action.type !== 'session/truncated' || action.turnId === undefined) return undefined;
    const known = this.state.turns.some((turn) => turn.id === action.turnId);
    return known ? undefined : `there is no turn ${action.turnId}`;
  }

  #react(reaction: Reaction): void {
    const { writer } = this.#parts.core;
    switch (reaction.kind) {
      case 'release-held':
        return this.#held.release((action, origin) => this.write(action, origin));
      case 'start-queued':
        // Whoever looked at the action first may have put another message to the front.
        return this.#startQueued(this.state.queuedMessages?.[0] ?? reaction.message);
      case 'run-turn':
        return writer.afterCommit(() => this.#run(reaction.turnId));
      case 'stop-turn':
        return writer.afterCommit(() => this.stopAgent(reaction.turnId));
      case 'truncate-agent':
        return writer.afterCommit(() => this.#agent.truncated(reaction.turnId));
      case 'update-customization':
        return this.write({ type: 'session/customizationUpdated', customization: reaction.customization });
      case 'archive':
        return this.archive();
    }
  }

  #startQueued({ id, userMessage }: PendingMessage): void {
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
    this.#history.archive();
  }

  #run(turnId: string): void {
    const turn = this.state.activeTurn;
    if (turn?.id !== turnId) return;
    this.#runner = new TurnRunner(this, turn);
    void this.#runner.run(this.#agent.forTurn());
  }

  /** Stops the agent, if it is at work on this turn. */
  stopAgent(turnId: string): void {
    if (this.#runner?.id === turnId) this.#runner.stop();
  }

  /** Starts the agent of a new session. The outcome shows in the state. */
  create(): void {
    this.#agent.opened().then(
      () => this.write({ type: 'session/ready' }),
      (error) => this.write({ type: 'session/creationFailed', error: AgentOpener.errorInfo(error) }),
    );
  }

  /** Whether an action still waits for the end of the turn: its client will hear of it. */
  isHolding(origin: EntryOrigin): boolean {
    return this.#held.has(origin);
  }

  /** What waited for the end of a turn when the host stopped waits again. */
  restoreHeld(held: readonly Held[]): void {
    this.#held.restore(held);
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
    await Promise.all([this.#agent.close(), ...this.#companions.map((companion) => companion.close())]);
  }
}

/** An agent with tools of its own for files and commands is not offered the host's. */
export function offeredBuiltins({ backend, tools }: Pick<SessionParts, 'backend' | 'tools'>): readonly HostTool[] {
  return backend?.abilities.ownTools ? [] : tools;
}
