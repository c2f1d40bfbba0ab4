/** The end of the program that runs a turn of Claude, with a shell in its place: no package is needed for this. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ClaudeProcess } from '../../../agents/src/claude/process.js';
import { tempFolder } from '../support/temp-folder.js';

const STUBBORN = `trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done`;

/** Runs a line as the program of a turn. Gives back the process that it started, once that runs. */
async function started(line: string): Promise<{ turn: ClaudeProcess; pid: number }> {
  const cwd = await tempFolder();
  const turn = new ClaudeProcess();
  const env = { PATH: process.env.PATH };
  turn.start({ command: 'sh', args: ['-c', line, 'sh', STUBBORN], cwd, env }).on('error', () => {});
  const pid = await vi.waitFor(async () => {
    const text = await readFile(path.join(cwd, 'pid'), 'utf8');
    if (text.trim() === '') throw new Error('it has not said yet');
    return Number(text);
  }, 5_000);
  onTestFinished(() => void (isRunning(pid) && process.kill(pid, 'SIGKILL')));
  return { turn, pid };
}

/** One that has ended may stay in the table for a while, without a command line. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8') !== '';
}

describe.skipIf(process.platform !== 'linux')('[UNI-093] what a turn of Claude started', () => {
  it.each([
    ['does not listen', 'sh -c "$1"; true'],
    ['is in a group of its own', 'setsid --wait sh -c "$1"; true'],
  ])('ends with it, though it %s', async (_what, line) => {
    const { turn, pid } = await started(line);
    await turn.end(50);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000);
  });

  it('ends with a turn that is cancelled, though nobody can tell any more who started it', async () => {
    const { turn, pid } = await started('setsid sh -c "$1" & sleep 0.3');
    await new Promise((resolve) => setTimeout(resolve, 400));
    await turn.end(50, true);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000);
  });

  it('is nothing when there is no such program, and nobody waits for it', async () => {
    const turn = new ClaudeProcess();
    const cwd = await tempFolder();
    turn.start({ command: path.join(cwd, 'none'), args: [], cwd, env: {} }).on('error', () => {});
    await turn.end(50);
    expect(turn.stderrTail).toBe('');
  });
});
