import { expect, it } from 'vitest';
import { CodeColours, HIGHLIGHT_LINE_MAX_CHARACTERS } from '../../src/text/highlight.js';
import { renderMarkdown } from '../../src/text/markdown.js';
import { COLOURED, hyperlink, LINK_MAX_CHARACTERS, PLAIN } from '../../src/text/style.js';
import { cut, sealed, widthOf, withoutStyles, wrap } from '../../src/text/width.js';

function kinds(language: string, ...lines: string[]): string[] {
  const colours = new CodeColours(language);
  return lines.map((line) => {
    const pieces = colours.next(line);
    expect(pieces.map(({ text }) => text).join('')).toBe(line);
    return pieces
      .filter(({ kind }) => kind !== 'plain')
      .map(({ text, kind }) => `${kind}:${text}`)
      .join(' ');
  });
}

it('colours words, strings, numbers and comments, over several lines where they go on [DAY-110]', () => {
  expect(kinds('ts', 'const a = "x\\"y" + 12; // no')).toEqual(['word:const string:"x\\"y" number:12 comment:// no']);
  expect(kinds('ts', 'a(); /* one', 'if two */ return `x', 'y`;')).toEqual([
    'comment:/* one',
    'comment:if two */ word:return string:`x',
    'string:y`',
  ]);
  expect(kinds('python', '"""doc', 'import', '""" # c', "x = 'it'")).toEqual([
    'string:"""doc',
    'string:import',
    'string:""" comment:# c',
    "string:'it'",
  ]);
  expect(kinds('rust', "fn f<'a>() {}")).toEqual(['word:fn']);
  expect(kinds('sql', 'SELECT 1 -- all')).toEqual(['word:SELECT number:1 comment:-- all']);
  expect(kinds('diff', '+ a', '- b', '  c')).toEqual(['added:+ a', 'removed:- b', '']);
  expect(kinds('klingon', 'if "x"')).toEqual(['']);
  expect(kinds('ts', `const ${'x'.repeat(HIGHLIGHT_LINE_MAX_CHARACTERS)}`)).toEqual(['']);
});

it('code in an answer is coloured, and says the same without colours [DAY-110]', () => {
  const text = '```ts\nconst a = "long enough to be wrapped into the next row";\n```';
  const lines = renderMarkdown(text, { style: COLOURED, columns: 30 });
  expect(lines[1]).toContain('\u001b[34mconst\u001b[39m');
  expect(lines.map(withoutStyles)).toEqual(renderMarkdown(text, { style: PLAIN, columns: 30 }));
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
});

it('tables keep the side that each column says [DAY-110]', () => {
  const table = '| a | bbbb | right |\n|:--|:-:|--:|\n| x | y | 1 |';
  expect(renderMarkdown(table, { style: PLAIN, columns: 40 })).toEqual(['a     bbbb  right', 'x      y        1']);
});

it('links to the web are links of the terminal, and nothing else is [DAY-110]', () => {
  const link = (url: string) => hyperlink('x', url);
  expect(link('https://example.org/a')).toBe('\u001b]8;;https://example.org/a\u001b\\x\u001b]8;;\u001b\\');
  expect(link('https://example.org/ä\u001b]0;t\u0007')).toBe(
    '\u001b]8;;https://example.org/%C3%A4%1B]0;t%07\u001b\\x\u001b]8;;\u001b\\',
  );
  for (const bad of ['javascript:alert(1)', 'ssh://host/', 'x-man-page://ls', 'data:text/html,x', 'example.org'])
    expect(link(bad)).toBe('x');
  expect(link(`https://e/${'a'.repeat(LINK_MAX_CHARACTERS)}`)).toBe('x');
  const [line = ''] = renderMarkdown('[here](https://example.org) [bad](javascript:x)', {
    style: COLOURED,
    columns: 80,
  });
  expect(line).toContain('\u001b]8;;https://example.org\u001b\\');
  expect(line).not.toContain(']8;;javascript');
  expect(withoutStyles(line)).toBe('here (https://example.org) bad (javascript:x)');
});

it('a link that is cut or goes over several lines is closed in each [DAY-110]', () => {
  const link = hyperlink('a few words that are long', 'https://example.org');
  const isClosed = (line: string) => line.lastIndexOf('\u001b]8;;\u001b\\') > line.lastIndexOf('\u001b]8;;https');
  expect(isClosed(cut(link, 8))).toBe(true);
  const lines = sealed(wrap(link, 10));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.every((line) => line.includes(']8;;https://example.org') && isClosed(line))).toBe(true);
});
