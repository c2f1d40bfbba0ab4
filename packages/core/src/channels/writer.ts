/**
 * The one write path. Everything that changes state comes through `write`: the writer reduces the action, and stores it
 * together with everything else of the same tick. The log assigns the numbers. Then the tick goes to the delivery,
 * which shows it and runs its effects. A tick that cannot be stored is undone as a whole. Nothing else on the host
 * calls a reducer, except channels that load their stored tail.
 */
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import {
  type AppendFailure,
  appendFailure,
  type ClientFacts,
  type Commit,
  type EntryOrigin,
  type JsonText,
  type Log,
  type LogFencedError,
  type NewArchive,
  type NewEntry,
  type NumberedValue,
  type Stored,
} from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { Backlog, type BacklogOptions } from './backlog.js';
import type { Channel, Step } from './channel.js';
import { type Delivery, runSafely } from './delivery.js';
import { STORE_RETRY_MS, UNAVAILABLE_RETRIES_MAX } from './limits.js';

/** An action to apply. Without an origin, the host itself is the author. */
export interface WriteRequest<State> {
  readonly channel: Channel<State>;
  readonly action: StateAction;
  readonly origin?: EntryOrigin | undefined;
}

/**
 * A record to store. Its type ensures that it is JSON: after a crash, a log that finds any other text takes it for damage
 * and is rebuilt.
 */
export interface RecordRequest {
  readonly key: string;
  /** Null removes the record. */
  readonly value: JsonText | NumberedValue | null;
}

/** Something that only one client gets, in its place among the actions: a rejection, or an early echo. */
export interface Notice {
  /** Called when the tick could not be stored; the notice is lost with it. */
  lost(reason: string): void;
}

/** A reduced action on its way to the log. */
export interface PendingStep extends Step {
  readonly channel: Channel;
  /** The action as JSON. */
  readonly text: string;
  /** Index of its entry in the commit, from 0. */
  readonly entry: number;
}

export interface CommittedStep extends PendingStep {
  readonly envelope: ActionEnvelope;
}

/** A stored tick with the numbers that the log assigned. */
export interface CommittedBatch extends Stored {
  readonly steps: readonly CommittedStep[];
  /** All entries, including those that only used up a number. */
  readonly entries: readonly NewEntry[];
  /** Each notice goes out right after the action with this number. */
  readonly notices: readonly { readonly seq: number; readonly notice: Notice }[];
  /** Called when the tick has been shown. */
  readonly afterCommit: readonly (() => void)[];
}

/** A tick that could not be stored, and therefore never happened. */
export interface UndoneBatch {
  readonly steps: readonly PendingStep[];
  readonly entries: readonly NewEntry[];
  readonly notices: readonly Notice[];
  readonly error: AppendFailure;
}

/** The host's answer to a client's action, before the action has a number. */
export interface PendingAnswer {
  /** Index of its entry in the commit, from 0. */
  readonly entry: number;
  /** Why it was rejected; absent when it was accepted. */
  readonly reason?: string | undefined;
}

export interface WriterOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly delivery: Delivery;
  /** Reports the number of entries of each commit, and how long storing took in milliseconds. */
  readonly stored?: (entries: number, milliseconds: number) => void;
  /** Called when storing falls behind, and when it has caught up. */
  readonly behind?: BacklogOptions['changed'];
  /**
   * Called when a client's action is accepted or rejected. Records that the callback writes are stored with the action.
   */
  readonly answered?: (origin: EntryOrigin, answer: PendingAnswer) => void;
  /** Called when a tick has been undone; the callback must tell the clients that wait for an answer. */
  readonly undone: (batch: UndoneBatch) => void;
  /** Called once, when another host has taken over the log: this host can never store anything again. */
  readonly superseded: (error: LogFencedError) => void;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #backlog: Backlog;
  #batch = emptyBatch();
  /** Callbacks that may still write into this tick when it ends. */
  #endings: (() => void)[] = [];
  /** `beginClient` calls that run after this tick is stored. */
  #beginnings: (() => Promise<void>)[] = [];
  /** True while a commit is scheduled or under way. */
  #isCommitting = false;
  #superseded: LogFencedError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { clock, logger, behind } = options;
    this.#backlog = new Backlog({ clock, logger, ...(behind && { changed: behind }) });
  }

  /** True while too much is waiting to be stored; callers that write more must wait for `caughtUp()`. */
  get isBehind(): boolean {
    return this.#backlog.isBehind;
  }

  /** Resolves when storing has caught up; undefined while it keeps up. */
  caughtUp(): Promise<void> | undefined {
    return this.#backlog.caughtUp();
  }

  /** The greatest number that a client may have seen. Snapshots are true at this number. */
  get shown(): number {
    return this.#options.delivery.shown;
  }

  /** Reduces an action. When its tick has been stored, it has a number and clients see it. */
  write<State>({ channel, action, origin }: WriteRequest<State>): Step<State> {
    const time = channel.timeAt(this.#options.clock.now());
    const text = JSON.stringify(action);
    const { uri, isEphemeral } = channel;
    if (MUST_SURVIVE_POWER_CUT.has(action.type)) this.#batch.mustSurvivePowerCut = true;
    const entry = this.#take({ channel: uri, time, action: text, origin, isEphemeral });
    const step = channel.accept(action, origin, time);
    const { before, after } = step;
    // No spread here and in `committedStep`: on Node 20 a spread followed by more members costs 2 µs, once for every
    // word streamed.
    this.#batch.steps.push({ action, origin, time, before, after, channel: channel as Channel, text, entry });
    return step;
  }

  /** Rejects a client's action. The rejection uses up a number, which puts it in order among the actions. */
  reject(notice: Notice, rejected?: { readonly origin: EntryOrigin; readonly reason: string }): void {
    const time = this.#options.clock.now();
    this.#take({ channel: '', time, action: '', origin: rejected?.origin }, rejected?.reason);
    this.sendNotice(notice);
  }

  /** Sends a notice with a number of its own. */
  sendNumbered(notice: Notice): void {
    this.reject(notice);
  }

  /** Sends a notice to its client, in its place among the actions, once those are stored. */
  sendNotice(notice: Notice): void {
    this.#batch.notices.push({ behind: this.#batch.entries.length, notice });
    this.#schedule();
  }

  /** Stores a record together with the actions of this tick. With `full`, the commit survives a power cut. */
  record({ key, value }: RecordRequest, durability: Commit['durability'] = 'normal'): void {
    this.#batch.records.set(key, value);
    this.#grow(typeof value === 'string' ? value.length : 0);
    if (durability === 'full') this.#batch.mustSurvivePowerCut = true;
    this.#schedule();
  }

  /** Archives a channel with this tick. `make` runs when the tick ends, with all its actions applied. */
  storeArchive(channel: string, make: () => NewArchive): void {
    this.#batch.archives.set(channel, make);
    this.#schedule();
  }

  /**
   * Starts a client over in the log, after everything in this tick; the log gives it a new epoch. Rejects with an
   * `AppendFailure`. There is no retry: a client that waits for its handshake connects again by itself.
   */
  beginClient(clientId: string, facts: ClientFacts): Promise<{ readonly epoch: number }> {
    return new Promise((resolve, reject) => {
      this.#beginnings.push(() => this.#begin(clientId, facts).then(resolve, reject));
      this.#schedule();
    });
  }

  /** Calls back at the end of this tick. What the callback writes still belongs to the tick. */
  atEndOfTick(callback: () => void): void {
    this.#endings.push(callback);
    this.#schedule();
  }

  /** Calls back when this tick has been stored and shown. */
  afterCommit(callback: () => void): void {
    this.#batch.afterCommit.push(callback);
    this.#schedule();
  }

  /** Calls back if this tick cannot be stored. */
  afterFailure(callback: (error: Error) => void): void {
    this.#batch.afterFailure.push(callback);
  }

  /** Resolves when everything written so far is stored and shown; rejects when it could not be stored. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.afterCommit(resolve);
      this.afterFailure(reject);
    });
  }

  #take(entry: NewEntry, reason?: string): number {
    const index = this.#batch.entries.push(entry) - 1;
    this.#grow(entry.action.length);
    if (entry.origin) this.#options.answered?.(entry.origin, { entry: index, reason });
    this.#schedule();
    return index;
  }

  #grow(bytes: number): void {
    this.#batch.bytes += bytes;
    this.#backlog.add(bytes);
  }

  /** Schedules one commit per turn of the event loop. While a commit is under way, the next one collects writes. */
  #schedule(): void {
    if (this.#isCommitting) return;
    this.#isCommitting = true;
    setImmediate(this.#commitNow);
  }

  readonly #commitNow = (): void => void this.#commit();

  async #commit(): Promise<void> {
    const endings = this.#endings;
    this.#endings = [];
    for (const end of endings) runSafely(this.#options.logger, end);
    const batch = this.#batch;
    const beginnings = this.#beginnings;
    this.#batch = emptyBatch();
    this.#beginnings = [];
    const at = hasContent(batch) ? await this.#store(batch) : { first: this.shown + 1, last: this.shown };
    this.#backlog.end(batch.bytes);
    if (at instanceof Error) this.#undo(batch, at);
    else this.#deliver(batch, at);
    for (const begin of beginnings) await begin();
    this.#isCommitting = false;
    if (this.#isNextTickNeeded()) this.#schedule();
  }

  /** True when something is waiting for another tick. */
  #isNextTickNeeded(): boolean {
    const isLate = this.#endings.length + this.#beginnings.length > 0;
    return isLate || hasContent(this.#batch) || isAwaited(this.#batch);
  }

  async #begin(clientId: string, facts: ClientFacts): Promise<{ readonly epoch: number }> {
    if (this.#superseded) throw this.#superseded;
    try {
      return await this.#options.log.beginClient(clientId, facts);
    } catch (error) {
      const failure = appendFailure(error);
      if (failure.kind === 'fenced') this.#giveUp(failure);
      throw failure;
    }
  }

  /** Stores a batch. While the log cannot be reached, it retries the same commit, and the next tick collects writes. */
  async #store(batch: Batch): Promise<Stored | AppendFailure> {
    if (this.#superseded) return this.#superseded;
    const { log, clock, logger, delivery, stored } = this.#options;
    const commit = commitOf(batch);
    const start = performance.now();
    this.#backlog.begin();
    delivery.storing?.();
    for (let retries = 0; ; retries++) {
      try {
        const at = await log.append(commit);
        runSafely(logger, () => stored?.(batch.entries.length, performance.now() - start));
        return at;
      } catch (error) {
        const failure = appendFailure(error);
        if (failure.kind !== 'unavailable' || retries === UNAVAILABLE_RETRIES_MAX) return failure;
        if (retries === 0) logger.log('warn', 'the log cannot be reached; trying again', { error: failure.message });
      }
      await new Promise<void>((resolve) => clock.after(STORE_RETRY_MS, resolve));
    }
  }

  #deliver(batch: Batch, at: Stored): void {
    for (const { channel, after } of batch.steps) channel.markStored(after);
    this.#options.delivery.stored(committed(batch, at));
  }

  /** Undoes the failed tick and the one already built on it. The next tick starts from the stored state. */
  #undo(failed: Batch, error: AppendFailure): void {
    const { logger, undone } = this.#options;
    this.#options.delivery.notStored?.();
    const lost = [failed, this.#batch];
    this.#backlog.remove(this.#batch.bytes);
    this.#batch = emptyBatch();
    const steps = lost.flatMap((batch) => batch.steps);
    for (const { channel } of steps) channel.rollBack();
    for (const callback of lost.flatMap((batch) => batch.afterFailure)) runSafely(logger, () => callback(error));
    if (error.kind === 'fenced') return this.#giveUp(error);
    logger.log('error', 'could not store a tick; it is undone', { error: error.message });
    const entries = lost.flatMap((batch) => batch.entries);
    const notices = lost.flatMap((batch) => batch.notices.map(({ notice }) => notice));
    runSafely(logger, () => undone({ steps, entries, notices, error }));
  }

  /** Stops for good: this host can never store anything again, so it does not ask clients to retry. */
  #giveUp(error: LogFencedError): void {
    if (this.#superseded) return;
    this.#superseded = error;
    runSafely(this.#options.logger, () => this.#options.superseded(error));
  }
}

/** Adds the numbers that the log assigned to a stored batch. */
function committed(batch: Batch, { first, last }: Stored): CommittedBatch {
  const { entries, afterCommit } = batch;
  const steps = batch.steps.map((step) => committedStep(step, first + step.entry));
  const notices = batch.notices.map(({ behind, notice }) => ({ seq: first - 1 + behind, notice }));
  return { first, last, entries, steps, notices, afterCommit };
}

function committedStep(step: PendingStep, serverSeq: number): CommittedStep {
  const { action, origin, time, before, after, channel, text, entry } = step;
  const envelope = envelopeOf(step, serverSeq);
  return { action, origin, time, before, after, channel, text, entry, envelope };
}

function envelopeOf({ channel, action, origin }: PendingStep, serverSeq: number): ActionEnvelope {
  if (!origin) return { channel: channel.uri, action, serverSeq };
  const { clientId, clientSeq } = origin;
  return { channel: channel.uri, action, serverSeq, origin: { clientId, clientSeq } };
}

/** Everything that one tick decided, on its way to the log. */
interface Batch {
  readonly entries: NewEntry[];
  readonly steps: PendingStep[];
  /** Each notice follows this many entries. */
  readonly notices: { readonly behind: number; readonly notice: Notice }[];
  readonly records: Map<string, RecordRequest['value']>;
  /** Approximate size of the actions and records. */
  bytes: number;
  /** Set by records and by actions of some types. */
  mustSurvivePowerCut: boolean;
  readonly archives: Map<string, () => NewArchive>;
  readonly afterCommit: (() => void)[];
  readonly afterFailure: ((error: Error) => void)[];
}

const emptyBatch = (): Batch => ({
  entries: [],
  steps: [],
  notices: [],
  records: new Map(),
  bytes: 0,
  mustSurvivePowerCut: false,
  archives: new Map(),
  afterCommit: [],
  afterFailure: [],
});

/** True when there is something to store. */
function hasContent({ entries, records, archives }: Batch): boolean {
  return entries.length + records.size + archives.size > 0;
}

/** True when notices or callbacks wait, even if there is nothing to store. */
function isAwaited({ notices, afterCommit }: Batch): boolean {
  return notices.length + afterCommit.length > 0;
}

/** Builds the commit for the log. Archives are made here, after the last action. */
function commitOf(batch: Batch): Commit {
  return {
    entries: batch.entries,
    records: [...batch.records].map(([key, value]) => ({ key, value })),
    archives: [...batch.archives.values()].map((make) => make()),
    durability: batch.mustSurvivePowerCut ? 'full' : 'normal',
  };
}

/** Actions whose loss in a power cut a person would notice. */
const MUST_SURVIVE_POWER_CUT: ReadonlySet<string> = new Set([
  'session/ready',
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/inputCompleted',
  'chat/truncated',
]);
