/** One part of an answer. The page names a part of an unknown kind and does not fail. */
import { type Compaction, compactionIn, steeringIn } from '@atrium/protocol/ahp-1';
import { memo, useState } from 'react';
import { SaidByPerson } from '../conversation/user-message.js';
import { Markdown, Words } from '../markdown/markdown.js';
import { pathOf, plural, short } from '../model/format.js';
import type { PartRow } from '../model/rows.js';
import { AnsweredQuestion } from '../questions/answered.js';
import { ToolCall } from './tool-call.js';

export const PartView = memo(({ row }: { readonly row: PartRow }) => {
  const { part, turnId, isActive, isLast } = row;
  if (part.kind === 'markdown') return <Markdown text={part.content} />;
  if (part.kind === 'reasoning') return <Reasoning text={part.content} isOpen={isLast} />;
  if (part.kind === 'toolCall') return <ToolCall call={part.toolCall} turnId={turnId} isActive={isActive} />;
  const steering = steeringIn(part);
  if (steering) return <SaidByPerson message={steering} />;
  const compaction = compactionIn(part);
  if (compaction) return <Summary compaction={compaction} />;
  if (part.kind === 'systemNotification')
    return (
      <p className="note">
        <Words text={part.content} />
      </p>
    );
  if (part.kind === 'inputRequest') return isActive && !part.response ? null : <AnsweredQuestion part={part} />;
  if (part.kind === 'error') return <p className="note">It was cut off here: {part.error.message}</p>;
  if (part.kind === 'contentRef') return <p className="note">Content in {pathOf(part.uri)}</p>;
  return <p className="note">Something that this page cannot show yet</p>;
});

interface ReasoningProps {
  readonly text: string;
  /** The model is thinking now. */
  readonly isOpen: boolean;
}

/** The reasoning of a model: visible while it thinks, folded afterwards. */
function Reasoning({ text, isOpen }: ReasoningProps) {
  const [choice, setChoice] = useState<boolean>();
  const isShown = choice ?? isOpen;
  return (
    <section className="reasoning">
      <button
        type="button"
        className="quiet small disclosure"
        aria-expanded={isShown}
        onClick={() => setChoice(!isShown)}
      >
        {isOpen ? 'Thinking' : 'Thought'}
      </button>
      {isShown && <p>{text}</p>}
    </section>
  );
}

/** The summary that replaces earlier turns in the agent's memory; people can still read the turns. */
function Summary({ compaction }: { readonly compaction: Compaction }) {
  const { turns, tokensBefore, tokensAfter, summary, isAsked } = compaction;
  return (
    <details className="fold compaction">
      <summary>
        {isAsked ? 'Summed up' : 'Summed up to make room:'} {plural(turns, 'turn')}, from about {short(tokensBefore)} to{' '}
        {short(tokensAfter)} tokens
      </summary>
      <p className="hint">The agent goes on with this in place of them. You can still read everything above.</p>
      <Markdown text={summary} />
    </details>
  );
}
