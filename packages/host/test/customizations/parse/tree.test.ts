import { isCustomizationEnabled } from '@atrium/protocol/ahp-1';
import { checkAction } from '@atrium/protocol/ahp-1/validation';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/formats/load.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import { AGENT, folderWith, OP, OPTIONS, SKILL } from './plugin-folder.js';

const SECRET = 'hush';

/** One of everything, with secrets wherever execution details are. */
const FULL = {
  [OP]: { name: 'demo' },
  'agents/a.md': AGENT('a').replace('You help.', SECRET),
  'skills/s/SKILL.md': SKILL.replace('Do it.', SECRET),
  'commands/c.md': SECRET,
  'prompts/p.md': SECRET,
  'rules/r.md': `---\nalwaysApply: true\nglobs: [a]\n---\n${SECRET}`,
  'hooks/hooks.json': {
    hooks: {
      Stop: [
        { matcher: 'x', hooks: [{ command: SECRET, cwd: SECRET, env: { A: SECRET } }] },
        { hooks: [{ type: 'http', url: SECRET }] },
      ],
    },
  },
  '.mcp.json': {
    mcpServers: {
      local: { command: SECRET, args: [SECRET], env: { A: SECRET }, cwd: SECRET },
      remote: { url: `https://${SECRET}:${SECRET}@example.com/`, headers: { A: SECRET } },
      bad: { type: 'ws', url: SECRET },
    },
  },
};

const load = async (containerId: string, root: string) => loadPlugin(localFiles(root), { ...OPTIONS, containerId });

describe('the children of a container', () => {
  it('[CUS-109] [UP-069] are leaves, and on until somebody decides otherwise', async () => {
    const { children } = await load('c1', await folderWith(FULL));
    expect(new Set(children.map(({ type }) => type))).toEqual(
      new Set(['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer']),
    );
    for (const child of children) {
      for (const member of ['children', 'load', 'clientId', 'enabled', 'enablement'])
        expect(child).not.toHaveProperty(member);
      expect(isCustomizationEnabled(child)).toBe(true);
    }
  });

  it('[CUS-027] are what the protocol says they are', async () => {
    const { children, load: loadState, name } = await load('c1', await folderWith(FULL));
    const container = { type: 'plugin', id: 'c1', uri: 'file:///demo', name, enabled: true, load: loadState, children };
    const action = { type: 'session/customizationUpdated', customization: container };
    expect(checkAction(action)).toMatchObject({ ok: true });
    const broken = { ...container, children: [{ ...children[0], name: 5 }] };
    expect(checkAction({ ...action, customization: broken })).toMatchObject({ ok: false });
  });

  it('[CUS-028] [CUS-112] have ids of their own, also when two containers hold the same folder', async () => {
    const root = await folderWith(FULL);
    const ids = [...(await load('c1', root)).children, ...(await load('c2', root)).children].map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.includes('#')).map((id) => id.replace(/^.*#/, ''))).toEqual([
      ...['hook=Stop:1', 'hook=Stop:2', 'mcp=local', 'mcp=remote'],
      ...['hook=Stop:1', 'hook=Stop:2', 'mcp=local', 'mcp=remote'],
    ]);
  });

  it('[CUS-113] have the same uri wherever they are loaded', async () => {
    const root = await folderWith(FULL);
    const first = (await load('c1', root)).children;
    const second = (await load('c2', root)).children;
    expect(second.map(({ uri }) => uri)).toEqual(first.map(({ uri }) => uri));
    expect(second[0]?.id).not.toBe(first[0]?.id);
  });

  it('[CUS-114] that are declared in a larger file have its uri and their span in it', async () => {
    const mcp = '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }, "b": { "command": "y" }\n  }\n}';
    const hooks = '{\r\n  "Stop": [{ "command": "x" },\r\n    { "command": "y" }]\r\n}';
    const root = await folderWith({ '.mcp.json': mcp, 'hooks/hooks.json': hooks });
    const { children } = await load('c1', root);
    const span = (line: number, character: number, endLine: number, end: number) => ({
      start: { line, character },
      end: { line: endLine, character: end },
    });
    expect(children.map(({ name, uri, range }) => [name, uri.split('/').at(-1), range])).toEqual([
      ['Stop 1', 'hooks.json', span(1, 11, 1, 29)],
      ['Stop 2', 'hooks.json', span(2, 4, 2, 22)],
      ['a', '.mcp.json', span(2, 4, 4, 5)],
      ['b', '.mcp.json', span(4, 7, 4, 30)],
    ]);
  });

  it('[CUS-115] carry nothing of how they are carried out, and neither do the messages', async () => {
    const plugin = await load('c1', await folderWith(FULL));
    expect(plugin.load.kind).toBe('degraded');
    expect(JSON.stringify([plugin.children, plugin.load, plugin.warnings])).not.toContain(SECRET);
    const details = [plugin.agents, plugin.skills, plugin.prompts, plugin.rules, plugin.hooks, plugin.mcpServers];
    for (const detail of details) expect(JSON.stringify(detail)).toContain(SECRET);
    expect(
      details
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(plugin.children.map(({ id }) => id).sort());
  });
});
