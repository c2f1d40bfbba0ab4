import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { editFileTool } from '../../src/workspace/tools/edit-file.js';
import { EDIT_MAX_BYTES } from '../../src/workspace/tools/text-files.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

const at = (name: string) => path.join(folder, name);

/** Edits a file with this content and gives back what became of it. */
async function edit(content: string | Buffer, oldText: string, newText: string, all?: boolean) {
  await writeFile(at('a.txt'), content);
  const { text, output } = await use(editFileTool, { path: 'a.txt', oldText, newText, all }, folder);
  return { text, code: output.error?.code, file: await readFile(at('a.txt'), 'utf8') };
}

describe('edit_file', () => {
  it('replaces the one occurrence, and nothing else', async () => {
    const { text, file } = await edit('one\ntwo\nthree\n', 'two', 'zwei $& $1');
    expect(file).toBe('one\nzwei $& $1\nthree\n');
    expect(text).toBe('Edited a.txt: 1 occurrence replaced, 1 line added, 1 line removed.');
  });

  it('loses nothing of changes that are made side by side', async () => {
    const words = Array.from({ length: 20 }, (_, index) => `word${index};`);
    await writeFile(at('a.txt'), words.join('\n'));
    const outputs = await Promise.all(
      words.map((word) => use(editFileTool, { path: 'a.txt', oldText: word, newText: word.toUpperCase() }, folder)),
    );
    expect(outputs.map(({ output }) => output.success)).not.toContain(false);
    expect(await readFile(at('a.txt'), 'utf8')).toBe(words.join('\n').toUpperCase());
  });

  it('leaves a last line without an end as it is', async () => {
    expect(await edit('one\ntwo', 'one', '1')).toMatchObject({ file: '1\ntwo' });
    expect(await edit('one\ntwo', 'two', '2')).toMatchObject({ file: 'one\n2' });
  });

  it('refuses what could stand in two places that overlap', async () => {
    expect(await edit('aaa', 'aa', 'x')).toMatchObject({ code: 'AMBIGUOUS', file: 'aaa' });
    expect(await edit('aaa', 'aa', 'x', true)).toMatchObject({ file: 'xa' });
  });

  it('refuses what is not there, and what is there more than once, and says how often', async () => {
    expect(await edit('one\n', 'two', 'x')).toMatchObject({
      code: 'NO_MATCH',
      text: '"oldText" is not in a.txt. Read the file again and copy the text exactly.',
      file: 'one\n',
    });
    expect(await edit('a b a b a', 'a', 'x')).toMatchObject({
      code: 'AMBIGUOUS',
      text: '"oldText" is in a.txt 3 times. Give more of the text around it, or set "all" to true.',
      file: 'a b a b a',
    });
  });

  it('replaces all when told to', async () => {
    const { text, file } = await edit('a b a b a', 'a', '', true);
    expect(file).toBe(' b  b ');
    expect(text).toContain('3 occurrences replaced');
  });

  it('keeps line endings, whichever the request has', async () => {
    expect((await edit('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).file).toBe('x\r\ny\r\nz\r\nc\r\n');
    expect((await edit('a\r\nb\r\n', 'b', 'x\ny')).file).toBe('a\r\nx\r\ny\r\n');
    expect((await edit('a\nb\n', 'a\r\nb', 'x\r\ny')).file).toBe('x\ny\n');
  });

  it('leaves the line endings of a mixed file as they are elsewhere', async () => {
    expect((await edit('a\r\nb\r\nc\nd', 'c\nd', 'C\nD')).file).toBe('a\r\nb\r\nC\r\nD');
    expect((await edit('a\r\nb\nc\nd', 'b', 'B')).file).toBe('a\r\nB\nc\nd');
  });

  it('keeps the mark at the beginning', async () => {
    expect((await edit('\uFEFFone\n', 'one', 'two')).file).toBe('\uFEFFtwo\n');
  });

  it('does not touch what it could not write back unharmed', async () => {
    expect(await edit(Buffer.from([0x61, 0xff, 0x62]), 'a', 'x')).toMatchObject({ code: 'BINARY' });
    expect(await readFile(at('a.txt'))).toEqual(Buffer.from([0x61, 0xff, 0x62]));
    expect(await edit('a\0b', 'a', 'x')).toMatchObject({ code: 'BINARY' });
    expect(await edit(`a${'x'.repeat(EDIT_MAX_BYTES)}`, 'a', 'b')).toMatchObject({ code: 'TOO_LARGE' });
    expect((await edit(`a${'x'.repeat(EDIT_MAX_BYTES - 1)}`, 'a', 'b')).code).toBeUndefined();
  });

  it('says what is wrong with its input', async () => {
    expect((await edit('a', 'a', 'a')).text).toBe('"oldText" and "newText" are the same.');
    expect((await edit('a', '', 'a')).text).toContain('must be a string that is not empty');
    const missing = await use(editFileTool, { path: 'b.txt', oldText: 'a', newText: 'b' }, folder);
    expect(missing.text).toBe('There is no "b.txt" in the session\'s folder.');
    await symlink('/etc/hosts', at('hosts'));
    const linked = await use(editFileTool, { path: 'hosts', oldText: 'a', newText: 'b' }, folder);
    expect(linked.output.error?.code).toBe('OUTSIDE_FOLDER');
  });

  it('shows the change first, or why there is none', async () => {
    await writeFile(at('a.txt'), 'one\ntwo\n');
    const context = { cwd: folder, signal: new AbortController().signal };
    const change = { path: 'a.txt', oldText: 'two\n', newText: '2\n3\n' };
    expect(await editFileTool.preview?.(change, context)).toMatchObject({
      kind: 'edits',
      edits: [{ diff: { added: 2, removed: 1 } }],
    });
    expect(await editFileTool.preview?.({ ...change, oldText: 'x' }, context)).toMatchObject({
      kind: 'failed',
      output: { error: { code: 'NO_MATCH' } },
    });
    expect(await readFile(at('a.txt'), 'utf8')).toBe('one\ntwo\n');
  });
});
