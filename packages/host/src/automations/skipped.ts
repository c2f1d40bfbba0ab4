/**
 * What did not happen, and why. It is told as a run that was cancelled before it began, so that every client shows it where
 * runs are shown. The same reason again and again is one such run that counts.
 */
import type { Clock } from '@atrium/core/util/clock.js';
import type { AutomationTriggerOrigin, ErrorInfo } from '@atrium/protocol/ahp-1';
import type { Run, Runs } from './runs.js';

/** `missed`: the host was off. `overlap`: a run was going on. `rate`: too many events. `chain`: automations start each other. */
export type SkipReason = 'missed' | 'overlap' | 'rate' | 'chain';

export interface Skip {
  readonly automation: string;
  readonly origin: AutomationTriggerOrigin;
  readonly reason: SkipReason;
  readonly count: number;
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

export function noteSkipped(runs: Runs, clock: Clock, { automation, origin, reason, count }: Skip): void {
  const at = origin.scheduledFor ?? new Date(clock.now()).toISOString();
  const same = runs.of(automation).find((run) => !isGoingOn(run));
  const before = same && isOfKind(same, origin.triggerId, reason) ? countedOf(same) : undefined;
  const counted = { count: (before?.count ?? 0) + count, first: before?.first ?? at, last: at };
  const error = errorOf(reason, counted);
  if (same && before) same.retell(error);
  else runs.create({ automation, origin, outcome: { status: 'cancelled', error } });
}

const isGoingOn = (run: Run) => !run.isOver;

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
