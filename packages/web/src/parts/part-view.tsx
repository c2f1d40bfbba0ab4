/** One part of an answer. A kind that this page does not know is named, never a reason to fail. */
import { steeringIn } from '@atrium/protocol';
import { memo } from 'react';
import { SaidByPerson } from '../conversation/user-message.js';
import { Markdown, Words } from '../markdown/markdown.js';
import { pathOf } from '../model/format.js';
import type { PartRow } from '../model/rows.js';
import { Reasoning } from './reasoning.js';
import { ToolCall } from './tool-call.js';

export const PartView = memo(({ row }: { readonly row: PartRow }) => {
  const { part, turnId, isActive, isLast } = row;
  if (part.kind === 'markdown') return <Markdown text={part.content} />;
  if (part.kind === 'reasoning') return <Reasoning text={part.content} isOpen={isLast} />;
  if (part.kind === 'toolCall') return <ToolCall call={part.toolCall} turnId={turnId} isActive={isActive} />;
  const steering = steeringIn(part);
  if (steering) return <SaidByPerson message={steering} />;
  if (part.kind === 'systemNotification')
    return (
      <p className="note">
        <Words text={part.content} />
      </p>
    );
  if (part.kind === 'contentRef') return <p className="note">Content in {pathOf(part.uri)}</p>;
  return <p className="note">Something that this page cannot show yet</p>;
});
