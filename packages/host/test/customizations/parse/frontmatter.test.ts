import { describe, expect, it } from 'vitest';
import { splitFrontmatter } from '../../../src/plugins/formats/frontmatter.js';
import { kinds, loadWith, NAMED, OP } from './plugin-folder.js';

const commandWith = (text: string) => loadWith({ [OP]: NAMED, 'commands/c.md': text });
const agentWith = (text: string) => loadWith({ [OP]: NAMED, 'agents/a.md': text });

describe('frontmatter', () => {
  it.each([
    ['plain', '---\ndescription: D\n---\nBody\n', 'Body\n'],
    ['with a mark before it', '\uFEFF---\ndescription: D\n---\nBody\n', 'Body\n'],
    ['with Windows line ends', '---\r\ndescription: D\r\n---\r\nBody\r\n', 'Body\r\n'],
    ['without a body', '---\ndescription: D\n---', ''],
    ['with hyphens in the body', '---\ndescription: D\n---\na\n---\nb', 'a\n---\nb'],
    ['with longer lines of hyphens', '---\ndescription: D\n# ----\n---\nBody', 'Body'],
  ])('[CUS-043] %s is read', async (_name, text, body) => {
    const plugin = await commandWith(text);
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.skills).toMatchObject([{ description: 'D', body }]);
  });

  it.each(['', 'Body', ' ---\ndescription: D\n---\n', '----\ndescription: D\n---\n', '\n---\ndescription: D\n---\n'])(
    '[CUS-043] [CUS-044] is absent in %j, and all of it is body',
    async (text) => {
      const plugin = await commandWith(text);
      expect(plugin).toMatchObject({ load: { kind: 'loaded' }, skills: [{ name: 'c', body: text }] });
      expect(plugin.skills[0]).not.toHaveProperty('description');
    },
  );

  it.each(['description: [', 'a: b: c', '- a list', 'just text', '\tdescription: D', `d: ${'['.repeat(10_000)}`])(
    '[CUS-045] counts as absent when it is broken (%#), with a warning, and the body is used',
    async (yaml) => {
      const plugin = await commandWith(`---\n${yaml}\n---\nBody`);
      expect(plugin.skills).toMatchObject([{ name: 'c', body: 'Body' }]);
      expect(plugin.skills[0]).not.toHaveProperty('description');
      expect(plugin.warnings).toMatchObject([{ kind: 'frontmatter-invalid', path: 'commands/c.md' }]);
    },
  );

  it('[CUS-045] says in which line it is broken', async () => {
    const plugin = await commandWith('---\nname: c\ndescription: a: b\n---\n');
    const message = 'commands/c.md has broken frontmatter (line 3); it is ignored.';
    expect(plugin.load).toEqual({ kind: 'degraded', message });
  });

  it('[CUS-045] counts as absent when it never ends or is far too long', async () => {
    expect(await commandWith('---\ndescription: D\n')).toMatchObject({ skills: [{ body: '---\ndescription: D\n' }] });
    const long = await commandWith(`---\ndescription: ${'x'.repeat(20_000)}\n---\nBody`);
    expect(long).toMatchObject({ skills: [{ body: 'Body' }], load: { kind: 'degraded' } });
  });

  it('[CUS-046] has booleans, also quoted with a warning, and nothing else for them', async () => {
    const flag = async (value: string) => {
      const plugin = await commandWith(`---\ndisable-model-invocation: ${value}\n---\n`);
      return [plugin.skills[0]?.disableModelInvocation, ...kinds(plugin)];
    };
    expect(await flag('true')).toEqual([true]);
    expect(await flag('false')).toEqual([false]);
    expect(await flag('"true"')).toEqual([true, 'frontmatter-invalid']);
    expect(await flag('yes')).toEqual([false, 'frontmatter-invalid']);
    expect(await flag('[true]')).toEqual([false, 'frontmatter-invalid']);
    expect(await flag('')).toEqual([false]);
  });

  it('[CUS-046] takes the first of a list for a model, and no list for another text', async () => {
    const plugin = await agentWith('---\nname: a\ndescription: [x, y]\nmodel:\n  - big\n  - small\n---\n');
    expect(plugin.agents).toMatchObject([{ model: 'big' }]);
    expect(plugin.agents[0]).not.toHaveProperty('description');
    expect(kinds(plugin)).toEqual(['frontmatter-invalid', 'required-field-missing']);
  });

  it('[CUS-047] is trimmed, the last of equal keys counts with a warning, and unknown keys are ignored', async () => {
    const plugin = await agentWith('---\nname: one\nname: "  two  "\ndescription: D\ncolour: {a: b}\n---\n');
    expect(plugin.agents).toMatchObject([{ name: 'two' }]);
    expect(plugin.warnings).toMatchObject([
      { kind: 'frontmatter-invalid', message: expect.stringContaining('"name" twice') },
    ]);
  });

  it('[CUS-048] may have folded and literal blocks', async () => {
    const folded = await commandWith('---\ndescription: >-\n  One\n  line.\n---\n');
    expect(folded.skills).toMatchObject([{ description: 'One line.' }]);
    const literal = await commandWith('---\ndescription: |\n  Two\n  lines.\n---\n');
    expect(literal.skills).toMatchObject([{ description: 'Two\nlines.' }]);
  });

  it('keeps texts as they are written and knows nothing when it sees it', () => {
    const { fields, problems } = splitFrontmatter('---\nname: 1.10\nwhen: 2024-01-01\nnone:\n---\n');
    expect(problems).toEqual([]);
    expect([...fields].map(([key, field]) => [key, 'text' in field && field.text])).toEqual([
      ['name', '1.10'],
      ['when', '2024-01-01'],
      ['none', ''],
    ]);
  });

  it('cuts descriptions that are too long and does not use names that cannot be shown', async () => {
    const plugin = await agentWith(`---\nname: "a\\nb"\ndescription: ${'x'.repeat(1_025)}\n---\n`);
    expect(plugin.agents).toMatchObject([{ name: 'a', description: 'x'.repeat(1_024) }]);
    expect(kinds(plugin)).toEqual(['name-invalid', 'frontmatter-invalid', 'required-field-missing']);
  });
});
