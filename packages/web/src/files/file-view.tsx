/** One file: its text in colours, its picture, or the reason why there is neither. */
import type { Client } from '@atrium/client';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { languageOfFile } from '../markdown/highlight.js';
import { Code } from '../markdown/markdown.js';
import { bytesText, pathIn, pathOf } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { expectingQuestion } from '../questions/expected.js';
import { openQuestions } from '../questions/open-questions.js';
import { CopyButton } from '../ui/copy-button.js';
import { IconButton } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { accessProblem, isAskable } from './entries.js';
import { type ShownFile, shownFile } from './shown-file.js';
import { watch } from './watch.js';

export function FileView({ file }: { readonly file: ShownFile }) {
  const session = useOpenSession();
  const [attempt, setAttempt] = useState(0);
  const lookAgain = useCallback(() => setAttempt((last) => last + 1), []);
  const content = useFile(file.uri, attempt);
  const path = pathIn(file.uri, folderOf(session.state));
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
  const mark = useRef<HTMLDivElement>(null);
  const lines = text === '' ? 1 : text.replace(/\n$/, '').split('\n').length;
  useLayoutEffect(() => {
    const shown = box.current;
    const [gutter] = shown?.getElementsByTagName('pre') ?? [];
    if (line === undefined || !shown || !gutter) return;
    const place = (): boolean => {
      const { paddingTop, lineHeight } = getComputedStyle(gutter);
      const height = Number.parseFloat(lineHeight);
      if (Number.isNaN(height)) return false;
      shown.scrollTop = Math.max(0, (line - 3) * height);
      if (!mark.current) return true;
      mark.current.style.top = `${Number.parseFloat(paddingTop) + Math.min(line, lines - 1) * height}px`;
      mark.current.style.height = `${height}px`;
      return true;
    };
    if (place()) return;
    // The styles arrive after the text: the line has no height before.
    const observer = new ResizeObserver(() => place() && observer.disconnect());
    observer.observe(gutter);
    return () => observer.disconnect();
  }, [line, lines]);
  if (text === '') return <p className="files-note hint">This file is empty.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className="file-text" ref={box} tabIndex={0}>
      {line !== undefined && <div className="line-mark" ref={mark} />}
      <pre className="gutter" aria-hidden="true">
        {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
      </pre>
      <pre>
        <Code text={text} language={languageOfFile(path)} />
      </pre>
    </div>
  );
}

interface AskForAccessProps {
  readonly uri: string;
  /** Called after an answer: then reading may work. */
  readonly onAnswered: () => void;
}

/** Asks in the session for a file outside its folder; the same person may answer. */
function AskForAccess({ uri, onAnswered }: AskForAccessProps) {
  const { client } = useHost();
  const session = useOpenSession();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isAsking) return;
    let count = 0;
    return session.view.subscribe(() => {
      const { length } = openQuestions(session.state, session.chat);
      if (length < count) onAnswered();
      count = length;
    });
  }, [session, isAsking, onAnswered]);
  const ask = async () => {
    setAsking(true);
    try {
      await expectingQuestion(session, () => client.request('resourceRequest', { uri, read: true }));
      onAnswered();
    } catch (error) {
      // The question waits longer than a request waits for its answer.
      if (error instanceof Error && error.name === 'RequestTimeoutError') return;
      setAsking(false);
      tell(problemText(error));
    }
  };
  return (
    <div className="files-note">
      <button type="button" className="small" disabled={isAsking} onClick={() => void ask()}>
        {isAsking ? 'The question is in the session' : 'Ask to see it'}
      </button>
    </div>
  );
}

/** The page does not show longer texts. */
const TEXT_MAX_BYTES = 2 ** 20;
/** The host sends at most this much in one answer. */
const IMAGE_MAX_BYTES = 4 * 2 ** 20;
const CALM_MS = 250;
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)$/;

type FileContent =
  | { readonly kind: 'loading' }
  /** `isAskable`: the client can ask for access. */
  | { readonly kind: 'problem'; readonly why: string; readonly isAskable: boolean }
  | { readonly kind: 'text'; readonly text: string }
  /** A `data:` URI. As the source of a picture it can run nothing, not even an SVG. */
  | { readonly kind: 'image'; readonly source: string }
  | { readonly kind: 'binary'; readonly bytes: number | undefined }
  | { readonly kind: 'large'; readonly bytes: number };

/** The content of a file on the screen. Reads it again when the file or `attempt` changes. */
function useFile(uri: string, attempt: number): FileContent {
  const { client } = useHost();
  const [content, setContent] = useState<FileContent>({ kind: 'loading' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: an attempt is a reason to read again
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      timer = undefined;
      const next = await load(client, uri);
      if (!isOver) setContent((last) => (isSame(last, next) ? last : next));
    };
    setContent({ kind: 'loading' });
    void read();
    const watched = watch(client, uri, () => {
      timer ??= setTimeout(() => void read(), CALM_MS);
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      watched.close();
    };
  }, [client, uri, attempt]);
  return content;
}

async function load(client: Client, uri: string): Promise<FileContent> {
  try {
    const { type, size, contentType = '' } = await client.request('resourceResolve', { uri });
    if (type === 'directory') return { kind: 'problem', why: 'This is a folder.', isAskable: false };
    const isImage = IMAGE.test(contentType);
    const most = isImage ? IMAGE_MAX_BYTES : TEXT_MAX_BYTES;
    if (size !== undefined && size > most) return { kind: 'large', bytes: size };
    if (isImage) {
      const { data } = await client.request('resourceRead', { uri, encoding: 'base64' });
      return { kind: 'image', source: `data:${contentType};base64,${data}` };
    }
    const { data, encoding } = await client.request('resourceRead', { uri, encoding: 'utf-8' });
    return encoding === 'base64' ? { kind: 'binary', bytes: size } : { kind: 'text', text: data };
  } catch (error) {
    return { kind: 'problem', why: accessProblem(error, 'file'), isAskable: isAskable(error) };
  }
}

function isSame(one: FileContent, other: FileContent): boolean {
  return one.kind === 'text' && other.kind === 'text' && one.text === other.text;
}
