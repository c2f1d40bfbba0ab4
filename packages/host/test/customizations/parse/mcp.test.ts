import { isCustomizationEnabled } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  type McpStdioConfig,
  readMcpConfig,
  serverEnvironment,
} from '../../../src/plugins/formats/mcp-declarations.js';
import { Warnings } from '../../../src/plugins/formats/warnings.js';
import { AP_MCP_SCHEMA, AP_SCHEMA, AP_SKILL, kinds, loadWith, NAMED, names, OP, OPTIONS } from './plugin-folder.js';

const FILE = '.mcp.json';

const serversWith = (mcpServers: object) => loadWith({ [OP]: NAMED, [FILE]: { mcpServers } });
const configOf = async (entry: object) => (await serversWith({ it: entry })).mcpServers[0]?.config;

const AP_FILES = (mcp: object, schema = AP_MCP_SCHEMA) => ({
  'plugin.json': { $schema: AP_SCHEMA, name: 'strict' },
  'mcp.json': { $schema: schema, ...mcp },
  'skills/tidy/SKILL.md': AP_SKILL('tidy'),
});
const strictWith = (entry: object) => loadWith(AP_FILES({ mcpServers: { it: entry } }));
const strictConfig = async (entry: object) => (await strictWith(entry)).mcpServers[0]?.config;

describe('MCP servers', () => {
  it('[CUS-037] [UP-068] have the name of their key, and begin enabled and stopped', async () => {
    const plugin = await serversWith({ one: { command: 'a' }, two: { url: 'https://example.com/mcp' } });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.children).toMatchObject([
      { type: 'mcpServer', name: 'one', state: { kind: 'stopped' } },
      { type: 'mcpServer', name: 'two', state: { kind: 'stopped' } },
    ]);
    expect(plugin.children.every((child) => isCustomizationEnabled(child))).toBe(true);
    expect(plugin.children.map(({ id, uri }) => id.slice(`c1:${uri}`.length))).toEqual(['#mcp=one', '#mcp=two']);
  });

  it.each([undefined, 'stdio', 'local'])('[CUS-058] [CUS-059] are programs with the type %j', async (type) => {
    expect(
      await configOf({ type, command: 'node', args: ['a', 1, null, 'b'], env: { A: 'x', B: 2, C: null, D: {} } }),
    ).toEqual({
      transport: 'stdio',
      command: 'node',
      args: ['a', 'b'],
      env: { A: 'x', B: '2', C: null, ...OWN },
      cwd: '/plugins/demo',
    });
  });

  it.each([
    [undefined, 'http'],
    ['http', 'http'],
    ['streamable-http', 'http'],
    ['sse', 'sse'],
  ])('[CUS-058] [CUS-059] are elsewhere with the type %j', async (type, transport) => {
    const url = 'https://example.com/mcp';
    expect(await configOf({ type, url, headers: { A: 'x', B: {} }, oauth: { clientId: 'id', more: 1 } })).toEqual({
      transport,
      url,
      headers: { A: 'x' },
      oauth: { clientId: 'id' },
    });
  });

  it.each([
    ['mcp-transport-unsupported', { type: 'ws', url: 'wss://secret.example' }],
    ['mcp-transport-unsupported', { url: 'wss://secret.example' }],
    ['mcp-transport-unsupported', { type: 'carrier-pigeon', command: 'secret' }],
    ['mcp-entry-invalid', {}],
    ['mcp-entry-invalid', { type: 'stdio', url: 'https://secret.example' }],
    ['mcp-entry-invalid', { command: ' ' }],
    ['mcp-entry-invalid', { command: ['secret'] }],
    ['mcp-entry-invalid', { type: 'http', command: 'secret' }],
    ['mcp-entry-invalid', { url: 'file:///secret' }],
    ['mcp-entry-invalid', { url: 'secret' }],
  ])('[CUS-037] [CUS-058] [CUS-098] are skipped as %s: %j', async (kind, entry) => {
    const plugin = await serversWith({ bad: entry, good: { command: 'a' } });
    expect(names(plugin)).toEqual(['mcpServer good']);
    expect(plugin.warnings).toMatchObject([{ kind, path: FILE }]);
    expect(JSON.stringify(plugin.load)).not.toContain('secret');
  });

  it('[CUS-023] in the manifest replace those in the file, in both shapes', async () => {
    const file = { [FILE]: { mcpServers: { file: { command: 'a' } } } };
    const inline = (mcpServers: object) => loadWith({ [OP]: { name: 'demo', mcpServers }, ...file });
    const bare = await inline({ own: { command: 'a' } });
    expect(bare.children).toMatchObject([{ name: 'own', uri: expect.stringMatching(/plugin\.json$/) }]);
    expect(names(await inline({ mcpServers: { own: { command: 'a' } } }))).toEqual(['mcpServer own']);
    expect(names(await inline({}))).toEqual(['mcpServer file']);
    expect(names(await inline({ own: {} }))).toEqual(['mcpServer file']);
  });

  it('may be in a file without the outer member, and in files that the manifest names', async () => {
    const manifest = { name: 'demo', mcpServers: './more.json' };
    const plugin = await loadWith({
      [OP]: manifest,
      [FILE]: { a: { command: 'x' } },
      'more.json': { b: { command: 'x' } },
    });
    expect(names(plugin)).toEqual(['mcpServer a', 'mcpServer b']);
  });

  it('[CUS-067] of the same name: the first one counts, with a warning', async () => {
    const manifest = { name: 'demo', mcpServers: './more.json' };
    const twice = '{ "a": { "command": "1" }, "a": { "command": "2" } }';
    const plugin = await loadWith({ [OP]: manifest, [FILE]: twice, 'more.json': { a: { command: '3' } } });
    expect(plugin.mcpServers).toMatchObject([{ name: 'a', config: { command: '1' } }]);
    expect(plugin.warnings.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'mcp-name-conflict .mcp.json',
      'mcp-name-conflict more.json',
    ]);
  });

  it('[CUS-060] have placeholders in every text, replaced once', async () => {
    const text = '${PLUGIN_ROOT} ${CLAUDE_PLUGIN_ROOT} ${PLUGIN_DATA} ${TOKEN} ${UNSET} ${lower} $TOKEN';
    const filled = '/plugins/demo /plugins/demo /data/demo from-env ${UNSET} ${lower} $TOKEN';
    const config = await configOf({ command: text, args: [text], env: { A: text }, cwd: '${PLUGIN_ROOT}/x' });
    expect(config).toMatchObject({ command: filled, args: [filled], env: { A: filled }, cwd: '/plugins/demo/x' });
    const url = 'https://example.com/${TOKEN}';
    expect(await configOf({ url, headers: { A: text } })).toMatchObject({
      url: 'https://example.com/from-env',
      headers: { A: filled },
    });
  });

  it('[CUS-060] have placeholders that are not looked into again, and none for paths in a manifest', async () => {
    const options = { env: { TOKEN: '${PLUGIN_ROOT}' } };
    const files = { [FILE]: { it: { command: '${TOKEN}' } }, '${TOKEN}/a.md': 'x', 'commands/b.md': 'x' };
    const plugin = await loadWith({ [OP]: { name: 'demo', commands: './${TOKEN}' }, ...files }, options);
    expect(plugin.mcpServers).toMatchObject([{ config: { command: '${PLUGIN_ROOT}' } }]);
    expect(names(plugin)).toEqual(['skill a', 'skill b', 'mcpServer it']);
  });

  it('[CUS-062] get the environment, then their own, then what only the host may set; they start in the plugin', async () => {
    const env = { A: 'own', GONE: null, PLUGIN_ROOT: '/elsewhere' };
    const config = (await configOf({ command: 'a', env })) as McpStdioConfig;
    expect(config.cwd).toBe('/plugins/demo');
    const base = { A: 'base', B: 'base', GONE: 'base', PLUGIN_DATA: '/elsewhere', NONE: undefined };
    expect(serverEnvironment(base, config)).toEqual({ A: 'own', B: 'base', ...OWN });
    expect(await configOf({ command: 'a', cwd: 'sub' })).toMatchObject({ cwd: '/plugins/demo/sub' });
  });

  it('in a broken file are none, with a warning', async () => {
    for (const text of ['{', '[]', '5']) {
      const plugin = await loadWith({ [OP]: NAMED, [FILE]: text });
      expect(kinds(plugin)).toEqual(['mcp-entry-invalid']);
    }
    const odd = await serversWith({
      '': { command: 'a' },
      [`x${'y'.repeat(200)}`]: { command: 'a' },
      list: [],
      text: 'x',
    });
    expect(kinds(odd)).toEqual(Array(4).fill('mcp-entry-invalid'));
  });

  it('[CUS-114] can be read from a larger file that no plugin owns, with their places', () => {
    const text = '{\n  // mine\n  "other": 1,\n  "mcpServers": {\n    "a": { "command": "x" }\n  },\n}';
    const warnings = new Warnings();
    const expansion = { env: {}, platform: 'linux' } as const;
    const rules = { expansion, isStrict: false, path: 'atrium.json', shape: 'wrapped' } as const;
    expect(readMcpConfig(text, rules, warnings)).toEqual([
      {
        name: 'a',
        config: { transport: 'stdio', command: 'x', args: [], env: {} },
        declared: { transport: 'stdio', command: 'x', args: [], env: {} },
        range: { start: { line: 4, character: 4 }, end: { line: 4, character: 27 } },
      },
    ]);
    expect(readMcpConfig('{"other": 1}', rules, warnings)).toEqual([]);
    expect(warnings.list).toEqual([]);
  });
});

const OWN = {
  PLUGIN_ROOT: OPTIONS.pluginRoot,
  PLUGIN_DATA: OPTIONS.pluginData,
  CLAUDE_PLUGIN_ROOT: OPTIONS.pluginRoot,
  CLAUDE_PLUGIN_DATA: OPTIONS.pluginData,
};

describe('MCP servers of Agent Plugins', () => {
  it('[CUS-060] [CUS-063] know only the two placeholders, and none in the command', async () => {
    const text = '${PLUGIN_ROOT} ${PLUGIN_DATA} ${TOKEN} ${CLAUDE_PLUGIN_ROOT}';
    const filled = '/plugins/demo /data/demo ${TOKEN} ${CLAUDE_PLUGIN_ROOT}';
    const config = await strictConfig({ command: './bin/server', args: [text], env: { A: text } });
    expect(config).toMatchObject({ command: '/plugins/demo/bin/server', args: [filled], env: { A: filled } });
    expect(await strictConfig({ command: '${PLUGIN_DATA}' })).toMatchObject({ command: '${PLUGIN_DATA}' });
  });

  it.each([
    ['node', undefined, '/plugins/demo'],
    ['node', './sub', '/plugins/demo/sub'],
    ['node', '${PLUGIN_ROOT}/sub', '/plugins/demo/sub'],
    ['node', '${PLUGIN_DATA}', '/data/demo'],
  ])('[CUS-063] may be %s in %s', async (command, cwd, place) => {
    expect(await strictConfig({ command, cwd })).toMatchObject({ cwd: place });
  });

  it.each([
    { command: 'node server.js' },
    { command: '/bin/node' },
    { command: '${PLUGIN_ROOT}/server' },
    { command: './../server' },
    { command: 'node', cwd: '/etc' },
    { command: 'node', cwd: 'sub' },
    { command: 'node', cwd: './../..' },
    { command: 'node', cwd: '${PLUGIN_ROOT}/../x' },
    { command: 'node', cwd: '${PLUGIN_ROOT}x' },
    { command: 'node', env: { PLUGIN_ROOT: '/x' } },
    { command: 'node', env: { PLUGIN_DATA: '/x' } },
    { command: 'node', colour: 'blue' },
    { command: 'node', url: 'https://example.com' },
    { url: 'http://example.com' },
    { url: 'ftp://example.com' },
    { url: '/relative' },
    { url: 'https://user@example.com' },
    { url: 'https://user:word@example.com' },
    { url: 'https://example.com/#part' },
    { url: 'https://example.com', tools: [] },
  ])('[CUS-063] [CUS-098] are skipped with a warning: %j', async (entry) => {
    const plugin = await strictWith(entry);
    expect(names(plugin)).toEqual(['skill tidy']);
    expect(kinds(plugin)).toEqual(['mcp-entry-invalid']);
  });

  it.each(['https://example.com/mcp', 'http://127.0.0.1:80/mcp', 'http://localhost/mcp', 'http://[::1]/mcp'])(
    '[CUS-063] may be at %s',
    async (url) => {
      expect(await strictConfig({ url })).toMatchObject({ url });
    },
  );

  it('[CUS-064] are not used when their file is for another version; skills are', async () => {
    const servers = { mcpServers: { it: { command: 'node' } } };
    for (const schema of [AP_MCP_SCHEMA.replace('1.0.0', '1.1.0'), 'https://example.com', AP_SCHEMA]) {
      const plugin = await loadWith(AP_FILES(servers, schema));
      expect(names(plugin)).toEqual(['skill tidy']);
      expect(kinds(plugin)).toEqual(['mcp-entry-invalid']);
    }
    expect(names(await loadWith(AP_FILES(servers)))).toEqual(['skill tidy', 'mcpServer it']);
  });
});
