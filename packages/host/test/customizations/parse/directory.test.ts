import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDirectory } from '../../../src/plugins/formats/load.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import { AGENT, folderWith, loadDirectoryWith, names, OPTIONS, SKILL } from './plugin-folder.js';

/** One file of each kind, side by side. */
const MIXED = {
  'helper.agent.md': AGENT('helper'),
  'begin.prompt.md': 'Begin.',
  'kind.instructions.md': '---\napplyTo: "*"\n---\nBe kind.',
  'tidy/SKILL.md': SKILL,
  'guard.json': { hooks: { PreToolUse: [{ command: 'x' }] } },
  '.mcp.json': { mcpServers: { a: { command: 'x' } } },
  'notes.txt': 'x',
};

describe('a watched directory', () => {
  it.each([
    ['agent', ['agent helper']],
    ['prompt', ['prompt begin']],
    ['rule', ['rule kind']],
    ['skill', ['skill tidy']],
    ['hook', ['hook PreToolUse 1']],
  ] as const)('[CUS-120] shows only its kind: %s', async (contents, expected) => {
    const directory = await loadDirectoryWith(contents, MIXED);
    expect(names(directory)).toEqual(expected);
    expect(directory.load).toEqual({ kind: 'loaded' });
  });

  it('[CUS-120] of MCP servers shows those of its JSON files', async () => {
    const directory = await loadDirectoryWith('mcpServer', {
      '.mcp.json': { mcpServers: { a: { command: 'x' } } },
      'more.json': { b: { url: 'https://example.com' } },
    });
    expect(names(directory)).toEqual(['mcpServer a', 'mcpServer b']);
  });

  it('[CUS-034] of prompts shows files with the ending of prompts only', async () => {
    const directory = await loadDirectoryWith('prompt', { 'a.prompt.md': 'A', 'b.md': 'B', '.c.prompt.md': 'C' });
    expect(names(directory)).toEqual(['prompt a']);
    expect(directory.prompts).toMatchObject([{ body: 'A' }]);
  });

  it('[CUS-122] that does not exist yet is empty', async () => {
    const root = path.join(await folderWith({}), 'not', 'yet');
    const directory = await loadDirectory(localFiles(root), { ...OPTIONS, contents: 'skill' });
    expect(directory).toMatchObject({ load: { kind: 'loaded' }, children: [], warnings: [] });
  });
});
