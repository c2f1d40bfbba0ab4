import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { localFiles, type PluginFiles } from '../../../src/plugins/formats/plugin-files.js';
import { LoadFailure, Warnings } from '../../../src/plugins/formats/warnings.js';
import { folderWith, loadWith, NAMED, OP, OPTIONS } from './plugin-folder.js';

describe('the load state of a container', () => {
  it('[CUS-091] is loaded without warnings, maybe with no children', async () => {
    expect(await loadWith({ [OP]: NAMED })).toMatchObject({ load: { kind: 'loaded' }, children: [] });
    expect(await loadWith({ [OP]: NAMED, 'commands/a.md': 'x' })).toMatchObject({
      load: { kind: 'loaded' },
      children: [{}],
    });
  });

  it('[CUS-092] is degraded with warnings: the first one, and how many more there are', async () => {
    const one = await loadWith({ [OP]: NAMED, 'skills/a/SKILL.md': 'x' });
    expect(one.load).toEqual({ kind: 'degraded', message: 'skills/a/SKILL.md has no description.' });
    const two = await loadWith({ [OP]: NAMED, 'skills/a/SKILL.md': 'x', 'skills/b/SKILL.md': 'x' });
    expect(two.load).toEqual({ kind: 'degraded', message: `${two.warnings[0]?.message} (and 1 more warning)` });
    const agents = await loadWith({ [OP]: NAMED, 'agents/a.md': 'x', 'agents/b.md': 'x' });
    expect(agents.load).toHaveProperty(
      'message',
      'agents/a.md has no name; its file name is used. (and 3 more warnings)',
    );
  });

  it('[CUS-093] is an error when the folder is not there or is a file', async () => {
    const root = await folderWith({ file: 'x' });
    for (const inner of ['missing', 'file']) {
      const plugin = await loadPlugin(localFiles(path.join(root, inner)), OPTIONS);
      expect(plugin.load).toEqual({ kind: 'error', message: 'The folder of the plugin does not exist.' });
      expect(plugin).toMatchObject({ name: inner, children: [] });
    }
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    '[CUS-093] is an error when the folder cannot be read, and a warning when one file cannot (skipped: root may read everything)',
    async () => {
      const root = await folderWith({ [OP]: NAMED, 'commands/a.md': 'x', 'commands/b.md': 'x' });
      await chmod(path.join(root, 'commands', 'a.md'), 0);
      const plugin = await loadPlugin(localFiles(root), OPTIONS);
      expect(plugin).toMatchObject({ load: { kind: 'degraded' }, children: [{ name: 'b' }] });
      await chmod(root, 0);
      expect((await loadPlugin(localFiles(root), OPTIONS)).load.kind).toBe('error');
      await chmod(root, 0o700);
    },
  );

  it('is an error when the files cannot be reached at all', async () => {
    const fail = () => Promise.reject(new LoadFailure('The content is not reachable.'));
    const files: PluginFiles = { list: fail, read: fail, uri: (inner) => `virtual://desk/tools/${inner}` };
    const plugin = await loadPlugin(files, OPTIONS);
    expect(plugin).toMatchObject({ name: 'tools', load: { kind: 'error', message: 'The content is not reachable.' } });
  });

  it('does not hide mistakes of the host', async () => {
    const files: PluginFiles = { ...localFiles('/'), list: () => Promise.reject(new TypeError('oops')) };
    await expect(loadPlugin(files, OPTIONS)).rejects.toThrow('oops');
  });

  it('reads files that are not on this machine', async () => {
    const texts = new Map([['commands/a.md', 'x']]);
    const files: PluginFiles = {
      list: async (folder) => {
        if (folder === '') return [{ name: 'commands', kind: 'folder' }];
        return folder === 'commands' ? [{ name: 'a.md', kind: 'file' }] : undefined;
      },
      read: async (file) => texts.get(file),
      uri: (inner) => `virtual://desk/tools/${inner}`,
    };
    const plugin = await loadPlugin(files, OPTIONS);
    expect(plugin).toMatchObject({ name: 'tools', load: { kind: 'loaded' }, dialect: 'open-plugins' });
    expect(plugin.children).toMatchObject([{ uri: 'virtual://desk/tools/commands/a.md' }]);
  });
});

describe('warnings', () => {
  it('[CUS-098] have a stable kind, a message and the file that they are about', async () => {
    const { warnings } = await loadWith({ [OP]: NAMED, 'skills/a/SKILL.md': 'x' });
    expect(warnings).toEqual([
      {
        kind: 'required-field-missing',
        message: 'skills/a/SKILL.md has no description.',
        path: 'skills/a/SKILL.md',
      },
    ]);
  });

  it('are counted once each, and kept up to a limit', () => {
    const warnings = new Warnings();
    for (let at = 0; at < 300; at += 1) warnings.add('path-missing', `${at % 150}`);
    expect(warnings.list).toHaveLength(100);
    expect(warnings.loadState()).toHaveProperty('message', expect.stringMatching(/^0 \(and \d+ more warnings\)$/));
  });

  it('[CUS-098] that are information only do not degrade', () => {
    const warnings = new Warnings();
    warnings.add('component-unsupported', 'x');
    warnings.add('hook-event-unknown', 'y');
    expect(warnings.loadState()).toEqual({ kind: 'loaded' });
    expect(warnings.list).toHaveLength(2);
  });
});
