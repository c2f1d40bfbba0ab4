import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GLOB_MAX_ALTERNATIVES, glob } from '@atrium/core/util/glob.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIND_MAX_FILES, findFilesTool, GLOB_MAX_CHARACTERS } from '../../src/workspace/tools/find-files.js';
import { temporaryFolder, use } from './tool-box.js';

describe('a pattern for paths', () => {
  it.each([
    ['*.ts', ['a.ts', 'src/a.ts', 'src/deep/.ts'], ['a.tsx', 'ts']],
    ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/deep/a.ts', 'x/src/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/a.ts', 'src/b/c/a.ts'], ['a.ts', 'srcs/a.ts']],
    ['**/test/**', ['test/a', 'a/test/b/c'], ['tests/a', 'a/b']],
    ['./src/?.ts', ['src/a.ts', 'src/é.ts'], ['src/ab.ts', 'src/.ts']],
    ['[a-cx].[!t]s', ['a.js', 'x.js'], ['d.js', 'a.ts', '-.js']],
    ['[]-].txt', ['].txt', '-.txt'], ['a.txt']],
    ['a[b', ['a[b'], ['ab']],
    ['*.{js,ts{,x}}', ['a.js', 'a.ts', 'a.tsx'], ['a.jsx', 'a.{js,ts}']],
    ['{a}', ['{a}'], ['a']],
    ['\\*.\\{a,b\\}', ['*.{a,b}'], ['x.a', 'x.{a,b}']],
    ['a**b', ['ab', 'axxb', 'x/ab'], ['a/b']],
    ['**', ['a', 'a/b'], []],
  ])('%s', (pattern, fitting, others) => {
    const fits = glob(pattern);
    expect(fitting.filter((name) => !fits(name))).toEqual([]);
    expect(others.filter((name) => fits(name))).toEqual([]);
  });

  it('is matched in good time, however many stars it has', () => {
    const name = 'a'.repeat(4_000);
    expect(glob(`${'*a'.repeat(400)}b`)(name)).toBe(false);
    expect(glob(`${'**/a/'.repeat(150)}b`)('a/'.repeat(2_000))).toBe(false);
  });
});

describe('find_files', () => {
  let folder: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
  });
  afterEach(() => remove());

  const find = async (input: unknown) => (await use(findFilesTool, input, folder)).text;

  async function touch(...names: string[]): Promise<void> {
    for (const name of names) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), '');
    }
  }

  it('finds files, not what tools made, and follows no link', async () => {
    await touch('b.ts', 'a/c.ts', 'a/c.js', '.git/x.ts', 'a/node_modules/y.ts');
    await symlink(folder, path.join(folder, 'loop'));
    expect(await find({ pattern: '*.ts' })).toBe('b.ts\na/c.ts');
    expect(await find({ pattern: 'c.*', path: 'a' })).toBe('a/c.js\na/c.ts');
    expect(await find({ pattern: '*.py' })).toBe('No file fits "*.py".');
  });

  it(`stops at ${FIND_MAX_FILES} files, and says so only when there are more`, async () => {
    await touch(...Array.from({ length: FIND_MAX_FILES }, (_, index) => `${index}.x`));
    expect((await find({ pattern: '*.x' })).split('\n')).toHaveLength(FIND_MAX_FILES);
    await touch('z.x');
    expect((await find({ pattern: '*.x' })).split('\n').at(-1)).toContain(`Stopped at ${FIND_MAX_FILES} files`);
  });

  it('says what is wrong with its input', async () => {
    await touch('a.ts');
    expect(await find({ pattern: 'x'.repeat(GLOB_MAX_CHARACTERS) })).toContain('No file fits');
    expect(await find({ pattern: 'x'.repeat(GLOB_MAX_CHARACTERS + 1) })).toContain('longer than 1000 characters');
    expect(await find({ pattern: '{a,b}'.repeat(6) })).toContain('No file fits');
    expect(await find({ pattern: '{a,b}'.repeat(7) })).toContain(`more than ${GLOB_MAX_ALTERNATIVES} alternatives`);
    expect(await find({ pattern: '*', path: '..' })).toContain("outside the session's folder");
    expect(await find({ pattern: '*', path: 'a.ts' })).toBe('a.ts is a file.');
  });
});
