/** Text from outside, with all invisible characters spelled out and marked. */
import { type VisibleTextMode, visibleSegments } from '@atrium/protocol/ahp-1';

interface Props {
  readonly text: string;
  /** The default is `line`, which also spells out line breaks. */
  readonly mode?: VisibleTextMode;
}

export function VisibleText({ text, mode = 'line' }: Props) {
  return visibleSegments(text, mode).map((segment, index) =>
    segment.marked ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no id and keep their place
      <mark key={index} className="unseen" title="Characters that cannot be seen, spelled out">
        {segment.text}
      </mark>
    ) : (
      segment.text
    ),
  );
}

/** Shows each line by itself, with a number if there are several, so that a wrapped line does not look like two. */
export function VisibleLines({ text }: { readonly text: string }) {
  const lines = text.split('\n');
  return (
    <span className={`visible-lines ${lines.length > 1 ? 'is-numbered' : ''}`}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and keep their place
        <span key={index} className="visible-line">
          <VisibleText text={line} mode="lines" />
          {'\n'}
        </span>
      ))}
    </span>
  );
}
