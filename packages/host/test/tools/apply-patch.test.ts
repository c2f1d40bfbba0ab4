import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyPatchTool } from '../../src/workspace/tools/apply-patch.js';
import {
  applyHunks,
  PATCH_FILES_MAX,
  PATCH_MAX_CHARACTERS,
  parsePatch,
} from '../../src/workspace/tools/patch-format.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

const at = (name: string) => path.join(folder, name);
const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const text = (name: string) => readFile(at(name), 'utf8');

async function patch(...lines: string[]) {
  const { text: said, output } = await use(applyPatchTool, { patch: patchOf(...lines) }, folder);
  return { said, code: output.error?.code, edits: output.content.filter(({ type }) => type === 'fileEdit') };
}

describe('apply_patch [DAY-091]', () => {
  it('that fails because somebody was faster leaves what they wrote alone', async () => {
    await writeFile(at('a.txt'), 'one\n');
    await writeFile(at('b.txt'), 'two\n');
    const lines = [
      '*** Update File: b.txt',
      '-two',
      '+TWO',
      '*** Add File: new.txt',
      '+agent',
      '*** Update File: a.txt',
    ];
    for (const [name, theirs] of Object.entries({ 'new.txt': 'mine\n', 'a.txt': 'my own edit\n' })) {
      // Somebody writes after the patch was planned, and before its first file is written.
      let looks = 0;
      const signal = Object.assign(new AbortController().signal, {
        throwIfAborted: () => {
          looks += 1;
          if (looks === 3) writeFileSync(at(name), theirs);
        },
      });
      const context = { cwd: folder, signal, progress: () => {} };
      const run = applyPatchTool.run({ patch: patchOf(...lines, '-one', '+ONE') }, context as never);
      const output = await Promise.resolve(run).catch((error: unknown) => ({ success: false, error }));
      expect(output.success).toBe(false);
      expect(await text(name)).toBe(theirs);
      expect(await text('b.txt')).toBe('two\n');
      await rm(at('new.txt'), { force: true });
      await writeFile(at('a.txt'), 'one\n');
    }
  });

  it('adds, updates, moves and deletes, and shows each change', async () => {
    await writeFile(at('a.ts'), 'function one() {\n  return 1;\n}\nfunction two() {\n  return 1;\n}\n');
    await writeFile(at('old.sh'), 'echo old\n');
    await chmod(at('old.sh'), 0o755);
    await writeFile(at('gone.txt'), 'bye\n');
    const { said, edits } = await patch(
      '*** Add File: src/new.ts',
      '+export const x = 1;',
      '+',
      '*** Update File: a.ts',
      '@@ function two() {',
      '-  return 1;',
      '+  return 2;',
      '*** Update File: old.sh',
      '*** Move to: bin/new.sh',
      '-echo old',
      '+echo new',
      '*** Delete File: gone.txt',
    );
    expect(said).toBe(
      'Made src/new.ts: 2 lines added, 0 lines removed.\nChanged a.ts: 1 line added, 1 line removed.\n' +
        'Moved old.sh to bin/new.sh: 1 line added, 1 line removed.\nDeleted gone.txt.',
    );
    expect(await text('src/new.ts')).toBe('export const x = 1;\n\n');
    expect(await text('a.ts')).toBe('function one() {\n  return 1;\n}\nfunction two() {\n  return 2;\n}\n');
    expect(await text('bin/new.sh')).toBe('echo new\n');
    expect((await stat(at('bin/new.sh'))).mode & 0o777).toBe(0o755);
    expect((await readdir(folder)).sort()).toEqual(['a.ts', 'bin', 'src']);
    expect(edits).toHaveLength(4);
    expect(edits[3]).not.toHaveProperty('after');
  });

  it('changes nothing when one file does not fit, and says exactly what does not', async () => {
    await writeFile(at('a.txt'), 'one\ntwo\n');
    await writeFile(at('b.txt'), 'one\ntwo\nthree\n');
    const wrong = await patch(
      '*** Update File: a.txt',
      '-one',
      '+1',
      '*** Update File: b.txt',
      ' one',
      ' two',
      '-drei',
      '+3',
    );
    expect(wrong).toMatchObject({ code: 'NO_MATCH' });
    expect(wrong.said).toContain('Change 1 of b.txt does not fit: line 3 is "three", not "drei".');
    expect(await text('a.txt')).toBe('one\ntwo\n');
    expect((await patch('*** Add File: a.txt', '+x')).code).toBe('EXISTS');
    expect((await patch('*** Delete File: c.txt')).code).toBe('NOT_FOUND');
    expect((await patch('*** Delete File: a.txt', '*** Update File: a.txt', '-one', '+1')).code).toBe('BAD_PATCH');
  });

  it('puts back what it has changed when a later file cannot be written', async () => {
    await writeFile(at('a.txt'), 'one\n');
    const last = ['*** Add File: folder', '+x', '*** Add File: folder/inside', '+x'];
    const { code } = await patch('*** Add File: new.txt', '+x', '*** Update File: a.txt', '-one', '+1', ...last);
    expect(code).toMatch(/EEXIST|ENOTDIR/);
    expect(await text('a.txt')).toBe('one\n');
    expect(await readdir(folder)).toEqual(['a.txt']);
  });

  it('stays in the folder, also behind links, and out of .git', async () => {
    await symlink('/tmp', at('out'));
    await mkdir(at('.git/hooks'), { recursive: true });
    for (const name of ['../x.txt', '/etc/x.txt', 'out/x.txt', '.git/hooks/pre-commit']) {
      const { code } = await patch(`*** Add File: ${name}`, '+x');
      expect(code, name).toMatch(/OUTSIDE|PROTECTED/);
    }
  });

  it('runs only what was shown', async () => {
    await writeFile(at('a.txt'), 'one\ntwo\n');
    const input = { patch: patchOf('*** Update File: a.txt', '-one', '+1') };
    const context = { cwd: folder, signal: new AbortController().signal };
    const preview = await applyPatchTool.preview?.(input, context);
    expect(preview).toMatchObject({ kind: 'edits', edits: [{ diff: { added: 1, removed: 1 } }] });
    await writeFile(at('a.txt'), 'one\ntwo, by somebody else\n');
    const basis = preview?.kind === 'edits' ? preview.basis : undefined;
    const output = await applyPatchTool.run(input, { ...context, basis, progress: () => {} });
    expect(output.error?.code).toBe('CHANGED');
    expect(await text('a.txt')).toBe('one\ntwo, by somebody else\n');
  });
});

describe('the form of a patch [DAY-091]', () => {
  const hunks = (...lines: string[]) => {
    const [file] = parsePatch(patchOf('*** Update File: x', ...lines));
    return file?.kind === 'update' ? file.hunks : [];
  };
  const applied = (before: string, ...lines: string[]) => applyHunks(before, hunks(...lines), 'x');

  it.each([
    ['keeps Windows line endings and a missing last one', 'a\r\nb', ['-a', '+A', ' b'], 'A\r\nb'],
    ['finds lines that lost spaces at their end', 'a  \nb\n', [' a', '-b', '+c'], 'a\nc\n'],
    ['takes an empty line as an unchanged one', 'a\n\nb\n', [' a', '', '-b', '+c'], 'a\n\nc\n'],
    ['takes changes in order', 'a\nx\na\nx\n', ['@@', ' a', '-x', '+1', '@@', ' a', '-x', '+2'], 'a\n1\na\n2\n'],
    ['finds the end of a file', 'x\ny\nx\n', ['-x', '+z', '*** End of File'], 'x\ny\nz\n'],
    ['adds to an empty file', '', ['+x'], 'x\n'],
    ['removes all of it', 'x\n', ['-x'], ''],
  ])('%s', (_what, before, lines, after) => expect(applied(before, ...lines)).toBe(after));

  it('says what it cannot read, and is bounded', () => {
    const why =
      (...lines: string[]) =>
      () =>
        parsePatch(lines.join('\n'));
    expect(why('nothing')).toThrow('its first line must be "*** Begin Patch"');
    expect(why('*** Begin Patch', '*** Delete File: x')).toThrow('its last line must be "*** End Patch"');
    expect(why('*** Begin Patch', '*** End Patch')).toThrow('it has no files');
    expect(why(patchOf('hello'))).toThrow('expected "*** Add File: <path>"');
    expect(why(patchOf('*** Add File: x', 'no plus'))).toThrow('must begin with "+"');
    expect(why(patchOf('*** Update File: x', '*bad'))).toThrow('begins with neither');
    expect(why(patchOf('*** Update File: x'))).toThrow('changes nothing');
    const files = (count: number) => Array.from({ length: count }, (_, index) => `*** Delete File: ${index}`);
    expect(parsePatch(patchOf(...files(PATCH_FILES_MAX)))).toHaveLength(PATCH_FILES_MAX);
    expect(why(patchOf(...files(PATCH_FILES_MAX + 1)))).toThrow(`more than ${PATCH_FILES_MAX} files`);
    expect(why('x'.repeat(PATCH_MAX_CHARACTERS + 1))).toThrow('characters');
  });
});
