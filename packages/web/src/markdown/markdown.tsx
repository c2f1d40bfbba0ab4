/** Shows Markdown. A block that has not changed is not drawn again. */
import type { StringOrMarkdown } from '@atrium/protocol/ahp-1';
import type { Token } from 'marked';
import { lazy, memo, type ReactNode, Suspense, useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import { withAddresses } from './addresses.js';
import { type Block, BlockReader } from './blocks.js';
import { followFootnote, useDecorated } from './decorate.js';
import { useHighlighted } from './highlight.js';
import { blockHtml, inlineHtml } from './to-html.js';

interface MarkdownProps {
  readonly text: string;
  /** The address of a link stands behind its words. */
  readonly showsAddresses?: boolean;
}

export function Markdown({ text, showsAddresses = false }: MarkdownProps) {
  const [reader] = useState(() => new BlockReader());
  const blocks = reader.read(text);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links in it are real; this only finds their targets
    // biome-ignore lint/a11y/useKeyWithClickEvents: a link that is followed by key is clicked, too
    <div className="prose" onClick={followFootnote}>
      {blocks.map((block, index) => (
        // Blocks only come at the end, so their index identifies them.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <BlockView key={index} block={block} showsAddresses={showsAddresses} />
      ))}
    </div>
  );
}

const BlockView = memo(({ block, showsAddresses }: { readonly block: Block; readonly showsAddresses: boolean }) => {
  if (block.kind === 'html') return <HtmlBlock token={block.token} showsAddresses={showsAddresses} />;
  const code = <CodeBlock {...block} />;
  if (block.isOpen) return code;
  if (block.language === 'math') return <HtmlBlock token={formulaOf(block.text)} />;
  return block.language === 'mermaid' ? <LateDiagram source={block.text}>{code}</LateDiagram> : code;
});

/** A fenced block of the language `math` is a formula, too. */
function formulaOf(text: string): Token {
  return { type: 'blockMath', raw: `$$${text}$$`, text };
}

const Diagram = lazy(async () => ({ default: (await import('../diagrams/diagram.js')).Diagram }));

/** Shows the source until the diagram is drawn. */
function LateDiagram({ source, children }: { readonly source: string; readonly children: ReactNode }) {
  return (
    <Suspense fallback={children}>
      <Diagram source={source}>{children}</Diagram>
    </Suspense>
  );
}

function HtmlBlock({ token, showsAddresses = false }: { readonly token: Token; readonly showsAddresses?: boolean }) {
  const html = blockHtml(showsAddresses ? withAddresses(token) : token);
  const box = useDecorated<HTMLDivElement>(html);
  if (token.type === 'table')
    return (
      <div className="table-block">
        <CopyButton text={tableText(token)} what="table" />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer */}
        <div className="table" tabIndex={0} ref={box} dangerouslySetInnerHTML={{ __html: html }} />
      </div>
    );
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer
  return <div ref={box} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** A table for other programs: tabs between cells, one row in each line. */
function tableText(token: Token): string {
  if (token.type !== 'table') return '';
  const cells: readonly (readonly { readonly text: string }[])[] = [token.header, ...token.rows];
  return cells.map((row) => row.map(({ text }) => text.replace(/\s+/g, ' ')).join('\t')).join('\n');
}

/** Text for people; shows a plain string literally. */
export function Words({ text }: { readonly text: StringOrMarkdown }) {
  return typeof text === 'string' ? <span>{text}</span> : <MarkdownWords html={inlineHtml(text.markdown)} />;
}

function MarkdownWords({ html }: { readonly html: string }) {
  const box = useDecorated<HTMLSpanElement>(html);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it went through the sanitizer
  return <span className="words" ref={box} dangerouslySetInnerHTML={{ __html: html }} />;
}

interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
  /** Whether the agent is still writing it. */
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
