import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unifiedDiff } from '../../src/text/diff.js';

const names = { old: 'a.txt', fresh: 'a.txt' };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

describe('a unified diff', () => {
  it('says where its lines are, with three lines around them', () => {
    const before = numbers(20);
    const after = before.replace('line 5\n', 'FIVE\n').replace('line 18\n', '');
    expect(unifiedDiff({ before, after }, names)).toEqual([
      ...['diff --git a/a.txt b/a.txt', '--- a/a.txt', '+++ b/a.txt'],
      ...['@@ -2,7 +2,7 @@', ' line 2', ' line 3', ' line 4', '-line 5', '+FIVE', ' line 6', ' line 7', ' line 8'],
      ...['@@ -15,6 +15,5 @@', ' line 15', ' line 16', ' line 17', '-line 18', ' line 19', ' line 20'],
    ]);
  });

  it('names what is new, what is gone, and what was only moved', () => {
    expect(unifiedDiff({ before: undefined, after: 'x\n' }, names).slice(1)).toEqual([
      ...['new file mode 100644', '--- /dev/null', '+++ b/a.txt', '@@ -0,0 +1,1 @@', '+x'],
    ]);
    expect(unifiedDiff({ before: 'x\n', after: undefined }, names).slice(1)).toEqual([
      ...['deleted file mode 100644', '--- a/a.txt', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-x'],
    ]);
    const moved = unifiedDiff({ before: 'x\n', after: 'x\n' }, { old: 'a.txt', fresh: 'b.txt' });
    expect(moved).toEqual(['diff --git a/a.txt b/b.txt', 'rename from a.txt', 'rename to b.txt']);
  });

  it.each([
    ['a', 'a\n'],
    ['a\nb\n', 'a\nb'],
    [numbers(30), numbers(30).replace('line 1\n', '').replace('line 9\n', 'x\ny\n')],
    [numbers(8), `new\n${numbers(8)}end`],
    ['', 'first\n'],
    ['last\n', ''],
  ])('is what git applies (%#)', async (before, after) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-diff-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'a.txt'), before);
    const patch = `${unifiedDiff({ before, after }, names).join('\n')}\n`;
    execFileSync('git', ['apply', '-'], { cwd: folder, input: patch });
    expect(await readFile(path.join(folder, 'a.txt'), 'utf8')).toBe(after);
  });
});
