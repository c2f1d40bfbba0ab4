/** Looks up in the system's table whether anybody of a group of processes still runs. */
import { readdir, readFile } from 'node:fs/promises';
import { signalGroup } from './process-group.js';

/**
 * A process that has ended stays in the table until its parent asks how, and some parents never do (a container without
 * an init). Such an entry takes signals as if it lived, so on Linux the table itself is read.
 */
export async function isGroupRunning(leader: number): Promise<boolean> {
  if (!signalGroup(leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  const entries = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')));
  return entries.some((entry) => isRunningIn(leader, entry));
}

const ENDED: ReadonlySet<string | undefined> = new Set(['Z', 'X']);

/** An entry reads `pid (name) state parent group …`; a name can hold anything, so the last bracket counts. */
function isRunningIn(group: number, entry: string): boolean {
  const [state, , groupOf] = entry.slice(entry.lastIndexOf(')') + 2).split(' ');
  return Number(groupOf) === group && !ENDED.has(state);
}
