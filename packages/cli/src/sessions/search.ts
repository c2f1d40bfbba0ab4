/** Finds words in all sessions, and shows the hits. */
import type { Client } from '@atrium/client';
import {
  type Phrase,
  SEARCH_METHOD,
  type SearchItem,
  type SearchParams,
  type SearchResult,
  spansOf,
  type TextSpan,
  type Turn,
  wordsOf,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { io, print, printJson, tell } from '../io.js';
import { printable } from '../text/printable.js';
import { type Style, styleFor } from '../text/style.js';
import { cut } from '../text/width.js';
import { shortId } from './find-session.js';
import { ago } from './summary-text.js';

const PAGE_MAX = 100;

/** Up to `limit` hits, page by page. */
export async function search(client: Client, params: SearchParams, limit: number): Promise<SearchResult> {
  const items: SearchItem[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = {
      ...params,
      limit: Math.min(PAGE_MAX, limit - items.length),
      ...(cursor !== undefined && { cursor }),
    };
    const result = (await callExtension(client, SEARCH_METHOD, page)) as SearchResult;
    items.push(...result.items);
    cursor = result.nextCursor;
    if (cursor === undefined || items.length >= limit) return { ...result, items };
  }
}

export async function printFound(client: Client, params: SearchParams, options: { json: boolean; limit: number }) {
  const result = await search(client, params, options.limit);
  if (options.json) return printJson(result);
  const { items, indexing, nextCursor } = result;
  const style = styleFor(io().stdout, io().env);
  for (const item of items) print(foundText(item, style, io().stdout.columns));
  if (items.length === 0) tell('Nothing was found.');
  if (nextCursor !== undefined) tell(`There is more: --limit ${options.limit * 2} shows it.`);
  if (indexing)
    tell(`The index is still being made (${indexing.done} of ${indexing.total} sessions): there may be more.`);
}

/** Two lines: the place, and the text. */
function foundText(item: SearchItem, style: Style, columns: number | undefined): string {
  const { session, turn, title, time, kind } = item;
  const place = `${shortId(session)}${turn === undefined ? '' : `  turn ${turn + 1}`}`;
  const head = `${style.bold(printable(title))}  ${style.dim(`${place}  ${ago(time, Date.now())}  ${kind}`)}`;
  const text = marked(item.snippet, item.ranges, style);
  return `${columns === undefined ? head : cut(head, columns)}\n  ${columns === undefined ? text : cut(text, columns - 2)}\n`;
}

/** Text from outside, with the found words marked. */
export function marked(text: string, spans: readonly TextSpan[], style: Style): string {
  let [at, out] = [0, ''];
  for (const [start, end] of spans) {
    if (start < at) continue;
    out += printable(text.slice(at, start)) + style.inverse(printable(text.slice(start, end)));
    at = end;
  }
  return out + printable(text.slice(at));
}

/** The places of phrases in a line, in order. */
export function spansIn(line: string, phrases: readonly Phrase[]): TextSpan[] {
  const words = [...wordsOf(line)];
  return phrases.flatMap((phrase) => spansOf(phrase, words)).sort(([a], [b]) => a - b);
}

/** The turn of a hit, whether or not it is loaded; undefined when it is gone. */
export async function foundTurn(client: Client, { chat, turn }: SearchItem): Promise<Turn | undefined> {
  if (chat === undefined || turn === undefined) return undefined;
  const params = { channel: chat, start: turn, end: turn + 1 };
  const { turns } = (await callExtension(client, 'atrium/chatTurns', params)) as { turns: readonly Turn[] };
  return turns[0];
}
