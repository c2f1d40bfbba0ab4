/**
 * The one write path. Everything that changes state comes through `write`: the writer numbers and reduces it, stores it
 * together with everything else of the same tick, and only then shows it and lets its effects happen. A tick that cannot be
 * stored is undone as a whole. Apart from channels that load their stored tail, nothing else on the host calls a reducer.
 */
import type { ActionEnvelope, ActionOrigin, StateAction } from '@atrium/protocol';
import {
  type AppendFailure,
  appendFailure,
  type Commit,
  type EntryOrigin,
  type Log,
  type LogEntry,
  type LogFencedError,
  type LogRecord,
  type NewArchive,
} from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import type { Channel, Step } from './channel.js';

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

export interface CommittedStep extends Step {
  readonly channel: Channel;
  /** The action as JSON. */
  readonly text: string;
}

/** One stored tick. */
export interface CommittedBatch {
  readonly steps: readonly CommittedStep[];
  /** Includes numbers that were used up without an action. */
  readonly entries: readonly LogEntry[];
  /** Each follows the action with its number. */
  readonly notices: readonly { readonly seq: number; readonly notice: Notice }[];
}

/** A tick that never happened, because it could not be stored. */
export interface UndoneBatch extends CommittedBatch {
  readonly error: Error;
}

/** What the log keeps of a number without an action. */
const NOTHING = { channel: '', action: '' } as const;

export interface WriterOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Shows a stored batch to all subscribers. */
  readonly show: (batch: CommittedBatch) => void;
  /** How much was stored at once, and how long that took in milliseconds. */
  readonly stored?: (entries: number, milliseconds: number) => void;
  /** An action of a client was accepted or rejected; records that this callback writes are stored with it. */
  readonly answered?: (origin: EntryOrigin, answer: { serverSeq: number; reason?: string | undefined }) => void;
  /** A tick has been undone; clients that wait for an answer must hear of it. */
  readonly undone: (batch: UndoneBatch) => void;
  /** Another host writes to the log: nothing can be stored here ever again. Called once. */
  readonly superseded: (error: LogFencedError) => void;
}

export class Writer {
  readonly #options: WriterOptions;
  #batch = emptyBatch();
  #seq: number;
  #committedSeq: number;
  #flush: Promise<void> | undefined;
  #superseded: LogFencedError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#seq = options.log.head;
    this.#committedSeq = options.log.head;
  }

  /** The greatest number that a client may have seen. */
  get committedSeq(): number {
    return this.#committedSeq;
  }

  /** The greatest number given out, stored or not. */
  get assignedSeq(): number {
    return this.#seq;
  }

  /** Numbers and reduces an action. Clients see it when its tick has been stored. */
  write<State>({ channel, action, origin }: WriteRequest<State>): Step<State> {
    const time = channel.timeAt(this.#options.clock.now());
    const text = JSON.stringify(action);
    const kept = channel.isEphemeral ? NOTHING : { channel: channel.uri, action: text };
    const serverSeq = this.#take({ ...kept, time, origin });
    const envelope: ActionEnvelope = { channel: channel.uri, action, serverSeq, ...originMember(origin) };
    const step = channel.accept(envelope, time);
    this.#batch.steps.push({ ...step, channel: channel as Channel, text });
    return step;
  }

  /** Uses up a number without an action, so that a rejection has a number of its own. */
  useNumber(origin?: EntryOrigin, reason?: string): number {
    return this.#take({ ...NOTHING, time: this.#options.clock.now(), origin }, reason);
  }

  /** Shows a notice to its client in its place among the actions, once they are stored. */
  tell(notice: Notice): void {
    this.#batch.notices.push({ seq: this.#seq, notice });
    this.#schedule();
  }

  /** Stores a record together with the actions of this tick; `full` has the commit survive a power cut. */
  record({ key, value }: LogRecord, durability: Commit['durability'] = 'normal'): void {
    this.#batch.records.set(key, value);
    if (durability === 'full') this.#batch.mustSurvivePowerCut = true;
    this.#schedule();
  }

  /** Archives a channel with this tick; the archive is made when all its actions are in. */
  archive(channel: string, make: () => NewArchive): void {
    this.#batch.archives.set(channel, make);
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

  #take(entry: Omit<LogEntry, 'seq'>, reason?: string): number {
    const seq = ++this.#seq;
    this.#batch.entries.push({ seq, ...entry });
    if (entry.origin) this.#options.answered?.(entry.origin, { serverSeq: seq, reason });
    this.#schedule();
    return seq;
  }

  /** One commit per turn of the event loop; while one is under way, the next collects more. */
  #schedule(): void {
    this.#flush ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#commit());
  }

  async #commit(): Promise<void> {
    const batch = this.#batch;
    this.#batch = emptyBatch();
    const failure = hasContent(batch) ? await this.#store(batch) : undefined;
    if (failure) this.#undo(batch, failure);
    else this.#show(batch);
    this.#flush = undefined;
    if (hasContent(this.#batch) || isAwaited(this.#batch)) this.#schedule();
  }

  async #store(batch: Batch): Promise<AppendFailure | undefined> {
    if (this.#superseded) return this.#superseded;
    const start = performance.now();
    try {
      await this.#options.log.append(commitOf(batch));
    } catch (error) {
      return appendFailure(error);
    }
    this.#safely(() => this.#options.stored?.(batch.entries.length, performance.now() - start));
    return undefined;
  }

  #show(batch: Batch): void {
    this.#committedSeq += batch.entries.length;
    for (const { channel, after } of batch.steps) channel.commit(after);
    this.#safely(() => this.#options.show(batch));
    for (const callback of batch.afterCommit) this.#safely(callback);
  }

  /** A stored tick stays stored: a failing handler must not stop the next tick. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#options.logger.log('error', 'post-commit handler failed', { error: detail });
    }
  }

  /** Undoes the failed tick and the one that was built on it. The next tick starts from the stored state. */
  #undo(failed: Batch, error: AppendFailure): void {
    const lost = [failed, this.#batch];
    this.#batch = emptyBatch();
    this.#seq = this.#committedSeq;
    const steps = lost.flatMap((batch) => batch.steps);
    for (const { channel } of steps) channel.rollBack();
    for (const callback of lost.flatMap((batch) => batch.afterFailure)) this.#safely(() => callback(error));
    if (error.kind === 'fenced') return this.#giveUp(error);
    this.#options.logger.log('error', 'could not store a tick; it is undone', { error: error.message });
    const [entries, notices] = [lost.flatMap((batch) => batch.entries), lost.flatMap((batch) => batch.notices)];
    this.#safely(() => this.#options.undone({ steps, entries, notices, error }));
  }

  /** Clients are not asked to try again: this host can never store anything again. */
  #giveUp(error: LogFencedError): void {
    if (this.#superseded) return;
    this.#superseded = error;
    this.#safely(() => this.#options.superseded(error));
  }
}

function originMember(origin: EntryOrigin | undefined): { origin?: ActionOrigin } {
  return origin ? { origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } } : {};
}

/** Everything that one tick of the event loop decided, on its way to the log. */
interface Batch {
  readonly entries: LogEntry[];
  readonly steps: CommittedStep[];
  readonly notices: { readonly seq: number; readonly notice: Notice }[];
  readonly records: Map<string, LogRecord['value']>;
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
    batch.mustSurvivePowerCut || batch.steps.some(({ envelope }) => MUST_SURVIVE_POWER_CUT.has(envelope.action.type));
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
  'session/turnStarted',
  'session/turnComplete',
  'session/turnCancelled',
  'session/error',
  'session/toolCallConfirmed',
  'session/toolCallComplete',
  'session/inputCompleted',
  'session/truncated',
]);
