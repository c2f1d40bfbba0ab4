/** `search_files`: lines that contain a text or fit a pattern, in all files of a tree; no other program is needed. */
import { readFile, stat } from 'node:fs/promises';
import { type HostTool, ToolFailure } from '../../core/contracts/tool.js';
import { resolveInside, sessionFolder, shownPath } from '../../core/util/paths.js';
import { count, looksBinary, shorten, sizeText } from '../../core/util/text.js';
import { FILE_TOOL_TIMEOUT_MS, hostTool, succeeded } from './host-tool.js';
import { type LineHit, type LineMatcher, patternMatcher, plainMatcher } from './line-matchers.js';
import { textInEveryMatch } from './pattern-text.js';
import { installedRipgrep, quickFiles } from './ripgrep.js';
import { filesUnder } from './walk.js';

export const SEARCH_MAX_HITS = 100;
export const SEARCH_MAX_FILE_BYTES = 2 ** 20;
/** After so many files a search says where it stopped. */
export const SEARCH_MAX_FILES = 20_000;
export const SEARCH_LINE_MAX_CHARACTERS = 200;

export interface SearchOptions {
  /** Where ripgrep is; looked up when absent, not used when undefined. */
  readonly ripgrep?: () => Promise<string | undefined>;
}

export function searchTool({ ripgrep = installedRipgrep }: SearchOptions = {}): HostTool {
  return hostTool({
    name: 'search_files',
    displayName: 'Search files',
    description:
      'Finds lines that contain a text, in every file of a folder. Plain text, unless "regex" is true; capitals do not ' +
      `matter unless asked for. Skips .git, node_modules and files over ${sizeText(SEARCH_MAX_FILE_BYTES)}. ` +
      `At most ${SEARCH_MAX_HITS} hits.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: FILE_TOOL_TIMEOUT_MS,
    properties: {
      text: { type: 'string', minLength: 1, description: 'What to look for, within one line.' },
      path: {
        type: 'string',
        description: "A folder or file, relative to the session's folder. Default: that folder.",
      },
      regex: { type: 'boolean', description: 'Whether "text" is a regular expression (JavaScript). Default: false.' },
      caseSensitive: { type: 'boolean', description: 'Whether capitals matter. Default: false.' },
    },
    required: ['text'],
    invocation: ({ text }) => `Search for "${shorten(text, 60)}"`,
    async run({ text, path, regex = false, caseSensitive = false }, { cwd, signal }) {
      if (/[\r\n]/.test(text)) throw new ToolFailure('BAD_INPUT', '"text" must be within one line.');
      const matcher = regex ? patternMatcher(text, caseSensitive) : plainMatcher(text, caseSensitive);
      const start = await resolveInside(cwd, path || '.');
      const search = new Search(text, matcher, await sessionFolder(cwd));
      const isFile = (await stat(start.real)).isFile();
      // Ripgrep has another idea of patterns than we have, but what stands in every hit it finds as well.
      const known = isFile ? undefined : regex ? textInEveryMatch(text) : text;
      const quick = { text: known ?? '', caseSensitive, folder: start.real, signal };
      const listed = known === undefined ? undefined : await quickFiles(ripgrep, quick);
      await search.through(isFile ? [start.real] : (listed ?? filesUnder(start.real, signal)), signal);
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
    private readonly root: string,
  ) {}

  async through(files: AsyncIterable<string> | Iterable<string>, signal: AbortSignal): Promise<void> {
    for await (const file of files) {
      signal.throwIfAborted();
      if (this.files === SEARCH_MAX_FILES) this.stopped = `after ${SEARCH_MAX_FILES} files`;
      if (this.stopped) return;
      this.files += 1;
      await this.lookInto(file);
    }
  }

  report(): string {
    const found = this.hits.length === 0 ? `Nothing found for "${this.text}".` : this.hits.join('\n');
    const stopped = this.stopped ? `\n[Stopped ${this.stopped}; search a sub-folder for the rest.]` : '';
    const large = count(this.tooLarge, 'file');
    const skipped = this.tooLarge ? `\n[Skipped ${large} over ${sizeText(SEARCH_MAX_FILE_BYTES)}.]` : '';
    return found + stopped + skipped;
  }

  /** A file that cannot be read, or goes meanwhile, has nothing to find. */
  private async lookInto(file: string): Promise<void> {
    const size = await stat(file).then(
      (stats) => stats.size,
      () => 0,
    );
    if (size > SEARCH_MAX_FILE_BYTES) this.tooLarge += 1;
    if (size === 0 || size > SEARCH_MAX_FILE_BYTES) return;
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    if (!looksBinary(bytes)) this.lookAt(shownPath(this.root, file), bytes.toString('utf8'));
  }

  private lookAt(name: string, content: string): void {
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
