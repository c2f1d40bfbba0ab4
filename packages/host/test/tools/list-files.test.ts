import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIST_MAX_ENTRIES, listFilesTool } from '../../src/workspace/tools/list-files.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

describe('list_files', () => {
  it('shows folders first, then files with sizes', async () => {
    await mkdir(path.join(folder, 'zoo'));
    await mkdir(path.join(folder, 'art'));
    await writeFile(path.join(folder, 'b.txt'), 'x');
    await writeFile(path.join(folder, '.hidden'), 'x'.repeat(1536));
    await symlink('b.txt', path.join(folder, 'c'));
    const { output, text } = await use(listFilesTool, {}, folder);
    expect(text).toBe('art/\nzoo/\n.hidden  1.5 KiB\nb.txt  1 byte\nc  -> b.txt');
    expect(output).toMatchObject({ success: true, pastTenseMessage: 'Listed the folder' });
  });

  it('shows a sub-folder, and an empty one', async () => {
    await mkdir(path.join(folder, 'sub', 'empty'), { recursive: true });
    expect((await use(listFilesTool, { path: 'sub' }, folder)).text).toBe('empty/');
    expect((await use(listFilesTool, { path: 'sub/empty' }, folder)).text).toBe('The folder is empty.');
  });

  it(`shows ${LIST_MAX_ENTRIES} entries, and says when there are more`, async () => {
    const add = (index: number) => writeFile(path.join(folder, `${1000 + index}.txt`), '');
    await Promise.all(Array.from({ length: LIST_MAX_ENTRIES }, (_, index) => add(index)));
    const all = (await use(listFilesTool, {}, folder)).text.split('\n');
    expect(all).toHaveLength(LIST_MAX_ENTRIES);
    await add(LIST_MAX_ENTRIES);
    const cut = (await use(listFilesTool, {}, folder)).text.split('\n');
    expect(cut.slice(0, -1)).toEqual(all);
    expect(cut.at(-1)).toBe('[Cut: 1 more entry, not shown.]');
  });

  it('sends readers of a file to the right tool', async () => {
    await writeFile(path.join(folder, 'b.txt'), 'x');
    const { output, text } = await use(listFilesTool, { path: 'b.txt' }, folder);
    expect(output.success).toBe(false);
    expect(text).toBe('b.txt is a file, not a folder. Read it with read_file.');
  });
});
