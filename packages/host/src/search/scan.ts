/**
 * Search without an index: reads every turn. Used for logs without a full text index, and while an index is unusable.
 */
import type { Log } from '@atrium/core/log/log.js';
import type { TextDocument, TextFinder, TextHit, TextQuery } from '@atrium/core/log/text-index.js';
import { nextSlice, parseInSlices } from '@atrium/core/util/slices.js';
import { type Phrase, spansOf, type Turn, type WordAt, wordsOf } from '@atrium/protocol/ahp-1';
import { documentOf, titleDocument } from './turn-text.js';

/** The approximate size of a page of turns. */
const PAGE_BYTES = 256 * 2 ** 10;

export interface ScanOptions {
  readonly log: Pick<Log, 'archiveHead' | 'archivedTurns'>;
  /** All stored sessions and chats. */
  channels(): readonly string[];
  /** The title and age of a session; undefined for anything else. */
  titleOf(uri: string): { readonly title: string; readonly time: number } | undefined;
}

export class ScanFinder implements TextFinder {
  constructor(private readonly options: ScanOptions) {}

  async find(query: TextQuery): Promise<TextHit[]> {
    const wanted = query.channels && new Set(query.channels);
    const hits: TextHit[] = [];
    for (const channel of this.options.channels()) {
      if (wanted && !wanted.has(channel)) continue;
      for await (const { index, document } of documentsIn(this.options, channel)) {
        const { id, time } = document;
        const position = `${String(time).padStart(16, '0')} ${String(index).padStart(9, '0')} ${channel}`;
        if (fits(document, query)) hits.push({ channel, index, id, time, position });
      }
    }
    const { behind, limit } = query;
    const found = behind === undefined ? hits : hits.filter(({ position }) => position < behind);
    return found.sort((a, b) => (a.position < b.position ? 1 : -1)).slice(0, limit);
  }
}

/** The documents of a channel: the title of a session, or the finished turns of a chat. */
export async function* documentsIn(
  { log, titleOf }: Pick<ScanOptions, 'log' | 'titleOf'>,
  channel: string,
  first = 0,
): AsyncGenerator<{ readonly index: number; readonly document: TextDocument }, void, undefined> {
  const named = titleOf(channel);
  if (named) {
    if (first === 0) yield { index: 0, document: titleDocument(named.title, named.time) };
    return;
  }
  const { turnCount = 0 } = (await log.archiveHead(channel)) ?? {};
  let time = 0;
  for (let start = first; start < turnCount; ) {
    const page = await log.archivedTurns(channel, { start, end: turnCount, maxBytes: PAGE_BYTES });
    if (page.length === 0) return;
    for (const [at, { json }] of page.entries()) {
      const document = documentOf((await parseInSlices(json)) as Turn, time);
      time = document.time;
      yield { index: start + at, document };
    }
    start += page.length;
    await nextSlice();
  }
}

function fits({ time, text, files, model }: TextDocument, query: TextQuery): boolean {
  const { all, none, since = 0, until = Number.POSITIVE_INFINITY } = query;
  if (time < since || time >= until) return false;
  if (query.file && !isIn(query.file, [...wordsOf(files)])) return false;
  if (query.model && !isIn(query.model, [...wordsOf(model)])) return false;
  const [words, names] = [[...wordsOf(text)], [...wordsOf(files)]];
  const has = (phrase: Phrase) => isIn(phrase, words) || isIn(phrase, names);
  return all.every(has) && !none.some(has);
}

const isIn = (phrase: Phrase, words: readonly WordAt[]) => spansOf(phrase, words).length > 0;
