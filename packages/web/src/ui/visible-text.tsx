/** Text from outside in which everything that cannot be seen is spelled out and marked. */
import { type VisibleTextMode, visibleSegments } from '@atrium/protocol/ahp-1';

interface Props {
  readonly text: string;
  /** `line` unless given: line breaks are spelled out, too. */
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

/** Every line by itself, with its number where there are several: a line that is wrapped does not look like two. */
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
