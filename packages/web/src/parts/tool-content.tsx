/** The output of a tool, block by block; while the tool runs, the end stays in view. */
import type { Client } from '@atrium/client';
import type { ResourceReadResult, ToolResultContent } from '@atrium/protocol/ahp-1';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { FileLink } from '../files/file-link.js';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { InlineTerminal } from '../terminals/inline-terminal.js';
import { VisibleLines } from '../ui/visible-text.js';
import { Edits } from './edits.js';
import { isReadable, lineCount, ReadBox, useIsAsked, useReading } from './reading.js';

interface Props {
  readonly content: readonly ToolResultContent[];
  readonly input: string | undefined;
}

export function ToolContent({ content, input }: Props) {
  const terminal = content.find((block) => block.type === 'terminal');
  if (!terminal) return <Blocks content={content} input={input} />;
  // The host also sends the output of a terminal as text, for clients that cannot show terminals.
  const others = content.filter(({ type }) => type !== 'terminal');
  return (
    <>
      <InlineTerminal uri={terminal.resource} title={terminal.title}>
        <Blocks content={others.filter(({ type }) => type === 'text')} input={input} />
      </InlineTerminal>
      <Blocks content={others.filter(({ type }) => type !== 'text')} input={input} />
    </>
  );
}

function Blocks({ content, input }: Props) {
  return content.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no id and keep their place
    <ContentBlock key={index} block={block} input={input} />
  ));
}

const INLINE_IMAGE = /^image\/(png|jpeg|gif|webp)$/;

function ContentBlock({ block, input }: { readonly block: ToolResultContent; readonly input: string | undefined }) {
  if (block.type === 'text') return <Text text={block.text} />;
  if (block.type === 'fileEdit') return <Edits edits={[block]} input={input} />;
  if (block.type === 'embeddedResource' && INLINE_IMAGE.test(block.contentType))
    return <img className="tool-image" alt="From the tool" src={`data:${block.contentType};base64,${block.data}`} />;
  // The head of the call shows it, also when the call is folded.
  if (block.type === 'subagent') return null;
  if (block.type === 'resource' && isBlob(block)) return <BlobContent block={block} />;
  if (block.type === 'resource') return <FileLink uri={block.uri} />;
  return <p className="hint">Output that this page cannot show</p>;
}

/** An output that a person decides about is plain text, like an input. */
function Text({ text }: { readonly text: string }) {
  const isAsked = useIsAsked();
  const isTooLong = isAsked && !isReadable(text);
  useReading(isTooLong ? 'too-long' : 'read');
  if (!isAsked || isTooLong) return <Output text={text} />;
  return (
    <ReadBox label="Output" lines={lineCount(text)}>
      <VisibleLines text={text} />
    </ReadBox>
  );
}

function Output({ text }: { readonly text: string }) {
  const ref = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls when the text has grown
  useLayoutEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <pre className="tool-output" ref={ref} tabIndex={0}>
      {text}
    </pre>
  );
}

type Block = Extract<ToolResultContent, { type: 'resource' }>;

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

/** Content that the host stores as a blob: the page loads a picture at once, anything else on a click. */
function isBlob({ uri }: Block): boolean {
  return uri.startsWith('atrium-content:');
}

function BlobContent({ block }: { readonly block: Block }) {
  const { client } = useHost();
  const { uri, contentType = '' } = block;
  const isPicture = PICTURE.test(contentType);
  const [isWanted, setWanted] = useState(isPicture);
  const { content, problem } = useContent(client, uri, isWanted);
  const text = content && content.encoding !== 'base64' ? content.data : undefined;
  const isTooLong = text !== undefined && !isReadable(text);
  useReading(isTooLong ? 'too-long' : content ? 'read' : 'unread');
  if (problem !== undefined) return <p className="hint">{problem}</p>;
  if (!isWanted) {
    return (
      <button type="button" onClick={() => setWanted(true)}>
        Show all of it
      </button>
    );
  }
  if (!content) return <p className="hint">Loading…</p>;
  if (isPicture && content.encoding === 'base64')
    return <img className="tool-image" alt="From the tool" src={`data:${contentType};base64,${content.data}`} />;
  if (text === undefined) return <p className="hint">Output that this page cannot show</p>;
  return <BlobText text={text} />;
}

/** A person who decides about the content has to read it to the end, like any other output. */
function BlobText({ text }: { readonly text: string }) {
  const isAsked = useIsAsked();
  if (isAsked && isReadable(text)) {
    return (
      <ReadBox label="Output" lines={lineCount(text)}>
        <VisibleLines text={text} />
      </ReadBox>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <pre className="tool-output" tabIndex={0}>
      {text}
    </pre>
  );
}

function useContent(client: Client, uri: string, isWanted: boolean) {
  const [content, setContent] = useState<ResourceReadResult>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    client.request('resourceRead', { uri }).then(
      (read) => isOver || setContent(read),
      (error) => isOver || setProblem(problemText(error)),
    );
    return () => {
      isOver = true;
    };
  }, [client, uri, isWanted]);
  return { content, problem };
}
