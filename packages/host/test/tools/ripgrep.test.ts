import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesWithText, findRipgrep, suitsRipgrep } from '../../src/workspace/tools/ripgrep.js';
import { SEARCH_MAX_FILE_BYTES, SEARCH_MAX_HITS, searchTool } from '../../src/workspace/tools/search-files.js';
import { byWalk } from '../../src/workspace/tools/walk.js';
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

/** The one on the PATH, or one that an installed package brings along. */
const ripgrep =
  (await findRipgrep(process.env.PATH ?? '')) ??
  (await findRipgrep(path.join(packageFolder(), 'ripgrep', 'bin', `${process.platform}-${process.arch}`)));

function packageFolder(): string {
  const name = `@github/copilot-sdk-${process.platform}-${process.arch}/package.json`;
  try {
    return path.dirname(createRequire(import.meta.url).resolve(name));
  } catch {
    return path.resolve('node_modules', path.dirname(name));
  }
}

/** What is compared is what they find; a busy machine takes its time. */
const time = { fileMs: 20_000, allMs: 20_000 };
const without = searchTool({ ripgrep: async () => undefined, time });

describe.skipIf(ripgrep === undefined)('a search with ripgrep (skipped unless ripgrep is installed)', () => {
  const withIt = searchTool({ ripgrep: async () => ripgrep, time });

  async function both(input: object): Promise<string> {
    const [quick, plain] = await Promise.all([use(withIt, input, folder), use(without, input, folder)]);
    expect(quick.output).toEqual(plain.output);
    return quick.text;
  }

  it('finds the same, in the same order and form', async () => {
    await write('b.txt', 'first\n  a Lamp here\n');
    await write('a/deep/c.txt', 'lamp\r\n\r\nLAMP');
    await write('a/z.txt', 'no light, one lamp');
    await write('a-b/y.txt', 'lamp');
    await write('.hidden/x.txt', 'lamp');
    await write('.gitignore', 'ignored.txt\n');
    await write('ignored.txt', 'lamp');
    await write('bom.txt', '\uFEFFlamp\n');
    await write('sub/.git', 'lamp: a file, not a folder');
    expect((await both({ text: 'lamp' })).split('\n')).toHaveLength(9);
    await both({ text: 'lamp', caseSensitive: true });
    await both({ text: 'lamp', path: 'a' });
    await both({ text: 'lamp', path: 'b.txt' });
    await both({ text: '--files' });
    await both({ text: '$lamp(.*' });
    for (const text of [
      'l.mp',
      'lam[pb]',
      '^lamp$',
      'la(m)p',
      'one lamp$',
      '\\blamp\\b',
      'lampp?',
      '(?:no|two) light, one',
    ])
      await both({ text, regex: true });
    await both({ text: 'LAM.', regex: true, caseSensitive: true });
    expect(await both({ text: 'moon' })).toBe('Nothing found for "moon".');
  });

  it('is asked for the text that every hit of a pattern holds', async () => {
    await write('a.txt', 'one lamp');
    await write('spy', `#!/bin/sh\nprintf '%s\\n' "$@" > ${path.join(folder, 'asked')}\nexit 1\n`);
    await chmod(path.join(folder, 'spy'), 0o755);
    const spied = searchTool({ ripgrep: async () => path.join(folder, 'spy') });
    await use(spied, { text: '^one (big )?lamps?$', regex: true }, folder);
    expect((await readFile(path.join(folder, 'asked'), 'utf8')).split('\n').slice(-4)).toEqual(['--', 'one ', '.', '']);
    // Nothing is plain about this one, so it is looked for without help.
    expect((await use(spied, { text: 'l.mp|zzz', regex: true }, folder)).text).toBe('a.txt:1: one lamp');
  });

  it('leaves out the same', async () => {
    await write('.git/a.txt', 'lamp');
    await write('node_modules/m/a.txt', 'lamp');
    await write('sub/node_modules/m/a.txt', 'lamp');
    await write('binary', Buffer.from('lamp\0lamp'));
    await write('late', Buffer.concat([Buffer.alloc(9_000, 'x\n'), Buffer.from('\0lamp\n')]));
    await write('large.txt', `lamp${'x'.repeat(SEARCH_MAX_FILE_BYTES)}`);
    await write('data/atrium.lock', '');
    await write('data/atrium.owner', '');
    await write('data/token', 'lamp');
    await write('data/deep/er/log', 'lamp');
    await write('real.txt', 'a lamp');
    await symlink(path.join(folder, 'real.txt'), path.join(folder, 'link.txt'));
    const found = await both({ text: 'lamp' });
    expect(found).toContain('real.txt:1');
    expect(found).toContain('late:');
    expect(found).toContain('[Skipped 1 file over 1 MiB.]');
    for (const name of ['data', 'binary', 'node_modules', '.git', 'link']) expect(found).not.toContain(`${name}/`);
  });

  it('stops at the same hit', async () => {
    for (let index = 0; index < 30; index++) await write(`d${index % 3}/f${index}.txt`, 'lamp\n'.repeat(5));
    const found = await both({ text: 'lamp' });
    expect(found).toContain(`[Stopped at ${SEARCH_MAX_HITS} hits`);
  });

  it('goes on without it where it does not work out', async () => {
    await write('a.txt', 'lamp');
    await write('broken', '#!/bin/sh\nexit 2\n');
    await chmod(path.join(folder, 'broken'), 0o755);
    const broken = searchTool({ ripgrep: async () => path.join(folder, 'broken') });
    expect((await use(broken, { text: 'lamp' }, folder)).text).toBe('a.txt:1: lamp');
    const gone = searchTool({ ripgrep: async () => path.join(folder, 'gone') });
    expect((await use(gone, { text: 'lamp' }, folder)).text).toBe('a.txt:1: lamp');
  });

  it('is stopped with the call', async () => {
    await write('a.txt', 'lamp');
    const signal = AbortSignal.abort(new Error('over'));
    const search = { program: ripgrep ?? '', text: 'lamp', caseSensitive: false, folder, signal };
    await expect(filesWithText(search)).rejects.toThrow('over');
  });
});

describe('ripgrep', () => {
  it.skipIf(process.platform === 'win32')('is looked for on the PATH, by whole paths only', async () => {
    await write('bin/rg', '#!/bin/sh\n');
    await chmod(path.join(folder, 'bin/rg'), 0o755);
    await write('other/rg', 'not a program');
    const paths = (...names: string[]) => names.join(path.delimiter);
    expect(await findRipgrep(paths('', '.', 'bin', path.join(folder, 'other')))).toBeUndefined();
    expect(await findRipgrep(paths(path.join(folder, 'none'), path.join(folder, 'bin')))).toBe(
      path.join(folder, 'bin/rg'),
    );
  });

  it('is not used where it would find something else, or never end', () => {
    expect(suitsRipgrep('lamp', folder)).toBe(true);
    expect(suitsRipgrep('Straße', folder)).toBe(false);
    expect(suitsRipgrep('lamp', path.parse(folder).root)).toBe(false);
  });
});

it('paths are sorted as a walk comes by them', () => {
  const names = ['b/c', 'a.txt', 'b/a/z', 'b.txt', 'a/b', 'b/b', 'a/a/a'].map((name) => path.normalize(name));
  expect(names.sort(byWalk)).toEqual(
    ['a.txt', 'b.txt', 'a/b', 'a/a/a', 'b/b', 'b/c', 'b/a/z'].map((name) => path.normalize(name)),
  );
});
