import { readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadPty, type Pty, type PtyExit } from '../../src/workspace/terminals/pty.js';

/** About 20,000 characters, which is more than is read in one go, and then the end. */
const QUICK = 'seq -f "line %05g ä of a quick command" 1 600; echo LAST; exit 3';
const WHOLE = 600 * 'line 00001 ä of a quick command\r\n'.length + 'LAST\r\n'.length;

interface Run {
  readonly text: string;
  readonly exit: PtyExit;
}

/** Everything up to the exit; what comes after it counts for nothing. */
async function run(command: string, meanwhile: (pty: Pty) => void = () => {}): Promise<Run> {
  const spawn = await loadPty();
  return new Promise((resolve) => {
    let text = '';
    const request = { file: '/bin/sh', args: ['-c', command], cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' } };
    const pty = spawn(
      { ...request, cols: 80, rows: 25 },
      {
        output: (data) => {
          text += data;
        },
        exited: (exit) => resolve({ text, exit }),
      },
    );
    meanwhile(pty);
  });
}

/** The terminals that this process holds open. */
function terminalsOpen(): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('/dev/pt');
    } catch {
      return false;
    }
  }).length;
}

/** As a busy host does: nothing is read meanwhile. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

function expectWhole({ text, exit }: Run): void {
  expect(text.slice(-20)).toContain('LAST\r\n');
  expect(text.length).toBe(WHOLE);
  expect(exit).toEqual({ exitCode: 3, signal: undefined });
}

describe.skipIf(process.platform === 'win32')('the end of a program on a pseudo terminal', () => {
  it('[AHP-229] [AHP-233] comes after all of its output, time and again', async () => {
    for (let round = 0; round < 25; round++) {
      const all = await Promise.all([run(QUICK), run(QUICK), run(QUICK), run(QUICK)]);
      for (const each of all) expectWhole(each);
    }
  });

  it('[AHP-229] [AHP-233] comes after all of its output when the host was busy', async () => {
    for (const milliseconds of [50, 100, 250, 400]) expectWhole(await run(QUICK, () => block(milliseconds)));
    const stop = setInterval(() => block(250), 1);
    try {
      for (let round = 0; round < 4; round++) expectWhole(await run(QUICK));
    } finally {
      clearInterval(stop);
    }
  });

  it('[AHP-229] [AHP-233] comes after all of its output when the output had to wait', async () => {
    const short = 'echo one; echo LAST';
    for (const command of [short, QUICK]) {
      const { text } = await run(command, async (pty) => {
        pty.pause();
        await delay(600);
        pty.resume();
      });
      expect(text.slice(-20)).toContain('LAST\r\n');
    }
  });

  it.skipIf(process.platform !== 'linux')('leaves no descriptor open', async () => {
    await run(QUICK);
    const before = terminalsOpen();
    for (let round = 0; round < 5; round++) await Promise.all([run(QUICK), run('exit'), run('sleep 0.3 & exit')]);
    // Tests in other threads of this process open terminals, too, and close them.
    await expect.poll(terminalsOpen).toBeLessThanOrEqual(before);
  });

  it.each([
    ['keeps the terminal open', 'sleep 600 & echo "LAST $!"'],
    ['goes on writing', 'timeout 600 yes & echo "LAST $!"; sleep 0.1'],
  ])('does not wait for a process in the background that %s', async (_, command) => {
    const { text } = await run(`trap "" HUP; ${command}`);
    const pid = Number(/LAST (\d+)\r\n/.exec(text)?.[1]);
    expect(pid).toBeGreaterThan(0);
    // The process is there yet; one that was waited for would have held up this test until its time was over.
    process.kill(pid);
  });
});
