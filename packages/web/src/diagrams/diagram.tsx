/** A diagram in an answer: a picture of it, or its source with the reason why there is no picture. */
import { type ReactNode, useEffect, useState } from 'react';
import { useStore } from '../model/store.js';
import { CopyButton } from '../ui/copy-button.js';
import { drawDiagram, type Picture } from './draw.js';
import { shownColours } from './shown-colours.js';
import './diagram.css';

interface Props {
  readonly source: string;
  /** The source, as code. */
  readonly children: ReactNode;
}

type Drawing = Picture | { readonly why: string } | undefined;

export function Diagram({ source, children }: Props) {
  const colours = useStore(shownColours);
  const [drawing, setDrawing] = useState<Drawing>();
  const [isSource, setSource] = useState(false);
  useEffect(() => {
    let isOver = false;
    drawDiagram(source, colours).then(
      (picture) => isOver || setDrawing(picture),
      (error: Error) => isOver || setDrawing({ why: error.message }),
    );
    return () => {
      isOver = true;
    };
  }, [source, colours]);
  if (!drawing) return children;
  if ('why' in drawing)
    return (
      <>
        <p className="hint diagram-problem">This diagram cannot be drawn: {firstLine(drawing.why)}</p>
        {children}
      </>
    );
  return (
    <figure className="code diagram">
      <figcaption>
        <span>diagram</span>
        <span>
          <button type="button" className="quiet small" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
            Source
          </button>
          <CopyButton text={source} what="the source of the diagram" />
        </span>
      </figcaption>
      {isSource ? (
        <pre>
          <code>{source}</code>
        </pre>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <div className="diagram-picture" tabIndex={0}>
          <img src={drawing.source} width={drawing.width} height={drawing.height} alt={altOf(source)} />
        </div>
      )}
    </figure>
  );
}

/** Names the kind of diagram; its content is in the source, which a button shows. */
function altOf(source: string): string {
  const [, kind = ''] = /^\s*(?:---[\s\S]*?---\s*)?(?:%%.*\s*)*([a-z]+)/i.exec(source) ?? [];
  return `Diagram${kind === '' ? '' : ` (${kind})`}; the button “Source” shows it as text`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
