import type { LogFields, Logger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { REFUSALS_LOGGED_MAX, RefusalLog } from '../../src/server/pending-connections.js';

function scene() {
  const lines: (readonly [string, LogFields | undefined])[] = [];
  const logger: Logger = { hears: () => true, log: (_level, message, fields) => void lines.push([message, fields]) };
  const time = { now: 0 };
  const log = new RefusalLog(logger, () => time.now);
  const refuse = (times: number) => {
    for (let count = 0; count < times; count += 1) log.refused({ status: 401 });
  };
  return { lines, time, refuse };
}

describe('the log of refused connections', () => {
  it('lists the first ones of a minute, says that there are more, and how many', () => {
    const { lines, time, refuse } = scene();
    refuse(REFUSALS_LOGGED_MAX + 1_000);
    expect(lines).toHaveLength(REFUSALS_LOGGED_MAX + 1);
    expect(lines.at(-1)?.[0]).toContain('only counted');
    time.now = 60_000;
    refuse(1);
    expect(lines.slice(-2)).toEqual([
      [expect.stringContaining('more connections were refused'), { unlisted: 1_000 }],
      ['connection refused', { status: 401 }],
    ]);
  });

  it('lists all when they are few', () => {
    const { lines, time, refuse } = scene();
    for (let minute = 0; minute < 5; minute += 1) {
      time.now = minute * 60_000;
      refuse(REFUSALS_LOGGED_MAX - 1);
    }
    expect(lines).toHaveLength(5 * (REFUSALS_LOGGED_MAX - 1));
  });

  it('begins anew after a minute, and speaks of others only when there were some', () => {
    const { lines, time, refuse } = scene();
    refuse(REFUSALS_LOGGED_MAX);
    expect(lines).toHaveLength(REFUSALS_LOGGED_MAX + 1);
    time.now = 59_999;
    refuse(1);
    expect(lines).toHaveLength(REFUSALS_LOGGED_MAX + 1);
    time.now = 60_000;
    refuse(1);
    expect(lines.slice(-2).map(([message, fields]) => [message, fields])).toEqual([
      [expect.stringContaining('more connections were refused'), { unlisted: 1 }],
      ['connection refused', { status: 401 }],
    ]);
    refuse(REFUSALS_LOGGED_MAX - 1);
    time.now = 120_000;
    refuse(1);
    expect(lines.at(-2)?.[0]).toContain('only counted');
    expect(lines.at(-1)?.[0]).toBe('connection refused');
  });
});
