/**
 * What did not happen, and why. It appears as a run that was cancelled before it began, so that every client that shows
 * runs shows it. Repetitions for the same reason are one such run with a count.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { AutomationTriggerOrigin, ErrorInfo } from '@atrium/protocol/ahp-1';
import { SKIPS_WRITTEN_EVERY_MS } from './limits.js';
import type { Run, Runs } from './runs.js';

/**
 * `missed`: the host was off. `overlap`: a run was under way. `rate`: too many events. `chain`: automations start each
 * other.
 */
export type SkipReason = 'missed' | 'overlap' | 'rate' | 'chain';

export interface Skip {
  readonly automation: string;
  readonly origin: AutomationTriggerOrigin;
  readonly reason: SkipReason;
  readonly count: number;
  /** The first and last time that it happened; if absent, the time of its schedule, or now. */
  readonly first?: string;
  readonly last?: string;
}

interface Counted {
  readonly count: number;
  readonly first: string;
  readonly last: string;
}

const WHY: Readonly<Record<SkipReason, string>> = {
  missed: 'the host was not running, or its machine was asleep',
  overlap: 'the run before was still going on',
  rate: 'there were too many events within an hour',
  chain: 'automations had started one another too often in a row',
};

export function noteSkipped(runs: Runs, clock: Clock, skip: Skip): void {
  const { automation, origin, reason, count } = skip;
  const now = origin.scheduledFor ?? new Date(clock.now()).toISOString();
  const { first = now, last = now } = skip;
  const same = runs.of(automation).find((run) => !isRunning(run));
  const before = same && isOfKind(same, origin.triggerId, reason) ? countedOf(same) : undefined;
  const counted = { count: (before?.count ?? 0) + count, first: before?.first ?? first, last };
  const error = errorOf(reason, counted);
  if (same && before) same.updateError(error);
  else runs.create({ automation, origin, outcome: { status: 'cancelled', error } });
}

const isRunning = (run: Run) => !run.isOver;

function isOfKind(run: Run, triggerId: string, reason: SkipReason): boolean {
  const { origin, lifecycle } = run.state;
  return (
    origin.kind === 'trigger' && origin.triggerId === triggerId && lifecycle.error?.errorType === `skipped-${reason}`
  );
}

function countedOf(run: Run): Counted | undefined {
  return run.lifecycle.error?._meta?.skipped as Counted | undefined;
}

function errorOf(reason: SkipReason, skipped: Counted): ErrorInfo {
  const { count, first, last } = skipped;
  const when = first === last ? `at ${first}` : `from ${first} to ${last}`;
  const times = count === 1 ? 'Not started' : `Not started ${count} times,`;
  return { errorType: `skipped-${reason}`, message: `${times} ${when}: ${WHY[reason]}.`, _meta: { skipped } };
}

export interface SkippedEventsOptions {
  readonly clock: Clock;
  readonly writer: Pick<Writer, 'afterFailure'>;
  readonly runs: Runs;
  /** Whether an automation still exists. */
  has(automation: string): boolean;
}

/**
 * Events that start nothing may come many times a second, and each note about them rewrites the entry of its
 * automation. The first is written at once; the following ones are counted, and written together after a second.
 */
export class SkippedEvents {
  readonly #options: SkippedEventsOptions;
  readonly #counted = new Map<string, Skip>();
  #isPaused = false;
  #cancel = () => {};

  constructor(options: SkippedEventsOptions) {
    this.#options = options;
  }

  add(skip: Skip): void {
    this.#count(skip);
    if (!this.#isPaused) this.#write();
  }

  /** Writes the counts. Called before a run begins, so that the history has the right order, and at the end. */
  write(): void {
    if (this.#counted.size > 0) this.#write();
  }

  /** Writes the rest, and nothing more afterwards. */
  close(): void {
    this.write();
    this.#cancel();
  }

  #count(skip: Skip): void {
    const { automation, origin, reason } = skip;
    const now = new Date(this.#options.clock.now()).toISOString();
    const key = JSON.stringify([automation, origin.triggerId, reason]);
    const { first = now, last = now } = skip;
    const before = this.#counted.get(key);
    const count = skip.count + (before?.count ?? 0);
    this.#counted.set(key, {
      ...(before ?? skip),
      count,
      first: before?.first ?? first,
      last: later(before?.last, last),
    });
  }

  #write(): void {
    const { clock, writer, runs, has } = this.#options;
    const skips = [...this.#counted.values()].filter(({ automation }) => has(automation));
    this.#counted.clear();
    for (const skip of skips) noteSkipped(runs, clock, skip);
    writer.afterFailure(() => {
      for (const skip of skips) this.#count(skip);
    });
    this.#startPause();
  }

  #startPause(): void {
    this.#cancel();
    this.#isPaused = true;
    this.#cancel = this.#options.clock.after(SKIPS_WRITTEN_EVERY_MS, () => {
      this.#isPaused = false;
      this.write();
    });
  }
}

function later(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
