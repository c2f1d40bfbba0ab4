/** Wall clocks jump, and some waits are longer than a timer can be. Neither may show. */

import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import { systemClock } from '@atrium/core/util/clock.js';
import type { SessionState } from '@atrium/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { JumpingClock } from '../support/fuzz-jumping-clock.js';
import { LeasedLog } from '../support/fuzz-leased-log.js';
import { FUZZ_SCRIPT } from '../support/fuzz-script.js';
import { type RawClient, settle, startTestHost } from '../support/test-host.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SESSION = 'ahp-session:/time';

describe('a wall clock that jumps', () => {
  it('[REL-038] back an hour and on a day during a turn never takes the times of a session back', async () => {
    const log = new MemoryLog();
    const clock = new JumpingClock();
    const { client, stop } = await sessionOn(log, clock);
    startTurn(client, 'stream', 1);
    for (const jump of [-HOUR_MS, DAY_MS, -DAY_MS, -HOUR_MS]) {
      await clock.advance(10);
      clock.jump(jump);
    }
    await clock.advance(1_000);
    await client.action(SESSION, 'session/turnComplete');
    await stop();
    await expectSteadyTimes(log);
  });

  it('[REL-038] back an hour between two lives of the host does not either', async () => {
    const log = new MemoryLog();
    const first = await sessionOn(log, new JumpingClock());
    first.client.dispatch(SESSION, { type: 'session/titleChanged', title: 'before' });
    await first.client.action(SESSION, 'session/titleChanged');
    const before = await first.client.state<SessionState>(SESSION);
    await first.stop();

    const earlier = new JumpingClock();
    earlier.jump(-HOUR_MS);
    const second = await startTestHost({ log: new LeasedLog(log).log, clock: earlier });
    const client = await second.client();
    await client.request('subscribe', { channel: SESSION });
    client.dispatch(SESSION, { type: 'session/titleChanged', title: 'after' });
    await client.action(SESSION, 'session/titleChanged');
    const after = await client.state<SessionState>(SESSION);
    expect(after.summary.modifiedAt).toBeGreaterThanOrEqual(before.summary.modifiedAt);
    await second.stop();
    await expectSteadyTimes(log);
  });

  it.each([
    ['back an hour', -HOUR_MS],
    ['on a day', DAY_MS],
  ])('[REL-038] %s during a grace period makes it neither shorter nor longer', async (_, jump) => {
    const clock = new JumpingClock();
    const { host, client, stop } = await sessionOn(new MemoryLog(), clock);
    const owner = await host.client('owner');
    await owner.request('subscribe', { channel: SESSION });
    const activeClient = { clientId: 'owner', tools: [{ name: 'lookup', inputSchema: { type: 'object' } }] };
    owner.dispatch(SESSION, { type: 'session/activeClientChanged', activeClient } as never);
    await owner.action(SESSION, 'session/activeClientChanged');
    startTurn(client, 'client', 1);
    await client.action(SESSION, 'session/toolCallReady');

    owner.disconnect();
    await settle();
    await clock.advance(CLIENT_GRACE_MS / 2);
    clock.jump(jump);
    await clock.advance(CLIENT_GRACE_MS / 2 - 1);
    expect(client.types(SESSION)).not.toContain('session/toolCallComplete');
    await clock.advance(1);
    await client.action(SESSION, 'session/toolCallComplete');
    await stop();
  });
});

describe('a timer of more than 2^31 ms', () => {
  const LONG_MS = 2 ** 31 + 5_000;

  afterEach(() => void vi.useRealTimers());

  it('[REL-039] goes off when it should, and not at once', () => {
    vi.useFakeTimers();
    const called = vi.fn();
    systemClock.after(LONG_MS, called);
    vi.advanceTimersByTime(LONG_MS - 1);
    expect(called).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(called).toHaveBeenCalledOnce();
  });

  it('[REL-039] can be called off, also after the first 2^31 ms', () => {
    vi.useFakeTimers();
    const called = vi.fn();
    const cancel = systemClock.after(2 * LONG_MS, called);
    vi.advanceTimersByTime(LONG_MS);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 * LONG_MS);
    expect(called).not.toHaveBeenCalled();
  });
});

async function sessionOn(log: MemoryLog, clock: JumpingClock) {
  const host = await startTestHost({ log: new LeasedLog(log).log, clock, scripts: [FUZZ_SCRIPT] });
  const client = await host.client('watcher');
  await client.session(SESSION);
  return { host, client, stop: () => host.stop() };
}

function startTurn(client: RawClient, text: string, number: number): void {
  client.dispatch(SESSION, { type: 'session/turnStarted', turnId: `turn-${number}`, userMessage: { text } });
}

/** Neither the entries of the session nor what they make of its state ever go back. */
async function expectSteadyTimes(log: MemoryLog): Promise<void> {
  const times = (await log.read({ after: 0, channel: SESSION })).map(({ time }) => time);
  expect(times.length).toBeGreaterThan(1);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
}
