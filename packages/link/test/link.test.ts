import { describe, expect, it } from 'vitest';
import {
  BACKOFF_FACTOR,
  backoffDelay,
  type Clock,
  deferred,
  Emitter,
  memoryPair,
  newId,
  PendingById,
  PendingRequests,
  systemClock,
} from '../src/index.js';

/** A clock whose time passes by hand. */
function handClock(): Clock & { pass(milliseconds: number): void } {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    after(milliseconds, callback) {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(milliseconds) {
      now += milliseconds;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

describe('requests that wait for an answer', () => {
  const late = (method: string, timeoutMs: number) => new Error(`${method} ${timeoutMs}`);

  it('end once: with the answer, and later answers find nothing that waits', () => {
    const pending = new PendingRequests({ clock: handClock(), late });
    const outcomes: unknown[] = [];
    const id = pending.add('list', 10, (outcome) => outcomes.push(outcome));
    expect(pending.methodOf(id)).toBe('list');
    expect(pending.succeeded(id, 7)).toBe(true);
    expect(pending.succeeded(id, 8)).toBe(false);
    expect(pending.failed(id, new Error('late'))).toBe(false);
    expect(outcomes).toEqual([{ ok: true, value: 7 }]);
  });

  it('fail when their time is over, and not before', () => {
    const clock = handClock();
    const pending = new PendingRequests({ clock, firstId: 100, late });
    const errors: string[] = [];
    expect(pending.add('read', 10, (outcome) => !outcome.ok && errors.push(outcome.error.message))).toBe(100);
    clock.pass(9);
    expect(errors).toEqual([]);
    clock.pass(1);
    expect(errors).toEqual(['read 10']);
  });

  it('all fail with the connection, and their timers end', () => {
    const clock = handClock();
    const pending = new PendingRequests({ clock, late });
    const errors: string[] = [];
    for (const method of ['a', 'b'])
      pending.add(method, 5, (outcome) => !outcome.ok && errors.push(outcome.error.message));
    pending.abandon((method) => new Error(`${method}: gone`));
    clock.pass(10);
    expect(errors).toEqual(['a: gone', 'b: gone']);
  });

  it('are found by their method, the oldest first, under ids that the caller chose', () => {
    const pending = new PendingById<string, number>({ clock: handClock(), late });
    const outcomes: unknown[] = [];
    for (const id of ['x', 'y'])
      pending.wait({ id, method: 'list', timeoutMs: 5 }, (outcome) => outcomes.push([id, outcome.ok]));
    expect(pending.oldest('list')).toBe('x');
    expect(pending.failed('x', new Error('no'))).toBe(true);
    expect(pending.oldest('list')).toBe('y');
    expect(pending.succeeded('y', 1)).toBe(true);
    expect(pending.oldest('list')).toBeUndefined();
    expect(outcomes).toEqual([
      ['x', false],
      ['y', true],
    ]);
  });
});

describe('the delay before the next attempt', () => {
  it('grows by its factor, stays in its range, and is spread by chance', () => {
    const range = { min: 100, max: 1_000 };
    expect(backoffDelay(range, 0, 0)).toBe(100);
    expect(backoffDelay(range, 1, 0)).toBe(100 * BACKOFF_FACTOR);
    expect(backoffDelay(range, 0, 0.999)).toBeLessThanOrEqual(100 * BACKOFF_FACTOR);
    for (const failures of [5, 50, 5_000]) expect(backoffDelay(range, failures, 0.999)).toBeLessThanOrEqual(1_000);
  });
});

describe('two ends in memory', () => {
  it('deliver in order, never in the same call, and keep what came before there was a listener', async () => {
    const [near, far] = memoryPair();
    near.send('1');
    await Promise.resolve();
    const heard: string[] = [];
    far.onMessage((text) => heard.push(text));
    near.send('2');
    expect(heard).toEqual(['1']);
    await Promise.resolve();
    expect(heard).toEqual(['1', '2']);
  });

  it('tell both sides that they are closed, once', async () => {
    const [near, far] = memoryPair();
    const ends: string[] = [];
    near.onClose(({ reason }) => ends.push(`near: ${reason}`));
    far.onClose(({ reason }) => ends.push(`far: ${reason}`));
    near.close();
    near.close();
    await Promise.resolve();
    expect(ends).toEqual(['near: closed here', 'far: closed by the other side']);
  });
});

describe('small things', () => {
  it('a listener that throws is logged and stops no other', () => {
    const logged: string[] = [];
    const emitter = new Emitter<number>((message) => logged.push(message));
    const heard: number[] = [];
    emitter.on(() => {
      throw new Error('no');
    });
    const remove = emitter.on((value) => heard.push(value));
    emitter.emit(1);
    remove();
    emitter.emit(2);
    expect(heard).toEqual([1]);
    expect(logged).toEqual(['a listener threw', 'a listener threw']);
  });

  it('ids are 128 random bits, and a deferred promise may stay unobserved', async () => {
    expect(newId()).toMatch(/^[0-9a-f]{32}$/);
    expect(newId()).not.toBe(newId());
    const later = deferred<number>();
    later.resolve(3);
    expect(await later.promise).toBe(3);
    deferred().reject(new Error('unobserved'));
  });

  it('a timer of the system clock can be cancelled', async () => {
    let calls = 0;
    systemClock.after(1, () => calls++)();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(0);
  });
});
