/** The index of SQLite against plain reading: the same is found whatever is asked, and the file stays small. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TextDocument, TextIndexDamagedError, type TextQuery } from '@atrium/core/log/text-index.js';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SqliteDriver } from '../../src/log-sqlite/driver.js';
import {
  openTextIndex,
  removeTextIndex,
  type SqliteTextIndex,
  TEXT_INDEX_FILE,
} from '../../src/log-sqlite/text-index.js';
import { readQuery } from '../../src/search/query.js';
import { ScanFinder } from '../../src/search/scan.js';
import { drivers } from '../support/log-folders.js';

function openIndex(driver: SqliteDriver) {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-index-'));
  const index = openTextIndex({ driver, path: path.join(folder, TEXT_INDEX_FILE) });
  onTestFinished(async () => {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { index, folder };
}

const MINUTE_MS = 60_000;
const WORDS = [
  'foo',
  'Bar',
  'naïve',
  'über',
  'AND',
  'NOT',
  'NEAR',
  'x9',
  '検索',
  'ไทย',
  'foo_bar',
  '-',
  '"',
  '*',
  "'",
  ';',
];
const OPERATORS = [
  'AND',
  'OR',
  'NOT',
  'NEAR(',
  '"',
  '*',
  '^',
  ':',
  '{text}',
  '-',
  '+',
  '(',
  ')',
  '--',
  '\0',
  'text:foo',
];

const document = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(' '));
const query = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...WORDS, 'fo*', '"foo bar"', '-foo', 'uber') },
      fc.constantFrom(...OPERATORS),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 6 },
  )
  .chain((words) => fc.constantFrom(' ', '').map((space) => words.join(space)));

for (const driver of drivers) {
  describe(`full text on ${driver.name}`, () => {
    it('[DAY-020] no query is syntax by accident: it finds what reading finds, or says what is wrong with it', async () => {
      const { index } = openIndex(driver);
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(document, { minLength: 1, maxLength: 6 }),
          fc.array(query, { maxLength: 12 }),
          async (texts, asked) => {
            const channel = `c:/${round++}`;
            const documents = texts.map(
              (text, at): TextDocument => ({
                ...{ id: `t${at}`, time: at * MINUTE_MS, text, files: 'src/foo.ts', model: '' },
              }),
            );
            await index.replace(channel, { seq: 1, start: 0, documents });
            const turns = texts.map((text, at) => ({
              id: `t${at}`,
              json: JSON.stringify({
                ...{ id: `t${at}`, startedAt: new Date(at * MINUTE_MS).toISOString(), message: { text } },
                responseParts: [EDIT],
              }),
            }));
            const scan = new ScanFinder({
              log: {
                archiveHead: async () => ({ seq: 1, head: '', turnCount: turns.length }),
                archivedTurns: async (_, { start, end }) => turns.slice(start, end),
              },
              channels: () => [channel],
              titleOf: () => undefined,
            });
            for (const text of asked) {
              const wanted = { ...readQuery({ query: text }, 0), channels: [channel] };
              const ids = async (finder: Pick<ScanFinder, 'find'>) => (await finder.find(wanted)).map(({ id }) => id);
              expect([text, await ids(index)]).toEqual([text, await ids(scan)]);
            }
          },
        ),
        { numRuns: 60 },
      );
    });

    it('[DAY-022] grows by at most 0.6 of the text, whatever order sessions are read in', async () => {
      const { index, folder } = openIndex(driver);
      const paragraphs = sources().flatMap((file) => readFileSync(file, 'utf8').split(/\n\n+/));
      let bytes = 0;
      for (let session = 39; session >= 0; session -= 1) {
        const documents = Array.from({ length: 50 }, (_, at): TextDocument => {
          const from = (session * 977 + at * 31) % paragraphs.length;
          const text = paragraphs.slice(from, from + 12).join('\n\n');
          bytes += Buffer.byteLength(text);
          return {
            id: `turn-${crypto.randomUUID()}`,
            time: (session * 900 + at * 7) * MINUTE_MS,
            text,
            files: '',
            model: 'm',
          };
        });
        for (let start = 0; start < 50; start += 25) {
          await index.replace(`s:/${session}`, { seq: 1, start, documents: documents.slice(start, start + 25) });
          while (await index.tidy());
        }
      }
      await index.close();
      const size = statSync(path.join(folder, TEXT_INDEX_FILE)).size;
      expect(size / bytes).toBeLessThan(0.6);
    });

    it('[DAY-020] keeps the order of time when more is said in a minute than a minute has numbers', async () => {
      const { index } = openIndex(driver);
      const said = (channel: string, count: number, time: number) =>
        index.replace(channel, {
          ...{ seq: 1, start: 0 },
          documents: Array.from({ length: count }, (_, at) => ({
            ...{ id: `${channel}${at}`, time, text: 'heron', files: '', model: '' },
          })),
        });
      await said('many', 150, MINUTE_MS);
      await said('late', 1, 2 * MINUTE_MS);
      await said('early', 1, 0);
      const heron = { all: [{ words: ['heron'], isPrefix: false }], none: [] };
      const hits = await index.find({ ...heron, limit: 1_000 });
      expect(hits.filter(({ channel }) => channel === 'many').map(({ index: at }) => at)).toEqual(
        Array.from({ length: 150 }, (_, at) => 149 - at),
      );
      expect(hits.at(-1)?.channel).toBe('early');
      expect(hits.length).toBe(152);
      const first = await index.find({ ...heron, limit: 2, channels: ['many', 'early'] });
      const rest = await index.find({ ...heron, limit: 500, channels: ['many', 'early'], behind: first[1]?.position });
      expect([first.length, rest.length]).toEqual([2, 149]);
      const others = Array.from({ length: 50 }, (_, at) => `other${at}`);
      for (const other of others) await said(other, 1, 5 * MINUTE_MS);
      expect((await index.find({ ...heron, limit: 500, channels: ['early', ...others] })).length).toBe(51);
      expect((await index.find({ ...heron, limit: 500, since: MINUTE_MS, until: 2 * MINUTE_MS })).length).toBe(150);
    });
  });
}

const words = (...list: string[]) => ({ words: list, isPrefix: false });
const beginning = (text: string) => ({ words: [text], isPrefix: true });
const said = (id: string, minute: number, text: string, files = '', model = ''): TextDocument => ({
  ...{ id, time: minute * MINUTE_MS, text, files, model },
});

/** Two channels that are asked about, and more others than one query names. */
async function fill(index: SqliteTextIndex): Promise<string[]> {
  const a = [said('a0', 1, 'heron crane', 'src/bird.ts', 'opus'), said('a1', 2, 'heron')];
  await index.replace('a', { seq: 7, start: 0, documents: a });
  await index.replace('b', { seq: 8, start: 0, documents: [said('b0', 3, 'heron owl', 'src/fish.ts', 'opus')] });
  const others = Array.from({ length: 41 }, (_, at) => `other${at}`);
  for (const other of others) await index.replace(other, { seq: 9, start: 0, documents: [said(other, 0, 'else')] });
  return others;
}

const QUERIES: readonly [what: string, query: Partial<TextQuery>, found: readonly string[]][] = [
  ['a word', { all: [words('heron')] }, ['b0', 'a1', 'a0']],
  ['two words', { all: [words('heron'), words('owl')] }, ['b0']],
  ['a phrase', { all: [words('heron', 'crane')] }, ['a0']],
  ['a phrase the other way around', { all: [words('crane', 'heron')] }, []],
  ['a beginning', { all: [beginning('her')] }, ['b0', 'a1', 'a0']],
  ['a beginning as a word', { all: [words('her')] }, []],
  ['a word of a path', { all: [words('fish')] }, ['b0']],
  ['the name of a model as a word', { all: [words('opus')] }, []],
  ['a word without another', { all: [words('heron')], none: [words('owl')] }, ['a1', 'a0']],
  ['nothing but what is left out', { none: [words('owl'), words('crane')] }, ['a1']],
  ['nothing at all', {}, ['b0', 'a1', 'a0']],
  ['a file', { file: words('bird') }, ['a0']],
  ['a file, by what only a text has', { file: words('heron') }, []],
  ['a model', { model: words('opus') }, ['b0', 'a0']],
  ['a word, a file and a model', { all: [words('owl')], file: words('src'), model: words('opus') }, ['b0']],
  ['since a minute', { all: [words('heron')], since: 2 * MINUTE_MS }, ['b0', 'a1']],
  ['since a moment later', { all: [words('heron')], since: 2 * MINUTE_MS + 1 }, ['b0']],
  ['until a minute', { all: [words('heron')], until: 2 * MINUTE_MS }, ['a0']],
  ['until a moment later', { all: [words('heron')], until: 2 * MINUTE_MS + 1 }, ['a1', 'a0']],
  ['at most two', { all: [words('heron')], limit: 2 }, ['b0', 'a1']],
  ['none', { all: [words('heron')], limit: 0 }, []],
];

for (const driver of drivers) {
  describe(`the index of full text on ${driver.name}`, () => {
    it('[DAY-020] finds the newest first, however many channels are asked about', async () => {
      const { index } = openIndex(driver);
      const others = await fill(index);
      const ids = async (query: Partial<TextQuery>) =>
        (await index.find({ all: [], none: [], limit: 100, ...query })).map(({ id }) => id);
      for (const [what, query, found] of QUERIES) {
        expect([what, await ids({ ...query, channels: ['a', 'b'] })]).toEqual([what, found]);
        const ofA = found.filter((id) => id.startsWith('a'));
        if (query.limit === undefined)
          expect([what, await ids({ ...query, channels: ['a', 'unknown'] })]).toEqual([what, ofA]);
        const long = (await ids({ ...query, channels: ['a', 'b', ...others] })).filter((id) => !others.includes(id));
        expect([what, long]).toEqual([what, found]);
        const all = (await ids(query)).filter((id) => !others.includes(id));
        expect([what, all]).toEqual([what, found]);
      }
      expect(await ids({ all: [words('heron')], channels: ['b', ...others] })).toEqual(['b0']);
      expect(await ids({ none: [words('else')], channels: ['a', ...others] })).toEqual(['a1', 'a0']);
      expect([await ids({ channels: [] }), await ids({ channels: ['unknown'] })]).toEqual([[], []]);
    });

    it('[DAY-020] tells where each hit is, and goes on behind it', async () => {
      const { index } = openIndex(driver);
      await fill(index);
      const heron = { all: [words('heron')], none: [], limit: 1 };
      const [first] = await index.find(heron);
      expect(first).toMatchObject({ channel: 'b', index: 0, id: 'b0', time: 3 * MINUTE_MS });
      const [second] = await index.find({ ...heron, behind: first?.position });
      expect(second).toMatchObject({ channel: 'a', index: 1, id: 'a1', time: 2 * MINUTE_MS });
      const [third, ...none] = await index.find({ ...heron, behind: second?.position, until: 9 * MINUTE_MS });
      expect([third?.id, none]).toEqual(['a0', []]);
      expect(await index.find({ ...heron, behind: third?.position })).toEqual([]);
      expect(await index.find({ ...heron, behind: 'nowhere' })).toEqual([]);
    });

    it('[DAY-020] looks through many documents in slices, and finds nothing more once it is closed', async () => {
      const { index } = openIndex(driver);
      const others = await fill(index);
      const many = Array.from({ length: 20_010 }, (_, at) => said(`m${at}`, at, at < 3 ? 'rare swan' : 'swan'));
      await index.replace('many', { seq: 1, start: 0, documents: many });
      const rare = { all: [words('rare')], none: [], limit: 2, channels: ['many', ...others] };
      expect((await index.find(rare)).map(({ id }) => id)).toEqual(['m2', 'm1']);
      expect((await index.find({ ...rare, limit: 9, since: MINUTE_MS })).map(({ id }) => id)).toEqual(['m2', 'm1']);
      const finding = index.find(rare);
      await index.close();
      expect(await finding).toEqual([]);
    });

    it('[DAY-020] has what is before 1970 with the oldest', async () => {
      const { index } = openIndex(driver);
      await index.replace('a', { seq: 1, start: 0, documents: [said('old', -5, 'heron'), said('new', 5, 'heron')] });
      const heron = { all: [words('heron')], none: [], limit: 9 };
      const ids = async (query: TextQuery) => (await index.find(query)).map(({ id }) => id);
      expect(await ids({ ...heron, since: -9 * MINUTE_MS })).toEqual(['new', 'old']);
      expect(await ids({ ...heron, since: -9 * MINUTE_MS, until: -1 })).toEqual(['old']);
    });

    it('[DAY-020] knows its channels, replaces them from a document on, and forgets them', async () => {
      const { index } = openIndex(driver);
      await fill(index);
      expect(await index.channel('a')).toMatchObject({ seq: 7, count: 2 });
      expect([await index.channel('unknown'), await index.idAt('a', 2), await index.idAt('a', 1)]).toEqual([
        ...[undefined, undefined],
        'a1',
      ]);
      await index.replace('a', { seq: 10, start: 1, documents: [said('a2', 4, 'swan'), said('a3', 4, 'swan')] });
      expect(await index.channel('a')).toMatchObject({ seq: 10, count: 3 });
      const found = async (word: string) =>
        (await index.find({ all: [words(word)], none: [], limit: 9, channels: ['a'] })).map(({ id }) => id);
      expect([await found('heron'), await found('swan')]).toEqual([['a0'], ['a3', 'a2']]);
      await index.forget('unknown');
      await index.forget('a');
      expect([await index.channel('a'), await index.idAt('a', 0), await found('heron')]).toEqual([
        ...[undefined, undefined],
        [],
      ]);
      const channels = await index.channels();
      expect([channels.length, channels.includes('a'), channels.includes('b')]).toEqual([42, false, true]);
    });

    it('[DAY-020] merges its pieces bit by bit, until nothing is left to do', async () => {
      const { index } = openIndex(driver);
      expect(await index.tidy()).toBe(false);
      for (let at = 0; at < 40; at += 1)
        await index.replace(`${at}`, { seq: 1, start: 0, documents: [said('x', at, 'heron')] });
      expect(await index.tidy()).toBe(true);
      for (let left = 1_000; (await index.tidy()) && left > 0; ) left -= 1;
      expect(await index.tidy()).toBe(false);
    });

    it('[DAY-021] is for its owner only, and is there again after it was closed in order', async () => {
      const { index, folder } = openIndex(driver);
      const file = path.join(folder, TEXT_INDEX_FILE);
      await fill(index);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await index.close();
      await index.close();
      await expect(index.channels()).rejects.toThrow('the index is closed');
      const again = openTextIndex({ driver, path: file });
      expect((await again.channels()).length).toBe(43);
      await again.close();
    });

    it.each([
      ['is of another version', 'PRAGMA user_version = 2'],
      ['was open when the machine stopped', 'UPDATE opened SET boot = 1'],
      ['has lost a table', 'DROP TABLE documents'],
      ['has lost the row that says so', 'DROP TABLE opened'],
    ])('[DAY-021] begins anew when it %s', async (_, sql) => {
      const { index, folder } = openIndex(driver);
      const file = path.join(folder, TEXT_INDEX_FILE);
      await fill(index);
      await index.close();
      const db = driver.open(file);
      db.exec(sql);
      db.close();
      const again = openTextIndex({ driver, path: file });
      expect(await again.channels()).toEqual([]);
      await again.close();
    });

    it('[DAY-021] begins anew in the place of any other file, and not in that of a folder', async () => {
      const { index, folder } = openIndex(driver);
      await index.close();
      const file = path.join(folder, TEXT_INDEX_FILE);
      for (const part of ['', '-wal', '-shm', '-journal']) writeFileSync(file + part, 'no database at all');
      const again = openTextIndex({ driver, path: file });
      expect(await again.channels()).toEqual([]);
      await again.close();
      removeTextIndex(file);
      expect(readdirSync(folder)).toEqual([]);
      mkdirSync(file);
      expect(() => openTextIndex({ driver, path: file })).toThrow('is not a regular file');
    });

    it('[DAY-021] says that it is damaged when SQLite does, and stores all of a change or nothing', async () => {
      const { index, folder } = openIndex(driver);
      await fill(index);
      const documents = [said('c0', 1, 'heron'), { ...said('c1', 1, 'heron'), id: null as unknown as string }];
      await expect(index.replace('c', { seq: 1, start: 0, documents })).rejects.toThrow(TextIndexDamagedError);
      expect([await index.channel('c'), await index.idAt('c', 0)]).toEqual([undefined, undefined]);
      const db = driver.open(path.join(folder, TEXT_INDEX_FILE));
      db.exec('DROP TABLE documents');
      db.close();
      await expect(index.idAt('a', 0)).rejects.toThrow(TextIndexDamagedError);
      await expect(index.find({ all: [words('heron')], none: [], limit: 1 })).rejects.toThrow(TextIndexDamagedError);
    });
  });
}

const EDIT = {
  kind: 'toolCall',
  toolCall: {
    ...{
      status: 'completed',
      toolCallId: 'c',
      toolName: '',
      displayName: '',
      invocationMessage: '',
      pastTenseMessage: '',
    },
    content: [{ type: 'fileEdit', after: { uri: 'src/foo.ts', content: { uri: 'x:/' } } }],
  },
};

function sources(): string[] {
  const folder = path.join(import.meta.dirname, '../../../../docs');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name));
}
