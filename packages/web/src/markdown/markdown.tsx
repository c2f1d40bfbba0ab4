/** Shows Markdown. A block that has not changed is not drawn again. */
import type { StringOrMarkdown } from '@atrium/protocol';
import type { Token } from 'marked';
import { memo, useState } from 'react';
import { type Block, BlockReader } from './blocks.js';
import { CodeBlock } from './code-block.js';
import { blockHtml, inlineHtml } from './to-html.js';

export function Markdown({ text }: { readonly text: string }) {
  const [reader] = useState(() => new BlockReader());
  const blocks = reader.read(text);
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        // Blocks are only ever added at the end, so their place is their name.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

const BlockView = memo(({ block }: { readonly block: Block }) =>
  block.kind === 'code' ? <CodeBlock {...block} /> : <HtmlBlock token={block.token} />,
);

function HtmlBlock({ token }: { readonly token: Token }) {
  if (token.type === 'table')
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    // biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer
    return <div className="table" tabIndex={0} dangerouslySetInnerHTML={{ __html: blockHtml(token) }} />;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer
  return <div dangerouslySetInnerHTML={{ __html: blockHtml(token) }} />;
}

/** Text for people: a plain string is shown literally. */
export function Words({ text }: { readonly text: StringOrMarkdown }) {
  if (typeof text === 'string') return <span>{text}</span>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer
  return <span className="words" dangerouslySetInnerHTML={{ __html: inlineHtml(text.markdown) }} />;
}
