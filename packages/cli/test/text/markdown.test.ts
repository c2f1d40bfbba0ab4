import { describe, expect, it } from 'vitest';
import { MarkdownStream, renderMarkdown } from '../../src/text/markdown.js';
import { COLOURED, PLAIN } from '../../src/text/style.js';
import { widthOf } from '../../src/text/width.js';

const plain = (text: string, columns = 40) => renderMarkdown(text, { style: PLAIN, columns });

describe('Markdown in a terminal', () => {
  it('renders headings, lists, quotes, rules and links', () => {
    expect(plain('# Title\n\nSome **bold**, *italic*, ~~gone~~ and `code`.')).toEqual([
      'Title',
      '',
      'Some bold, italic, gone and code.',
    ]);
    expect(plain('- one\n  1. two\n- [x] done\n- [ ] open')).toEqual(['• one', '  1. two', '☑ done', '☐ open']);
    expect(plain('> said')).toEqual(['│ said']);
    expect(plain('---')).toEqual(['─'.repeat(40)]);
    expect(plain('See [the page](https://example.org/a).', 80)).toEqual(['See the page (https://example.org/a).']);
    expect(plain('<https://example.org>')).toEqual(['https://example.org']);
  });

  it('leaves what does not close as it is written', () => {
    expect(plain('2 * 3, snake_case_name, **open, `open, [x](', 80)).toEqual([
      '2 * 3, snake_case_name, **open, `open, [x](',
    ]);
  });

  it('keeps code as it is, and closes a fence only with its own kind', () => {
    expect(plain('```ts\nconst a = **1**;\n~~~\n```\nafter')).toEqual(['  ts', '  const a = **1**;', '  ~~~', 'after']);
  });

  it('wraps with hanging indents, and never beyond the width', () => {
    const lines = plain(
      '- a list item that is longer than the window is wide\n\n```\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n```',
      30,
    );
    expect(lines[1]).toMatch(/^ {2}\S/);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
  });

  it('fits tables into the width', () => {
    expect(plain('| Name | Value |\n|---|--:|\n| one | **1** |\n\nx')).toEqual(['Name  Value', 'one       1', '', 'x']);
    for (const line of plain('| a | b |\n|---|---|\n| aaaaaaaaaaaaaaaaaaaaaaaaaaa | bbbbbbbbbbbbbbbbbbbb |', 24))
      expect(widthOf(line)).toBeLessThanOrEqual(24);
  });

  it('leaves no word of a table out: cells wrap, and where columns would be too narrow it becomes a list [DAY-110]', () => {
    const wrapped = plain(
      '| File | What it does |\n|---|---|\n| src/a.ts | Reads the **whole input** first |\n| b | x |',
      26,
    );
    expect(wrapped).toEqual([
      'File      What it does',
      'src/a.ts  Reads the whole',
      '          input first',
      'b         x',
    ]);
    const wide =
      '| Name | Path | Size | Owner | Reads |\n|--|--|--|--|--|\n| alpha module | src/modules/alpha.ts | 12 kB | somebody | the configuration |\n| b | c | | | |';
    expect(plain(wide, 32)).toEqual([
      'Name: alpha module',
      'Path: src/modules/alpha.ts',
      'Size: 12 kB',
      'Owner: somebody',
      'Reads: the configuration',
      '',
      'Name: b',
      'Path: c',
    ]);
    for (const line of plain(wide, 12)) expect(widthOf(line)).toBeLessThanOrEqual(12);
  });

  it('gives the same lines whether it comes at once or letter by letter', () => {
    const text = '# T\n\nA *b* c.\n\n```\ncode\n\nmore\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n- x\n- y\n\nEnd.';
    const stream = new MarkdownStream({ style: COLOURED, columns: 30 });
    const lines = [...text].flatMap((letter) => stream.push(letter));
    expect([...lines, ...stream.end()]).toEqual(renderMarkdown(text, { style: COLOURED, columns: 30 }));
  });

  it('lets nobody move the cursor', () => {
    expect(plain('a\u001b[2Jb\u001b]0;title\u0007c\u009bd\u202ee')).toEqual([
      'a\\x1b[2Jb\\x1b]0;title\\x07c\\x9bd\\u{202e}e',
    ]);
  });

  it('closes every style at the end of a line', () => {
    const lines = renderMarkdown(`**${'word '.repeat(20)}**`, { style: COLOURED, columns: 30 });
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) {
      expect(line.startsWith('\u001b[1m')).toBe(true);
      expect(line.endsWith('\u001b[0m') || line.endsWith('\u001b[22m')).toBe(true);
    }
  });

  it('takes its time for long lines in proportion to their length', () => {
    // With the square of its length the first would take minutes, and the second longer than a test may.
    expect(plain('[`*_'.repeat(200_000))).not.toEqual([]);
    expect(plain('*a '.repeat(16_000))).not.toEqual([]);
  });
});
