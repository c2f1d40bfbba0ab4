/** A small git repository with one commit, for a session to work in. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { surroundings } from './run-cli.js';

export function git(folder: string, ...args: string[]): string {
  const settings = ['-c', 'user.name=tester', '-c', 'user.email=tester@example.org'];
  return execFileSync('git', [...settings, ...args], { cwd: folder, encoding: 'utf8', env: surroundings() }).trim();
}

/** `note.txt` with two lines, and `src/parser.js`. Commits made in it have an author. */
export async function newRepository(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'src'), { recursive: true });
  await writeFile(path.join(folder, 'note.txt'), 'one\ntwo\n');
  await writeFile(path.join(folder, 'src', 'parser.js'), 'export function parseLine(text) {\n  return text;\n}\n');
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  git(folder, 'config', 'user.name', 'tester');
  git(folder, 'config', 'user.email', 'tester@example.org');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'first');
}
