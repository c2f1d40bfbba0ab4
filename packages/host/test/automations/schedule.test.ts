import { describe, expect, it } from 'vitest';
import { CLOCK_CHECK_MS, MISFIRE_AFTER_MS, MISSED_COUNTED_MAX } from '../../src/automations/limits.js';
import { nextAfter, timesBetween } from '../../src/automations/schedule.js';
import { AutomationFixture, scheduled } from '../support/automation-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { FailingLog } from '../support/logs.js';
import { settle } from '../support/test-host.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The next times behind a moment. */
function times(expression: string, timeZone: string, from: string, count: number): string[] {
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count; ) {
    at = nextAfter({ expression, timeZone }, at) ?? Number.NaN;
    found.push(new Date(at).toISOString());
  }
  return found;
}

describe('the times of a schedule', () => {
  it('[AUT-020] follow the clock of their time zone over the year', () => {
    expect(times('0 9 * * *', 'America/New_York', '2026-03-07T00:00:00Z', 3)).toEqual([
      '2026-03-07T14:00:00.000Z',
      '2026-03-08T13:00:00.000Z',
      '2026-03-09T13:00:00.000Z',
    ]);
  });

  it('[AUT-020] that daylight saving skips come right after the gap', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('[AUT-020] that occur twice come once; every hour is every hour', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(times('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ]);
  });

  it('[AUT-020] on a day of the month or a day of the week come on both', () => {
    expect(times('0 0 13 * 5', 'UTC', '2026-02-10T00:00:00Z', 3)).toEqual([
      '2026-02-13T00:00:00.000Z',
      '2026-02-20T00:00:00.000Z',
      '2026-02-27T00:00:00.000Z',
    ]);
  });

  it('[AUT-020] between two moments are counted, up to a limit', () => {
    const hourly = { expression: '0 * * * *', timeZone: 'UTC' };
    const at = Date.UTC(2026, 0, 1);
    expect(timesBetween(hourly, at, at + HOUR - 1)).toBeUndefined();
    expect(timesBetween(hourly, at, at + HOUR)).toEqual({ last: at + HOUR, count: 1 });
    expect(timesBetween(hourly, at + HOUR, at + HOUR)).toBeUndefined();
    expect(timesBetween(hourly, at, at + 5 * HOUR + 1)).toEqual({ last: at + 5 * HOUR, count: 5 });
    expect(timesBetween(hourly, at, at + 2_000 * HOUR)?.count).toBe(MISSED_COUNTED_MAX);
  });
});

describe('a scheduled automation', () => {
  it('[AUT-022] runs at each of its times, once', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 */6 * * *')] });
    await fixture.clock.advance(6 * HOUR - 1);
    expect(await fixture.runs()).toEqual([]);
    await fixture.clock.advance(1);
    const [run] = await fixture.runs();
    expect(run).toMatchObject({
      origin: { kind: 'trigger', triggerId: 's', scheduledFor: '2025-01-01T06:00:00.000Z' },
      lifecycle: { createdAt: '2025-01-01T06:00:00.000Z' },
    });
    expect(run?.origin).not.toHaveProperty('catchUp');
    expect((await fixture.entry()).nextRunAt).toBe('2025-01-01T12:00:00.000Z');
    (await fixture.agent.turn(0)).finish();
    await fixture.until(run?.resource ?? '', 'completed');
    await fixture.clock.advance(6 * HOUR);
    await fixture.agent.turn(1);
    expect((await fixture.runs()).map(({ origin }) => origin)).toMatchObject([
      { scheduledFor: '2025-01-01T12:00:00.000Z' },
      { scheduledFor: '2025-01-01T06:00:00.000Z' },
    ]);
  });

  it('[AUT-022] does not run when it is switched off, and not for times before it was', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 * * * *', 'UTC', 'runOnce')] });
    await fixture.update({ enabled: false });
    await fixture.clock.advance(5 * HOUR + MINUTE);
    await fixture.update({ enabled: true });
    await fixture.clock.advance(MINUTE);
    expect(await fixture.runs()).toEqual([]);
    await fixture.clock.advance(HOUR);
    expect(await fixture.runs()).toHaveLength(1);
  });

  it('[AUT-022] is not run a second time for a time when the host dies right after it', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 2 * * *', 'UTC', 'runOnce')] });
    await fixture.clock.advance(2 * HOUR);
    await fixture.agent.turn(0);
    const again = await fixture.crash();
    await again.clock.advance(10 * MINUTE);
    expect(again.agent.turns).toEqual([]);
    expect(await again.runs()).toMatchObject([
      { origin: { scheduledFor: '2025-01-01T02:00:00.000Z' }, lifecycle: { status: 'failed' } },
    ]);
    expect((await again.entry()).nextRunAt).toBe('2025-01-02T02:00:00.000Z');
  });

  /** The host is off for a while: it is stopped, the time goes by, and another one starts. */
  async function off(fixture: AutomationFixture, milliseconds: number): Promise<AutomationFixture> {
    await fixture.host.stop();
    return AutomationFixture.open({ log: fixture.log, clock: new FakeClock(fixture.clock.now() + milliseconds) });
  }

  it('[AUT-023] tells of the times that it missed while the host was off, and skips them', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 * * * *')] });
    const again = await off(fixture, 5 * HOUR + 2 * MINUTE);
    const [run, ...others] = await again.runs();
    expect(others).toEqual([]);
    expect(run?.lifecycle).toMatchObject({ status: 'cancelled', error: { errorType: 'skipped-missed' } });
    expect(run?.lifecycle.error?.message).toContain('Not started 5 times');
    expect(again.agent.openings).toEqual([]);
    expect((await again.entry()).nextRunAt).toBe('2025-01-01T06:00:00.000Z');
    const later = await off(again, 2 * HOUR);
    expect((await later.runs()).map(({ lifecycle }) => lifecycle.error?.message)).toEqual([
      expect.stringContaining('Not started 7 times'),
    ]);
  });

  it('[AUT-023] runs once for all times that it missed, when its policy says so', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 * * * *', 'UTC', 'runOnce')] });
    const again = await off(fixture, 5 * HOUR + 2 * MINUTE);
    const puppet = await again.agent.turn(0);
    expect(puppet.turn.message.text).toBe('look at the build');
    expect((await again.runs()).map(({ origin }) => origin)).toEqual([
      { kind: 'trigger', triggerId: 's', scheduledFor: '2025-01-01T05:00:00.000Z', catchUp: true },
    ]);
    puppet.finish();
    await again.clock.advance(58 * MINUTE);
    await again.agent.turn(1);
    expect((await again.runs())[0]?.origin).not.toHaveProperty('catchUp');
  });

  it('[AUT-023] is on time up to a minute late, and has missed its time after that', async () => {
    for (const [late, isMissed] of [
      [MISFIRE_AFTER_MS, false],
      [MISFIRE_AFTER_MS + 1, true],
    ] as const) {
      const fixture = await AutomationFixture.open();
      await fixture.create({ triggers: [scheduled('0 1 * * *')] });
      const again = await off(fixture, HOUR + late);
      const [run] = await again.runs();
      expect(run?.lifecycle.error?.errorType === 'skipped-missed').toBe(isMissed);
    }
  });

  it('[AUT-024] does not begin a run while one goes on, and counts those that it left out', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [scheduled('0 * * * *')] });
    await fixture.clock.advance(HOUR);
    const { finish } = await fixture.agent.turn(0);
    await fixture.clock.advance(3 * HOUR);
    const [skipped, running, ...others] = await fixture.runs();
    expect(others).toEqual([]);
    expect(running?.lifecycle.status).toBe('running');
    expect(skipped?.lifecycle).toMatchObject({ status: 'cancelled', error: { errorType: 'skipped-overlap' } });
    expect(skipped?.lifecycle.error?.message).toContain(
      'Not started 3 times, from 2025-01-01T02:00:00.000Z to 2025-01-01T04:00:00.000Z',
    );
    expect(fixture.agent.turns).toHaveLength(1);
    finish();
    await fixture.until(running?.resource ?? '', 'completed');
    await fixture.clock.advance(HOUR);
    await fixture.agent.turn(1);
    expect((await fixture.runs()).map(({ lifecycle }) => lifecycle.status)).toEqual([
      'running',
      'cancelled',
      'completed',
    ]);
  });

  /** A wall clock that can be set, and timers that do not notice. */
  class WallClock extends FakeClock {
    offset = 0;

    override now(): number {
      return super.now() + this.offset;
    }
  }

  it('[AUT-025] runs no time again that a clock comes to a second time', async () => {
    const clock = new WallClock();
    const fixture = await AutomationFixture.open({ clock });
    await fixture.create({ triggers: [scheduled('0 2 * * *', 'UTC', 'runOnce')] });
    await clock.advance(2 * HOUR);
    (await fixture.agent.turn(0)).finish();
    await settle(20);
    clock.offset = -30 * MINUTE;
    await clock.advance(2 * HOUR);
    expect(await fixture.runs()).toHaveLength(1);
    await clock.advance(22 * HOUR + 30 * MINUTE);
    expect(await fixture.runs()).toHaveLength(2);
  });

  it('[AUT-025] notices within half a minute that its clock has jumped ahead', async () => {
    const clock = new WallClock();
    const fixture = await AutomationFixture.open({ clock });
    await fixture.create({ triggers: [scheduled('0 2 * * *', 'UTC', 'runOnce')] });
    clock.offset = 2 * HOUR + 10 * MINUTE;
    await clock.advance(CLOCK_CHECK_MS);
    await fixture.agent.turn(0);
    expect((await fixture.runs()).map(({ origin }) => origin)).toEqual([
      { kind: 'trigger', triggerId: 's', scheduledFor: '2025-01-01T02:00:00.000Z', catchUp: true },
    ]);
  });

  it('[AUT-026] tries a time again whose run could not be stored', async () => {
    const log = new FailingLog();
    const fixture = await AutomationFixture.open({ log });
    await fixture.create({ triggers: [scheduled('0 2 * * *')] });
    log.isFull = true;
    await fixture.clock.advance(2 * HOUR);
    log.isFull = false;
    expect(fixture.agent.openings).toEqual([]);
    await fixture.clock.advance(CLOCK_CHECK_MS);
    await fixture.agent.turn(0);
    expect((await fixture.runs()).map(({ origin }) => origin)).toMatchObject([
      { scheduledFor: '2025-01-01T02:00:00.000Z' },
    ]);
  });

  it('[AUT-027] is a reason for a host to stay', async () => {
    const fixture = await AutomationFixture.open();
    expect(fixture.host.host.activity.automations).toBe(0);
    await fixture.create({ triggers: [scheduled('0 2 * * *')] });
    expect(fixture.host.host.activity.automations).toBe(1);
    await fixture.update({ enabled: false });
    expect(fixture.host.host.activity.automations).toBe(0);
  });
});
