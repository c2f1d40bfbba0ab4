import type { StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { STORE_RETRY_MS, UNAVAILABLE_RETRIES_MAX, UNSTORED_MAX_MS } from '../../src/channels/limits.js';
import { type CommittedBatch, type RecordRequest, type UndoneBatch, Writer } from '../../src/channels/writer.js';
import {
  type ClientFacts,
  type Commit,
  jsonText,
  LogFencedError,
  LogUnavailableError,
  LogWriteError,
} from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';

/** A log that remembers the commits, and fails when it is told to. */
class WatchedLog extends MemoryLog {
  readonly commits: Commit[] = [];
  failure: Error | undefined;

  override async append(commit: Commit) {
    this.commits.push(commit);
    if (this.failure) throw this.failure;
    return super.append(commit);
  }
}

function setUp() {
  const log = new WatchedLog();
  const logger = { log: vi.fn() };
  const clock = { now: () => 5, after: () => () => {} };
  const show = vi.fn();
  const calls = { undone: vi.fn(), superseded: vi.fn(), stored: vi.fn(), answered: vi.fn() };
  const delivery = new DirectDelivery({ shown: 0, logger, show });
  const writer = new Writer({ log, logger, clock, delivery, ...calls });
  // Counts the actions, so that each changes the state.
  const channel = new Channel<number>('ahp:/s', (count) => count + 1, 0);
  const write = (type: string) => writer.write({ channel, action: { type } as StateAction });
  return { log, logger, writer, channel, write, show, ...calls };
}

describe('what a commit survives', () => {
  it.each([
    ...['session/ready', 'chat/turnStarted', 'chat/turnComplete', 'chat/turnCancelled', 'chat/error'],
    ...['chat/toolCallConfirmed', 'chat/toolCallComplete', 'chat/inputCompleted', 'chat/truncated'],
  ])('[REL-031] a power cut, with %s among other actions', async (type) => {
    const { log, writer, write } = setUp();
    write('chat/delta');
    write(type);
    await writer.settled();
    expect(log.commits.map(({ durability }) => durability)).toEqual(['full']);
  });

  it('[REL-031] a power cut, when a record asks for it, in that commit alone', async () => {
    const { log, writer, write } = setUp();
    writer.record({ key: 'k', value: jsonText('v') }, 'full');
    write('chat/delta');
    await writer.settled();
    writer.record({ key: 'k', value: jsonText('w') });
    await writer.settled();
    expect(log.commits.map(({ durability }) => durability)).toEqual(['full', 'normal']);
  });
});

describe('a tick', () => {
  it('is one commit, shown once it is stored, before its callbacks', async () => {
    const { log, writer, channel, write, show, stored } = setUp();
    const order: string[] = [];
    show.mockImplementation(() => order.push(`shown ${channel.committed}`));
    writer.afterCommit(() => order.push('called back'));
    write('chat/delta');
    write('chat/delta');
    expect([channel.live, channel.committed, channel.isSettled, writer.shown]).toEqual([2, 0, false, 0]);
    await writer.settled();
    expect(order).toEqual(['shown 2', 'called back']);
    expect(log.commits).toHaveLength(1);
    expect(stored).toHaveBeenCalledWith(2, expect.any(Number));
    expect([channel.isSettled, writer.shown, log.head]).toEqual([true, 2, 2]);
  });

  it('tells how long storing it took', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { log, writer, write, stored } = setUp();
    vi.advanceTimersByTime(1_000);
    vi.spyOn(log, 'append').mockImplementation((commit) => {
      vi.advanceTimersByTime(30);
      return WatchedLog.prototype.append.call(log, commit);
    });
    write('chat/delta');
    await writer.settled();
    expect(stored.mock.calls).toEqual([[1, 30]]);
  });

  it('that holds a notice only is shown without a commit', async () => {
    const { log, writer, show } = setUp();
    writer.sendNotice({ lost: () => {} });
    await vi.waitFor(() => expect(show).toHaveBeenCalledOnce(), 10_000);
    expect(show.mock.lastCall?.[0].notices).toMatchObject([{ seq: 0 }]);
    expect(log.commits).toEqual([]);
    expect(writer.shown).toBe(0);
  });

  it('stores an archive as it is when all actions are in', async () => {
    const { log, writer, channel, write } = setUp();
    writer.storeArchive('ahp:/s', () => ({
      channel: 'ahp:/s',
      head: String(channel.live),
      turns: { start: 0, items: [] },
    }));
    write('chat/delta');
    await writer.settled();
    expect(await log.archiveHead('ahp:/s')).toMatchObject({ head: '1' });
  });

  it('has in it what is written at its end, and not what is written then at the end of the next', async () => {
    const { log, writer, write, show } = setUp();
    writer.atEndOfTick(() => {
      write('chat/delta');
      writer.atEndOfTick(() => write('chat/turnComplete'));
    });
    await vi.waitFor(() => expect(show).toHaveBeenCalledTimes(2), 10_000);
    expect(log.commits.map(({ entries }) => entries.length)).toEqual([1, 1]);
    expect(log.commits.map(({ durability }) => durability)).toEqual(['normal', 'full']);
  });

  it('of an ephemeral channel stores its numbers, and nothing of what happened', async () => {
    const { log, writer } = setUp();
    const channel = new Channel<number>('ahp:/t', (count) => count + 1, 0, { isEphemeral: true });
    writer.write({ channel, action: { type: 'terminal/data' } as StateAction });
    await writer.settled();
    expect(await log.read({ after: 0 })).toMatchObject([{ seq: 1, channel: '', action: '' }]);
  });

  it('tells how an action of a client was answered, and under which number', async () => {
    const { writer, channel, answered, show, log } = setUp();
    const origin = { clientId: 'c', epoch: 1, clientSeq: 7 };
    const rejected = { origin: { ...origin, clientSeq: 8 }, reason: 'no' };
    const [first, second] = [{ lost: () => {} }, { lost: () => {} }];
    writer.write({ channel, action: { type: 'chat/delta' } as StateAction, origin });
    writer.reject(first, rejected);
    writer.reject(second);
    expect(answered.mock.calls).toEqual([
      [origin, { entry: 0, reason: undefined }],
      [rejected.origin, { entry: 1, reason: 'no' }],
    ]);
    await writer.settled();
    const [batch] = show.mock.calls[0] ?? [];
    expect(batch.steps.map(({ envelope }: { envelope: object }) => envelope)).toEqual([
      { channel: 'ahp:/s', action: { type: 'chat/delta' }, serverSeq: 1, origin: { clientId: 'c', clientSeq: 7 } },
    ]);
    expect(batch.notices).toEqual([
      { seq: 2, notice: first },
      { seq: 3, notice: second },
    ]);
    expect((await log.read({ after: 0 })).map((entry) => entry.origin?.clientSeq)).toEqual([7, 8, undefined]);
    // A rejection uses up a number, and nothing is stored under it.
    expect(log.commits[0]?.entries.slice(1)).toMatchObject([
      { channel: '', action: '' },
      { channel: '', action: '' },
    ]);
  });

  it('follows by itself when all that came meanwhile is to be told', async () => {
    const { log, writer, write, show } = setUp();
    const called = vi.fn();
    vi.spyOn(log, 'append').mockImplementationOnce(async (commit) => {
      writer.sendNotice({ lost: () => {} });
      writer.afterCommit(called);
      return MemoryLog.prototype.append.call(log, commit);
    });
    write('session/delta');
    await vi.waitFor(() => expect(called).toHaveBeenCalledOnce(), { timeout: 10_000, interval: 0 });
    expect(show.mock.lastCall?.[0].notices).toMatchObject([{ seq: 1 }]);
  });

  it('goes on when a handler fails', async () => {
    const { writer, write, show, logger } = setUp();
    show.mockImplementation(() => {
      throw new Error('broken');
    });
    const next = vi.fn();
    writer.afterCommit(() => {
      throw 'thrown text';
    });
    writer.afterCommit(next);
    write('chat/delta');
    await writer.settled();
    expect(next).toHaveBeenCalledOnce();
    const errors = logger.log.mock.calls.map(([, , fields]) => fields.error);
    expect(errors).toEqual([expect.stringMatching(/broken\n +at /), 'thrown text']);
  });
});

describe('a tick that cannot be stored', () => {
  it('[REL-033] is undone as a whole, with the one that was built on it', async () => {
    const { log, writer, channel, write, undone, show } = setUp();
    log.failure = new LogWriteError('failed', 'away');
    write('chat/delta');
    const failed = vi.fn();
    writer.afterFailure(failed);
    await new Promise((resolve) => setImmediate(resolve));
    write('chat/delta');
    await vi.waitFor(() => expect(undone).toHaveBeenCalledOnce(), 10_000);
    expect(undone.mock.lastCall?.[0]).toMatchObject({ error: { message: 'away' } });
    expect(failed).toHaveBeenCalledWith(log.failure);
    expect(show).not.toHaveBeenCalled();
    log.failure = undefined;
    await vi.waitFor(() => expect(channel.live).toBe(channel.committed), 10_000);
    write('chat/delta');
    await writer.settled();
    expect(writer.shown).toBe(log.head);
    expect(channel.committed).toBe(log.head);
  });

  it('because another host has the log is told once, and nothing is tried again', async () => {
    const { log, writer, write, superseded, undone } = setUp();
    log.failure = new LogFencedError('another host');
    for (let round = 0; round < 2; round += 1) {
      write('chat/delta');
      await expect(writer.settled()).rejects.toBe(log.failure);
    }
    expect(superseded).toHaveBeenCalledExactlyOnceWith(log.failure);
    expect(log.commits).toHaveLength(1);
    const begin = vi.spyOn(log, 'beginClient');
    await expect(writer.beginClient('c', {} as ClientFacts)).rejects.toBe(log.failure);
    expect(begin).not.toHaveBeenCalled();
    expect(undone).not.toHaveBeenCalled();
  });
});

describe('a log that cannot be reached', () => {
  /** A clock whose timers ring at once, and are counted. */
  function ringing() {
    const waits: number[] = [];
    const clock = {
      now: () => 5,
      after: (ms: number, run: () => void) => {
        // How long a commit takes is measured beside.
        if (ms === UNSTORED_MAX_MS) return () => {};
        waits.push(ms);
        queueMicrotask(run);
        return () => {};
      },
    };
    return { clock, waits };
  }
  function unreachable(times: number) {
    const { clock, waits } = ringing();
    const log = new WatchedLog();
    const [logger, undone] = [{ log: vi.fn() }, vi.fn()];
    const delivery = new DirectDelivery({ shown: 0, logger, show: () => {} });
    const writer = new Writer({ log, logger, clock, delivery, undone, superseded: () => {} });
    log.failure = new LogUnavailableError('away');
    const append = vi.spyOn(log, 'append').mockImplementation(async (commit) => {
      if (append.mock.calls.length > times) log.failure = undefined;
      return WatchedLog.prototype.append.call(log, commit);
    });
    writer.record({ key: 'k', value: jsonText('v') });
    return { log, writer, logger, undone, waits };
  }

  it('[REL-067] gets the same commit again, every second, and says so once', async () => {
    const { log, writer, logger, waits } = unreachable(UNAVAILABLE_RETRIES_MAX);
    await writer.settled();
    expect(waits).toEqual(Array(UNAVAILABLE_RETRIES_MAX).fill(STORE_RETRY_MS));
    expect(new Set(log.commits).size).toBe(1);
    expect(await log.record('k')).toBe('"v"');
    expect(logger.log).toHaveBeenCalledOnce();
  });

  it('[REL-067] is given up after a while', async () => {
    const { writer, undone, waits } = unreachable(UNAVAILABLE_RETRIES_MAX + 1);
    await expect(writer.settled()).rejects.toThrow('away');
    expect(waits).toHaveLength(UNAVAILABLE_RETRIES_MAX);
    expect(undone).toHaveBeenCalledOnce();
  });
});

describe('what is told of a tick', () => {
  it('has each notice behind the actions before it, and each step with the states around it', async () => {
    const { writer, write, show } = setUp();
    const notices = [{ lost: () => {} }, { lost: () => {} }];
    writer.sendNotice(notices[0] as (typeof notices)[0]);
    write('session/delta');
    write('session/delta');
    writer.sendNotice(notices[1] as (typeof notices)[0]);
    await writer.settled();
    const batch = show.mock.calls[0]?.[0] as CommittedBatch;
    expect([batch.first, batch.last]).toEqual([1, 2]);
    expect(batch.notices).toEqual([
      { seq: 0, notice: notices[0] },
      { seq: 2, notice: notices[1] },
    ]);
    expect(batch.steps).toMatchObject([
      { before: 0, after: 1, time: 5, entry: 0, text: '{"type":"session/delta"}', envelope: { serverSeq: 1 } },
      { before: 1, after: 2, entry: 1, envelope: { serverSeq: 2 } },
    ]);
    expect('origin' in (batch.steps[0]?.envelope ?? {})).toBe(false);
  });

  it('[REL-033] that is undone is everything of it, and of the next', async () => {
    const { log, writer, channel, write, undone } = setUp();
    const [first, second] = [{ lost: () => {} }, { lost: () => {} }];
    vi.spyOn(log, 'append').mockImplementation(async () => {
      write('session/title');
      writer.sendNotice(second);
      throw new LogWriteError('failed', 'no');
    });
    write('session/delta');
    writer.sendNotice(first);
    await expect(writer.settled()).rejects.toThrow('no');
    const lost = undone.mock.calls.flatMap(([batch]) => batch as UndoneBatch);
    expect(lost.flatMap(({ steps }) => steps.map(({ action }) => action.type))).toEqual([
      'session/delta',
      'session/title',
    ]);
    expect(lost.flatMap(({ entries }) => entries)).toHaveLength(2);
    expect(lost.flatMap(({ notices }) => notices)).toEqual([first, second]);
    expect([channel.live, channel.isSettled]).toEqual([0, true]);
  });

  it('[REL-096] of records that are JSON: others do not compile', async () => {
    const { log, writer } = setUp();
    // @ts-expect-error A bare text: the next start after a crash would take it for damage.
    const bare: RecordRequest = { key: 'bare', value: 'text' };
    writer.record({ ...bare, value: jsonText('text') });
    writer.record({ key: 'object', value: jsonText({ a: [1] }) });
    await writer.settled();
    expect([await log.record('bare'), await log.record('object')]).toEqual(['"text"', '{"a":[1]}']);
  });

  it('of the last record under a key, and of the last archive of a channel', async () => {
    const { log, writer } = setUp();
    const archive = (head: string) => () => ({ channel: 's', head, turns: { start: 0, items: [] } });
    for (const value of [jsonText('old'), jsonText('new')]) {
      writer.record({ key: 'k', value });
      writer.storeArchive('s', archive(value));
    }
    await writer.settled();
    expect(log.commits).toMatchObject([{ records: [{ key: 'k', value: '"new"' }], archives: [{ head: '"new"' }] }]);
  });
});

describe('a client that begins anew', () => {
  it('does so behind what is stored with it, and hears when that fails', async () => {
    const { log, writer, write } = setUp();
    const order: string[] = [];
    vi.spyOn(log, 'beginClient').mockImplementation(async (clientId) => {
      order.push(`begun ${clientId} behind ${log.head}`);
      if (clientId === 'd') throw new LogWriteError('failed', 'no');
      return { epoch: 7 };
    });
    const begun = writer.beginClient('c', {} as ClientFacts);
    const failed = writer.beginClient('d', {} as ClientFacts);
    write('session/delta');
    expect(await begun).toEqual({ epoch: 7 });
    await expect(failed).rejects.toThrow('no');
    expect(order).toEqual(['begun c behind 1', 'begun d behind 1']);
  });
});

describe('times in a channel', () => {
  it('[REL-038] never go back', () => {
    const channel = new Channel<number>('ahp:/s', (count) => count, 0, { lastTime: 100 });
    expect([channel.timeAt(99), channel.timeAt(101)]).toEqual([100, 101]);
    expect([channel.isEphemeral, new Channel('ahp:/t', () => 0, 0).timeAt(1)]).toEqual([false, 1]);
  });

  it('are of the last action: a state is replaced only while nothing waits to be stored', async () => {
    const { writer, channel, write } = setUp();
    write('chat/delta');
    expect(channel.replace(() => 50)).toBe(false);
    await writer.settled();
    expect(channel.replace((count) => count + 50)).toBe(true);
    expect([channel.live, channel.committed]).toEqual([51, 51]);
  });
});
