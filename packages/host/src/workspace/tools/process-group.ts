/**
 * Groups of processes: a command and all it started. Each command runs as the leader of a group of its own, so that
 * ending the group leaves nobody behind, except processes that made themselves a group on purpose.
 */
import { spawnSync } from 'node:child_process';

const WINDOWS = process.platform === 'win32';

/** Sends a signal to every process of a group (0 only looks); false when there is none. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (WINDOWS) return signalTree(leader, signal);
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: the group exists, but what is left of it belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Windows knows no groups; it can end a tree while its root lives. */
function signalTree(root: number, signal: NodeJS.Signals | 0): boolean {
  if (signal !== 0) return spawnSync('taskkill', ['/pid', String(root), '/T', '/F'], { stdio: 'ignore' }).status === 0;
  try {
    return process.kill(root, 0);
  } catch {
    return false;
  }
}

/** Groups that run now. If this process exits first, they go with it: the end of a process is global by nature. */
const running = new Set<number>();

function killAll(): void {
  for (const leader of running) signalGroup(leader, 'SIGKILL');
}

/** Has a group killed should this process exit; the returned function takes that back. */
export function killOnExit(leader: number): () => void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(leader);
  return () => {
    running.delete(leader);
    if (running.size === 0) process.off('exit', killAll);
  };
}
