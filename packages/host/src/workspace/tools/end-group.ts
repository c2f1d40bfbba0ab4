/** Ends a group of processes: politely, then not. */
import type { Clock } from '../../core/util/clock.js';
import { signalGroup } from './process-group.js';
import { isGroupRunning } from './process-table.js';

export const GROUP_POLL_MS = 15;
/** How long the system may take over a kill; a process that hangs in a driver is not waited for longer. */
export const GROUP_KILL_MAX_MS = 1_000;

/** Asks a group to end, kills it after the grace, and returns when it is gone. Says whether there was one. */
export async function endGroup(leader: number, clock: Clock, graceMs: number): Promise<boolean> {
  if (!(await isGroupRunning(leader))) return false;
  signalGroup(leader, 'SIGTERM');
  if (await isGoneWithin(leader, clock, graceMs)) return true;
  signalGroup(leader, 'SIGKILL');
  await isGoneWithin(leader, clock, GROUP_KILL_MAX_MS);
  return true;
}

/** By the clock: on a busy machine a look takes longer than the pause before the next. */
async function isGoneWithin(leader: number, clock: Clock, milliseconds: number): Promise<boolean> {
  let isOverdue = false;
  const disarm = clock.after(milliseconds, () => {
    isOverdue = true;
  });
  try {
    while (await isGroupRunning(leader)) {
      if (isOverdue) return false;
      await new Promise<void>((resolve) => clock.after(GROUP_POLL_MS, resolve));
    }
    return true;
  } finally {
    disarm();
  }
}
