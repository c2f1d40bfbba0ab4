import { describe, expect, it } from 'vitest';
import { type HostRequestHandlers, RequestError, serveResources } from '../src/index.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { ONE, ROOT } from './support/states.js';

const METHODS = [
  'resourceRead',
  'resourceWrite',
  'resourceList',
  'resourceCopy',
  'resourceDelete',
  'resourceMove',
  'resourceResolve',
  'resourceMkdir',
  'resourceRequest',
  'createResourceWatch',
  'systemMessageTransform',
];

/** Asks the client and waits for its one answer. */
async function ask(handlers: HostRequestHandlers, method: string, params: object, id = 1_000_000_001) {
  const { host, logged } = await connected({ handlers });
  host.connection.send({ id, method, params });
  await settle();
  const answers = host.heard.filter((message) => message.method === undefined);
  expect(answers).toHaveLength(1);
  expect(answers[0]?.id).toBe(id);
  return { result: answers[0]?.result, error: answers[0]?.error as { code: number } | undefined, logged };
}

describe('a request of the host', () => {
  it.each([...METHODS, 'unheardOf', 'toString'])(
    '[CLI-018] [REL-024] for %s without a handler is answered with -32601',
    async (method) => {
      expect((await ask({}, method, { channel: ROOT })).error?.code).toBe(-32601);
    },
  );

  it('[CLI-019] with a handler is answered with its result', async () => {
    const read = ask({ resourceRead: async ({ uri }) => ({ data: uri, encoding: 'utf-8' }) }, 'resourceRead', {
      channel: ROOT,
      uri: 'virtual:/a',
    });
    expect((await read).result).toEqual({ data: 'virtual:/a', encoding: 'utf-8' });
  });

  it('[CLI-019] is refused with the error that the handler throws', async () => {
    const refuse = () => {
      throw new RequestError(-32009, 'not yours', { request: { channel: ROOT, uri: 'file:///a', read: true } });
    };
    const { error } = await ask({ resourceRead: refuse }, 'resourceRead', { channel: ROOT, uri: 'file:///a' });
    expect(error).toMatchObject({ code: -32009, message: 'not yours', data: { request: { uri: 'file:///a' } } });
  });

  it('[CLI-019] that makes the handler fail is answered without telling how', async () => {
    const fail = () => {
      throw new Error('secret path');
    };
    const { error, logged } = await ask({ resourceRead: fail }, 'resourceRead', { channel: ROOT, uri: 'file:///a' });
    expect(error).toEqual({ code: -32603, message: 'The client failed to answer resourceRead.' });
    expect(logged).toEqual(['the handler of resourceRead threw']);
  });

  it('[CLI-019] with bad params does not reach the handler', async () => {
    const { error } = await ask({ resourceRead: () => ({ data: '', encoding: 'utf-8' }) }, 'resourceRead', {
      channel: ROOT,
    });
    expect(error).toMatchObject({ code: -32602, message: 'resourceRead: /uri must be present.' });
  });

  it('is told from the answer to a request of our own with the same number', async () => {
    const { client, host } = await connected({ handlers: serveResources({ 'virtual:/a': 'A' }) });
    host.scripts.set('listSessions', (_, connection) => {
      const { id } = host.heard.at(-1) ?? {};
      connection.send({ id, method: 'resourceRead', params: { channel: ROOT, uri: 'virtual:/a' } });
      return { items: [] };
    });
    expect(await client.listSessions()).toEqual([]);
    await settle();
    expect(host.heard.at(-1)?.result).toEqual({ data: 'A', encoding: 'utf-8' });
  });

  it('to rewrite sections of the prompt reaches its handler', async () => {
    const { result } = await ask(
      { systemMessageTransform: ({ sections }) => ({ sections: { tone: { content: `${sections.tone?.content}!` } } }) },
      'systemMessageTransform',
      { channel: ONE, sections: { tone: { content: 'Be brief' } } },
    );
    expect(result).toEqual({ sections: { tone: { content: 'Be brief!' } } });
  });
});

describe('[CLI-020] published content', () => {
  const files = { 'virtual:/plugin/plugin.json': '{}', 'virtual:/plugin/skills/a/SKILL.md': '# A' };
  const read = (uri: string) => ask(serveResources(files), 'resourceRead', { channel: ROOT, uri });
  const list = (uri: string) =>
    ask(serveResources(new Map(Object.entries(files))), 'resourceList', { channel: ROOT, uri });

  it('can be read', async () => {
    expect((await read('virtual:/plugin/plugin.json')).result).toEqual({ data: '{}', encoding: 'utf-8' });
  });

  it('can be listed, folder by folder', async () => {
    expect((await list('virtual:/plugin')).result).toEqual({
      entries: [
        { name: 'plugin.json', type: 'file' },
        { name: 'skills', type: 'directory' },
      ],
    });
    expect((await list('virtual:/plugin/skills/')).result).toEqual({ entries: [{ name: 'a', type: 'directory' }] });
  });

  it('is all there is', async () => {
    for (const uri of ['virtual:/plugin', 'file:///etc/passwd', 'virtual:/plugin/../plugin/plugin.json', '__proto__']) {
      expect((await read(uri)).error?.code).toBe(-32008);
    }
    expect((await list('virtual:/other')).error?.code).toBe(-32008);
  });
});
