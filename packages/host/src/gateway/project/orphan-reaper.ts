/**
 * What becomes of the host's processes when the host is killed and cannot end them itself: a tiny process that knows them
 * hangs on a pipe from the host. However the host ends, the pipe ends with it, and then they are ended in its place.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Between asking to end and killing, as when the host itself ends a provider. */
export const WILL_GRACE_MS = 2_000;
const LOOK_EVERY_MS = 100;

/**
 * Every line names the leader of a group: `+` to remember it, `-` to forget it. It is a text and no file, so that it is
 * there wherever the host is, also when that was made into one file. Windows knows no groups, but trees.
 */
const EXECUTOR = `
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
  const giveUp = Date.now() + ${WILL_GRACE_MS};
  const timer = setInterval(() => {
    signalAll(0);
    if (leaders.size > 0 && Date.now() < giveUp) return;
    clearInterval(timer);
    signalAll('SIGKILL');
  }, ${LOOK_EVERY_MS});
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

type Executor = ChildProcessByStdio<Socket, null, null>;

export class OrphanReaper {
  readonly #leaders = new Set<number>();
  #executor: Executor | undefined;

  /** The process that lives on, for those who look for leaks; none while there is nobody to end. */
  get executor(): number | undefined {
    return this.#executor?.pid;
  }

  /** Has a group ended should the host be killed; the returned function takes that back. */
  add(leader: number): () => void {
    this.#leaders.add(leader);
    if (this.#executor) this.#executor.stdin.write(`+${leader}\n`);
    else this.#appoint();
    return () => this.#forget(leader);
  }

  #forget(leader: number): void {
    if (!this.#leaders.delete(leader)) return;
    this.#executor?.stdin.write(`-${leader}\n`);
    if (this.#leaders.size > 0) return;
    this.#executor?.stdin.end();
    this.#executor = undefined;
  }

  /** Whoever lives on is told of everybody there is. One that dies before the host is replaced with the next process. */
  #appoint(): void {
    const executor = start();
    this.#executor = executor;
    executor.once('exit', () => {
      if (this.#executor === executor) this.#executor = undefined;
    });
    for (const leader of this.#leaders) executor.stdin.write(`+${leader}\n`);
  }
}

/** In a group of its own, so that what ends the host's group does not end it, too; and no reason for the host to stay. */
function start(): Executor {
  const { PATH, SystemRoot } = process.env;
  const executor = spawn(process.execPath, ['-e', EXECUTOR], {
    env: { PATH, SystemRoot },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  }) as Executor;
  // Without it everything works as before, only not beyond a kill.
  for (const emitter of [executor, executor.stdin]) emitter.on('error', () => {});
  executor.unref();
  executor.stdin.unref();
  return executor;
}
