/** Search over the sessions of a host: with SQLite's index, and by reading a log that has none. */
import { mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type SearchItem, type SearchResult, SessionStatus } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { TEXT_INDEX_FILE } from '../../src/log-sqlite/text-index.js';
import { componentsOf } from '../support/host-components.js';
import { dataFolder, drivers } from '../support/log-folders.js';
import { nativeClient, nativeSession, nativeTurn } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { type RawClient, ROOT, startTestHost, type TestHost } from '../support/test-host.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();

interface Said {
  readonly text: string;
  readonly answer?: string;
  readonly parts?: readonly object[];
  readonly daysAgo?: number;
  readonly model?: string;
}

function turnOf(id: string, { text, answer = '', parts = [], daysAgo = 1, model }: Said): object {
  return {
    id,
    startedAt: new Date(NOW - daysAgo * DAY_MS).toISOString(),
    message: { text, origin: { kind: 'user' }, ...(model && { model: { id: model } }) },
    responseParts: [{ kind: 'markdown', id: `${id}-a`, content: answer }, ...parts],
    state: 'complete',
  };
}

async function importSession(client: RawClient, id: string, said: readonly Said[], more: object = {}): Promise<string> {
  const channel = `ahp-session:/${id}`;
  const at = new Date(NOW).toISOString();
  const summary = {
    ...{ resource: channel, provider: 'mock', title: `Session ${id}`, status: SessionStatus.Idle },
    ...{ createdAt: at, modifiedAt: at, ...more },
  };
  const turns = said.map((each, index) => turnOf(`${id}-${index}`, each));
  await client.request('atrium/importSession', { channel, start: 0, turns, state: { summary } });
  return channel;
}

const find = (client: RawClient, params: object) => client.request<SearchResult>('atrium/search', params);
const turnsIn = ({ items }: SearchResult) => items.map(({ turnId, session }) => turnId ?? session);
const marked = ({ snippet, ranges }: SearchItem) => ranges.map(([start, end]) => snippet.slice(start, end));

const TOOL_PARTS = [
  { kind: 'reasoning', id: 'r', content: 'The walrus must be considered first.' },
  {
    kind: 'toolCall',
    toolCall: {
      ...{ status: 'completed', toolCallId: 'c', toolName: 'shell', displayName: 'Run a command' },
      ...{ invocationMessage: 'Run the tests', pastTenseMessage: 'Ran the tests', confirmed: 'not-needed' },
      ...{ success: true, toolInput: JSON.stringify({ command: 'npm run frobnicate -- --verbose' }) },
      content: [
        { type: 'text', text: 'invisible output' },
        { type: 'fileEdit', after: { uri: 'file:///srv/app/src/zebra_stripes.ts', content: { uri: 'x:/1' } } },
      ],
    },
  },
];

/** The same for every kind of log: what is found does not depend on how. */
function everyLog(name: string, open: (dataDir: string) => Promise<Log>) {
  describe(name, () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'atrium-search-'));
    let host: TestHost;
    let client: RawClient;

    beforeAll(async () => {
      host = await startTestHost({ log: await open(dataDir), agents: [new PuppetAgent()] });
      client = await nativeClient(host, 'desk');
      await importSession(
        client,
        'one',
        [
          { text: 'Where is the foo_bar function?', answer: 'In *Größe*, near the old lighthouse.', daysAgo: 9 },
          {
            text: 'And the other one',
            answer: 'lighthouse keepers keep the lighthouse',
            parts: TOOL_PARTS,
            daysAgo: 8,
          },
        ],
        { workingDirectories: ['file:///srv/app/web'], title: 'Panda paperwork' },
      );
      await importSession(
        client,
        'two',
        [
          { text: 'bar foo, the other way round', answer: 'the house is light', daysAgo: 2, model: 'acme/small-4' },
          { text: '日本語の検索 works', answer: 'A lighthouse at last', daysAgo: 1 },
        ],
        { provider: 'puppet', workingDirectories: ['file:///srv/other'] },
      );
      await componentsOf(host.host).search.follower.settled();
    });
    afterAll(async () => {
      await host.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it('[DAY-020] finds words, phrases, beginnings, and leaves words out, the newest first', async () => {
      const ids = async (query: string) => turnsIn(await find(client, { query }));
      expect(await ids('lighthouse')).toEqual(['two-1', 'one-1', 'one-0']);
      expect(turnsIn(await find(client, { query: 'keepers', channel: ROOT }))).toEqual(['one-1']);
      expect(await ids('LIGHTHOUSE keepers')).toEqual(['one-1']);
      expect(await ids('lighthouse -keepers')).toEqual(['two-1', 'one-0']);
      expect(await ids('"old lighthouse"')).toEqual(['one-0']);
      expect(await ids('lighth*')).toEqual(['two-1', 'one-1', 'one-0']);
      expect(await ids('lighth')).toEqual([]);
      expect(await ids('foo_bar')).toEqual(['one-0']);
      expect(await ids('grosse OR große')).toEqual([]);
      expect(await ids('GRÖßE')).toEqual(['one-0']);
      expect(await ids('検索')).toEqual(['two-1']);
      expect(await ids('')).toEqual([]);
    });

    it('[DAY-020] looks in reasoning, tool titles, commands, file names and titles, and not in output', async () => {
      const kinds = async (query: string) => (await find(client, { query })).items.map(({ kind }) => kind);
      expect(await kinds('walrus')).toEqual(['reasoning']);
      expect(await kinds('"ran the tests"')).toEqual(['tool']);
      expect(await kinds('frobnicate')).toEqual(['tool']);
      expect(await kinds('zebra_stripes')).toEqual(['file']);
      expect(await kinds('panda')).toEqual(['title']);
      expect(await kinds('invisible')).toEqual([]);
    });

    it('[DAY-020] narrows by folder, agent, model, date, state and changed file', async () => {
      const ids = async (params: object) => turnsIn(await find(client, params));
      expect(await ids({ query: 'lighthouse folder:/srv/app' })).toEqual(['one-1', 'one-0']);
      expect(await ids({ query: 'lighthouse', folder: '/srv/app/w' })).toEqual([]);
      expect(await ids({ query: 'lighthouse agent:mock' })).toEqual(['one-1', 'one-0']);
      expect(await ids({ query: 'model:small-4' })).toEqual(['two-0']);
      expect(await ids({ query: 'lighthouse since:3d' })).toEqual(['two-1']);
      expect(await ids({ query: 'lighthouse until:8.5d' }).catch((error) => String(error))).toContain('write a day');
      const until = new Date(NOW - 8.5 * DAY_MS).toISOString();
      expect(await ids({ query: 'lighthouse', until })).toEqual(['one-0']);
      expect(await ids({ query: 'file:zebra_stripes.ts' })).toEqual(['one-1']);
      expect(await ids({ query: 'lighthouse -foo state:archived' })).toEqual([]);
      client.dispatch('ahp-session:/two', { type: 'session/isArchivedChanged', isArchived: true } as never);
      await expect.poll(() => ids({ query: 'lighthouse state:archived' })).toEqual(['two-1']);
      expect(await ids({ query: '-keepers -foo' })).toContain('two-1');
    });

    it('[DAY-020] [DAY-023] shows the words in a snippet with time and turn, page by page, also within one session', async () => {
      const [first] = (await find(client, { query: 'lighthouse', limit: 1 })).items;
      expect(first).toMatchObject({
        ...{ session: 'ahp-session:/two', turnId: 'two-1', turn: 1, kind: 'answer', title: 'Session two' },
        ...{ time: new Date(NOW - DAY_MS).toISOString(), provider: 'puppet', workingDirectory: 'file:///srv/other' },
      });
      expect(first && marked(first)).toEqual(['lighthouse']);
      const pages: string[][] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await find(client, { query: 'lighthouse', limit: 2, ...(cursor !== undefined && { cursor }) });
        pages.push(turnsIn(page));
        cursor = page.nextCursor;
      }
      expect(pages).toEqual([['two-1', 'one-1'], ['one-0']]);
      const within = await find(client, { query: 'lighthouse', channel: 'ahp-session:/one' });
      expect(within.items.map(({ turn }) => turn)).toEqual([1, 0]);
      const chat = within.items[0]?.chat;
      expect(turnsIn(await find(client, { query: 'lighthouse', channel: chat }))).toEqual(['one-1', 'one-0']);
      expect(turnsIn(await find(client, { query: 'lighthouse', channel: 'ahp-session:/none' }))).toEqual([]);
    });

    it('[DAY-020] [DAY-021] finds what was said just now, and nothing that is cut off or deleted', async () => {
      const { uri, chat } = await nativeSession(client);
      const first = await nativeTurn(client, chat, 'a quokka to begin with');
      const second = await nativeTurn(client, chat, 'another quokka');
      const ids = async () => turnsIn(await find(client, { query: 'quokka' }));
      await expect.poll(ids).toEqual([second, first]);
      const { search } = componentsOf(host.host);
      client.dispatch(chat, { type: 'chat/truncated', turnId: first } as never);
      await client.action(chat, 'chat/truncated');
      expect(await ids()).toEqual([first]);
      const index = await search.follower.index();
      if (index) await expect.poll(async () => (await index.channel(chat))?.count).toBe(1);
      const third = await nativeTurn(client, chat, 'quokka again');
      await expect.poll(ids).toEqual([third, first]);
      await client.request('disposeSession', { channel: uri });
      expect(await ids()).toEqual([]);
      await client.request('atrium/restoreSession', { channel: uri });
      expect(await ids()).toEqual([third, first]);
    });
  });
}

everyLog('a log without full text', async () => new MemoryLog());
for (const driver of drivers) {
  everyLog(`SQLite on ${driver.name}`, (dataDir) => openSqliteLog({ dataDir, driver }));
}

describe('the index', () => {
  async function hostWith(dataDir: string) {
    const host = await startTestHost({ log: await openSqliteLog({ dataDir }) });
    const client = await nativeClient(host, `c-${crypto.randomUUID()}`);
    return { host, client, search: componentsOf(host.host).search };
  }

  it('[DAY-021] is made anew when it is missing or damaged, and the host works without it', async () => {
    const dataDir = dataFolder();
    const file = path.join(dataDir, TEXT_INDEX_FILE);
    const first = await hostWith(dataDir);
    const many = Array.from({ length: 300 }, (_, index) => ({ text: `heron number${index} ${'word '.repeat(50)}` }));
    await importSession(first.client, 'long', many);
    await first.search.follower.settled();
    await first.host.stop();

    rmSync(file);
    const second = await hostWith(dataDir);
    // The first search opens the index, which has nothing yet.
    expect((await find(second.client, { query: 'heron' })).indexing).toMatchObject({ total: 1 });
    await second.search.follower.settled();
    expect((await find(second.client, { query: 'heron number7' })).items.map(({ turn }) => turn)).toEqual([7]);
    await second.host.stop();

    const { size } = statSync(file);
    const bytes = openSync(file, 'r+');
    for (let at = 4_096; at < size; at += 4_096) writeSync(bytes, Buffer.alloc(2_000, 0x5a), 0, 2_000, at);
    const third = await hostWith(dataDir);
    await find(third.client, { query: 'heron number7' });
    await third.search.follower.settled();
    const index = await third.search.follower.index();
    const [chat = ''] = (await index?.channels())?.filter((uri) => uri.startsWith('ahp-chat:')) ?? [];
    expect(await index?.channel(chat)).toMatchObject({ count: 300 });
    expect((await find(third.client, { query: 'heron number7' })).items.map(({ turn }) => turn)).toEqual([7]);
    await third.host.stop();

    rmSync(file);
    mkdirSync(file);
    const fourth = await hostWith(dataDir);
    expect((await find(fourth.client, { query: 'heron number7' })).items.map(({ turn }) => turn)).toEqual([7]);
    await fourth.host.stop();
  });

  it('[DAY-021] is not opened by a start, and forgets a session that is gone for good', async () => {
    const dataDir = dataFolder();
    const { host, client, search } = await hostWith(dataDir);
    expect(() => statSync(path.join(dataDir, TEXT_INDEX_FILE))).toThrow();
    const uri = await importSession(client, 'gone', [{ text: 'heron' }]);
    await search.follower.settled();
    const index = await search.follower.index();
    expect((await index?.channels())?.length).toBe(2);
    await client.request('disposeSession', { channel: uri });
    const { catalogue, writer } = componentsOf(host.host);
    catalogue.remove(uri);
    await writer.settled();
    await search.forgotten();
    await expect.poll(() => index?.channels()).toEqual([]);
    await host.stop();
  });
});
