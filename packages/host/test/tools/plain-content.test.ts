/** Files that are read, and what stands in their place when somebody means no good. */
import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { plainContent } from '../../src/workspace/tools/plain-content.js';
import { tempFolder } from '../support/temp-folder.js';

it('reads a plain file up to its limit, and nothing that is none', async () => {
  const folder = await tempFolder({ 'a.txt': 'abc', 'inner/b.txt': '' });
  const at = (name: string) => path.join(folder, name);
  await symlink('a.txt', at('link'));
  if (process.platform !== 'win32') execFileSync('mkfifo', [at('pipe')]);
  expect(String(await plainContent(at('a.txt'), 3))).toBe('abc');
  expect(String(await plainContent(Buffer.from(at('a.txt')), 3))).toBe('abc');
  expect(await plainContent(at('a.txt'), 2)).toBeUndefined();
  for (const name of ['link', 'pipe', 'inner', 'missing', 'a.txt/under']) {
    expect(await plainContent(at(name), 100), name).toBeUndefined();
  }
});
