/** The pages that people read, and what stands in them: blocks of code, headings, links. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PACKAGES = ['cli', 'client', 'host', 'protocol', 'provider', 'web'].map((name) => `packages/${name}/README.md`);
/** Where pages are looked for; folders are searched to their ends. */
const PLACES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs', 'examples', ...PACKAGES];

export interface Page {
  /** From the root of the repository, with slashes. */
  readonly file: string;
  readonly text: string;
}

export interface Block {
  readonly page: string;
  /** The line of the page on which the code begins. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm;

export function pages(): Page[] {
  return PLACES.flatMap(markdownIn).map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
}

function markdownIn(place: string): string[] {
  if (place.endsWith('.md')) return [place];
  const inside = readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' });
  return inside.filter((file) => file.endsWith('.md')).map((file) => `${place}/${file.replaceAll(path.sep, '/')}`);
}

export function blocksOf({ file, text }: Page): Block[] {
  return [...text.matchAll(FENCE)].map(({ index, 1: language = '', 2: code = '' }) => ({
    page: file,
    line: text.slice(0, index).split('\n').length + 1,
    language,
    code,
  }));
}

/** All blocks in one of these languages. */
export function blocksIn(...languages: readonly string[]): Block[] {
  return pages()
    .flatMap(blocksOf)
    .filter(({ language }) => languages.includes(language));
}

/** The page without its code, in which `[x](y)` and `#` mean nothing. */
export function prose({ text }: Page): string {
  return text.replaceAll(FENCE, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
}

/** The anchors that the headings of a page get on GitHub: the second of the same name ends in `-1`. */
export function anchorsOf(page: Page): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...page.text.replaceAll(FENCE, '').matchAll(/^#{1,6} (.+)$/gm)];
  const anchors = headings.map(([, heading = '']) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return new Set(anchors);
}
