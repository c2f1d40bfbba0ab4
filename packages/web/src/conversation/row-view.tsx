/** Draws one row of the conversation; only again when the row has changed. */
import { memo } from 'react';
import type { Row } from '../model/rows.js';
import { PartView } from '../parts/part-view.js';
import { Boundary } from '../ui/boundary.js';
import { TurnEnd } from './turn-end.js';
import { UserMessage } from './user-message.js';
import { WorkingRow } from './working-row.js';

interface Props {
  readonly row: Row;
  readonly onEdit: (turnId: string) => void;
}

export const RowView = memo(({ row, onEdit }: Props) => {
  if (row.kind === 'user') return <UserMessage turn={row.turn} onEdit={onEdit} />;
  if (row.kind === 'part')
    return (
      <Boundary what="This part of the answer">
        <PartView row={row} />
      </Boundary>
    );
  if (row.kind === 'end') return <TurnEnd turn={row.turn} />;
  return <WorkingRow />;
});
