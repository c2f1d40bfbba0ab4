import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { splitGlobs } from '../../../src/plugins/formats/markdown-parts.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import {
  AGENT,
  AP_SCHEMA,
  AP_SKILL,
  folderWith,
  kinds,
  loadWith,
  NAMED,
  names,
  OP,
  OPTIONS,
  SKILL,
} from './plugin-folder.js';

describe('agents', () => {
  it('[CUS-030] have a name and a description for clients, and the rest for the host', async () => {
    const text = [
      '---',
      'name: reviewer',
      'description: Reads code.',
      'model: [large, small]',
      'tools: read, search',
      'user-invocable: false',
      'infer: true',
      'disable-model-invocation: true',
      '---',
      'You read code.',
      '',
    ].join('\n');
    const plugin = await loadWith({ [OP]: NAMED, 'agents/code-reviewer.agent.md': text });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.children).toEqual([
      { type: 'agent', id: expect.any(String), uri: expect.any(String), name: 'reviewer', description: 'Reads code.' },
    ]);
    expect(plugin.agents).toMatchObject([
      {
        id: plugin.children[0]?.id,
        prompt: 'You read code.\n',
        model: 'large',
        tools: ['read', 'search'],
        userInvocable: false,
        infer: true,
        disableModelInvocation: true,
      },
    ]);
  });

  it('[CUS-030] are kept without a name or a description, with warnings', async () => {
    const plugin = await loadWith({ [OP]: NAMED, 'agents/a.agent.md': 'A', 'agents/b.md': 'B' });
    expect(names(plugin)).toEqual(['agent a', 'agent b']);
    expect(kinds(plugin)).toEqual(Array(4).fill('required-field-missing'));
  });

  it('[CUS-039] are not looked for in hidden files, other files and deeper folders', async () => {
    const rest = { 'agents/.hidden.md': 'x', 'agents/a.txt': 'x', 'agents/deep/b.md': 'x', 'agents/c.prompt.md': 'x' };
    expect(await loadWith({ [OP]: NAMED, ...rest })).toMatchObject({ children: [], load: { kind: 'loaded' } });
  });
});

describe('skills', () => {
  it('[CUS-031] take the name of their folder when they have none', async () => {
    const plugin = await loadWith({ [OP]: NAMED, 'skills/tidy/SKILL.md': SKILL });
    expect(plugin).toMatchObject({
      load: { kind: 'loaded' },
      children: [{ name: 'tidy', description: 'Does things.' }],
    });
    expect(plugin.skills).toMatchObject([
      { kind: 'skill', body: 'Do it.\n', takesArguments: false, userInvocable: true },
    ]);
  });

  it('[CUS-031] are kept without a description and with another name than their folder, with warnings', async () => {
    const plugin = await loadWith({
      [OP]: NAMED,
      'skills/a/SKILL.md': 'no frontmatter',
      'skills/b/SKILL.md': AP_SKILL('other'),
      'skills/c/SKILL.md': AP_SKILL('Not Good'),
    });
    expect(names(plugin)).toEqual(['skill Not Good', 'skill a', 'skill other']);
    expect(kinds(plugin)).toEqual(['required-field-missing', 'skill-name-mismatch', 'name-invalid']);
  });

  it('[CUS-031] must conform in Agent Plugins, or they are left out', async () => {
    const plugin = await loadWith({
      'plugin.json': { $schema: AP_SCHEMA, name: 'strict' },
      'skills/good/SKILL.md': AP_SKILL('good'),
      'skills/no-name/SKILL.md': SKILL,
      'skills/no-text/SKILL.md': '---\nname: no-text\n---\n',
      'skills/a--b/SKILL.md': AP_SKILL('a--b'),
      'skills/c/SKILL.md': AP_SKILL('d'),
      'skills/e/SKILL.md': `---\nname: e\ndescription: ${'x'.repeat(1025)}\n---\n`,
      'skills/SKILL.md': AP_SKILL('skills'),
      'SKILL.md': AP_SKILL('demo'),
    });
    expect(names(plugin)).toEqual(['skill good']);
    expect(kinds(plugin).sort()).toEqual([
      'frontmatter-invalid',
      'name-invalid',
      'required-field-missing',
      'required-field-missing',
      'skill-name-mismatch',
    ]);
  });

  it('[CUS-031] are one level deep and have one exact file name', async () => {
    const plugin = await loadWith({
      [OP]: NAMED,
      'skills/a/b/SKILL.md': SKILL,
      'skills/c/skill.md': SKILL,
      'skills/.d/SKILL.md': SKILL,
      'skills/SKILL.md': AP_SKILL('whole'),
    });
    expect(names(plugin)).toEqual(['skill whole']);
    expect(plugin.load).toEqual({ kind: 'loaded' });
  });

  it('[CUS-022] of the same name: the first one counts', async () => {
    const plugin = await loadWith({
      [OP]: NAMED,
      'skills/a/SKILL.md': AP_SKILL('a'),
      'skills/b/SKILL.md': AP_SKILL('a'),
      'commands/a.md': 'x',
    });
    expect(plugin.skills).toMatchObject([{ name: 'a', uri: expect.stringContaining('skills/a/SKILL.md') }]);
    expect(kinds(plugin)).toEqual(['skill-name-mismatch', 'duplicate-name', 'duplicate-name']);
  });

  it('[CUS-032] are made of commands as well, which take arguments', async () => {
    const text = '---\ndescription: Ships it.\ndisable-model-invocation: true\n---\nShip $ARGUMENTS.\n';
    const plugin = await loadWith({ [OP]: NAMED, 'commands/ship.md': text, 'commands/plain.md': 'Plain.' });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    const place = { id: expect.any(String), uri: expect.stringContaining('/commands/') };
    expect(plugin.children).toEqual([
      { type: 'skill', name: 'plain', ...place },
      { type: 'skill', name: 'ship', description: 'Ships it.', disableModelInvocation: true, ...place },
    ]);
    expect(plugin.skills).toMatchObject([
      { name: 'plain', kind: 'command', disableModelInvocation: false },
      { name: 'ship', kind: 'command', takesArguments: true, body: 'Ship $ARGUMENTS.\n' },
    ]);
  });

  it('[CUS-033] are the plugin itself when it has a skill file and no other skill', async () => {
    const root = await folderWith({ 'SKILL.md': AP_SKILL('other'), 'commands/c.md': 'x' }, 'One_Skill');
    const plugin = await loadPlugin(localFiles(root), OPTIONS);
    expect(names(plugin)).toEqual(['skill One_Skill', 'skill c']);
    const more = await loadWith({ 'SKILL.md': SKILL, 'skills/a/SKILL.md': SKILL });
    expect(names(more)).toEqual(['skill a']);
  });
});

describe('prompts', () => {
  it('[CUS-034] of a plugin are in its prompts folder', async () => {
    const prompt = '---\ndescription: Begins.\n---\nBegin.';
    const plugin = await loadWith({ [OP]: NAMED, 'prompts/begin.prompt.md': prompt, 'prompts/end.md': 'End.' });
    expect(plugin.children).toMatchObject([{ type: 'prompt', name: 'begin', description: 'Begins.' }, { name: 'end' }]);
    expect(plugin.prompts).toMatchObject([{ body: 'Begin.' }, { body: 'End.' }]);
  });
});

describe('rules', () => {
  it('[CUS-035] come in several endings, with globs under several names', async () => {
    const rule = (line: string) => `---\n${line}\n---\nBe kind.`;
    const plugin = await loadWith({
      [OP]: NAMED,
      'rules/a.mdc': rule('globs: "a.js, b.{js,ts}"'),
      'rules/b.md': rule('globs: [x, "y,z"]\nname: bee\ndescription: B.'),
      'rules/c.instructions.md': rule("applyTo: '**/*.ts'"),
      'rules/d.md': rule('paths:\n  - src\nalwaysApply: true'),
      'rules/e.mdc': rule('globs: *.ts,*.{a,b}   # as people write it'),
      'rules/f.md': rule('description: Ask me.'),
    });
    expect(plugin).toMatchObject({ load: { kind: 'loaded' } });
    const base = { type: 'rule', id: expect.any(String), uri: expect.any(String) };
    expect(plugin.children).toEqual([
      { ...base, name: 'a', alwaysApply: false, globs: ['a.js', 'b.{js,ts}'] },
      { ...base, name: 'bee', alwaysApply: false, globs: ['x', 'y,z'], description: 'B.' },
      { ...base, name: 'c', alwaysApply: false, globs: ['**/*.ts'] },
      { ...base, name: 'd', alwaysApply: true, globs: ['src'] },
      { ...base, name: 'e', alwaysApply: false, globs: ['*.ts', '*.{a,b}'] },
      { ...base, name: 'f', alwaysApply: false, description: 'Ask me.' },
    ]);
    expect(plugin.rules[0]).toMatchObject({ body: 'Be kind.', alwaysApply: false });
  });

  it('[CUS-035] without anything that tells when they apply are kept with a warning', async () => {
    expect(kinds(await loadWith({ [OP]: NAMED, 'rules/a.md': 'Be kind.' }))).toEqual(['required-field-missing']);
  });

  it('[CUS-035] split globs at commas outside of braces only', () => {
    expect(splitGlobs(' a , b.{c,{d,e}},,f}g,h')).toEqual(['a', 'b.{c,{d,e}}', 'f}g', 'h']);
    expect(splitGlobs('{a,b')).toEqual(['{a,b']);
  });
});

describe('children', () => {
  it('[CUS-029] are ordered by type, then by name, the same everywhere', async () => {
    const plugin = await loadWith({
      [OP]: NAMED,
      '.mcp.json': { b: { command: 'x' }, a: { command: 'x' } },
      'hooks/hooks.json': { Stop: [{ command: 'x' }], PreToolUse: [{ command: 'x' }] },
      'rules/r.md': '---\nalwaysApply: true\n---\n',
      'prompts/p.md': 'x',
      'commands/z.md': 'x',
      'commands/ä.md': 'x',
      'commands/Z.md': 'x',
      'agents/1.md': AGENT('b'),
      'agents/2.md': AGENT('a'),
    });
    const inOrder = ['agent a', 'agent b', 'skill Z', 'skill z', 'skill ä', 'prompt p', 'rule r'];
    expect(names(plugin)).toEqual([...inOrder, 'hook PreToolUse 1', 'hook Stop 1', 'mcpServer a', 'mcpServer b']);
  });

  it('[CUS-040] are at most 500 in a container', async () => {
    const commands = Array.from({ length: 499 }, (_, at) => [`commands/c${at}.md`, 'x']);
    const servers = { a: { command: 'x' }, b: { command: 'x' } };
    const plugin = await loadWith({ [OP]: NAMED, ...Object.fromEntries(commands), '.mcp.json': servers });
    expect(plugin.children).toHaveLength(500);
    expect(plugin.mcpServers.map(({ name }) => name)).toEqual(['a']);
    expect(kinds(plugin)).toEqual(['limit-exceeded']);
  });

  it('[CUS-040] of files larger than 1 MB are left out', async () => {
    const fits = 'x'.repeat(2 ** 20);
    const plugin = await loadWith({ [OP]: NAMED, 'commands/a.md': fits, 'commands/b.md': `${fits}x` });
    expect(names(plugin)).toEqual(['skill a']);
    expect(plugin.warnings).toMatchObject([{ kind: 'limit-exceeded', path: 'commands/b.md' }]);
  });

  it('are read until the text of a container becomes too much', async () => {
    const commands = Array.from({ length: 20 }, (_, at) => [`commands/c${at}.md`, 'x'.repeat(2 ** 20)]);
    const plugin = await loadWith({ [OP]: NAMED, ...Object.fromEntries(commands) });
    expect(plugin.children).toHaveLength(16);
    expect(kinds(plugin)).toEqual(['limit-exceeded']);
  });

  it('[CUS-027] [CUS-028] have a file URI, and an id made of it that stays the same', async () => {
    const root = await folderWith({ [OP]: NAMED, 'commands/a #1.md': 'x' });
    const first = await loadPlugin(localFiles(root), OPTIONS);
    const uri = `file://${path.join(root, 'commands')}/a%20%231.md`;
    expect(first.children).toEqual([{ type: 'skill', id: `c1:${uri}`, uri, name: 'a #1' }]);
    expect((await loadPlugin(localFiles(root), OPTIONS)).children).toEqual(first.children);
    const odd = await loadPlugin(localFiles(root), { ...OPTIONS, containerId: 'c#1' });
    expect(odd.children[0]?.id).toBe(`c%231:${uri}`);
  });
});
