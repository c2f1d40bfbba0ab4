import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { isPluginName, pluginNameFrom } from '../../../src/plugins/formats/manifest.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import { AP_SCHEMA, AP_SKILL, folderWith, kinds, loadWith, names, OP, OPTIONS } from './plugin-folder.js';

const AP = (fields: object) => ({ 'plugin.json': { $schema: AP_SCHEMA, name: 'strict', ...fields } });
const AP_WITH_SKILL = (fields: object) => ({ ...AP(fields), 'skills/tidy/SKILL.md': AP_SKILL('tidy') });

describe('a manifest', () => {
  it('[CUS-008] may have comments and commas too many, except in Agent Plugins', async () => {
    const text = '\uFEFF{\n  // a comment\n  "name": "demo",\n}\n';
    expect(await loadWith({ [OP]: text })).toMatchObject({ name: 'demo', load: { kind: 'loaded' } });
    const strict = await loadWith({ 'plugin.json': `{ "$schema": "${AP_SCHEMA}", "name": "strict", }` });
    expect(strict.load).toEqual({ kind: 'error', message: 'plugin.json is not valid JSON (line 1).' });
  });

  it('counts the last of several fields of a name, as JavaScript does', async () => {
    expect(await loadWith({ [OP]: '{ "name": "a", "agents": 5, "name": "b", "agents": "./x" }' })).toMatchObject({
      name: 'b',
      warnings: [{ kind: 'path-missing' }],
    });
  });

  it.each(['', '{ "name": ', '[]', '"demo"', 'null'])(
    '[CUS-008] [CUS-093] must be a JSON object, not %j',
    async (text) => {
      const plugin = await loadWith({ [OP]: text, 'commands/a.md': 'x' });
      expect(plugin).toMatchObject({ load: { kind: 'error' }, children: [] });
    },
  );

  it('[CUS-040] [CUS-093] must not be larger than 256 KB', async () => {
    const plugin = await loadWith({ [OP]: { name: 'demo', description: 'x'.repeat(256 * 1024) } });
    expect(plugin.load).toEqual({ kind: 'error', message: expect.stringContaining('larger than 262144 bytes') });
  });

  it.each(['a', 'a-b.c', '0', 'x'.repeat(64)])('[CUS-009] may have the name %s', (name) => {
    expect(isPluginName(name)).toBe(true);
  });

  it.each([
    ['', 'plugin'],
    ['A', 'a'],
    ['-a', 'a'],
    ['a.', 'a'],
    ['a--b', 'a-b'],
    ['a..b', 'a.b'],
    ['My Plugin!', 'my-plugin'],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['💥', 'plugin'],
  ])('[CUS-009] gets a better name than %j', async (name, better) => {
    expect(isPluginName(name)).toBe(false);
    expect(isPluginName(pluginNameFrom(name))).toBe(true);
    const plugin = await loadWith({ [OP]: { name } });
    expect(plugin).toMatchObject({ name: better, load: { kind: 'degraded' } });
    expect(kinds(plugin)).toEqual(['name-invalid']);
  });

  it('[CUS-009] without a name takes that of the folder; in Agent Plugins a bad name is fatal', async () => {
    const root = await folderWith({ [OP]: {} }, 'from-folder');
    expect(await loadPlugin(localFiles(root), OPTIONS)).toMatchObject({
      name: 'from-folder',
      load: { kind: 'loaded' },
    });
    expect(await loadWith(AP({ name: 'Bad Name' }))).toMatchObject({ load: { kind: 'error' } });
    expect(await loadWith({ 'plugin.json': { $schema: AP_SCHEMA } })).toMatchObject({ load: { kind: 'error' } });
  });

  it('[CUS-010] [CUS-011] [CUS-012] says things about the plugin, none of which is checked further', async () => {
    const about = {
      version: 'not a version',
      description: 'A demo.',
      author: 'Desk Works',
      homepage: 'not an address',
      repository: 'somewhere',
      license: 'mine',
      logo: './logo.png',
      keywords: ['a', 'b'],
    };
    const plugin = await loadWith({ [OP]: { name: 'demo', ...about } });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.about).toEqual({ ...about, author: { name: 'Desk Works' } });
    const author = { name: 'Desk Works', email: 'desk@example.com', url: 'https://example.com' };
    expect((await loadWith({ [OP]: { name: 'demo', author } })).about).toEqual({ author });
  });

  it('warns of fields of the wrong type and goes on', async () => {
    const plugin = await loadWith({
      [OP]: { name: 'demo', version: 3, author: 4, keywords: 'x' },
      'commands/a.md': '',
    });
    expect(kinds(plugin)).toEqual(Array(3).fill('manifest-field-invalid'));
    expect(plugin).toMatchObject({ load: { kind: 'degraded' }, about: {}, children: [{ name: 'a' }] });
  });

  it('[CUS-013] of Agent Plugins may have extensions of any kind', async () => {
    const extensions = { 'com.example.tool': 5, odd: null };
    expect(await loadWith(AP({ extensions }))).toMatchObject({ load: { kind: 'loaded' } });
  });

  it('[CUS-014] [CUS-093] of Agent Plugins names a version that is known', async () => {
    const $schema = AP_SCHEMA.replace('1.0.0', '7.0.0');
    const plugin = await loadWith(AP_WITH_SKILL({ $schema }));
    expect(plugin).toMatchObject({ load: { kind: 'error' }, children: [] });
    expect(plugin.load).toHaveProperty('message', expect.stringContaining('known are: 1.0.0'));
  });

  it('[CUS-015] may have fields that nobody knows; only Agent Plugins reports them', async () => {
    expect(await loadWith({ [OP]: { name: 'demo', colour: 'blue' } })).toMatchObject({ load: { kind: 'loaded' } });
    const strict = await loadWith(AP_WITH_SKILL({ colour: 'blue' }));
    expect(strict).toMatchObject({ load: { kind: 'degraded' } });
    expect(kinds(strict)).toEqual(['manifest-field-invalid']);
    expect(names(strict)).toEqual(['skill tidy']);
  });

  it.each([{ version: 1 }, { keywords: [1] }, { author: 7 }, { extensions: [] }, { description: null }])(
    '[CUS-016] [CUS-093] of Agent Plugins with %j refuses the whole plugin',
    async (fields) => {
      const plugin = await loadWith(AP_WITH_SKILL(fields));
      expect(plugin.load).toEqual({ kind: 'error', message: expect.stringContaining('wrong type') });
      expect(plugin.children).toEqual([]);
    },
  );

  it('[CUS-038] may name what this host has no use for, for information only', async () => {
    const plugin = await loadWith({ [OP]: { name: 'demo', lspServers: './lsp.json', outputStyles: ['./styles'] } });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(kinds(plugin)).toEqual(['component-unsupported', 'component-unsupported']);
  });
});
