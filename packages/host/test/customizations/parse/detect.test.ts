import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import {
  AP_SCHEMA,
  AP_SKILL,
  fill,
  folderWith,
  kinds,
  loadWith,
  NAMED,
  names,
  OP,
  OPTIONS,
  SKILL,
} from './plugin-folder.js';

describe('the dialect of a plugin', () => {
  it('[CUS-001] is Agent Plugins when the root manifest names its schema, even beside older manifests', async () => {
    const plugin = await loadWith({
      'plugin.json': { $schema: AP_SCHEMA, name: 'strict-one' },
      [OP]: { name: 'strict-one' },
      'skills/tidy/SKILL.md': AP_SKILL('tidy'),
      'commands/old.md': 'old',
      'agents/old.md': 'old',
      'rules/old.md': 'old',
      'hooks/hooks.json': { hooks: { Stop: [{ command: 'x' }] } },
      '.mcp.json': { mcpServers: { old: { command: 'x' } } },
    });
    expect(plugin).toMatchObject({ dialect: 'agent-plugins', name: 'strict-one', load: { kind: 'loaded' } });
    expect(names(plugin)).toEqual(['skill tidy']);
  });

  it('[CUS-002] is Open Plugins for .plugin/plugin.json', async () => {
    const plugin = await loadWith({ [OP]: NAMED, '.claude-plugin/plugin.json': NAMED, 'plugin.json': NAMED });
    expect(plugin).toMatchObject({ dialect: 'open-plugins', name: 'demo', load: { kind: 'loaded' } });
  });

  it("[CUS-003] is Claude's for .claude-plugin/plugin.json", async () => {
    const plugin = await loadWith({ '.claude-plugin/plugin.json': { name: 'c' }, 'plugin.json': { name: 'c' } });
    expect(plugin).toMatchObject({ dialect: 'claude', name: 'c' });
  });

  it("[CUS-003] is Claude's for a plugin below a folder of Claude's, whatever manifest of Copilot is there", async () => {
    const root = path.join(await folderWith({}), '.claude', 'plugins', 'mine');
    await mkdir(root, { recursive: true });
    await fill(root, { 'skills/tidy/SKILL.md': SKILL, 'plugin.json': { name: 'other' } });
    expect(await loadPlugin(localFiles(root), OPTIONS)).toMatchObject({ dialect: 'claude', name: 'mine' });
  });

  it.each(['plugin.json', '.github/plugin/plugin.json', '.github/plugin.json'])(
    "[CUS-004] is Copilot's for %s without a schema",
    async (manifest) => {
      const plugin = await loadWith({ [manifest]: { name: 'pilot' }, 'hooks.json': { Stop: [{ command: 'x' }] } });
      expect(plugin).toMatchObject({ dialect: 'copilot', name: 'pilot', load: { kind: 'loaded' } });
      expect(names(plugin)).toEqual(['hook Stop 1']);
    },
  );

  it('[CUS-004] is not Agent Plugins because of some other schema', async () => {
    const other = { $schema: 'https://example.com/schemas/1.0.0/plugin.schema.json', name: 'pilot' };
    expect(await loadWith({ 'plugin.json': other })).toMatchObject({ dialect: 'copilot' });
  });

  it.each([
    ['skills/a/SKILL.md', SKILL],
    ['commands/a.md', 'x'],
    ['agents/a.md', 'x'],
    ['rules/a.md', 'x'],
    ['hooks/hooks.json', {}],
    ['.mcp.json', {}],
    ['SKILL.md', SKILL],
  ])('[CUS-005] is Open Plugins without a manifest when there is %s; the folder gives the name', async (file, text) => {
    const root = await folderWith({ [file]: text }, 'My Tools');
    expect(await loadPlugin(localFiles(root), OPTIONS)).toMatchObject({ dialect: 'open-plugins', name: 'my-tools' });
  });

  it('[CUS-006] [CUS-093] is none when nothing is there that makes a plugin', async () => {
    const plugin = await loadWith({ 'README.md': 'hello', 'hooks/notes.txt': 'x', skills: 'a file, not a folder' });
    expect(plugin.dialect).toBeUndefined();
    expect(plugin.load).toEqual({ kind: 'error', message: expect.stringContaining('Nothing was found') });
  });

  it('[CUS-007] uses one of several manifests and warns when another one differs', async () => {
    const plugin = await loadWith({
      [OP]: { name: 'demo', version: '1.0.0' },
      '.claude-plugin/plugin.json': { name: 'demo', version: '2.0.0', description: 'more' },
    });
    expect(plugin).toMatchObject({ name: 'demo', about: { version: '1.0.0' }, load: { kind: 'degraded' } });
    expect(plugin.about).not.toHaveProperty('description');
    expect(plugin.warnings).toMatchObject([{ kind: 'manifest-inconsistent', path: '.claude-plugin/plugin.json' }]);
  });

  it('[CUS-007] does not mind manifests that say the same', async () => {
    const plugin = await loadWith({ [OP]: '{"name":"demo"}', '.claude-plugin/plugin.json': '{ "name": "demo", }' });
    expect(kinds(plugin)).toEqual([]);
  });

  it('does not let an unrelated large plugin.json spoil a plugin', async () => {
    const plugin = await loadWith({ [OP]: NAMED, 'plugin.json': { text: 'x'.repeat(300_000) } });
    expect(plugin).toMatchObject({ dialect: 'open-plugins', load: { kind: 'degraded' } });
    expect(kinds(plugin)).toEqual(['manifest-inconsistent']);
  });
});
