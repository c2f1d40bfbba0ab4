/** An agent that starts processes leaves none behind. */
import { readFile } from 'node:fs/promises';
import { textIn } from './answers.js';
import type { Room } from './room.js';
import type { Suite } from './suite.js';

/** An ended process is taken off the system's table a moment later. */
const GONE_MAX_MS = 2_000;
const POLL_MS = 20;

export function processAcceptance({ test, expect }: Suite): void {
  test('leaves no process behind', [{ text: ['Yes.'] }], async (room) => {
    expect(textIn(await room.turn('is it?'))).toBe('Yes.');
    expect((await room.pids())?.length !== 0).toBe(true);
    expect(await leftBehind(room)).toEqual([]);
  });

  test('leaves no process behind in the middle of a turn', [{ text: ['Well'], hangs: true }], async (room) => {
    room.begin('is it?');
    await room.action('session/delta');
    expect(await leftBehind(room)).toEqual([]);
  });
}

/** Stops the host, and names the agent's processes that still run. */
export async function leftBehind(room: Room): Promise<number[]> {
  const pids = (await room.pids()) ?? [];
  await room.stop();
  const until = Date.now() + GONE_MAX_MS;
  for (;;) {
    const states = await Promise.all(pids.map(async (pid) => ((await isRunning(pid)) ? pid : [])));
    const running = states.flat();
    if (running.length === 0 || Date.now() > until) return running;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A process whose parent never asked how it ended stays in the table; it does not run any more. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const entry = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return !/\) [ZX] /.test(entry);
}
