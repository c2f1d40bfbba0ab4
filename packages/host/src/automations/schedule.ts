/**
 * Times of a cron expression in a time zone. The library handles the calendar: a single time of day that daylight
 * saving skips comes right after the gap, and one that occurs twice counts once; expressions with several hours follow
 * the real hours.
 */
import type { AutomationSchedule } from '@atrium/protocol/ahp-1';
import { Cron, CronPattern } from 'croner';
import { CRON_MAX_CHARACTERS, MISSED_COUNTED_MAX, SCHEDULE_MIN_INTERVAL_MINUTES } from './limits.js';

const SECOND_MS = 1_000;
const MINUTES_OF_A_DAY = 24 * 60;

/** Parsed expressions, cached because all triggers are checked every few seconds. */
const parsed = new Map<string, Cron>();
const PARSED_MAX = 2_000;

/** Why a schedule is unusable; undefined when it is fine. */
export function scheduleRefusal(schedule: AutomationSchedule, now: number): string | undefined {
  const { expression, timeZone } = schedule;
  if (expression.length > CRON_MAX_CHARACTERS)
    return `a cron expression may have at most ${CRON_MAX_CHARACTERS} characters`;
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) return `"${expression}" is not a cron expression with five fields, such as "0 2 * * *"`;
  if (!isTimeZone(timeZone)) return `"${timeZone}" is not a time zone; use an IANA name, such as "Europe/Vienna"`;
  try {
    if (cronOf(schedule).nextRun(new Date(now)) === null) return `"${expression}" never comes`;
    return isTooOften(fields)
      ? `"${expression}" runs more often than every ${SCHEDULE_MIN_INTERVAL_MINUTES} minutes`
      : undefined;
  } catch (error) {
    return `"${expression}" is not a cron expression: ${reasonOf(error)}`;
  }
}

/** The first time after a moment; undefined when there is none, or when this system lacks the time zone. */
export function nextAfter(schedule: AutomationSchedule, moment: number): number | undefined {
  try {
    return cronOf(schedule).nextRun(new Date(moment))?.getTime();
  } catch {
    return undefined;
  }
}

/** The times after `from` up to and including `to`: the last one, and their number. */
export function timesBetween(
  schedule: AutomationSchedule,
  from: number,
  to: number,
): { readonly last: number; readonly count: number } | undefined {
  const cron = cronOf(schedule);
  // The library searches strictly before a time, in whole seconds.
  const behind = Math.floor(to / SECOND_MS) * SECOND_MS + SECOND_MS;
  const last = cron.previousRuns(1, new Date(behind))[0]?.getTime();
  if (last === undefined || last <= from || last > to) return undefined;
  let count = 0;
  for (let at: number | undefined = from; count < MISSED_COUNTED_MAX; count += 1) {
    at = cron.nextRun(new Date(at))?.getTime();
    if (at === undefined || at > to) break;
  }
  return { last, count: Math.max(1, count) };
}

/** Ignores the days, because times of neighbouring days may be too close as well. */
function isTooOften([minutes = '', hours = '']: readonly string[]): boolean {
  const { minute, hour } = new CronPattern(`${minutes} ${hours} * * *`, undefined, { mode: '5-part' });
  const times = flagged(hour).flatMap((hourOfDay) => flagged(minute).map((part) => hourOfDay * 60 + part));
  const nextDay = times.slice(0, 1).map((time) => time + MINUTES_OF_A_DAY);
  return [...times, ...nextDay].some(
    (time, index, all) => index > 0 && time - (all[index - 1] ?? 0) < SCHEDULE_MIN_INTERVAL_MINUTES,
  );
}

function flagged(flags: readonly number[]): number[] {
  return flags.flatMap((flag, index) => (flag ? [index] : []));
}

function isTimeZone(name: string): boolean {
  // An offset such as +01:00 has no daylight saving, but some versions of Node accept it as a zone.
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function cronOf({ expression, timeZone }: AutomationSchedule): Cron {
  const key = `${timeZone} ${expression}`;
  const known = parsed.get(key);
  if (known) return known;
  const made = new Cron(expression.trim(), { mode: '5-part', timezone: timeZone });
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(key, made);
  return made;
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, '');
}
