/** Shows Markdown. A block that has not changed is not drawn again. */
import type { StringOrMarkdown } from '@atrium/protocol/ahp-1';
import type { Token } from 'marked';
import { memo, useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import { type Block, BlockReader } from './blocks.js';
import { useHighlighted } from './highlight.js';
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

interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
  /** Still being written. */
  readonly isOpen?: boolean;
}

/** Code, coloured once it is complete, with a button to copy it. */
function CodeBlock({ text, language, isOpen = false }: CodeBlockProps) {
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        <CopyButton text={text} what="code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <Code text={text} language={isOpen ? '' : language} />
      </pre>
    </figure>
  );
}

export function Code({ text, language }: { readonly text: string; readonly language: string }) {
  const html = useHighlighted(text, language);
  if (html === undefined) return <code>{text}</code>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the highlighter escapes the code
  return <code dangerouslySetInnerHTML={{ __html: html }} />;
}
