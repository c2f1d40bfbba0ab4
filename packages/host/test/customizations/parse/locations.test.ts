import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import {
  AGENT,
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

const TWO_FOLDERS = { 'agents/usual.md': AGENT('usual'), 'more/extra.md': AGENT('extra') };

const withAgents = (agents: unknown) => loadWith({ [OP]: { name: 'demo', agents }, ...TWO_FOLDERS });

describe('the places of components', () => {
  it.each([
    ['a path', './more'],
    ['a list', ['./more']],
    ['an object', { paths: ['./more'] }],
    ['an object with one path', { paths: './more' }],
    ['an object that says so', { paths: ['./more/'], exclusive: false }],
  ])('[CUS-017] [CUS-018] are added to the usual ones by %s', async (_form, agents) => {
    const plugin = await withAgents(agents);
    expect(names(plugin)).toEqual(['agent extra', 'agent usual']);
    expect(plugin.load).toEqual({ kind: 'loaded' });
  });

  it('[CUS-018] replace the usual ones when exclusive', async () => {
    expect(names(await withAgents({ paths: ['./more'], exclusive: true }))).toEqual(['agent extra']);
  });

  it('[CUS-018] are fixed in Agent Plugins', async () => {
    const manifest = { $schema: AP_SCHEMA, name: 'strict', skills: './more' };
    const files = { 'skills/a/SKILL.md': AP_SKILL('a'), 'more/b/SKILL.md': AP_SKILL('b') };
    const plugin = await loadWith({ 'plugin.json': manifest, ...files });
    expect(names(plugin)).toEqual(['skill a']);
    expect(kinds(plugin)).toEqual(['manifest-field-invalid']);
  });

  it('[CUS-019] may be written without "./", with a warning', async () => {
    const plugin = await withAgents('more');
    expect(names(plugin)).toEqual(['agent extra', 'agent usual']);
    expect(plugin.warnings).toMatchObject([
      { kind: 'manifest-field-invalid', message: expect.stringContaining('"./more"') },
    ]);
  });

  it.each(['../outside', './a/../../outside', '/etc', 'C:\\outside', '..\\outside'])(
    '[CUS-020] are dropped with a warning when they lead out: %s',
    async (place) => {
      const root = await folderWith({ [OP]: { name: 'demo', agents: [place, './more'] }, ...TWO_FOLDERS });
      await fill(path.dirname(root), { 'outside/evil.md': AGENT('evil') });
      const plugin = await loadPlugin(localFiles(root), OPTIONS);
      expect(names(plugin)).toEqual(['agent extra', 'agent usual']);
      expect(plugin.load.kind).toBe('degraded');
      expect(kinds(plugin)).toEqual(['path-escapes']);
    },
  );

  it('[CUS-020] are dropped with a warning when a link leads out: file, folder, skill and named folder', async () => {
    const root = await folderWith({ [OP]: { name: 'demo', commands: './linked' }, 'agents/good.md': AGENT('good') });
    const outside = path.join(path.dirname(root), 'outside');
    await fill(outside, { 'evil.md': AGENT('evil'), 'SKILL.md': SKILL });
    await fill(root, { 'skills/fine/SKILL.md': SKILL });
    await symlink(path.join(outside, 'evil.md'), path.join(root, 'agents', 'evil.md'));
    await symlink(outside, path.join(root, 'skills', 'evil'));
    await symlink(outside, path.join(root, 'rules'));
    await symlink(outside, path.join(root, 'linked'));
    const plugin = await loadPlugin(localFiles(root), OPTIONS);
    expect(names(plugin)).toEqual(['agent good', 'skill fine']);
    expect(plugin.warnings.map(({ kind, path: file }) => `${kind} ${file}`)).toEqual([
      'path-escapes agents/evil.md',
      'path-escapes skills/evil',
      'path-escapes linked',
      'path-escapes rules',
    ]);
  });

  it('follows links that stay inside', async () => {
    const root = await folderWith({ [OP]: NAMED, 'texts/good.md': AGENT('good') });
    await symlink('texts', path.join(root, 'agents'));
    expect(names(await loadPlugin(localFiles(root), OPTIONS))).toEqual(['agent good']);
  });

  it('[CUS-021] may be single files', async () => {
    const plugin = await loadWith({
      [OP]: { name: 'demo', agents: './x/a.md', commands: ['./x/c.md'], rules: './x/r.mdc', skills: './x/s' },
      'x/a.md': AGENT('a'),
      'x/c.md': 'c',
      'x/r.mdc': '---\nalwaysApply: true\n---\nr',
      'x/s/SKILL.md': SKILL,
    });
    expect(names(plugin)).toEqual(['agent a', 'skill c', 'skill s', 'rule r']);
    expect(plugin.load).toEqual({ kind: 'loaded' });
  });

  it('[CUS-022] count in order: the usual one first, and the first of a name wins', async () => {
    const plugin = await loadWith({
      [OP]: { name: 'demo', agents: ['./z', './b'] },
      'agents/1.md': AGENT('same'),
      'z/2.md': AGENT('same'),
      'z/3.md': AGENT('other'),
      'b/4.md': AGENT('other'),
    });
    expect(plugin.agents.map(({ uri }) => path.basename(uri))).toEqual(['1.md', '3.md']);
    expect(kinds(plugin)).toEqual(['duplicate-name', 'duplicate-name']);
  });

  it('[CUS-022] count once when named again', async () => {
    const plugin = await withAgents(['./agents', './agents/usual.md', './more', 'more/../more']);
    expect(names(plugin)).toEqual(['agent extra', 'agent usual']);
    expect(kinds(plugin)).toEqual(['manifest-field-invalid']);
  });

  it.each([5, { where: './more' }, { paths: 7 }, null, true])(
    '[CUS-025] are ignored, with a warning, when %j',
    async (agents) => {
      const plugin = await withAgents(agents);
      expect(names(plugin)).toEqual(['agent usual']);
      expect(kinds(plugin)).toEqual(['manifest-field-invalid']);
    },
  );

  it('warns of entries that are no paths', async () => {
    const plugin = await withAgents([1, '', 'a\0b', './more']);
    expect(names(plugin)).toEqual(['agent extra', 'agent usual']);
    expect(kinds(plugin)).toEqual(['manifest-field-invalid']);
  });

  it('[CUS-026] may be missing, except where they are named', async () => {
    expect(await loadWith({ [OP]: NAMED })).toMatchObject({ load: { kind: 'loaded' }, children: [], warnings: [] });
    const named = {
      name: 'demo',
      agents: './no',
      skills: './no',
      hooks: './no.json',
      mcpServers: './no.json',
      rules: './no',
    };
    const plugin = await loadWith({ [OP]: named });
    expect(kinds(plugin)).toEqual(Array(2).fill('path-missing'));
    expect(plugin.warnings.map(({ path: file }) => file)).toEqual(['no', 'no.json']);
  });

  it('[CUS-026] are not searched for in the folder of the manifest', async () => {
    const plugin = await loadWith({
      [OP]: NAMED,
      '.plugin/agents/a.md': AGENT('a'),
      '.plugin/skills/s/SKILL.md': SKILL,
    });
    expect(plugin.children).toEqual([]);
  });
});
