/** Ends all that runs in a terminal: the shell, its jobs, and what they started. First by asking, then by force. */
import { systemClock } from '../../core/util/clock.js';
import { GROUP_KILL_MAX_MS, GROUP_POLL_MS, inTerminal, signalGroup } from '../../core/util/processes.js';

export interface Ending {
  /** How it is asked first. */
  readonly signal: 'SIGHUP' | 'SIGTERM';
  /** Processes live in real time, whatever the clock of the host says. */
  readonly graceMs: number;
}

/** Returns when everything is gone. Says whether anything ran on although who started it had ended. */
export async function endProcesses(leader: number, { signal, graceMs }: Ending): Promise<boolean> {
  const { groups, hasStrays } = await inTerminal(leader);
  for (const group of groups) {
    signalGroup(group, signal);
    // One that is stopped would hear of it only when it goes on.
    signalGroup(group, 'SIGCONT');
  }
  if (await areGone(leader, groups, graceMs)) return hasStrays;
  for (const group of (await inTerminal(leader, groups)).groups) signalGroup(group, 'SIGKILL');
  await areGone(leader, groups, GROUP_KILL_MAX_MS);
  return hasStrays;
}

/** Looking into the table of processes takes a while, which counts. */
async function areGone(leader: number, groups: ReadonlySet<number>, milliseconds: number): Promise<boolean> {
  const limit = performance.now() + milliseconds;
  for (;;) {
    // Most are gone in a moment.
    await new Promise<void>((resolve) => systemClock.after(Math.min(GROUP_POLL_MS, milliseconds), resolve));
    if ((await inTerminal(leader, groups)).groups.size === 0) return true;
    if (performance.now() > limit) return false;
  }
}
