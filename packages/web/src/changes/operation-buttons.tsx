/** The operations for one file, or for one piece of it. */
import type { ChangesetOperation } from '@atrium/protocol';

interface Props {
  readonly operations: readonly ChangesetOperation[];
  readonly isBusy: boolean;
  /** What it is done to, where the words around the button are only for the eye. */
  readonly about?: string;
  readonly onWish: (operation: ChangesetOperation) => void;
}

export function OperationButtons({ operations, isBusy, about, onWish }: Props) {
  return operations.map((operation) => (
    <button
      key={operation.id}
      type="button"
      className="quiet small"
      title={operation.description}
      aria-label={about && `${operation.label}: ${about}`}
      aria-disabled={isBusy}
      onClick={() => onWish(operation)}
    >
      {operation.label}
    </button>
  ));
}
