/** Puts another `git` in front of the real one, for the time of a test. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-folder.js';

/** `$GIT` is the real one, `$HERE` a folder of the test's own. */
export async function gitStandIn(script: string): Promise<{ readonly folder: string; calls(): Promise<string[]> }> {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = await tempFolder();
  const lines = ['#!/bin/sh', `GIT=${real} HERE=${folder}`, 'echo "$*" >> "$HERE/calls"', script, ''];
  await writeFile(path.join(folder, 'git'), lines.join('\n'), { mode: 0o755 });
  usePath(`${folder}:${process.env.PATH}`);
  const calls = async () =>
    (await readFile(path.join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  return { folder, calls };
}

/** As if it were not installed. */
export async function withoutGit(): Promise<void> {
  usePath(await tempFolder());
}

function usePath(value: string): void {
  const before = process.env.PATH;
  process.env.PATH = value;
  onTestFinished(() => {
    process.env.PATH = before;
  });
}
