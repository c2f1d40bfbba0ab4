/** Code, coloured once it is complete, with a button to copy it. */
import { CopyButton } from '../ui/copy-button.js';
import { useHighlighted } from './use-highlighted.js';

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
