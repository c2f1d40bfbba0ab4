import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  PATTERN_MAX_CHARACTERS,
  SEARCH_MAX_FILE_BYTES,
  SEARCH_MAX_HITS,
  searchFilesTool,
} from '../../src/workspace/tools/search-files.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function write(name: string, content: string | Buffer): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), content);
}

async function search(input: unknown): Promise<string> {
  return (await use(searchFilesTool, input, folder)).text;
}

describe('search_files', () => {
  it('finds lines in a tree, in a stable order', async () => {
    await write('b.txt', 'first\n  a Lamp here\n');
    await write('a/deep/c.txt', 'lamp\r\n');
    await write('a/z.txt', 'no light\n');
    expect(await search({ text: 'lamp' })).toBe('b.txt:2: a Lamp here\na/deep/c.txt:1: lamp');
    expect(await search({ text: 'lamp', caseSensitive: true })).toBe('a/deep/c.txt:1: lamp');
    expect(await search({ text: 'lamp', path: 'a' })).toBe('a/deep/c.txt:1: lamp');
    expect(await search({ text: 'lamp', path: 'b.txt' })).toBe('b.txt:2: a Lamp here');
  });

  it('takes the text as it is, not as a pattern', async () => {
    await write('a.txt', 'cost: $5 (net)\nx.y\nxzy\n');
    expect(await search({ text: '$5 (' })).toBe('a.txt:1: cost: $5 (net)');
    expect(await search({ text: 'x.y' })).toBe('a.txt:2: x.y');
  });

  it('takes a pattern when told to, with the same output', async () => {
    await write('a.txt', 'let one = 1;\r\nLet two = 2;\nlet  = 3;\n');
    expect(await search({ text: '^let \\w+ = \\d;$', regex: true })).toBe(
      'a.txt:1: let one = 1;\na.txt:2: Let two = 2;',
    );
    expect(await search({ text: '^Let', regex: true, caseSensitive: true })).toBe('a.txt:2: Let two = 2;');
    expect(await search({ text: '(?<=two )=', regex: true })).toBe('a.txt:2: Let two = 2;');
    expect(await search({ text: 'four|five', regex: true })).toBe('Nothing found for "four|five".');
  });

  it('gives up on a pattern that does not come to an end', async () => {
    await write('a.txt', `${'a'.repeat(60)}!`);
    const { output, text } = await use(searchFilesTool, { text: '^(a+)+$', regex: true }, folder);
    expect(output).toMatchObject({ success: false, error: { code: 'TOO_SLOW' } });
    expect(text).toContain('Make it simpler');
  });

  it('refuses a pattern that is none, or too long', async () => {
    expect(await search({ text: 'a(', regex: true })).toMatch(/^The pattern is not a regular expression: .*a\(/);
    expect(await search({ text: 'a'.repeat(PATTERN_MAX_CHARACTERS), regex: true })).toContain('Nothing found');
    expect(await search({ text: 'a'.repeat(PATTERN_MAX_CHARACTERS + 1), regex: true })).toContain('longer than 1000');
  });

  it('leaves out .git, node_modules, binary files and large ones', async () => {
    await write('.git/config', 'lamp');
    await write('sub/node_modules/x/index.js', 'lamp');
    await write('image.bin', Buffer.from('lamp\0lamp'));
    await write('exact.txt', `lamp\n${'x'.repeat(SEARCH_MAX_FILE_BYTES - 5)}`);
    await write('large.txt', `lamp\n${'x'.repeat(SEARCH_MAX_FILE_BYTES - 4)}`);
    expect(await search({ text: 'lamp' })).toBe('exact.txt:1: lamp\n[Skipped 1 file over 1 MiB.]');
  });

  it(`stops after ${SEARCH_MAX_HITS} hits, and says so only when there are more`, async () => {
    await write('a.txt', 'lamp\n'.repeat(SEARCH_MAX_HITS));
    expect((await search({ text: 'lamp' })).split('\n')).toHaveLength(SEARCH_MAX_HITS);
    await write('b.txt', 'lamp\n');
    const lines = (await search({ text: 'lamp' })).split('\n');
    expect(lines).toHaveLength(SEARCH_MAX_HITS + 1);
    expect(lines.at(-1)).toBe(`[Stopped at ${SEARCH_MAX_HITS} hits; search a sub-folder for the rest.]`);
  });

  it('shows a long line around the hit', async () => {
    await write('min.js', `${'a'.repeat(5_000)}lamp${'b'.repeat(5_000)}`);
    const text = await search({ text: 'lamp' });
    expect(text).toMatch(/^min\.js:1: …a{50}lampb+…$/);
    expect(text.length).toBeLessThan(220);
  });

  it('says what is wrong with its input', async () => {
    expect(await search({})).toBe('The input of search_files must have "text" (a string that is not empty).');
    expect(await search({ text: '' })).toContain('"text" of search_files must be a string that is not empty');
    expect(await search({ text: 'a\nb' })).toBe('"text" must be within one line.');
    expect(await search({ text: 'a', path: 'nope' })).toContain('There is no "nope"');
  });

  it('ends when cancelled', async () => {
    await write('a.txt', 'lamp');
    const { output } = await use(searchFilesTool, { text: 'lamp' }, folder, AbortSignal.abort());
    expect(output).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
  });
});
