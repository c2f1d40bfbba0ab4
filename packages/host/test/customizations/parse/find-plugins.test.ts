import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FoundPlugins, findPlugins } from '../../../src/plugins/formats/marketplace.js';
import { localFiles, type PluginFiles } from '../../../src/plugins/formats/plugin-files.js';
import { type Contents, folderWith, kinds, loadWith, SKILL } from './plugin-folder.js';

const found = async (contents: Contents) => findPlugins(localFiles(await folderWith(contents)));
const paths = ({ plugins }: FoundPlugins) =>
  plugins.map(({ source }) => (source.kind === 'path' ? source.path : source));

const A = { 'tools/a/skills/s/SKILL.md': SKILL };
const INDEX = { name: 'shop', plugins: [{ name: 'first', source: './tools/a' }] };

describe('plugins of a marketplace', () => {
  it.each([
    'marketplace.json',
    '.plugin/marketplace.json',
    '.claude-plugin/marketplace.json',
    '.any-plugin/marketplace.json',
  ])('[CUS-105] are in the index at %s', async (index) => {
    const result = await found({ [index]: INDEX, ...A });
    expect(result).toMatchObject({ name: 'shop', warnings: [] });
    expect(paths(result)).toEqual(['tools/a']);
  });

  it('[CUS-105] are in the first index that there is', async () => {
    const other = { name: 'other', plugins: [] };
    const result = await found({ '.plugin/marketplace.json': INDEX, '.claude-plugin/marketplace.json': other, ...A });
    expect(result).toMatchObject({ name: 'shop' });
  });

  it('[CUS-105] are relative to the root that the index names; objects and addresses are elsewhere', async () => {
    const remote = { source: 'github', repo: 'desk/tools' };
    const plugins = [
      { name: 'a', source: './a' },
      { name: 'a2', source: 'a' },
      { name: 'b', source: remote },
      { name: 'c', source: 'https://example.com/c.git' },
    ];
    const result = await found({ 'marketplace.json': { metadata: { pluginRoot: './tools' }, plugins }, ...A });
    expect(paths(result)).toEqual([
      'tools/a',
      'tools/a',
      { kind: 'remote', remote },
      { kind: 'remote', remote: 'https://example.com/c.git' },
    ]);
  });

  it('[CUS-105] [CUS-098] are left out with a warning when something is wrong with them', async () => {
    const plugins = [
      { name: 'missing', source: './nowhere' },
      { name: 'out', source: '../out' },
      { name: 'linked', source: './linked' },
      { source: './tools/a' },
      { name: 'no-source' },
      5,
    ];
    const root = await folderWith({ 'inner/marketplace.json': { plugins }, 'out/skills/s/SKILL.md': SKILL });
    await symlink(path.join(root, 'out'), path.join(root, 'inner', 'linked'));
    const result = await findPlugins(localFiles(path.join(root, 'inner')));
    expect(result.plugins).toEqual([]);
    const invalid = Array(3).fill('manifest-field-invalid');
    expect(kinds(result)).toEqual(['path-escapes', ...invalid, 'path-missing', 'path-missing']);
  });

  it('[CUS-106] have metadata in the index for listing only, and maybe another name than their folder', async () => {
    const more = { description: 'D', version: '2', author: 'desk', license: 'MIT', keywords: ['k'], skills: ['./s'] };
    const listing = { name: 'first', ...more };
    const plugins = [{ ...listing, source: './tools/a', colour: 'blue' }];
    const result = await found({ 'marketplace.json': { plugins }, ...A });
    expect(result.plugins).toEqual([{ listing, source: { kind: 'path', path: 'tools/a' } }]);
    const loaded = await loadWith({
      '.plugin/plugin.json': { name: 'own', version: '1' },
      'marketplace.json': { plugins },
    });
    expect(loaded).toMatchObject({ name: 'own', about: { version: '1' } });
    expect(loaded.about).not.toHaveProperty('description');
  });

  it('are searched for when the index is broken', async () => {
    const result = await found({ 'marketplace.json': '{', ...A });
    expect(paths(result)).toEqual(['tools/a']);
    expect(kinds(result)).toEqual(['manifest-field-invalid']);
  });
});

describe('plugins of a folder without an index', () => {
  it('[CUS-107] are the folder itself, and then nothing in it', async () => {
    expect(paths(await found({ 'skills/s/SKILL.md': SKILL, ...A }))).toEqual(['']);
  });

  it('[CUS-107] are in folders two levels deep that are not hidden', async () => {
    const result = await found({
      'one/.plugin/plugin.json': { name: 'uno' },
      'one/inner/SKILL.md': SKILL,
      'group/two/commands/c.md': 'x',
      'group/deep/three/commands/c.md': 'x',
      '.hidden/commands/c.md': 'x',
      'group/.hidden/commands/c.md': 'x',
      'nothing/README.md': 'x',
    });
    expect(paths(result)).toEqual(['one', 'group/two']);
    expect(result.plugins.map(({ listing }) => listing.name)).toEqual(['one', 'two']);
  });

  it('are none where nothing is', async () => {
    const root = path.join(await folderWith({}), 'nowhere');
    expect(await findPlugins(localFiles(root))).toEqual({ plugins: [], warnings: [] });
  });

  it('are looked for in a limited number of folders', async () => {
    const folders = Array.from({ length: 30 }, (_, at) => ({ name: `f${at}`, kind: 'folder' as const }));
    const searched = new Set<string>();
    const files: PluginFiles = {
      async list(folder) {
        searched.add(folder);
        return folders;
      },
      read: async () => undefined,
      uri: (inner) => `virtual://desk/${inner}`,
    };
    expect(kinds(await findPlugins(files))).toEqual([]);
    expect(searched.size).toBe(1 + 30 + 30 * 30);
    folders.push({ name: 'x', kind: 'folder' }, { name: 'y', kind: 'folder' });
    searched.clear();
    expect(kinds(await findPlugins(files))).toEqual(['limit-exceeded']);
    expect(searched.size).toBe(1_000);
  });
});
