import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Backlog } from '../../src/channels/backlog.js';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { BEHIND_WARNED_EVERY_MS, UNSTORED_MAX_BYTES, UNSTORED_MAX_MS } from '../../src/channels/limits.js';
import { Writer } from '../../src/channels/writer.js';
import { type Commit, jsonText, LogWriteError } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';

function timers() {
  const waiting = new Map<() => void, number>();
  const after = (milliseconds: number, callback: () => void) => {
    waiting.set(callback, milliseconds);
    return () => waiting.delete(callback);
  };
  const pass = (milliseconds: number) => {
    for (const [callback, at] of [...waiting]) if (at <= milliseconds && waiting.delete(callback)) callback();
  };
  return { clock: { now: () => 0, after }, pass, waiting };
}

function setUp() {
  const { clock, pass } = timers();
  const changed = vi.fn();
  const logger = { log: vi.fn() };
  return { backlog: new Backlog({ clock, logger, changed }), pass, changed, logger };
}

describe('what waits to be stored', () => {
  it('[CLU-015] makes others wait at 8 MiB, and not a byte before, until half of it is stored', async () => {
    const { backlog, changed } = setUp();
    expect(UNSTORED_MAX_BYTES).toBe(8 * 2 ** 20);
    backlog.add(UNSTORED_MAX_BYTES - 1);
    expect([backlog.isBehind, backlog.caughtUp()]).toEqual([false, undefined]);
    backlog.add(1);
    expect(backlog.isBehind).toBe(true);
    const goOn = vi.fn();
    const waited = backlog.caughtUp()?.then(goOn);
    backlog.end(UNSTORED_MAX_BYTES / 2 - 1);
    expect(backlog.isBehind).toBe(true);
    backlog.end(1);
    await waited;
    expect([backlog.isBehind, goOn.mock.calls.length]).toEqual([false, 1]);
    expect(changed.mock.calls.map(([{ isBehind }]) => isBehind)).toEqual([true, false]);
  });

  it('[CLU-015] makes others wait when one commit takes five seconds, however small it is', () => {
    const { backlog, pass } = setUp();
    backlog.add(1);
    backlog.begin();
    pass(UNSTORED_MAX_MS - 1);
    expect(backlog.isBehind).toBe(false);
    pass(UNSTORED_MAX_MS);
    expect([UNSTORED_MAX_MS, backlog.isBehind]).toEqual([5_000, true]);
    backlog.remove(1);
    expect(backlog.isBehind).toBe(true);
    backlog.end(0);
    expect(backlog.isBehind).toBe(false);
    pass(UNSTORED_MAX_MS);
    expect(backlog.isBehind).toBe(false);
  });

  it('[CLU-015] is told once a minute, however often it happens, and each time how long it took', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { backlog, logger, changed } = setUp();
    const fallBehind = (milliseconds: number) => {
      backlog.add(UNSTORED_MAX_BYTES);
      backlog.add(1);
      vi.advanceTimersByTime(milliseconds);
      backlog.end(UNSTORED_MAX_BYTES + 1);
      backlog.remove(0);
    };
    const warned = () => logger.log.mock.calls.map(([level, , fields]) => [level, fields]);
    for (const milliseconds of [20, 30, BEHIND_WARNED_EVERY_MS - 51]) fallBehind(milliseconds);
    fallBehind(1);
    expect(warned()).toEqual([['warn', { bytes: UNSTORED_MAX_BYTES }]]);
    fallBehind(0);
    expect([BEHIND_WARNED_EVERY_MS, warned().length]).toEqual([60_000, 2]);
    const times = [20, 30, BEHIND_WARNED_EVERY_MS - 51, 1, 0];
    expect(changed.mock.calls.map(([told]) => told)).toEqual(
      times.flatMap((milliseconds) => [
        { isBehind: true, milliseconds: 0 },
        { isBehind: false, milliseconds },
      ]),
    );
  });

  it('[CLU-015] needs nobody who is told', () => {
    const { clock } = timers();
    const backlog = new Backlog({ clock, logger: { log: () => {} } });
    backlog.add(UNSTORED_MAX_BYTES);
    expect(backlog.isBehind).toBe(true);
    backlog.remove(UNSTORED_MAX_BYTES);
    expect([backlog.isBehind, backlog.caughtUp()]).toEqual([false, undefined]);
  });
});

describe('a writer whose log is slow', () => {
  class HeldLog extends MemoryLog {
    go: (() => void)[] = [];
    failure: Error | undefined;
    override async append(commit: Commit) {
      await new Promise<void>((resolve) => this.go.push(resolve));
      if (this.failure) throw this.failure;
      return super.append(commit);
    }
  }

  function slow() {
    const log = new HeldLog();
    const logger = { log: vi.fn() };
    const { clock, pass, waiting } = timers();
    const behind = vi.fn();
    const delivery = new DirectDelivery({ shown: 0, logger, show: () => {} });
    const writer = new Writer({ log, logger, clock, delivery, behind, undone: () => {}, superseded: () => {} });
    const channel = new Channel<number>('ahp:/s', (count) => count + 1, 0);
    const write = (characters: number) =>
      writer.write({ channel, action: { type: 'chat/delta', content: 'x'.repeat(characters) } as never });
    const next = async () => {
      await vi.waitFor(() => expect(log.go.length).toBeGreaterThan(0), 10_000);
      log.go.shift()?.();
    };
    return { log, writer, write, behind, next, pass, waiting };
  }

  it('[CLU-015] is behind with what is under way and what came since, until that is stored', async () => {
    const { writer, write, behind, next, waiting } = slow();
    write(UNSTORED_MAX_BYTES / 2);
    await new Promise(setImmediate);
    expect(writer.isBehind).toBe(false);
    write(UNSTORED_MAX_BYTES / 2);
    expect(writer.isBehind).toBe(true);
    const caughtUp = writer.caughtUp();
    await next();
    await next();
    await caughtUp;
    expect([writer.isBehind, writer.shown, waiting.size]).toEqual([false, 2, 0]);
    expect(behind).toHaveBeenCalledTimes(2);
  });

  it('[CLU-015] owes nothing any more when what waited could not be stored', async () => {
    const { log, writer, write, next } = slow();
    log.failure = new LogWriteError('failed', 'no');
    write(UNSTORED_MAX_BYTES);
    await new Promise(setImmediate);
    write(UNSTORED_MAX_BYTES);
    writer.record({ key: 'k', value: jsonText('x'.repeat(1_000)) });
    expect(writer.isBehind).toBe(true);
    await next();
    await vi.waitFor(() => expect(writer.isBehind).toBe(false), 10_000);
    log.failure = undefined;
    write(UNSTORED_MAX_BYTES / 2);
    expect(writer.isBehind).toBe(false);
    await next();
    await writer.settled();
  });
});
