/** How often strangers may try, by a clock that the test moves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Attempts, type Turn } from '../../src/server/attempts.js';
import type { RequestSource } from '../../src/server/forwarded.js';
import * as limits from '../../src/server/limits.js';

const from = (address: string, isProxied = false): RequestSource => ({ address, isProxied, scheme: 'http', host: [] });
const STRANGER = from('203.0.113.9');
const OWNER = from('127.0.0.1');

let now = 0;
let attempts: Attempts;

beforeEach(() => {
  now = 0;
  attempts = new Attempts(() => now);
});

function fail(times: number, source = STRANGER): void {
  for (let count = 0; count < times; count += 1) attempts.failed(source);
}

function waitOf(turn: Turn): number {
  return turn.kind === 'wait' ? turn.ms : turn.kind === 'now' ? 0 : Number.POSITIVE_INFINITY;
}

describe('[DEV-054] failed credentials', () => {
  it('are free up to ten a minute, then the next attempt waits, longer each time, up to a bound', () => {
    fail(limits.FAILURES_PER_ADDRESS_MAX - 1);
    expect(attempts.turnOf(STRANGER).kind).toBe('now');
    fail(1);
    expect(waitOf(attempts.turnOf(STRANGER))).toBe(limits.ATTEMPT_DELAY_STEP_MS);
    fail(1);
    expect(waitOf(attempts.turnOf(STRANGER))).toBe(2 * limits.ATTEMPT_DELAY_STEP_MS);
    fail(1_000);
    expect(waitOf(attempts.turnOf(STRANGER))).toBe(limits.ATTEMPT_DELAY_MAX_MS);
  });

  it('are forgiven with time: a sixth of a minute for each, and minutes after the worst', () => {
    fail(limits.FAILURES_PER_ADDRESS_MAX);
    now += limits.RATE_WINDOW_MS / limits.FAILURES_PER_ADDRESS_MAX - 1;
    expect(attempts.turnOf(STRANGER).kind).toBe('wait');
    now += 2;
    expect(attempts.turnOf(STRANGER).kind).toBe('now');
    fail(1_000);
    now += 4 * limits.RATE_WINDOW_MS;
    expect(attempts.turnOf(STRANGER).kind).toBe('now');
  });

  it('let a few attempts of an address wait, refuse the others, and free a place with each that is done', () => {
    fail(limits.FAILURES_PER_ADDRESS_MAX);
    const waiting = Array.from({ length: limits.ATTEMPTS_WAITING_MAX }, () => attempts.turnOf(STRANGER));
    expect(waiting.map(({ kind }) => kind)).toEqual(waiting.map(() => 'wait'));
    expect(attempts.turnOf(STRANGER)).toEqual({ kind: 'refused', seconds: 1 });
    const [first] = waiting;
    for (let twice = 0; twice < 2; twice += 1) if (first?.kind === 'wait') first.done();
    expect(attempts.turnOf(STRANGER).kind).toBe('wait');
    expect(attempts.turnOf(STRANGER).kind).toBe('refused');
  });

  it('of one address slow no other one', () => {
    fail(50);
    expect(attempts.turnOf(from('203.0.113.10')).kind).toBe('now');
  });

  it('of all addresses together slow those that never had the right token, and nobody on this machine', () => {
    const known = from('198.51.100.1');
    attempts.succeeded(known);
    for (let count = 0; count < limits.FAILURES_TOTAL_MAX; count += 1) fail(1, from(`203.0.113.${count}`));
    expect(attempts.turnOf(from('192.0.2.1')).kind).toBe('wait');
    expect(attempts.turnOf(known).kind).toBe('now');
    expect(attempts.turnOf(OWNER).kind).toBe('now');
    expect(attempts.turnOf(from('::1')).kind).toBe('now');
    expect(attempts.turnOf(from('127.0.0.1', true)).kind).toBe('wait');
  });

  it('on this machine count there, and slow nobody elsewhere', () => {
    fail(2 * limits.FAILURES_TOTAL_MAX, OWNER);
    expect(attempts.turnOf(OWNER).kind).toBe('wait');
    expect(attempts.turnOf(STRANGER).kind).toBe('now');
  });

  it('count the /64 of an IPv6 address: a stranger has 2^64 of them', () => {
    for (let count = 1; count <= limits.FAILURES_PER_ADDRESS_MAX; count += 1) fail(1, from(`2001:db8:1:2::${count}`));
    expect(attempts.size).toBe(1);
    expect(attempts.turnOf(from('2001:db8:1:2:ffff:1:2:3')).kind).toBe('wait');
    expect(attempts.turnOf(from('2001:db8:1:3::1')).kind).toBe('now');
  });

  it('of any number of addresses take bounded memory, and push out nobody who had the right token', () => {
    const known = from('198.51.100.1');
    attempts.succeeded(known);
    const networks = 2 * limits.ADDRESSES_COUNTED_MAX;
    for (let count = 0; count < networks; count += 1) fail(1, from(`2001:db8:${count.toString(16)}::1`));
    expect(attempts.size).toBe(limits.ADDRESSES_COUNTED_MAX);
    expect(attempts.turnOf(known).kind).toBe('now');
    expect(attempts.turnOf(STRANGER).kind).toBe('wait');
  });

  it('are not forgiven by a clock that goes back', () => {
    fail(limits.FAILURES_PER_ADDRESS_MAX);
    now -= 10 * limits.RATE_WINDOW_MS;
    expect(waitOf(attempts.turnOf(STRANGER))).toBe(limits.ATTEMPT_DELAY_STEP_MS);
  });
});

describe('[DEV-054] upgrades', () => {
  const taken = (times: number, source: RequestSource) =>
    Array.from({ length: times }, () => attempts.takeUpgrade(source)).filter(Boolean).length;

  it('have a limit per address', () => {
    expect(taken(2 * limits.UPGRADES_PER_ADDRESS_MAX, STRANGER)).toBe(limits.UPGRADES_PER_ADDRESS_MAX);
    expect(attempts.takeUpgrade(from('203.0.113.10'))).toBe(true);
    now += limits.RATE_WINDOW_MS;
    expect(attempts.takeUpgrade(STRANGER)).toBe(true);
  });

  it('have a limit for all strangers, and none for this machine and for those who had the right token', () => {
    const known = from('198.51.100.1');
    attempts.succeeded(known);
    const all = Array.from({ length: 2 * limits.UPGRADES_TOTAL_MAX }, (_, count) =>
      attempts.takeUpgrade(from(`10.0.${count >> 8}.${count & 255}`)),
    );
    expect(all.filter(Boolean)).toHaveLength(limits.UPGRADES_TOTAL_MAX);
    expect(attempts.takeUpgrade(known)).toBe(true);
    expect(taken(5_000, OWNER)).toBe(5_000);
  });
});
