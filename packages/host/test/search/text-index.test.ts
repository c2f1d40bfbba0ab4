/** The index of SQLite against plain reading: the same is found whatever is asked, and the file stays small. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TextDocument } from '@atrium/core/log/text-index.js';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SqliteDriver } from '../../src/log-sqlite/driver.js';
import { openTextIndex, TEXT_INDEX_FILE } from '../../src/log-sqlite/text-index.js';
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
