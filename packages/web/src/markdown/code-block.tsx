/** Code, coloured once it is complete, with a button to copy it. */
import { useEffect, useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import { highlighted } from './highlight.js';

interface Props {
  readonly text: string;
  readonly language: string;
  /** Still being written. */
  readonly isOpen?: boolean;
}

export function CodeBlock({ text, language, isOpen = false }: Props) {
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

function useHighlighted(text: string, language: string): string | undefined {
  const [done, setDone] = useState<{ readonly text: string; readonly html: string | undefined }>();
  useEffect(() => {
    let isOver = false;
    highlighted(text, language).then((html) => isOver || setDone({ text, html }));
    return () => {
      isOver = true;
    };
  }, [text, language]);
  return done?.text === text ? done.html : undefined;
}
