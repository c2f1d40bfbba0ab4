/** `atrium/search`: finds words in everything that was said in the sessions that the caller may see. */
import type { Caller } from '@atrium/core/contracts/ports.js';
import { type TextFinder, type TextHit, TextIndexDamagedError } from '@atrium/core/log/text-index.js';
import type { SearchableSession } from '@atrium/core/sessions/catalogue.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { AttachObserver } from '@atrium/core/sessions/session-observer.js';
import { nextSlice, parseInSlices } from '@atrium/core/util/slices.js';
import {
  ACTIVITY_MASK,
  type SearchItem,
  type SearchResult,
  SessionStatus,
  type SessionSummary,
  spansOf,
  type TextSpan,
  type Turn,
  wordsOf,
} from '@atrium/protocol/ahp-1';
import { type FollowerOptions, IndexFollower } from './follower.js';
import { asksForSomething, isInFolder, readQuery, type SearchQuery } from './query.js';
import { ScanFinder } from './scan.js';
import { type Passage, passagesOf } from './turn-text.js';

/** How long after the start the index is compared with the log; by then the first clients are connected. */
export const INDEX_AFTER_MS = 3_000;
/** How many hits are checked for one page at most; the rest is left to the next page. */
const CANDIDATES_MAX = 500;
/** How much of the text around a hit is shown. */
export const SNIPPET_CHARACTERS = 160;
/** How much of a snippet precedes the first word that was found. */
const SNIPPET_BEFORE_CHARACTERS = 48;

export interface SearchOptions extends FollowerOptions {
  /** Calls back when this tick has been stored. */
  afterCommit(callback: () => void): void;
  /** The session that lists a chat; undefined when none does. */
  ownerOf(chat: string): string | undefined;
  /** Whether the caller may see a session, which must be listed. */
  canSee(caller: Caller, session: string): boolean;
  summaryOf(session: string): SessionSummary | undefined;
  /** Listed sessions with the facts that filters need. */
  listed(): Iterable<SearchableSession>;
}

export class Search implements Service {
  readonly #options: SearchOptions;
  readonly #scan: ScanFinder;
  /** For tests and measurements. */
  readonly follower: IndexFollower;
  #cancelStart: () => void = () => {};

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#scan = new ScanFinder(options);
    this.follower = new IndexFollower(options);
  }

  readonly extensionRequests = {
    'atrium/search': (caller: Caller, params: Readonly<Record<string, unknown>>) => this.search(caller, params),
  };

  readonly lanes = { 'atrium/search': 'aside' } as const;

  /** Detects that turns were cut off, which lists do not show. */
  readonly attach: AttachObserver = ({ uri }) => ({
    observe: ({ action }) => {
      if (action.type === 'chat/truncated') this.#options.afterCommit(() => this.follower.changed(uri));
    },
    close: async () => {},
  });

  ready(): void {
    if (!this.#options.log.openTextIndex) return;
    this.#cancelStart = this.#options.clock.after(INDEX_AFTER_MS, () => void this.follower.index());
  }

  async forgotten(): Promise<void> {
    this.follower.gone();
  }

  close(): Promise<void> {
    this.#cancelStart();
    return this.follower.close();
  }

  async search(caller: Caller, params: Readonly<Record<string, unknown>>): Promise<SearchResult> {
    const query = readQuery(params, this.#options.clock.now());
    if (!asksForSomething(query)) return { items: [], phrases: [] };
    try {
      return await this.#answer(caller, query);
    } catch (error) {
      if (!(error instanceof TextIndexDamagedError)) throw error;
      await this.follower.rebuild(error);
      return this.#answer(caller, query, this.#scan);
    }
  }

  async #answer(caller: Caller, query: SearchQuery, given?: TextFinder): Promise<SearchResult> {
    const { filter, ...text } = query;
    const index = given ? undefined : await this.follower.index();
    const finder = given ?? index ?? this.#scan;
    const channels = this.#channelsFor(caller, query);
    const items: SearchItem[] = [];
    let { behind } = text;
    let isMore = channels === undefined || channels.length > 0;
    for (let seen = 0; isMore && items.length < text.limit && seen < CANDIDATES_MAX; ) {
      // One more than needed shows whether there is another page.
      const limit = text.limit - items.length;
      const hits = await finder.find({ ...text, channels, behind, limit: limit + 1 });
      isMore = hits.length > limit;
      for (const hit of hits.slice(0, limit)) {
        const item = await this.#itemOf(caller, hit, query);
        if (item) items.push(item);
        behind = hit.position;
        await nextSlice();
      }
      seen += limit;
    }
    const { progress } = this.follower;
    return {
      ...{ items, phrases: query.all },
      ...(isMore && behind !== undefined && { nextCursor: behind }),
      ...(index && progress && { indexing: progress }),
    };
  }

  /**
   * The channels that match the filters; undefined for all. Each hit is checked separately for whether the caller may
   * see it.
   */
  #channelsFor(caller: Caller, { filter }: SearchQuery): readonly string[] | undefined {
    const { channel, folder, agent, state } = filter;
    const { ownerOf, canSee, chatsOf, listed } = this.#options;
    if (channel !== undefined) {
      const owner = ownerOf(channel) ?? channel;
      if (!canSee(caller, owner)) return [];
      return owner === channel ? chatsOf(owner) : [channel];
    }
    if (folder === undefined && agent === undefined && state === undefined) return undefined;
    const fitting = [...listed()].filter(
      ({ uri, provider, folders, status, isPinned }) =>
        (agent === undefined || provider.toLowerCase().includes(agent.toLowerCase())) &&
        (folder === undefined || folders.some((each) => isInFolder(each, folder))) &&
        (state === undefined || isInState(status, isPinned, state)) &&
        canSee(caller, uri),
    );
    return fitting.flatMap(({ uri }) => [uri, ...chatsOf(uri)]);
  }

  /**
   * Undefined for hits that the caller may not see, and for text that the log no longer has; the index drops it in a
   * moment.
   */
  async #itemOf(caller: Caller, hit: TextHit, query: SearchQuery): Promise<SearchItem | undefined> {
    const { ownerOf, canSee, summaryOf, titleOf } = this.#options;
    const owner = ownerOf(hit.channel);
    const session = owner ?? hit.channel;
    const summary = canSee(caller, session) ? summaryOf(session) : undefined;
    if (!summary || (owner === undefined && titleOf(hit.channel)?.title !== hit.id)) return undefined;
    const passages: Passage[] | undefined =
      owner === undefined ? [{ kind: 'title', text: hit.id }] : await this.#passagesOf(hit);
    if (!passages) {
      this.follower.changed(session);
      return undefined;
    }
    const [folder] = summary.workingDirectories ?? [];
    return {
      session,
      ...(owner !== undefined && { chat: hit.channel, turnId: hit.id, turn: hit.index }),
      time: new Date(hit.time).toISOString(),
      ...snippetOf(passages, query),
      ...{ title: summary.title, provider: summary.provider },
      ...(folder !== undefined && { workingDirectory: folder }),
    };
  }

  async #passagesOf({ channel, index, id }: TextHit): Promise<Passage[] | undefined> {
    const [turn] = await this.#options.log.archivedTurns(channel, { start: index, end: index + 1 });
    return turn?.id === id ? passagesOf((await parseInSlices(turn.json)) as Turn) : undefined;
  }
}

function isInState(status: number, isPinned: boolean, state: string): boolean {
  const activity = status & ACTIVITY_MASK;
  const isWaiting = (activity & SessionStatus.InputNeeded) === SessionStatus.InputNeeded;
  const isWorking = !isWaiting && (activity & SessionStatus.InProgress) !== 0;
  const is: Readonly<Record<string, boolean>> = {
    waiting: isWaiting,
    working: isWorking,
    failed: (activity & SessionStatus.Error) !== 0,
    idle: activity === SessionStatus.Idle,
    unread: (status & SessionStatus.IsRead) === 0 && !isWorking,
    archived: (status & SessionStatus.IsArchived) !== 0,
    pinned: isPinned,
  };
  return is[state] ?? false;
}

/** The passage with most of the wanted words, around the first of them. */
export function snippetOf(
  passages: readonly Passage[],
  { all, file }: Pick<SearchQuery, 'all' | 'file'>,
): Pick<SearchItem, 'kind' | 'snippet' | 'ranges'> {
  const found = passages.map((passage) => {
    const words = [...wordsOf(passage.text)];
    const wanted = passage.kind === 'file' && file ? [...all, file] : all;
    const spans = wanted.map((phrase) => spansOf(phrase, words));
    return { passage, spans, score: spans.filter(({ length }) => length > 0).length };
  });
  const best = found.reduce((most, each) => (each.score > most.score ? each : most), found[0] ?? NOTHING);
  const spans = best.spans.flat().sort(([a], [b]) => a - b);
  return { kind: best.passage.kind, ...cutAround(best.passage.text, spans) };
}

const NOTHING = { passage: { kind: 'message', text: '' } as Passage, spans: [] as TextSpan[][], score: 0 };

/** Characters beyond the basic ones are two units long, and must not be split. */
const isSecondHalf = (text: string, at: number) => /^[\udc00-\udfff]/.test(text.slice(at, at + 1));

function cutAround(text: string, spans: readonly TextSpan[]): { snippet: string; ranges: readonly TextSpan[] } {
  const [first = 0] = spans[0] ?? [];
  let start = Math.max(0, first - SNIPPET_BEFORE_CHARACTERS);
  // Begins at a word if one begins nearby.
  if (start > 0) start += /^\S{0,20}\s+/u.exec(text.slice(start, first))?.[0].length ?? 0;
  if (isSecondHalf(text, start)) start += 1;
  let end = Math.min(text.length, start + SNIPPET_CHARACTERS);
  if (isSecondHalf(text, end)) end -= 1;
  const [before, after] = [start > 0 ? '…' : '', end < text.length ? '…' : ''];
  // Every white space becomes one character, so that positions stay right.
  const snippet = `${before}${text.slice(start, end).replace(/\s/gu, ' ')}${after}`;
  const ranges = spans.flatMap(([from, to]): TextSpan[] =>
    from >= start && to <= end ? [[from - start + before.length, to - start + before.length]] : [],
  );
  return { snippet, ranges };
}
