/** Content that the host keeps aside: a picture is fetched and shown, anything else when somebody wants to see it. */
import type { Client } from '@atrium/client';
import type { ResourceReadResult, ToolResultContent } from '@atrium/protocol';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { VisibleLines } from '../ui/visible-text.js';
import { isReadable, lineCount, ReadBox, useIsAsked, useReading } from './reading.js';

type Block = Extract<ToolResultContent, { type: 'resource' }>;

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

export function isKept({ uri }: Block): boolean {
  return uri.startsWith('atrium-content:');
}

export function KeptContent({ block }: { readonly block: Block }) {
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
  return <KeptText text={text} />;
}

/** Where a person decides about it, it is read to the end, as any other output. */
function KeptText({ text }: { readonly text: string }) {
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
