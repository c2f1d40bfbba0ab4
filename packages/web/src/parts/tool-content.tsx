/** The output of a tool, block by block; while it runs, the end of it stays in view. */
import type { ToolResultContent } from '@atrium/protocol';
import { useLayoutEffect, useRef } from 'react';
import { FileLink } from '../files/file-link.js';
import { hashOf } from '../host/router.js';
import { InlineTerminal } from '../terminals/inline-terminal.js';
import { VisibleLines } from '../ui/visible-text.js';
import { Edits } from './edits.js';
import { isKept, KeptContent } from './kept-content.js';
import { isReadable, lineCount, ReadBox, useIsAsked, useReading } from './reading.js';

interface Props {
  readonly content: readonly ToolResultContent[];
  readonly input: string | undefined;
}

export function ToolContent({ content, input }: Props) {
  const terminal = content.find((block) => block.type === 'terminal');
  if (!terminal) return <Blocks content={content} input={input} />;
  // What a terminal shows is told as text, too, for those who cannot show terminals.
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
  if (block.type === 'subagent') return <a href={hashOf({ at: 'session', uri: block.resource })}>{block.title}</a>;
  if (block.type === 'resource' && isKept(block)) return <KeptContent block={block} />;
  if (block.type === 'resource') return <FileLink uri={block.uri} />;
  return <p className="hint">Output that this page cannot show</p>;
}

/** Where a person decides about an output, it is as plain as an input. */
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
