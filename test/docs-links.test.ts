/** Links between pages lead somewhere, and the index knows every page. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, type Page, pages, prose, ROOT } from './support/pages.js';

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

const all = new Map(pages().map((page) => [page.file, page]));

/** What is wrong with the links of a page. */
function broken(page: Page): string[] {
  const targets = [...prose(page).matchAll(LINK)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target));
}

function leadsSomewhere(from: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const place = file === '' ? from.file : path.posix.join(path.posix.dirname(from.file), file);
  if (!existsSync(path.join(ROOT, place))) return false;
  const page = file === '' ? from : all.get(place);
  return anchor === undefined || page === undefined || anchorsOf(page).has(anchor);
}

describe('the pages', () => {
  it.each([...all.values()].map((page) => [page.file, page] as const))('%s: every link leads somewhere', (_, page) => {
    expect(broken(page)).toEqual([]);
  });

  it('are all in the index of their folder', () => {
    const missing = (folder: string) => {
      const index = all.get(`${folder}/README.md`)?.text ?? '';
      const files = [...all.keys()].filter((file) => path.posix.dirname(file) === folder);
      return files.map((file) => path.posix.basename(file)).filter((file) => !index.includes(`](${file})`));
    };
    expect(missing('docs')).toEqual(['README.md']);
    expect(missing('docs/decisions')).toEqual(['README.md']);
    expect(missing('docs/spec')).toEqual(['README.md']);
  });
});

describe('the check itself', () => {
  const page = (text: string): Page => ({ file: 'docs/README.md', text });

  it.each([
    ['[a](nowhere.md)', ['nowhere.md']],
    ['[a](#nowhere)', ['#nowhere']],
    ['[a](client.md#nowhere)', ['client.md#nowhere']],
    ['![a](images/nowhere.png)', ['images/nowhere.png']],
    ['# Here\n\n[a](#here)', []],
    ['[a](client.md#connect) [b](https://nodejs.org) [c](../README.md)', []],
    ['```\n[a](nowhere.md)\n```\n', []],
    ['`[a](nowhere.md)`', []],
  ])('%j', (text, expected) => {
    expect(broken(page(text))).toEqual(expected);
  });

  it('knows the anchors of headings', () => {
    const text = '# The `hello` & co.\n\n## Twice\n\n## Twice\n\n## [A link](x.md)\n\n## `root/agentsChanged`\n';
    expect([...anchorsOf(page(text))]).toEqual(['the-hello--co', 'twice', 'twice-1', 'a-link', 'rootagentschanged']);
  });
});
