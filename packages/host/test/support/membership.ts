/** Hosts of a cluster that beat and look when a test says so. */
import { onTestFinished } from 'vitest';
import { Membership, type MembershipOptions } from '../../src/cluster/membership.js';
import { FakeClock } from './fake-clock.js';

type Given = Pick<MembershipOptions, 'url'> & Partial<MembershipOptions>;

/** Joins; the host beats and looks whenever `lookNow` is called, or the clock is moved. */
export async function joinedAs(hostId: string, options: Given) {
  const logged: string[] = [];
  const clock = new FakeClock();
  const logger = { log: (_level: string, message: string) => void logged.push(message) };
  const member = await Membership.join({ hostId, version: 'test', clock, logger, ...options });
  onTestFinished(() => member.close());
  return { member, clock, logged };
}

/** Whether a promise is fulfilled already. */
export async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return (
    (await Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(() => resolve(false)))])) ===
    true
  );
}
