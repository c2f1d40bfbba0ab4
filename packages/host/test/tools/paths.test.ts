import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveInside } from '@atrium/core/util/paths.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFilesTool } from '../../src/workspace/tools/list-files.js';
import { readFileTool } from '../../src/workspace/tools/read-file.js';
import { searchFilesTool } from '../../src/workspace/tools/search-files.js';
import { temporaryFolder, use } from './tool-box.js';

let outer: string;
let cwd: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder: outer, remove } = await temporaryFolder());
  cwd = path.join(outer, 'work');
  await mkdir(path.join(cwd, 'sub'), { recursive: true });
  await mkdir(path.join(outer, 'work-too'));
  await writeFile(path.join(outer, 'secret.txt'), 'secret\n');
  await writeFile(path.join(outer, 'work-too', 'secret.txt'), 'secret\n');
  await writeFile(path.join(cwd, 'inside.txt'), 'inside\n');
  await writeFile(path.join(cwd, '..name'), 'odd\n');
  await symlink(path.join(outer, 'secret.txt'), path.join(cwd, 'link-out'));
  await symlink(outer, path.join(cwd, 'folder-out'));
  await symlink('inside.txt', path.join(cwd, 'link-in'));
  await symlink('loop', path.join(cwd, 'loop'));
  await symlink(cwd, path.join(outer, 'alias'));
});
afterAll(() => remove());

describe('paths of tools', () => {
  it.each([
    ['a step up', '../secret.txt'],
    ['steps up and down', 'sub/../../secret.txt'],
    ['a neighbour with a name that begins the same', '../work-too/secret.txt'],
    ['an absolute path', '/etc/passwd'],
    ['something outside that is not there', '../no-such-thing'],
    ['the parent', '..'],
  ])('refuse %s', async (_name, asked) => {
    await expect(resolveInside(cwd, asked)).rejects.toThrow(
      `"${asked}" is outside the session's folder: tools only see what is inside it.`,
    );
  });

  it.each(['link-out', 'folder-out', 'folder-out/secret.txt', 'folder-out/work/../secret.txt'])(
    'refuse %s, which leads out by a link',
    async (asked) => {
      await expect(resolveInside(cwd, asked)).rejects.toThrow(/outside the session's folder/);
    },
  );

  it('allow what is inside, by any name', async () => {
    const inside = { real: path.join(cwd, 'inside.txt'), shown: 'inside.txt' };
    expect(await resolveInside(cwd, 'inside.txt')).toEqual(inside);
    expect(await resolveInside(cwd, 'sub/../inside.txt')).toEqual(inside);
    expect(await resolveInside(cwd, 'link-in')).toEqual(inside);
    expect(await resolveInside(cwd, path.join(cwd, 'inside.txt'))).toEqual(inside);
    expect(await resolveInside(path.join(outer, 'alias'), path.join(outer, 'alias', 'inside.txt'))).toEqual(inside);
    expect(await resolveInside(cwd, '..name')).toMatchObject({ shown: '..name' });
    expect(await resolveInside(cwd, '.')).toEqual({ real: cwd, shown: '.' });
  });

  it('say what is not there, and what is no path', async () => {
    await expect(resolveInside(cwd, 'nope.txt')).rejects.toThrow('There is no "nope.txt" in the session\'s folder.');
    await expect(resolveInside(cwd, 'inside.txt/more')).rejects.toThrow('There is no "inside.txt/more"');
    await expect(resolveInside(cwd, 'loop')).rejects.toThrow('leads back to itself');
    await expect(resolveInside(cwd, 'a\0b')).rejects.toThrow('zero byte');
  });

  it('need a folder', async () => {
    await expect(resolveInside(undefined, '.')).rejects.toThrow('This session has no folder.');
    await expect(resolveInside(path.join(outer, 'gone'), '.')).rejects.toThrow('does not exist (any more)');
  });

  it.each([
    [readFileTool, { path: 'link-out' }],
    [listFilesTool, { path: 'folder-out' }],
    [searchFilesTool, { text: 'secret', path: 'folder-out' }],
  ])('are a failed output, not an exception', async (tool, input) => {
    const { output, text } = await use(tool, input, cwd);
    expect(output).toMatchObject({ success: false, error: { code: 'OUTSIDE_FOLDER', message: text } });
    expect(output.pastTenseMessage).toMatch(/^Could not /);
    expect((await use(tool, input, undefined)).output.error?.code).toBe('NO_FOLDER');
  });

  it('lead a search nowhere outside', async () => {
    expect((await use(searchFilesTool, { text: 'secret' }, cwd)).text).toBe('Nothing found for "secret".');
  });
});
