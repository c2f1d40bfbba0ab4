/** One file: its text in colours, or its picture, or why there is neither. */
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { Code } from '../markdown/code-block.js';
import { languageOfFile } from '../markdown/highlight.js';
import { bytesText, pathIn, pathOf } from '../model/format.js';
import { CopyButton } from '../ui/copy-button.js';
import { IconButton } from '../ui/icon-button.js';
import { AskForAccess } from './ask-for-access.js';
import { type ShownFile, shownFile } from './shown-file.js';
import { type FileContent, useFile } from './use-file.js';

export function FileView({ file }: { readonly file: ShownFile }) {
  const session = useOpenSession();
  const [attempt, setAttempt] = useState(0);
  const lookAgain = useCallback(() => setAttempt((last) => last + 1), []);
  const content = useFile(file.uri, attempt);
  const path = pathIn(file.uri, session.state.summary.workingDirectory);
  return (
    <section className="file-view" aria-label={path}>
      <header className="files-head">
        <IconButton icon="back" label="All files" onClick={() => shownFile.set(undefined)} />
        <span className="path" title={pathOf(file.uri)}>
          {path}
        </span>
        {content.kind === 'text' && <CopyButton text={content.text} what="file" />}
      </header>
      <Content content={content} path={path} line={file.line} />
      {content.kind === 'problem' && content.isAskable && <AskForAccess uri={file.uri} onAnswered={lookAgain} />}
    </section>
  );
}

interface ContentProps {
  readonly content: FileContent;
  readonly path: string;
  readonly line: number | undefined;
}

function Content({ content, path, line }: ContentProps) {
  switch (content.kind) {
    case 'loading':
      return <p className="files-note hint">Loading …</p>;
    case 'problem':
      return (
        <p className="files-note" role="alert">
          {content.why}
        </p>
      );
    case 'large':
      return <p className="files-note">With {bytesText(content.bytes)} this file is too large to be shown here.</p>;
    case 'binary':
      return (
        <p className="files-note">
          This file is not text{content.bytes !== undefined && ` (${bytesText(content.bytes)})`}, so it is not shown.
        </p>
      );
    case 'image':
      return (
        <div className="file-image">
          <img src={content.source} alt={path} />
        </div>
      );
    case 'text':
      return <Text text={content.text} path={path} line={line} />;
  }
}

interface TextProps {
  readonly text: string;
  readonly path: string;
  readonly line: number | undefined;
}

function Text({ text, path, line }: TextProps) {
  const box = useRef<HTMLDivElement>(null);
  const lines = text === '' ? 1 : text.replace(/\n$/, '').split('\n').length;
  useLayoutEffect(() => {
    if (line === undefined || !box.current) return;
    const height = box.current.scrollHeight / Math.max(1, lines);
    box.current.scrollTop = Math.max(0, (line - 3) * height);
  }, [line, lines]);
  if (text === '') return <p className="files-note hint">This file is empty.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className="file-text" ref={box} tabIndex={0}>
      <pre className="gutter" aria-hidden="true">
        {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
      </pre>
      <pre>
        <Code text={text} language={languageOfFile(path)} />
      </pre>
    </div>
  );
}
