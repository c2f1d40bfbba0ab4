import { expect, it } from 'vitest';
import { editorCommand, fileAddresses } from '../../src/text/file-links.js';
import { renderMarkdown } from '../../src/text/markdown.js';
import { COLOURED, PLAIN } from '../../src/text/style.js';

const URI = 'file:///srv/my%20app/a.ts';
const FILE = '/srv/my app/a.ts';

it.each([
  ['vim', ['+12', FILE]],
  ['/usr/bin/nvim -u NONE', ['-u', 'NONE', '+12', FILE]],
  ['nano', ['+12,5', FILE]],
  ['emacsclient -t', ['-t', '+12:5', FILE]],
  ['code --wait', ['--wait', '--goto', `${FILE}:12:5`]],
  ['"/opt/my tools/cursor"', ['--goto', `${FILE}:12:5`]],
  ['hx', [`${FILE}:12:5`]],
  ['idea', ['--line', '12', FILE]],
  ['ed', [FILE]],
  ['vim; rm -rf ~', ['rm', '-rf', '~', FILE]],
])('%s is told the line without a shell [DAY-101]', (EDITOR, args) => {
  expect(editorCommand({ EDITOR }, URI, { line: 12, column: 5 })?.args).toEqual(args);
});

it('VISUAL comes before EDITOR, and without both there is none [DAY-101]', () => {
  expect(editorCommand({ VISUAL: 'vim', EDITOR: 'ed' }, URI, {})).toEqual({ program: 'vim', args: [FILE] });
  expect(editorCommand({ VISUAL: '', EDITOR: ' ' }, URI, {})).toBeUndefined();
});

it('a place in a file is a link in the terminal, to the file or to a chosen program [DAY-101]', () => {
  const shown = (env: Record<string, string>, text: string) =>
    renderMarkdown(text, { style: COLOURED, columns: 80, fileAddress: fileAddresses('file:///srv', env) }).join('');
  expect(shown({}, 'See src/a.ts:12.')).toContain('\u001b]8;;file:///srv/src/a.ts\u001b\\');
  expect(shown({ ATRIUM_EDITOR_LINKS: 'cursor' }, '`src/a.ts:12:3`')).toContain(
    ']8;;cursor://file/srv/src/a.ts:12:3\u001b',
  );
  expect(shown({ ATRIUM_EDITOR_LINKS: 'idea' }, 'src/a.ts:12')).toContain(
    ']8;;idea://open?file=/srv/src/a.ts&line=12\u001b',
  );
  expect(shown({ ATRIUM_EDITOR_LINKS: 'sh' }, 'src/a.ts:12')).toContain(']8;;file:///srv/src/a.ts\u001b');
  const plain = renderMarkdown('See src/a.ts:12.', {
    style: PLAIN,
    columns: 80,
    fileAddress: fileAddresses('file:///srv', {}),
  });
  expect(plain).toEqual(['See src/a.ts:12.']);
});
