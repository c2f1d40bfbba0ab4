/** Completions in a message, as a client asks for them. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { CompletionItem } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../src/host.js';
import { COMPLETIONS_MAX } from '../../src/workspace/completions/completions.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient } from '../support/test-host.js';

const PROJECT = {
  'src/parser.ts': 'export class Parser {}\n\nexport function parseLine(text: string) {}\n',
  'src/printer.ts': 'export const printer = 1;\n',
  'node_modules/x/parser.js': 'function hidden() {}\n',
  '.agents/skills/deploy/SKILL.md': '---\nname: deploy\ndescription: Puts it online\n---\nDo it.\n',
  '.agents/agents/reviewer.md': '---\nname: reviewer\ndescription: Reads with care\n---\nYou review.\n',
};

async function fixture(files: Readonly<Record<string, string>> = PROJECT) {
  const folder = await tempFolder(files);
  const home = await tempFolder();
  const customizations = {
    userFolder: path.join(home, 'agents'),
    userConfigFile: path.join(home, 'config.json'),
    dataFolder: path.join(home, 'plugins'),
  };
  const trust = { isTrusted: async () => true, allows: async () => true, trust: async () => {} };
  const host = await createHost({ log: new MemoryLog(), agents: [new PuppetAgent()], customizations, trust });
  onTestFinished(() => host.stop());
  const client = new RawClient();
  host.connect(client.transport);
  const greeting = await client.initialize('desk');
  const channel = await client.session('ahp-session:/a', { workingDirectory: pathToFileURL(folder).href });
  const complete = async (marked: string): Promise<CompletionItem[]> => {
    const params = { channel, kind: 'userMessage', text: marked.replace('|', ''), offset: marked.indexOf('|') };
    return (await client.request<{ items: CompletionItem[] }>('completions', params)).items;
  };
  return { host, folder, client, channel, greeting, complete };
}

describe('completions', () => {
  it('say which characters begin one', async () => {
    const { greeting } = await fixture();
    expect(greeting.completionTriggerCharacters).toEqual(['@', '#', '/']);
  });

  it('[AHP-055] [AHP-057] [AHP-058] finds files, best first, with what they replace and attach', async () => {
    const { folder, complete } = await fixture();
    const [first, ...others] = await complete('look at @parse| now');
    expect(first).toEqual({
      insertText: '@src/parser.ts ',
      rangeStart: 8,
      rangeEnd: 14,
      attachment: {
        type: 'resource',
        label: 'src/parser.ts',
        uri: pathToFileURL(path.join(folder, 'src/parser.ts')).href,
        displayKind: 'document',
      },
    });
    expect(JSON.stringify(others)).not.toContain('node_modules');
  });

  it('finds symbols by what stands in front of them, with the line', async () => {
    const { complete } = await fixture();
    const [found] = await complete('explain #parseL|');
    expect(found).toMatchObject({
      insertText: '#parseLine ',
      attachment: { displayKind: 'symbol', label: expect.stringContaining('src/parser.ts') },
    });
    expect(found?.attachment).toMatchObject({ selection: { range: { start: { line: 2, character: 0 } } } });
  });

  it('finds skills at the beginning of a message, and agents anywhere', async () => {
    const { complete } = await fixture();
    await expect.poll(async () => (await complete('/dep|')).map(({ insertText }) => insertText)).toEqual(['/deploy ']);
    expect((await complete('ask @revi|'))[0]?.attachment).toMatchObject({
      type: 'simple',
      label: 'reviewer',
      displayKind: 'agent',
    });
    expect(await complete('please /dep|')).toEqual([]);
  });

  it('finds the same before there is a session, in the folder in which it would work [DAY-121]', async () => {
    const { folder, client } = await fixture();
    const workingDirectory = pathToFileURL(folder).href;
    const asked = async (text: string, more: object = {}) => {
      const params = { workingDirectory, text, offset: text.length, ...more };
      return (await client.request<{ items: CompletionItem[] }>('atrium/completions', params)).items;
    };
    const uri = pathToFileURL(path.join(folder, 'src/parser.ts')).href;
    expect((await asked('look at @parse'))[0]).toMatchObject({ insertText: '@src/parser.ts ', attachment: { uri } });
    expect((await asked('explain #parseL'))[0]).toMatchObject({ insertText: '#parseLine ', rangeStart: 8 });
    expect((await asked('/dep')).map(({ insertText }) => insertText)).toEqual(['/deploy ']);
    expect((await asked('ask @revi'))[0]?.attachment).toMatchObject({ label: 'reviewer', displayKind: 'agent' });
    expect(await asked('nothing here')).toEqual([]);
    await expect(asked('@p', { offset: 3 })).rejects.toThrow('/offset must be within the text');
    await expect(asked('@p', { workingDirectory: `${workingDirectory}/none` })).rejects.toThrow('/workingDirectory');
    await expect(asked('@p', { workingDirectory: 'https://example.org/' })).rejects.toThrow('/workingDirectory');
  });

  it('[AHP-055] gives what it can find: nothing, and no error, where there is no folder any more', async () => {
    const { folder, complete } = await fixture();
    await rm(folder, { recursive: true });
    for (const marked of ['@parse|', '#parse|', 'nothing to complete|']) expect(await complete(marked)).toEqual([]);
  });

  it('[AHP-056] refuses a caret outside of the text, in UTF-16 units', async () => {
    const { client, channel } = await fixture({});
    const ask = (offset: number) => client.ask('completions', { channel, kind: 'userMessage', text: '😀', offset });
    expect((await ask(2)).error).toBeUndefined();
    for (const offset of [-1, 3, 0.5]) expect((await ask(offset)).error?.code).toBe(-32602);
    const elsewhere = { channel: 'ahp-session:/none', kind: 'userMessage', text: '', offset: 0 };
    expect((await client.ask('completions', elsewhere)).error?.code).toBe(-32001);
  });

  it('gives a bounded list, whatever the folder holds', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`file-${index}.txt`, '']));
    const { complete } = await fixture(many);
    expect(await complete('@file|')).toHaveLength(COMPLETIONS_MAX);
  });
});

describe('completions, for a client of 1.0', () => {
  it('[UP-048] [UP-185] are asked for on the chat, or by some clients on the session', async () => {
    const { host, channel } = await fixture();
    const client = new RawClient();
    host.connect(client.transport);
    await client.initialize('editor', { protocolVersions: ['1.0.0'] });
    const params = { kind: 'userMessage', text: '@pars', offset: 5 };
    for (const place of [defaultChatUri(channel), channel]) {
      const { items } = await client.request<{ items: CompletionItem[] }>('completions', { channel: place, ...params });
      expect(items[0]?.insertText, place).toBe('@src/parser.ts ');
    }
    const { error } = await client.ask('completions', { channel: 'ahp-chat:/never', ...params });
    expect(error?.code).toBe(-32008);
  });
});
