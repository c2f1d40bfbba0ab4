/**
 * Ends the provider processes of a host that was killed and could not end them itself. A tiny process that knows them
 * holds a pipe from the host. However the host ends, the pipe closes, and the tiny process ends the others.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** The time between asking to end and killing, as when the host itself ends a provider. */
export const ORPHAN_GRACE_MS = 2_000;
const POLL_MS = 100;

/**
 * Every input line names the leader of a process group: `+` to remember it, `-` to forget it. The script is a string
 * and not a file, so that it also works when the host is bundled into one file. Windows has process trees instead of
 * groups.
 */
const REAPER_SCRIPT = `
const { spawnSync } = require('node:child_process');
const leaders = new Set();
let rest = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) leaders[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)));
});
process.stdin.on('error', () => {}).on('close', () => {
  signalAll('SIGTERM');
  const giveUp = Date.now() + ${ORPHAN_GRACE_MS};
  const timer = setInterval(() => {
    signalAll(0);
    if (leaders.size > 0 && Date.now() < giveUp) return;
    clearInterval(timer);
    signalAll('SIGKILL');
  }, ${POLL_MS});
});
function signalAll(signal) {
  for (const leader of leaders) if (!signalGroup(leader, signal)) leaders.delete(leader);
}
function signalGroup(leader, signal) {
  try {
    if (process.platform !== 'win32') return process.kill(-leader, signal);
    if (signal === 0) return process.kill(leader, 0);
    return spawnSync('taskkill', ['/pid', String(leader), '/T', '/F'], { stdio: 'ignore' }).status === 0;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
`;

type ReaperProcess = ChildProcessByStdio<Socket, null, null>;

export class OrphanReaper {
  readonly #leaders = new Set<number>();
  #reaper: ReaperProcess | undefined;

  /** The id of the reaper process, for tests that look for leaks; undefined while there is nothing to end. */
  get pid(): number | undefined {
    return this.#reaper?.pid;
  }

  /** Has a process group ended if the host is killed; the returned function takes that back. */
  add(leader: number): () => void {
    this.#leaders.add(leader);
    if (this.#reaper) this.#reaper.stdin.write(`+${leader}\n`);
    else this.#startReaper();
    return () => this.#forget(leader);
  }

  #forget(leader: number): void {
    if (!this.#leaders.delete(leader)) return;
    this.#reaper?.stdin.write(`-${leader}\n`);
    if (this.#leaders.size > 0) return;
    this.#reaper?.stdin.end();
    this.#reaper = undefined;
  }

  /** Tells a new reaper process all groups. If a reaper dies before the host, the next group to come starts another. */
  #startReaper(): void {
    const reaper = start();
    this.#reaper = reaper;
    reaper.once('exit', () => {
      if (this.#reaper === reaper) this.#reaper = undefined;
    });
    for (const leader of this.#leaders) reaper.stdin.write(`+${leader}\n`);
  }
}

/**
 * The reaper has its own group, so that ending the host's group does not end it; and it does not keep the host alive.
 */
function start(): ReaperProcess {
  const { PATH, SystemRoot } = process.env;
  const reaper = spawn(process.execPath, ['-e', REAPER_SCRIPT], {
    env: { PATH, SystemRoot },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  }) as ReaperProcess;
  // Without a reaper everything works, except that a killed host leaves processes behind.
  for (const emitter of [reaper, reaper.stdin]) emitter.on('error', () => {});
  reaper.unref();
  reaper.stdin.unref();
  return reaper;
}
