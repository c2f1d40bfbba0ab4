import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitFrontmatter } from '../../../src/plugins/formats/frontmatter.js';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import type { PluginFiles } from '../../../src/plugins/formats/plugin-files.js';
import { AP_MCP_SCHEMA, AP_SCHEMA, OPTIONS } from './plugin-folder.js';

/** Few words, so that random values often meet the names that mean something. */
const KEYS = [
  'name',
  'agents',
  'skills',
  'hooks',
  'mcpServers',
  'paths',
  'exclusive',
  'matcher',
  'command',
  'type',
  'url',
];
const MORE_KEYS = ['args', 'env', 'cwd', 'Stop', 'PreToolUse', 'author', 'extensions', '__proto__', 'constructor'];
const TEXTS = ['./agents', '../x', '.', '', 'stdio', 'http', 'https://example.com', '${PLUGIN_ROOT}/x', '(', '\u0000'];

const word = fc.oneof(fc.constantFrom(...KEYS, ...MORE_KEYS), fc.string({ maxLength: 4 }));
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 8 }));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom<unknown>(true, false, null, 0, -1, 1e9),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(word, tie('json'), { maxKeys: 4 }),
  ),
}));
const object = fc.dictionary(word, json, { maxKeys: 6 });
const file = fc.oneof(
  object.map((value) => JSON.stringify(value)),
  fc.string(),
);
const yaml = fc.array(
  fc.oneof(
    fc.tuple(word, text).map(([key, value]) => `${key}: ${value}`),
    fc.string(),
  ),
  { maxLength: 5 },
);
const markdown = yaml.map((lines) => `---\n${lines.join('\n')}\n---\nBody`);

function inMemory(texts: Readonly<Record<string, string>>): PluginFiles {
  const inside = (folder: string) =>
    Object.keys(texts).filter((path) => folder === '' || path.startsWith(`${folder}/`));
  return {
    async list(folder) {
      const rest = inside(folder).map((path) => path.slice(folder === '' ? 0 : folder.length + 1));
      const entries = rest.map((path) => ({
        name: path.split('/')[0] ?? '',
        kind: path.includes('/') ? ('folder' as const) : ('file' as const),
      }));
      return rest.length > 0 || folder === '' ? entries : undefined;
    },
    read: async (path) => (Object.hasOwn(texts, path) ? texts[path] : undefined),
    uri: (path) => `virtual://desk/demo/${path}`,
  };
}

/** Whatever is written, there is a value, with an id for each child, and nothing is thrown. */
async function expectValue(texts: Readonly<Record<string, string>>): Promise<void> {
  const { load, children, warnings } = await loadPlugin(inMemory(texts), OPTIONS);
  expect(['loaded', 'degraded', 'error']).toContain(load.kind);
  expect(new Set(children.map(({ id }) => id)).size).toBe(children.length);
  if (load.kind === 'loaded') expect(warnings.every(({ kind }) => /unknown|unsupported/.test(kind))).toBe(true);
}

describe('whatever strangers write', () => {
  it('gives a value for any manifest, hooks file and MCP file', async () => {
    const property = fc.asyncProperty(file, file, file, markdown, (manifest, hooks, mcp, agent) =>
      expectValue({
        '.plugin/plugin.json': manifest,
        'hooks/hooks.json': hooks,
        '.mcp.json': mcp,
        'agents/a.md': agent,
        'skills/s/SKILL.md': agent,
        'rules/r.mdc': agent,
      }),
    );
    await fc.assert(property, { numRuns: 150 });
  });

  it('gives a value for any plugin of the strict dialect', async () => {
    const property = fc.asyncProperty(object, object, markdown, (manifest, mcpServers, skill) =>
      expectValue({
        'plugin.json': JSON.stringify({ name: 'strict', ...manifest, $schema: AP_SCHEMA }),
        'mcp.json': JSON.stringify({ mcpServers, $schema: AP_MCP_SCHEMA }),
        'skills/s/SKILL.md': skill,
      }),
    );
    await fc.assert(property, { numRuns: 100 });
  });

  it('gives frontmatter and a body for any text', () => {
    fc.assert(
      fc.property(fc.oneof(markdown, fc.string()), (whole) => {
        const { fields, body, problems } = splitFrontmatter(whole);
        expect(whole.endsWith(body)).toBe(true);
        if (fields.size > 0) expect(body.length).toBeLessThan(whole.length);
        expect(problems.every((problem) => problem.length > 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
