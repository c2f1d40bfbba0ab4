import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SHELL_OUTPUT_MAX_BYTES } from '@atrium/core/contracts/tool.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { SHELL_PROGRESS_EVERY_MS, SHELL_PROGRESS_MAX_BYTES, shellTool } from '../../src/workspace/tools/shell.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const run = (command: string) => use(shellTool(), { command }, folder);

/** A process that was killed but not yet taken off the table by its parent does not count. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function pidsIn(name: string): Promise<number[]> {
  const pids = (await readFile(path.join(folder, name), 'utf8')).trim().split(/\s+/).map(Number);
  expect(pids.every((pid) => Number.isInteger(pid) && pid > 1)).toBe(true);
  return pids;
}

/** Waits until a command has written the numbers of its processes. */
async function started(name: string, processes: number): Promise<number[]> {
  for (;;) {
    const text = await readFile(path.join(folder, name), 'utf8').catch(() => '');
    if (text.split('\n').length > processes) return pidsIn(name);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('shell', () => {
  it('runs a command line in the folder, with both kinds of output', async () => {
    await writeFile(path.join(folder, 'there.txt'), 'there\n');
    const { output, text } = await run('cat there.txt | tr a-z A-Z && echo oops >&2; printf end');
    expect(text).toMatch(/^(?=.*THERE\n)(?=.*oops\n)(?=.*end)[\s\S]*\n\[exit code 0\]$/s);
    expect(output.success).toBe(true);
    expect(output.error).toBeUndefined();
  });

  it('tells how a command failed', async () => {
    const { output, text } = await run('echo bad; exit 7');
    expect(text).toBe('bad\n[exit code 7]');
    expect(output).toMatchObject({
      success: false,
      pastTenseMessage: 'Ran echo bad; exit 7 (exit code 7)',
      error: { code: 'EXIT_CODE', message: 'The command failed: exit code 7.' },
    });
    expect((await run('kill -9 $$')).text).toBe('[ended by SIGKILL]');
    expect((await run('no-such-command-at-all')).text).toMatch(/not found[\s\S]*\[exit code 127\]/);
  });

  it("does not tell commands the host's own settings, nor the token that opens it", async () => {
    vi.stubEnv('ATRIUM_CONNECTION_TOKEN', 'open-sesame');
    vi.stubEnv('SOMETHING_ELSE', 'plain');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { text } = await use(shellTool(), { command: 'env' }, folder);
    expect(text).toContain('SOMETHING_ELSE=plain');
    expect(text).not.toContain('open-sesame');
  });

  it('gives commands no input to wait for', async () => {
    expect((await run('cat')).text).toBe('[exit code 0]');
  });

  it('asks first: a title, an editable input, three options', () => {
    expect(shellTool().confirmation?.({ command: 'npm test' })).toEqual({
      title: 'Run "npm test"?',
      editable: true,
      options: [
        { id: 'approve', label: expect.any(String), kind: 'approve' },
        { id: 'allow-session', label: expect.any(String), kind: 'approve' },
        { id: 'deny', label: expect.any(String), kind: 'deny' },
      ],
    });
  });

  it('neither asks nor runs when the input is bad', async () => {
    for (const input of [{}, { command: '' }, { command: ['ls'] }, 'ls']) {
      expect(shellTool().confirmation?.(input)).toBeUndefined();
      expect((await use(shellTool(), input, folder)).output.error?.code).toBe('BAD_INPUT');
    }
    expect((await run('echo a\0b')).text).toContain('zero byte');
    expect((await use(shellTool(), { command: 'pwd' }, undefined)).text).toContain('This session has no folder.');
  });

  it('keeps the end of a long output, and says how much is left out', async () => {
    const exact = await run(`head -c ${SHELL_OUTPUT_MAX_BYTES} /dev/zero | tr '\\0' x`);
    expect(exact.text).toBe(`${'x'.repeat(SHELL_OUTPUT_MAX_BYTES)}\n[exit code 0]`);
    const { text } = await run(`echo start; head -c ${SHELL_OUTPUT_MAX_BYTES + 1018} /dev/zero | tr '\\0' x`);
    expect(text).toBe(`[Cut: the first 1 KiB are left out.]\n${'x'.repeat(SHELL_OUTPUT_MAX_BYTES)}\n[exit code 0]`);
  });

  it('shows output while it runs, not too often, and only its end', async () => {
    const began = performance.now();
    const manyBytes = `head -c ${SHELL_PROGRESS_MAX_BYTES} /dev/zero | tr '\\0' x`;
    const { progress } = await run(`echo first; sleep 0.5; ${manyBytes}; sleep 0.3; echo last; sleep 0.15`);
    expect(progress[0]).toBe('first\n');
    expect(progress.at(-1)).toMatch(/^x+last\n$/);
    expect(Math.max(...progress.map((text) => Buffer.byteLength(text)))).toBe(SHELL_PROGRESS_MAX_BYTES);
    expect(progress.length).toBeLessThanOrEqual((performance.now() - began) / SHELL_PROGRESS_EVERY_MS + 1);
  });

  it('shows nothing any more once it is done', async () => {
    const { progress } = await run('echo a; echo b; echo c');
    const shown = progress.length;
    await new Promise((resolve) => setTimeout(resolve, 2 * SHELL_PROGRESS_EVERY_MS));
    expect(progress).toHaveLength(shown);
  });
});

describe('the processes of a shell command', () => {
  const CHILDREN = "sleep 300 & echo $! >> NAME; sh -c 'echo $$ >> NAME; sleep 300' & echo $$ >> NAME; wait";
  const children = (name: string) => CHILDREN.replaceAll('NAME', name);

  it('all end when the call is cancelled', async () => {
    const abort = new AbortController();
    const running = use(shellTool(), { command: children('cancelled') }, folder, abort.signal);
    const pids = await started('cancelled', 3);
    expect(pids.every(isAlive)).toBe(true);
    abort.abort();
    const { output, text } = await running;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(text).toBe('[cancelled]');
    expect(output).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
  });

  it('all end when the time is up', async () => {
    const { output, text } = await use(shellTool({ timeoutMs: 800 }), { command: children('late') }, folder);
    expect((await pidsIn('late')).filter(isAlive)).toEqual([]);
    expect(text).toBe(
      '[stopped after 0.8 s; if it needs longer, give it more "timeoutSeconds", or run it in the background]',
    );
    expect(output.error?.code).toBe('TIMEOUT');
  });

  it('run as long as the agent asked for, and no longer than ten minutes', async () => {
    const tool = shellTool({ timeoutMs: 300 });
    expect((await use(tool, { command: 'sleep 0.6; echo done', timeoutSeconds: 20 }, folder)).text).toBe(
      'done\n[exit code 0]',
    );
    const short = await use(shellTool(), { command: 'sleep 30', timeoutSeconds: 1 }, folder);
    expect(short.text).toContain('[stopped after 1 s; if it needs longer,');
    expect(short.output.error?.code).toBe('TIMEOUT');
    const tooLong = await use(shellTool(), { command: 'true', timeoutSeconds: 601 }, folder);
    expect(tooLong.output.error).toEqual({
      code: 'BAD_INPUT',
      message: '"timeoutSeconds" of shell must be a whole number from 1 to 600, but is 601.',
    });
  });

  it('are killed when they do not listen', async () => {
    const child = `sh -c 'trap "" TERM; echo $$ >> deaf; while :; do sleep 0.05; done'`;
    const stubborn = `trap '' TERM; ${child} & echo $$ >> deaf; wait`;
    const tool = shellTool({ timeoutMs: 800, graceMs: 100 });
    const { output } = await use(tool, { command: stubborn }, folder);
    const pids = await pidsIn('deaf');
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(output.error?.code).toBe('TIMEOUT');
  });

  it('end with it when they were left in the background', async () => {
    const { output, text } = await run('sleep 300 & echo $! > left; echo done');
    expect((await pidsIn('left')).filter(isAlive)).toEqual([]);
    expect(text).toBe('done\n[exit code 0; its background processes were ended]');
    expect(output.success).toBe(true);
  });

  it('that ended by themselves are not called left', async () => {
    expect((await run('true & sleep 0.05; echo done')).text).toBe('done\n[exit code 0]');
  });

  it('end with the host, should it exit first', async () => {
    const command = children('orphans');
    const program = `
      import { builtinTools } from ${JSON.stringify(pathToFileURL(programFile('host')).href)};
      const [cwd, command] = process.argv.slice(1);
      const signal = new AbortController().signal;
      builtinTools().find((tool) => tool.definition.name === 'shell').run({ command }, { cwd, signal, progress() {} });
      process.once('SIGUSR2', () => process.exit(0));`;
    const options = ['--input-type=module', '--eval', program, folder, command];
    const host = spawn(process.execPath, options, { stdio: 'inherit', cwd: import.meta.dirname });
    const pids = await started('orphans', 3);
    expect(pids.every(isAlive)).toBe(true);
    host.kill('SIGUSR2');
    expect(await once(host, 'exit')).toEqual([0, null]);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it('are not started at all when the call was cancelled before', async () => {
    const { output } = await use(shellTool(), { command: 'echo x > ran' }, folder, AbortSignal.abort());
    expect(output.error?.code).toBe('CANCELLED');
    await expect(readFile(path.join(folder, 'ran'))).rejects.toThrow();
  });

  it.skipIf(process.platform !== 'linux')('do not hold up the call when they left its group', async () => {
    const { text } = await run("setsid sh -c 'echo $$ > gone; exec sleep 300' & sleep 0.2; echo done");
    const [pid = 0] = await pidsIn('gone');
    expect(text).toContain('done\n[exit code 0');
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });
});
