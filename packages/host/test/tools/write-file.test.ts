import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EDIT_INLINE_MAX_BYTES, lineDiff } from '@atrium/core/util/file-edit.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existingFile, type FileVersion, replaceFile } from '../../src/workspace/tools/text-files.js';
import { writeFileTool } from '../../src/workspace/tools/write-file.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let outside: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  const [inner, outer] = [await temporaryFolder(), await temporaryFolder()];
  folder = inner.folder;
  outside = outer.folder;
  remove = async () => void (await Promise.all([inner.remove(), outer.remove()]));
});
afterEach(() => remove());

const at = (name: string) => path.join(folder, name);
const read = (name: string) => readFile(at(name), 'utf8');
const write = (name: string, content: string) => use(writeFileTool, { path: name, content }, folder);
const signal = new AbortController().signal;

/** What a person would be shown. */
async function preview(name: string, content: string) {
  const found = await writeFileTool.preview?.({ path: name, content }, { cwd: folder, signal });
  if (found?.kind !== 'edits') throw new Error(JSON.stringify(found));
  return found.edits[0] ?? {};
}

async function contentOf(uri: string | undefined): Promise<string> {
  return uri?.startsWith('file:') ? readFile(fileURLToPath(uri), 'utf8') : (await fetch(uri ?? '')).text();
}

describe('write_file', () => {
  it('makes a file and the folders it is in', async () => {
    const { text, output } = await write('a/b/c.txt', 'one\ntwo\n');
    expect(text).toBe('Made a/b/c.txt: 2 lines added, 0 lines removed.');
    expect(output.pastTenseMessage).toBe('Wrote a/b/c.txt');
    expect(await read('a/b/c.txt')).toBe('one\ntwo\n');
    expect(await readdir(at('a/b'))).toEqual(['c.txt']);
  });

  it('replaces all of a file, and leaves its permissions', async () => {
    await writeFile(at('run.sh'), 'one\ntwo\n');
    await chmod(at('run.sh'), 0o755);
    expect((await write('run.sh', 'one\nthree\n')).text).toBe('Replaced run.sh: 1 line added, 1 line removed.');
    expect(await read('run.sh')).toBe('one\nthree\n');
    expect((await stat(at('run.sh'))).mode & 0o777).toBe(0o755);
  });

  it('shows the change before it is made: the file is the old side, the new one travels along', async () => {
    await writeFile(at('a.txt'), 'old\nsame\n');
    const { before, after, diff } = await preview('a.txt', 'new\nsame\nmore ü\n');
    expect(diff).toEqual({ added: 2, removed: 1 });
    expect(before?.uri).toBe(after?.uri);
    expect(await contentOf(before?.content.uri)).toBe('old\nsame\n');
    expect(await contentOf(after?.content.uri)).toBe('new\nsame\nmore ü\n');
    expect(await read('a.txt')).toBe('old\nsame\n');
  });

  it('shows a new file without an old side, and names long content by its file', async () => {
    expect(await preview('new.txt', 'x')).not.toHaveProperty('before');
    expect((await preview('new.txt', 'x'.repeat(EDIT_INLINE_MAX_BYTES))).after?.content.uri).toMatch(/^data:/);
    const { after } = await preview('new.txt', 'x'.repeat(EDIT_INLINE_MAX_BYTES + 1));
    expect(after?.content).toEqual({ uri: after?.uri, sizeHint: EDIT_INLINE_MAX_BYTES + 1 });
  });

  it('tells what it changed: now the old content travels along, and the file is the new side', async () => {
    await writeFile(at('a.txt'), 'old\n');
    const { output } = await write('a.txt', 'new\n');
    const edit = output.content[1];
    if (edit?.type !== 'fileEdit') throw new Error('no edit');
    expect(await contentOf(edit.before?.content.uri)).toBe('old\n');
    expect(await contentOf(edit.after?.content.uri)).toBe('new\n');
  });

  it('replaces a file that is not text, without counting lines', async () => {
    await writeFile(at('a.bin'), Buffer.from([0, 1, 2]));
    expect((await write('a.bin', 'text')).text).toBe('Replaced a.bin: all of it replaced.');
  });

  it('writes to nothing outside, neither directly nor behind a link', async () => {
    await symlink(outside, at('out'));
    await symlink(path.join(outside, 'new.txt'), at('dead'));
    await writeFile(path.join(outside, 'kept.txt'), 'kept');
    await symlink(path.join(outside, 'kept.txt'), at('link.txt'));
    const codes = [];
    for (const name of ['../x', '/etc/x', 'out/x', 'out/a/b', 'dead', 'link.txt']) {
      codes.push((await write(name, 'harm')).output.error?.code);
    }
    expect(codes).toEqual([...Array(4).fill('OUTSIDE_FOLDER'), 'DEAD_LINK', 'OUTSIDE_FOLDER']);
    expect(await readdir(outside)).toEqual(['kept.txt']);
    expect(await readFile(path.join(outside, 'kept.txt'), 'utf8')).toBe('kept');
  });

  it('follows a link that stays inside, and leaves the link', async () => {
    await writeFile(at('real.txt'), 'old');
    await symlink('real.txt', at('link.txt'));
    expect((await write('link.txt', 'new')).text).toContain('Replaced real.txt');
    expect(await read('real.txt')).toBe('new');
    expect(await readdir(folder)).toEqual(['link.txt', 'real.txt']);
  });

  it('leaves what belongs to Git alone', async () => {
    await mkdir(at('.git/hooks'), { recursive: true });
    await symlink('.git', at('alias'));
    for (const name of ['.git/hooks/pre-commit', 'sub/.GIT/config', 'alias/config']) {
      expect((await write(name, 'x')).output.error?.code).toBe('PROTECTED');
    }
    expect((await write('.gitignore', 'x')).output.success).toBe(true);
  });

  it('says when it cannot, before anybody is asked', async () => {
    await mkdir(at('sub'));
    await writeFile(at('a.txt'), '');
    expect((await write('sub', 'x')).text).toBe('sub is a folder.');
    expect((await write('a.txt/b', 'x')).text).toBe('Part of "a.txt/b" is a file, not a folder.');
    const found = await writeFileTool.preview?.({ path: 'sub', content: 'x' }, { cwd: folder, signal });
    expect(found).toMatchObject({ kind: 'failed', output: { success: false, error: { code: 'NOT_A_FILE' } } });
  });
});

describe('a file that is replaced', () => {
  const { signal } = new AbortController();
  const ours = (before: FileVersion | undefined) => ({ content: Buffer.from('ours'), before, signal });

  const target = () => ({ real: at('sub/a.txt'), shown: 'sub/a.txt' });

  it('is not, when somebody changed it since it was read', async () => {
    await mkdir(at('sub'));
    await writeFile(at('sub/a.txt'), 'one');
    const version = await existingFile(target());
    await writeFile(at('sub/a.txt'), 'theirs');
    await expect(replaceFile(target(), ours(version))).rejects.toMatchObject({ code: 'CHANGED' });
    await expect(replaceFile(target(), ours(undefined))).rejects.toMatchObject({ code: 'CHANGED' });
    expect(await read('sub/a.txt')).toBe('theirs');
    expect(await readdir(at('sub'))).toEqual(['a.txt']);
  });

  it('is not, when its folder has become a link since', async () => {
    await mkdir(at('sub'));
    await writeFile(at('sub/a.txt'), 'one');
    const version = await existingFile(target());
    await rename(at('sub'), at('moved'));
    await symlink(outside, at('sub'));
    await writeFile(path.join(outside, 'a.txt'), 'theirs');
    const outcomes = await Promise.allSettled([
      replaceFile(target(), ours(version)),
      replaceFile(target(), ours(undefined)),
    ]);
    const refused = { status: 'rejected', reason: { code: 'OUTSIDE_FOLDER' } };
    expect(outcomes).toMatchObject([refused, refused]);
    expect(await readdir(outside)).toEqual(['a.txt']);
    expect(await readFile(path.join(outside, 'a.txt'), 'utf8')).toBe('theirs');
  });
});

describe('the lines that differ', () => {
  it.each([
    ['', '', 0, 0],
    ['', 'a\nb\n', 2, 0],
    ['a\nb\n', '', 0, 2],
    ['a\nb\nc\n', 'a\nx\nc\n', 1, 1],
    ['a\nb\nc\nd\n', 'b\nd\ne\n', 1, 2],
    ['a', 'a\n', 1, 1],
    ['a\n', 'a\r\n', 1, 1],
    ['x\na\nb\nc\n', 'a\nb\nc\nx\n', 1, 1],
  ])('from %j to %j', (before, after, added, removed) => {
    expect(lineDiff(before, after)).toEqual({ added, removed });
  });

  it('are all of them when too many do', () => {
    const lines = (prefix: string) => Array.from({ length: 3_000 }, (_, index) => `${prefix}${index}\n`).join('');
    expect(lineDiff(lines('a'), lines('b'))).toEqual({ added: 3_000, removed: 3_000 });
  });

  it('cost no more in a large file: the time grows with the edits, and those are limited', () => {
    const text = (mark: (line: number) => string) =>
      Array.from({ length: 25_000 }, (_, line) => `${mark(line)} in a file of one megabyte ${line}\n`).join('');
    const [before, few, many] = [text(() => 'a'), text((line) => (line % 100 ? 'a' : 'b')), text(() => 'b')];
    expect(lineDiff(before, few)).toEqual({ added: 250, removed: 250 });
    expect(lineDiff(before, many)).toEqual({ added: 25_000, removed: 25_000 });
  });
});
