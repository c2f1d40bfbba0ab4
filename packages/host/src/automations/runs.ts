/**
 * Runs of automations. Each is its own channel; a record holds its state, so that the host finds all runs at its start
 * without opening channels. A run is recorded before anything of it happens, so it can happen at most once.
 */
import { Channel } from '@atrium/core/channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import { type EntryOrigin, jsonText, type Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  type AutomationRunAction,
  type AutomationRunLifecycle,
  type AutomationRunOrigin,
  type AutomationRunState,
  automationRunReducer,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import { EVENT_RUNS_WITHIN_MS, RUN_HISTORY_LIMIT } from './limits.js';

const RUN_RECORDS = 'automation-run:';
const RUN_SCHEME = 'ahp-automation-run:/';

/** Facts about a run beyond the protocol. */
interface RunFacts {
  /** Counts the runs of its automation, beginning with 1. */
  readonly number: number;
  /** The id of the request that started it; repeating the request starts nothing. */
  readonly requestId?: string;
  /** How many runs of automations led to it in a chain. */
  readonly chain?: number;
}

export interface RunsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly writer: Writer;
  /** A run has changed in this tick, so its entry in the catalogue changes, too. */
  changed(run: Run): void;
  /** A client wants to stop a run that is not over. */
  cancelRequested(run: Run): void;
  /** The channel of a run no longer exists. */
  gone(uri: string): void;
}

export interface NewRun {
  readonly automation: string;
  readonly origin: AutomationRunOrigin;
  readonly requestId?: string;
  readonly chain?: number;
  /** For a run that never begins: says why something did not happen. */
  readonly outcome?: Pick<AutomationRunLifecycle, 'status' | 'error'>;
}

export class Run implements OpenChannel {
  readonly #options: RunsOptions;
  readonly #channel: Channel<AutomationRunState>;
  isClosed = false;

  constructor(state: AutomationRunState, options: RunsOptions) {
    this.#options = options;
    this.#channel = new Channel<AutomationRunState>(state.resource, automationRunReducer, state);
  }

  get uri(): string {
    return this.#channel.uri;
  }

  get channel(): Channel {
    return this.#channel as unknown as Channel;
  }

  get state(): AutomationRunState {
    return this.#channel.live;
  }

  get lifecycle(): AutomationRunLifecycle {
    return this.state.lifecycle;
  }

  get facts(): RunFacts {
    return factsOf(this.state);
  }

  get createdAt(): number {
    return Date.parse(this.lifecycle.createdAt);
  }

  /** Whether an event has started it; a skipped run does not count. */
  get isOfEvent(): boolean {
    const { origin, lifecycle } = this.state;
    const isSkip = lifecycle.error?.errorType.startsWith('skipped-') ?? false;
    return origin.kind === 'trigger' && origin.event !== undefined && !isSkip;
  }

  /** Whether the run has ended. */
  get isOver(): boolean {
    return !['pending', 'running'].includes(this.lifecycle.status);
  }

  /** The session that it works in, whether or not that exists. */
  get session(): string {
    return `ahp-session:/${this.uri.slice(RUN_SCHEME.length)}`;
  }

  get turnId(): string {
    return `run-${this.uri.slice(RUN_SCHEME.length)}`;
  }

  /** The run works in a session from now on. */
  addSession(session: string): void {
    this.#write({ type: 'automationRun/sessionSet', session });
    this.#write({ type: 'automationRun/primarySessionChanged', primarySession: session });
  }

  removeSession(session: string): void {
    if (this.state.sessions.includes(session)) this.#write({ type: 'automationRun/sessionRemoved', session });
  }

  started(): void {
    this.#live({ status: 'running', startedAt: this.#now() });
  }

  /** Ends the run, unless it has ended already. */
  end(outcome: Pick<AutomationRunLifecycle, 'status' | 'error' | 'usage'>): void {
    if (!this.isOver) this.#live({ ...outcome, completedAt: this.#now() });
  }

  /** A person has resumed the turn with which it failed, so it is running again. */
  resumed(): void {
    const { completedAt: _over, error: _failed, ...lifecycle } = this.lifecycle;
    this.#write({ type: 'automationRun/lifecycleChanged', lifecycle: { ...lifecycle, status: 'running' } });
  }

  /** Updates the error of a run that has ended. */
  updateError(error: AutomationRunLifecycle['error']): void {
    this.#live({ ...(error && { error }), completedAt: this.#now() });
  }

  #live(changes: Partial<AutomationRunLifecycle>): void {
    this.#write({ type: 'automationRun/lifecycleChanged', lifecycle: { ...this.lifecycle, ...changes } });
  }

  #write(action: AutomationRunAction, origin?: EntryOrigin): void {
    if (this.isClosed) return;
    this.#options.writer.write({ channel: this.#channel, action, origin });
    this.store();
    this.#options.changed(this);
  }

  /** Stores its state with this tick. */
  store(): void {
    this.#options.writer.record({ key: RUN_RECORDS + this.uri, value: jsonText(this.state) }, 'full');
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  takeSnapshot(): ChannelSnapshot | undefined {
    if (this.isClosed) return undefined;
    const { writer } = this.#options;
    return { snapshot: { resource: this.uri, state: this.#channel.committed, fromSeq: writer.shown } };
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    if (action.type !== 'automationRun/cancelRequested')
      return asker.reject(origin, `clients cannot dispatch ${action.type} here`);
    if (this.isOver || this.isClosed) return asker.reject(origin, `the run is ${this.lifecycle.status} already`);
    this.#write(action, origin);
    this.#options.cancelRequested(this);
  }
}

/** The runs that are kept, by automation. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #byUri = new Map<string, Run>();
  /** Newest first. */
  readonly #byAutomation = new Map<string, Run[]>();

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const records = await this.#options.log.records(RUN_RECORDS);
    const states = records.map(({ value }) => JSON.parse(value) as AutomationRunState);
    states.sort((a, b) => factsOf(a).number - factsOf(b).number);
    for (const state of states) this.#add(new Run(state, this.#options));
  }

  get(uri: string): Run | undefined {
    return this.#byUri.get(uri);
  }

  /** The kept runs of an automation, newest first. */
  of(automation: string): readonly Run[] {
    return this.#byAutomation.get(automation) ?? [];
  }

  all(): Iterable<Run> {
    return this.#byUri.values();
  }

  /**
   * The newest run that has not ended. There is at most one, unless a person resumes the turn of an older run that
   * failed.
   */
  active(automation: string): Run | undefined {
    return this.of(automation).find((run) => !run.isOver);
  }

  /** Records a run. If that cannot be stored, the run does not exist. */
  create({ automation, origin, requestId, chain, outcome }: NewRun): Run {
    const { clock, writer } = this.#options;
    const now = new Date(clock.now()).toISOString();
    const number = (this.of(automation)[0]?.facts.number ?? 0) + 1;
    const facts: RunFacts = { number, ...(requestId !== undefined && { requestId }), ...(chain && { chain }) };
    const state: AutomationRunState = {
      resource: RUN_SCHEME + crypto.randomUUID(),
      automation,
      origin,
      lifecycle: outcome ? { ...outcome, createdAt: now, completedAt: now } : { status: 'pending', createdAt: now },
      sessions: [],
      _meta: { atrium: facts },
    };
    const run = new Run(state, this.#options);
    this.#add(run);
    run.store();
    writer.afterFailure(() => this.#drop(run));
    this.#prune(automation);
    this.#options.changed(run);
    return run;
  }

  forgetAll(automation: string): void {
    for (const run of [...this.of(automation)]) this.#forget(run);
  }

  #prune(automation: string): void {
    const { length } = this.of(automation);
    if (length <= RUN_HISTORY_LIMIT) return;
    const spare = this.of(automation).filter((run) => run.isOver && !this.#counts(run));
    for (const run of spare.slice(RUN_HISTORY_LIMIT - length)) this.#forget(run);
  }

  /** Whether it counts towards the limit of runs that events may start; those are few. */
  #counts(run: Run): boolean {
    return run.isOfEvent && run.createdAt > this.#options.clock.now() - EVENT_RUNS_WITHIN_MS;
  }

  #forget(run: Run): void {
    const { writer, log, gone } = this.#options;
    const { uri } = run;
    writer.record({ key: RUN_RECORDS + uri, value: null });
    this.#drop(run);
    writer.afterFailure(() => this.#add(run));
    writer.afterCommit(() => {
      run.isClosed = true;
      gone(uri);
      void log.forget(uri).catch(() => {});
    });
  }

  /** Keeps the newest first; a run that comes back is inserted in its place. */
  #add(run: Run): void {
    const { automation } = run.state;
    const others = this.of(automation).filter((other) => other !== run);
    const runs = [...others, run].sort((a, b) => b.facts.number - a.facts.number);
    this.#byUri.set(run.uri, run);
    this.#byAutomation.set(automation, runs);
  }

  #drop(run: Run): void {
    const { automation } = run.state;
    const rest = this.of(automation).filter((other) => other !== run);
    this.#byUri.delete(run.uri);
    if (rest.length > 0) this.#byAutomation.set(automation, rest);
    else this.#byAutomation.delete(automation);
  }
}

function factsOf({ _meta }: AutomationRunState): RunFacts {
  const facts = _meta?.atrium as Partial<RunFacts> | undefined;
  return { ...facts, number: facts?.number ?? 0 };
}
