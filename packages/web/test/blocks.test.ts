/** Markdown that grows letter by letter comes out like Markdown that came at once. */
import { expect, it } from 'vitest';
import { BlockReader } from '../src/markdown/blocks.js';

const TEXT = `# Title

A paragraph
over two lines, then a list:

- one
- two

  still two

1. first
   \`\`\`sh
   ls
   \`\`\`

Setext
======

| a | b |
|---|---|
| 1 | 2 |

> quoted
lazy

\`\`\`ts title="x"
const a = 1;

const b = 2;
\`\`\`

~~~
open to the end`;

const shape = (reader: BlockReader, text: string) =>
  reader
    .read(text)
    .map((block) =>
      block.kind === 'code' ? [block.language, block.text, block.isOpen] : [block.token.type, block.token.raw.trim()],
    );

it('is the same after every letter', () => {
  const growing = new BlockReader();
  for (let end = 1; end <= TEXT.length; end++) {
    const text = TEXT.slice(0, end);
    expect(shape(growing, text), JSON.stringify(text)).toEqual(shape(new BlockReader(), text));
  }
});

it('keeps the blocks that did not change', () => {
  const reader = new BlockReader();
  const [first] = reader.read('one\n\ntwo');
  expect(reader.read('one\n\ntwo more\n\nthree')[0]).toBe(first);
});

it('starts anew when the text was replaced', () => {
  const reader = new BlockReader();
  reader.read('one\n\ntwo');
  expect(shape(reader, 'other')).toEqual([['paragraph', 'other']]);
});

it('knows whether code is still being written', () => {
  const isOpen = (text: string) => new BlockReader().read(text).map((block) => block.kind === 'code' && block.isOpen);
  expect(isOpen('```ts')).toEqual([true]);
  expect(isOpen('```ts\nconst a')).toEqual([true]);
  expect(isOpen('```ts\nconst a\n```')).toEqual([false]);
  expect(isOpen('    indented')).toEqual([false]);
});
