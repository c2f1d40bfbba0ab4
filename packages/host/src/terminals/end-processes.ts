/** Ends all that runs in a terminal: the shell, its jobs, and what they started. First by hanging up, then by force. */
import { systemClock } from '../clock.js';
import { GROUP_KILL_MAX_MS, GROUP_POLL_MS } from '../tools/end-group.js';
import { signalGroup } from '../tools/process-group.js';
import { groupsInTerminal, othersInTerminal } from '../tools/process-table.js';

export interface Ending {
  /** How it is asked first. */
  readonly signal: 'SIGHUP' | 'SIGTERM';
  /** Processes live in real time, whatever the clock of the host says. */
  readonly graceMs: number;
}

/** Whether anything runs in a terminal besides the process that it was opened for. */
export async function hasCompany(leader: number): Promise<boolean> {
  return process.platform !== 'win32' && (await othersInTerminal(leader)) > 0;
}

/** Returns when everything is gone. */
export async function endProcesses(leader: number, { signal, graceMs }: Ending): Promise<void> {
  const groups = await groupsInTerminal(leader);
  for (const group of groups) {
    signalGroup(group, signal);
    // One that is stopped would hear of it only when it goes on.
    signalGroup(group, 'SIGCONT');
  }
  if (await areGone(leader, groups, graceMs)) return;
  for (const group of await groupsInTerminal(leader, groups)) signalGroup(group, 'SIGKILL');
  await areGone(leader, groups, GROUP_KILL_MAX_MS);
}

/** Looking into the table of processes takes a while, which counts. */
async function areGone(leader: number, groups: ReadonlySet<number>, milliseconds: number): Promise<boolean> {
  const limit = performance.now() + milliseconds;
  while ((await groupsInTerminal(leader, groups)).size > 0) {
    if (performance.now() > limit) return false;
    await new Promise<void>((resolve) => systemClock.after(GROUP_POLL_MS, resolve));
  }
  return true;
}
