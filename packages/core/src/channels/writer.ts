/**
 * The one write path. Everything that changes state comes through `write`: the writer reduces it and stores it together with
 * everything else of the same tick. The log gives the numbers; with them the tick goes to the delivery, which shows it and
 * lets its effects happen. A tick that cannot be stored is undone as a whole. Apart from channels that load their stored
 * tail, nothing else on the host calls a reducer.
 */
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import {
  type AppendFailure,
  appendFailure,
  type ClientFacts,
  type Commit,
  type EntryOrigin,
  type Log,
  type LogFencedError,
  type LogRecord,
  type NewArchive,
  type NewEntry,
  type Stored,
} from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { Backlog, type BacklogOptions } from './backlog.js';
import type { Channel, Step } from './channel.js';
import { type Delivery, runSafely } from './delivery.js';
import { STORE_RETRY_MS, UNAVAILABLE_RETRIES_MAX } from './limits.js';

/** An action to apply. Without an origin it is the host's own. */
export interface WriteRequest<State> {
  readonly channel: Channel<State>;
  readonly action: StateAction;
  readonly origin?: EntryOrigin | undefined;
}

/** Something that one client alone hears, in its place among the actions: a rejection, or an echo ahead of its time. */
export interface Notice {
  /** The tick could not be stored, and the notice is lost with it. */
  lost(reason: string): void;
}

/** An action that is being stored. */
export interface PendingStep extends Step {
  readonly channel: Channel;
  /** The action as JSON. */
  readonly text: string;
  /** Which entry of its commit it is, from 0. */
  readonly entry: number;
}

export interface CommittedStep extends PendingStep {
  readonly envelope: ActionEnvelope;
}

/** One stored tick, with the numbers that the log gave it. */
export interface CommittedBatch extends Stored {
  readonly steps: readonly CommittedStep[];
  /** Includes those that only used up a number. */
  readonly entries: readonly NewEntry[];
  /** Each follows the action with its number. */
  readonly notices: readonly { readonly seq: number; readonly notice: Notice }[];
  /** To be called when the tick has been shown. */
  readonly afterCommit: readonly (() => void)[];
}

/** A tick that never happened, because it could not be stored. */
export interface UndoneBatch {
  readonly steps: readonly PendingStep[];
  readonly entries: readonly NewEntry[];
  readonly notices: readonly Notice[];
  readonly error: AppendFailure;
}

/** How an action of a client was answered, before it has a number. */
export interface PendingAnswer {
  /** Which entry of the commit it is, from 0. */
  readonly entry: number;
  /** Why it was rejected. */
  readonly reason?: string | undefined;
}

export interface WriterOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly delivery: Delivery;
  /** How much was stored at once, and how long that took in milliseconds. */
  readonly stored?: (entries: number, milliseconds: number) => void;
  /** Too much waits to be stored, or that is over. */
  readonly behind?: BacklogOptions['changed'];
  /** An action of a client was accepted or rejected; records that this callback writes are stored with it. */
  readonly answered?: (origin: EntryOrigin, answer: PendingAnswer) => void;
  /** A tick has been undone; clients that wait for an answer must hear of it. */
  readonly undone: (batch: UndoneBatch) => void;
  /** Another host has the log: nothing can be stored here ever again. Called once. */
  readonly superseded: (error: LogFencedError) => void;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #backlog: Backlog;
  #batch = emptyBatch();
  /** What is still to be written with the tick, at its end. */
  #endings: (() => void)[] = [];
  /** Clients that begin anew behind the tick. */
  #beginnings: (() => Promise<void>)[] = [];
  #flush: Promise<void> | undefined;
  #superseded: LogFencedError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { clock, logger, behind } = options;
    this.#backlog = new Backlog({ clock, logger, ...(behind && { changed: behind }) });
  }

  /** Whether so much waits to be stored that whoever brings more has to wait. */
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

  /** Reduces an action. It has a number, and clients see it, when its tick has been stored. */
  write<State>({ channel, action, origin }: WriteRequest<State>): Step<State> {
    const time = channel.timeAt(this.#options.clock.now());
    const text = JSON.stringify(action);
    const { uri, isEphemeral } = channel;
    const entry = this.#take({ channel: uri, time, action: text, origin, isEphemeral });
    const step = channel.accept(action, origin, time);
    const { before, after } = step;
    // Written out, and so in `committedStep`: Node 20 takes 2 µs for a spread with members behind it, and this is for every word.
    this.#batch.steps.push({ action, origin, time, before, after, channel: channel as Channel, text, entry });
    return step;
  }

  /** Tells a client that its action is rejected. That uses up a number, so that the rejection has one of its own. */
  reject(notice: Notice, rejected?: { readonly origin: EntryOrigin; readonly reason: string }): void {
    const time = this.#options.clock.now();
    this.#take({ channel: '', time, action: '', origin: rejected?.origin }, rejected?.reason);
    this.tell(notice);
  }

  /** Shows a notice under a number of its own. */
  tellNumbered(notice: Notice): void {
    this.reject(notice);
  }

  /** Shows a notice to its client in its place among the actions, once they are stored. */
  tell(notice: Notice): void {
    this.#batch.notices.push({ behind: this.#batch.entries.length, notice });
    this.#schedule();
  }

  /** Stores a record together with the actions of this tick; `full` has the commit survive a power cut. */
  record({ key, value }: LogRecord, durability: Commit['durability'] = 'normal'): void {
    this.#batch.records.set(key, value);
    this.#grow(typeof value === 'string' ? value.length : 0);
    if (durability === 'full') this.#batch.mustSurvivePowerCut = true;
    this.#schedule();
  }

  /** Archives a channel with this tick; the archive is made when all its actions are in. */
  storeArchive(channel: string, make: () => NewArchive): void {
    this.#batch.archives.set(channel, make);
    this.#schedule();
  }

  /**
   * Begins a client anew in the log, which gives it its epoch, behind everything that this tick stores. Throws an
   * `AppendFailure`. It is not tried again: a client that waits for its handshake comes back by itself.
   */
  beginClient(clientId: string, facts: ClientFacts): Promise<{ readonly epoch: number }> {
    return new Promise((resolve, reject) => {
      this.#beginnings.push(() => this.#begin(clientId, facts).then(resolve, reject));
      this.#schedule();
    });
  }

  /** Calls back at the end of this tick: what the callback writes still belongs to it. */
  atEndOfTick(callback: () => void): void {
    this.#endings.push(callback);
    this.#schedule();
  }

  /** Calls back when this tick has been stored and shown. */
  afterCommit(callback: () => void): void {
    this.#batch.afterCommit.push(callback);
    this.#schedule();
  }

  /** Calls back when this tick could not be stored. */
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

  /** One commit per turn of the event loop; while one is under way, the next collects more. */
  #schedule(): void {
    this.#flush ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#commit());
  }

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
    this.#flush = undefined;
    if (this.#isWanted()) this.#schedule();
  }

  /** Whether another tick has begun. */
  #isWanted(): boolean {
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

  /** A log that cannot be reached gets the same commit again and again; meanwhile the next tick collects more. */
  async #store(batch: Batch): Promise<Stored | AppendFailure> {
    if (this.#superseded) return this.#superseded;
    const { log, clock, logger, stored } = this.#options;
    const commit = commitOf(batch);
    const start = performance.now();
    this.#backlog.begin();
    this.#options.delivery.storing?.();
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

  /** Undoes the failed tick and the one that was built on it. The next tick starts from the stored state. */
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

  /** Clients are not asked to try again: this host can never store anything again. */
  #giveUp(error: LogFencedError): void {
    if (this.#superseded) return;
    this.#superseded = error;
    runSafely(this.#options.logger, () => this.#options.superseded(error));
  }
}

/** A stored batch: everything in it has its number now. */
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

/** Everything that one tick of the event loop decided, on its way to the log. */
interface Batch {
  readonly entries: NewEntry[];
  readonly steps: PendingStep[];
  /** Each follows as many of the entries. */
  readonly notices: { readonly behind: number; readonly notice: Notice }[];
  readonly records: Map<string, LogRecord['value']>;
  /** Of actions and records, about. */
  bytes: number;
  /** Because of a record; actions say it by their types. */
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

/** Whether there is something to store. */
function hasContent({ entries, records, archives }: Batch): boolean {
  return entries.length + records.size + archives.size > 0;
}

/** Whether something is to happen even when there is nothing to store. */
function isAwaited({ notices, afterCommit }: Batch): boolean {
  return notices.length + afterCommit.length > 0;
}

/** The batch as the log wants it. Archives are made now, when all actions are in. */
function commitOf(batch: Batch): Commit {
  const mustSurvive =
    batch.mustSurvivePowerCut || batch.steps.some(({ action }) => MUST_SURVIVE_POWER_CUT.has(action.type));
  return {
    entries: batch.entries,
    records: [...batch.records].map(([key, value]) => ({ key, value })),
    archives: [...batch.archives.values()].map((make) => make()),
    durability: mustSurvive ? 'full' : 'normal',
  };
}

/** Actions that a person would not forgive losing. */
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
