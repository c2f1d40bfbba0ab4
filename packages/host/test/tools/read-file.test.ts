import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_MAX_BYTES, readFileTool } from '../../src/workspace/tools/read-file.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;
const write = (name: string, content: string | Buffer) => writeFile(path.join(folder, name), content);
const read = async (input: unknown) => {
  const { output, text } = await use(readFileTool, input, folder);
  return { success: output.success, text, code: output.error?.code, done: output.pastTenseMessage };
};

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  await write('lines.txt', 'one\ntwo\nthree\nfour');
  await write('ended.txt', 'one\r\ntwo\r\n');
  await write('empty.txt', '');
});
afterAll(() => remove());

describe('read_file', () => {
  it('gives a file as it is', async () => {
    expect(await read({ path: 'lines.txt' })).toMatchObject({
      success: true,
      text: 'one\ntwo\nthree\nfour',
      done: 'Read lines.txt',
    });
    expect((await read({ path: 'ended.txt' })).text).toBe('one\r\ntwo\r\n');
    expect((await read({ path: 'empty.txt' })).text).toBe('The file is empty.');
  });

  it.each([
    [{ startLine: 2, endLine: 3 }, 'two\nthree\n'],
    [{ startLine: 4 }, 'four'],
    [{ endLine: 1 }, 'one\n'],
    [{ startLine: 3, endLine: 99 }, 'three\nfour'],
  ])('gives a range of lines: %j', async (range, expected) => {
    expect((await read({ path: 'lines.txt', ...range })).text).toBe(expected);
  });

  it('says when a range is not there', async () => {
    const past = await read({ path: 'lines.txt', startLine: 5 });
    expect(past).toMatchObject({ success: false, text: 'lines.txt has only 4 lines; "startLine" is 5.' });
    expect((await read({ path: 'ended.txt', startLine: 3 })).text).toContain('has only 2 lines');
    expect((await read({ path: 'lines.txt', startLine: 3, endLine: 2 })).text).toContain('is before "startLine"');
  });

  it('cuts at the limit and says how to go on', async () => {
    const line = `${'x'.repeat(99)}\n`;
    await write('exact.txt', line.repeat(READ_MAX_BYTES / 100));
    expect((await read({ path: 'exact.txt' })).text).toHaveLength(READ_MAX_BYTES);
    await write('large.txt', line.repeat(READ_MAX_BYTES / 100 + 500));
    const { text, done } = await read({ path: 'large.txt' });
    const last = READ_MAX_BYTES / 100 + 1;
    expect(text.endsWith(`\n[Cut after 200 KiB, in line ${last}. Read on with "startLine": ${last}.]`)).toBe(true);
    expect(done).toBe('Read large.txt (cut)');
    expect((await read({ path: 'large.txt', startLine: last })).text).toHaveLength(500 * 100);
  });

  it('cuts a line that is too long, but never inside a character', async () => {
    await write('wide.txt', `a${'é'.repeat(READ_MAX_BYTES)}`);
    const { text } = await read({ path: 'wide.txt' });
    expect(text.endsWith('é\n[Cut after 200 KiB, in line 1, which is longer than that.]')).toBe(true);
  });

  it('finds lines far down a large file', async () => {
    await write('far.txt', `${'filler\n'.repeat(300_000)}here\n`);
    expect((await read({ path: 'far.txt', startLine: 300_001 })).text).toBe('here\n');
  });

  it('shows no binary file', async () => {
    await write('image.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]));
    expect(await read({ path: 'image.png' })).toMatchObject({
      success: false,
      code: 'BINARY',
      text: 'image.png is not text; it cannot be shown.',
    });
  });

  it('reads only plain files', async () => {
    await promisify(execFile)('mkfifo', [path.join(folder, 'pipe')]);
    expect((await read({ path: 'pipe' })).text).toBe('pipe is not a plain file.');
    expect((await read({ path: '.' })).text).toBe('. is a folder. List it with list_files.');
  });

  it('says when the system refuses', async () => {
    const refused = await read({ path: 'x'.repeat(300) });
    expect(refused).toMatchObject({ success: false, code: 'ENAMETOOLONG' });
    expect(refused.text).toMatch(/^The system refused: ENAMETOOLONG/);
  });

  it.each([
    [{}, 'The input of read_file must have "path" (a string that is not empty).'],
    [{ path: 3 }, '"path" of read_file must be a string that is not empty, but is 3.'],
    [{ path: 'a', startLine: 0 }, '"startLine" of read_file must be a whole number of at least 1, but is 0.'],
    ['lines.txt', 'The input of read_file must be an object, but is "lines.txt".'],
    [null, 'The input of read_file must be an object, but is null.'],
  ])('answers bad input %j with what is wrong', async (input, message) => {
    expect(await read(input)).toMatchObject({ success: false, code: 'BAD_INPUT', text: message });
    expect(readFileTool.invocationMessage(input)).toBe('Read file');
  });

  it('ignores members that it does not know', async () => {
    expect((await read({ path: 'lines.txt', why: 'curious' })).success).toBe(true);
  });

  it('does not start when cancelled', async () => {
    const { output } = await use(readFileTool, { path: 'lines.txt' }, folder, AbortSignal.abort());
    expect(output).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
  });
});
