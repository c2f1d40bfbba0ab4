/**
 * Starts runs at their times. Every time up to a trigger's mark has been handled, and the mark moves in the same commit
 * that records a run. So no time is ever run twice, and one whose record could not be stored is handled again.
 */
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { AutomationEntry, AutomationScheduleTrigger, AutomationTriggerOrigin } from '@atrium/protocol/ahp-1';
import { type AutomationCatalogue, handledUntil } from './catalogue.js';
import { CLOCK_CHECK_MS, MISFIRE_AFTER_MS } from './limits.js';
import { timesBetween } from './schedule.js';

/** Times of a trigger that start no run. */
export interface MissedTimes {
  readonly automation: string;
  readonly origin: AutomationTriggerOrigin;
  readonly count: number;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: Pick<AutomationCatalogue, 'entries' | 'handled'>;
  /** Starts a run, or records why it does not. */
  due(automation: string, origin: AutomationTriggerOrigin): void;
  /** The host was off, asleep or busy at these times, which are not made up for. */
  missed(times: MissedTimes): void;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  #cancel = () => {};
  #isRunning = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isRunning = true;
    this.check();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel();
  }

  /** Handles every time that has come, and sleeps until the next. */
  check(): void {
    if (!this.#isRunning) return;
    this.#cancel();
    const now = this.#options.clock.now();
    for (const entry of [...this.#options.catalogue.entries]) {
      if (entry.nextRunAt !== undefined && Date.parse(entry.nextRunAt) <= now) this.#checkEntry(entry, now);
    }
    this.#sleep(now);
  }

  /** Without a schedule it does not wake up; a change of the catalogue calls `check` again. */
  #sleep(now: number): void {
    const times = this.#options.catalogue.entries.flatMap(({ nextRunAt }) => nextRunAt ?? []);
    if (times.length === 0) return;
    const next = Math.min(...times.map((time) => Date.parse(time)), now + CLOCK_CHECK_MS);
    this.#cancel = this.#options.clock.after(Math.max(1, next - now), () => this.check());
  }

  #checkEntry(entry: AutomationEntry, now: number): void {
    for (const trigger of entry.definition.triggers) {
      if (trigger.kind !== 'schedule') continue;
      try {
        this.#checkTrigger(entry, trigger, now);
      } catch (error) {
        const { logger } = this.#options;
        logger.log('warn', 'a schedule cannot be read', { automation: entry.resource, error: String(error) });
      }
    }
  }

  #checkTrigger(entry: AutomationEntry, trigger: AutomationScheduleTrigger, now: number): void {
    const { id, schedule, misfirePolicy = 'skip' } = trigger;
    // A clock that went back reaches the mark again; until then, the times have been handled.
    const times = timesBetween(schedule, handledUntil(entry)[id] ?? now, now);
    if (!times) return;
    const automation = entry.resource;
    const byTrigger = { kind: 'trigger', triggerId: id } as const;
    const origin = { ...byTrigger, scheduledFor: new Date(times.last).toISOString() };
    const isLate = now - times.last > MISFIRE_AFTER_MS;
    const missed = isLate ? times.count : times.count - 1;
    this.#options.catalogue.handled(automation, { [id]: times.last });
    if (missed > 0 && misfirePolicy === 'skip')
      this.#options.missed({ automation, origin: isLate ? origin : byTrigger, count: missed });
    if (!isLate) this.#options.due(automation, origin);
    else if (misfirePolicy === 'runOnce') this.#options.due(automation, { ...origin, catchUp: true });
  }
}
