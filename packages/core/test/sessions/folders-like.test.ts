import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FOLDERS_MAX, foldersLike } from '../../src/sessions/session-config.js';

let root: string;
const at = (...names: string[]) => path.join(root, ...names);
const found = async (typed: string, browsed = [root]) => (await foldersLike(typed, browsed)).map(({ value }) => value);

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-folders-')));
  for (const name of ['Atrium', 'attic/inner', 'other', '.ssh/keys']) await mkdir(at(name), { recursive: true });
  await writeFile(at('atfile'), '');
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('folders that a person may mean', () => {
  it('begin with what is typed, in any case, and are neither files nor hidden', async () => {
    expect(await foldersLike(at('at'), [root])).toEqual([
      { value: at('Atrium'), label: 'Atrium', description: at('Atrium') },
      { value: at('attic'), label: 'attic', description: at('attic') },
    ]);
    expect(await found(`${root}/`)).toEqual([at('Atrium'), at('attic'), at('other')]);
    expect(await found(at('attic', 'in'))).toEqual([at('attic', 'inner')]);
    expect(await found(at('.s'))).toEqual([]);
  });

  it('lie below those that clients may look into, by where a path really leads', async () => {
    expect(await found(at('attic', 'in'), [at('other')])).toEqual([]);
    expect(await found(at('.ssh', 'k'))).toEqual([]);
    await symlink(at('.ssh'), at('link'));
    expect(await found(at('link', 'k'))).toEqual([]);
    expect(await found(at('nothing', 'x'))).toEqual([]);
    expect(await found(at('attic', 'in'), [at('nothing'), at('attic')])).toEqual([at('attic', 'inner')]);
  });

  it('are also the ones that lead there, and nothing for what is no path', async () => {
    expect(await found(root.slice(0, -2))).toEqual([root]);
    expect(await found(root, [root])).toEqual([]);
    expect(await found('at')).toEqual([]);
    expect(await found('~', [path.join(homedir(), 'x')])).toEqual([path.join(homedir(), 'x')]);
    await mkdir(at('other', '~'));
    await mkdir(at('other', '~', 'tilde'));
    expect(await found(at('other', '~', 't'))).toEqual([at('other', '~', 'tilde')]);
    expect(await found('~x', [path.join(homedir(), 'x')])).toEqual([]);
  });

  it(`[REL-098] are ${FOLDERS_MAX} at most`, async () => {
    for (let count = 0; count <= FOLDERS_MAX; count += 1) await mkdir(at('other', `${count}`));
    expect(await found(`${at('other')}/`)).toHaveLength(FOLDERS_MAX);
  });
});
