/** The difference between two texts, line by line, in the colours of their language. */
import { isVisible } from '@atrium/protocol/ahp-1';
import { Fragment, type ReactNode, useMemo, useState } from 'react';
import { htmlLines, languageOfFile, useHighlighted } from '../markdown/highlight.js';
import { plural } from '../model/format.js';
import { isReadable, ReadBox, useReading } from '../parts/reading.js';
import { useKeptFocus } from '../ui/focus.js';
import { VisibleText } from '../ui/visible-text.js';
import { type DiffGap, type DiffLine, diffLines, hunks, type Piece, piecesOf, pieceWords } from './diff.js';

/** How many lines show at first; a button shows the rest. */
const LINES_MAX = 200;
const SIGNS = { added: '+', removed: '−', same: ' ' } as const;

interface Props {
  readonly before: string;
  readonly after: string;
  /** The path of the file, which tells its language. */
  readonly path: string;
  /** The operations on one piece; a single piece is the whole file. */
  readonly pieceActions?: ((piece: Piece) => ReactNode) | undefined;
  /** Called with a clicked line of the new text, from 0 on. */
  readonly onLine?: ((line: number) => void) | undefined;
  /** The diff belongs to a permission question: it shows every line, and wraps long ones. */
  readonly isAsked?: boolean;
}

export function DiffLines({ before, after, path, pieceActions, onLine, isAsked = false }: Props) {
  const lines = useMemo(() => hunks(diffLines(before, after, isAsked)), [before, after, isAsked]);
  const pieces = useMemo(() => piecesOf(lines), [lines]);
  const htmlOf = useColours(before, after, path);
  const [isWhole, setWhole] = useState(isAsked);
  const keptFocus = useKeptFocus<HTMLPreElement>((all) => all);
  const shown = isWhole ? lines : lines.slice(0, LINES_MAX);
  const isTooLong = useMemo(() => isAsked && !isReadable(lines.map(textIn).join('\n')), [isAsked, lines]);
  useReading(isTooLong ? 'too-long' : 'read');
  if (isTooLong) return <p className="problem">This change is too long to be read here.</p>;
  if (pieces.size === 0)
    return <p className="hint">{before === after ? 'Nothing in it changes.' : 'Only the ends of lines differ.'}</p>;
  const drawn = shown.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and keep their place
    <Fragment key={index}>
      {pieceActions && pieces.size > 1 && <PieceHead piece={pieces.get(index)} actions={pieceActions} />}
      {line.kind === 'gap' ? <Gap lines={line.lines} /> : <Line line={line} html={htmlOf(line)} onLine={onLine} />}
    </Fragment>
  ));
  if (isAsked)
    return (
      <ReadBox label="Change" lines={lines.length}>
        <pre className="is-whole">{drawn}</pre>
      </ReadBox>
    );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} {...keptFocus}>
        {drawn}
      </pre>
      {shown.length < lines.length && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          Show {plural(lines.length - shown.length, 'more line')}
        </button>
      )}
    </>
  );
}

function textIn(line: DiffLine | DiffGap): string {
  return line.kind === 'gap' ? '' : line.text;
}

/** Colours both texts as a whole: a line alone does not tell whether it is inside a comment. */
function useColours(before: string, after: string, path: string): (line: DiffLine) => string | undefined {
  const language = languageOfFile(path);
  const [old, fresh] = [useHighlighted(before, language), useHighlighted(after, language)];
  return useMemo(() => {
    const [oldLines, freshLines] = [old, fresh].map((html) => (html === undefined ? [] : htmlLines(html)));
    return (line) => (line.kind === 'removed' ? oldLines?.[line.before] : freshLines?.[line.after]);
  }, [old, fresh]);
}

interface LineProps {
  readonly line: DiffLine;
  readonly html: string | undefined;
  readonly onLine?: ((line: number) => void) | undefined;
}

/** Clicking a line is a short cut for the form, which also works with keys. */
function Line({ line: { kind, text, before, after }, html, onLine }: LineProps) {
  // Styles show it where lines can be talked about; it is no part of the text that somebody copies.
  const number = (kind === 'removed' ? before : after) + 1;
  const clicked = onLine && (() => String(getSelection()) === '' && onLine(after));
  // Colours come from the raw text, so a line with invisible characters has none.
  if (html === undefined || !isVisible(text, 'lines'))
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: see above
      // biome-ignore lint/a11y/noStaticElementInteractions: see above
      <span className={`line ${kind}`} data-number={number} onClick={clicked}>
        {SIGNS[kind]} <VisibleText text={text} mode="lines" />
        {'\n'}
      </span>
    );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <span className={`line ${kind}`} data-number={number} onClick={clicked}>
      {SIGNS[kind]} {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the highlighter escapes the code */}
      <span dangerouslySetInnerHTML={{ __html: html }} />
      {'\n'}
    </span>
  );
}

function Gap({ lines }: { readonly lines: number }) {
  return <span className="line gap">{`⋯ ${lines} unchanged\n`}</span>;
}

interface HeadProps {
  readonly piece: Piece | undefined;
  readonly actions: (piece: Piece) => ReactNode;
}

function PieceHead({ piece, actions }: HeadProps) {
  return (
    piece && (
      <span className="piece-head">
        {pieceWords(piece)} {actions(piece)}
      </span>
    )
  );
}
