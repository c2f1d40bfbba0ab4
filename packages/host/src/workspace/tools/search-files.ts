/** `search_files`: finds lines of files by plain text, or by a regular expression that may never end by itself. */
import { readFile, stat } from 'node:fs/promises';
import { createContext, Script } from 'node:vm';
import { type HostTool, ToolFailure } from '@atrium/core/contracts/tool.js';
import { resolveInside, sessionFolders, shownIn } from '@atrium/core/util/paths.js';
import { count, looksBinary, shorten, sizeText } from '@atrium/core/util/text.js';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool, succeeded } from './host-tool.js';
import { installedRipgrep, quickFiles } from './ripgrep.js';
import { filesUnder } from './walk.js';

export const PATTERN_MAX_CHARACTERS = 1_000;
interface PatternTime {
  /** How long one file may take; it blocks the host meanwhile. */
  readonly fileMs: number;
  /** How long all files of a search may take. */
  readonly allMs: number;
}

const PATTERN_TIME: PatternTime = { fileMs: 100, allMs: 2_000 };
/** A separate context, only because its time limit can interrupt a regular expression. */
const FIND = new Script(`(() => {
  expression ??= new RegExp(source, flags);
  const hits = [];
  for (const [index, line] of content.split(/\\r?\\n/).entries()) {
    const at = line.search(expression);
    if (at >= 0) hits.push({ line: index + 1, text: line, at });
    if (hits.length === max) break;
  }
  return JSON.stringify(hits);
})()`);
/** A shorter text is in too many files for ripgrep to be worth starting. */
const KNOWN_TEXT_MIN_CHARACTERS = 3;
/** One piece of a pattern at a time: an escape, a class, a repetition, or a single character. */
const TOKEN = /\\(?<escaped>.)|\[(?:\\.|[^\]\\])*\]|(?<repeated>[*?]|\{\d+(?:,\d*)?\})|(?<single>.)/gs;
export const SEARCH_MAX_HITS = 100;
export const SEARCH_MAX_FILE_BYTES = 2 ** 20;
/** A search stops after this many files, and says so. */
const SEARCH_MAX_FILES = 20_000;
const SEARCH_LINE_MAX_CHARACTERS = 200;

interface SearchOptions {
  /** Finds ripgrep: looked up if absent; if undefined, ripgrep is not used. */
  readonly ripgrep?: () => Promise<string | undefined>;
  /** Time limits for patterns. */
  readonly time?: PatternTime;
}

export function searchTool({ ripgrep = installedRipgrep, time = PATTERN_TIME }: SearchOptions = {}): HostTool {
  return hostTool({
    name: 'search_files',
    displayName: 'Search files',
    description:
      'Finds lines that contain a text, in all files below a folder. Searches for plain text unless "regex" is true, and ' +
      `ignores case unless "caseSensitive" is true. Skips .git, node_modules and files over ${sizeText(SEARCH_MAX_FILE_BYTES)}. ` +
      `Returns at most ${SEARCH_MAX_HITS} hits.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: FILE_TOOL_TIMEOUT_MS,
    properties: {
      text: { type: 'string', minLength: 1, description: 'The text to find. It never spans lines.' },
      path: {
        type: 'string',
        description: "A folder or file, relative to the session's folder. Default: that folder.",
      },
      regex: { type: 'boolean', description: 'Treats "text" as a JavaScript regular expression. Default: false.' },
      caseSensitive: { type: 'boolean', description: 'Default: false.' },
    },
    required: ['text'],
    invocation: ({ text }) => `Search for "${shorten(text, 60)}"`,
    async run({ text, path, regex = false, caseSensitive = false }, context) {
      const { signal } = context;
      if (/[\r\n]/.test(text)) throw new ToolFailure('BAD_INPUT', '"text" must be within one line.');
      const matcher = regex ? patternMatcher(text, caseSensitive, time) : plainMatcher(text, caseSensitive);
      const roots = await sessionFolders(foldersOf(context));
      const search = new Search(text, matcher, roots);
      for (const start of path ? [(await resolveInside(foldersOf(context), path)).real] : roots) {
        const isFile = (await stat(start)).isFile();
        // Ripgrep's patterns differ from JavaScript's, so it only looks for plain text that every hit contains.
        const known = isFile ? undefined : regex ? textInEveryMatch(text) : text;
        const quick = { text: known ?? '', caseSensitive, folder: start, signal };
        const listed = known === undefined ? undefined : await quickFiles(ripgrep, quick);
        await search.through(isFile ? [start] : (listed ?? filesUnder(start, signal)), signal);
      }
      return succeeded(`Searched for "${shorten(text, 60)}"`, search.report());
    },
  });
}

export const searchFilesTool = searchTool();

class Search {
  private readonly hits: string[] = [];
  private files = 0;
  private tooLarge = 0;
  private stopped: string | undefined;

  constructor(
    private readonly text: string,
    private readonly matcher: LineMatcher,
    private readonly roots: readonly string[],
  ) {}

  async through(files: AsyncIterable<string> | Iterable<string>, signal: AbortSignal): Promise<void> {
    for await (const file of files) {
      signal.throwIfAborted();
      if (this.files === SEARCH_MAX_FILES) this.stopped = `after ${SEARCH_MAX_FILES} files`;
      if (this.stopped) return;
      this.files += 1;
      await this.searchFile(file);
    }
  }

  report(): string {
    const found = this.hits.length === 0 ? `Nothing found for "${this.text}".` : this.hits.join('\n');
    const stopped = this.stopped ? `\n[Stopped ${this.stopped}; search a sub-folder for the rest.]` : '';
    const large = count(this.tooLarge, 'file');
    const skipped = this.tooLarge ? `\n[Skipped ${large} over ${sizeText(SEARCH_MAX_FILE_BYTES)}.]` : '';
    return found + stopped + skipped;
  }

  /** A file that cannot be read, or that was deleted meanwhile, has no hits. */
  private async searchFile(file: string): Promise<void> {
    const size = await stat(file).then(
      (stats) => stats.size,
      () => 0,
    );
    if (size > SEARCH_MAX_FILE_BYTES) this.tooLarge += 1;
    if (size === 0 || size > SEARCH_MAX_FILE_BYTES) return;
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    if (!looksBinary(bytes)) this.searchContent(shownIn(this.roots, file), bytes.toString('utf8'));
  }

  private searchContent(name: string, content: string): void {
    const left = SEARCH_MAX_HITS - this.hits.length;
    const found = this.matcher(content, left + 1);
    if (found.length > left) this.stopped = `at ${SEARCH_MAX_HITS} hits`;
    this.hits.push(...found.slice(0, left).map((hit) => `${name}:${hit.line}: ${excerpt(hit)}`));
  }
}

/** A long line is shown from a little before the hit. */
function excerpt({ text: line, at }: LineHit): string {
  const from = line.length <= SEARCH_LINE_MAX_CHARACTERS ? 0 : Math.max(0, at - SEARCH_LINE_MAX_CHARACTERS / 4);
  return (from > 0 ? '…' : '') + shorten(line.slice(from), SEARCH_LINE_MAX_CHARACTERS);
}

interface LineHit {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  /** The position in the line at which the hit begins. */
  readonly at: number;
}

/** Finds the first hits in a text, at most `max`. */
type LineMatcher = (content: string, max: number) => LineHit[];

function plainMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const fold = (some: string) => (caseSensitive ? some : some.toLowerCase());
  const needle = fold(text);
  return (content, max) => {
    if (!fold(content).includes(needle)) return [];
    const hits: LineHit[] = [];
    for (const [index, line] of content.split('\n').entries()) {
      const at = fold(line).indexOf(needle);
      if (at >= 0) hits.push({ line: index + 1, text: line, at });
      if (hits.length === max) break;
    }
    return hits;
  };
}

function patternMatcher(source: string, caseSensitive: boolean, { fileMs, allMs }: PatternTime): LineMatcher {
  checkPattern(source);
  const names = { source, flags: caseSensitive ? '' : 'i', content: '', max: 0, expression: undefined };
  const context = createContext(names);
  let spentMs = 0;
  return (content, max) => {
    if (spentMs > allMs) throw tooSlow(source);
    const begun = performance.now();
    Object.assign(names, { content, max });
    try {
      return JSON.parse(FIND.runInContext(context, { timeout: fileMs }));
    } catch {
      throw tooSlow(source);
    } finally {
      spentMs += performance.now() - begun;
    }
  };
}

function checkPattern(source: string): void {
  if (source.length > PATTERN_MAX_CHARACTERS) {
    throw new ToolFailure('BAD_INPUT', `The pattern is longer than ${PATTERN_MAX_CHARACTERS} characters.`);
  }
  try {
    new RegExp(source);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolFailure('BAD_INPUT', `The pattern is not a regular expression: ${shorten(why, 200)}.`);
  }
}

function tooSlow(source: string): ToolFailure {
  const advice = 'Make it simpler, without one repetition inside another, or search a smaller folder.';
  return new ToolFailure('TOO_SLOW', `The pattern "${shorten(source, 60)}" takes too long. ${advice}`);
}

/**
 * A plain text that every match of a regular expression contains, so that ripgrep can look for it first. Skips groups,
 * which may be optional or negated, and character classes. When in doubt, returns undefined.
 */
export function textInEveryMatch(source: string): string | undefined {
  // An alternation matches either side, and some escapes stand for letters that are not in the pattern.
  if (source.includes('|') || /\\[^\W\ddDwWsSbBnrtfv]|\\\d/.test(source)) return undefined;
  const texts = [...source.matchAll(TOKEN)].reduce(withToken, { depth: 0, runs: [''] }).runs;
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '');
  return longest.length < KNOWN_TEXT_MIN_CHARACTERS ? undefined : longest;
}

interface Seen {
  /** How many groups are open. */
  readonly depth: number;
  /** Uninterrupted texts; the last one may still grow. */
  readonly runs: readonly string[];
}

function withToken(seen: Seen, { groups }: RegExpExecArray): Seen {
  const { depth, runs } = seen;
  const { escaped, repeated, single } = groups ?? {};
  if (single === '(') return { depth: depth + 1, runs: [...runs, ''] };
  if (single === ')') return { depth: depth - 1, runs: [...runs, ''] };
  if (depth > 0) return seen;
  const text = runs.at(-1) ?? '';
  // The quantifier allows zero repetitions.
  if (repeated !== undefined) return { depth, runs: [...runs.slice(0, -1), text.slice(0, -1), ''] };
  const letter = plainLetter(escaped, single);
  return { depth, runs: letter === undefined ? [...runs, ''] : [...runs.slice(0, -1), text + letter] };
}

function plainLetter(escaped: string | undefined, single: string | undefined): string | undefined {
  if (escaped !== undefined) return /[\x21-\x7e]/.test(escaped) && /\W/.test(escaped) ? escaped : undefined;
  return single !== undefined && /[\x20-\x7e]/.test(single) && !'^$.+{}[]'.includes(single) ? single : undefined;
}
