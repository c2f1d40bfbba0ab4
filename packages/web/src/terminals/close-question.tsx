/** Asks before something that runs is ended. */
import { Dialog } from '../ui/dialog.js';

interface Props {
  readonly onYes: () => void;
  readonly onClose: () => void;
}

export function CloseQuestion({ onYes, onClose }: Props) {
  const end = () => {
    onClose();
    onYes();
  };
  return (
    <Dialog title="Close this terminal?" onClose={onClose}>
      <p>What runs in it is ended, for everybody who watches it.</p>
      <div className="buttons">
        <button type="button" className="danger" onClick={end}>
          End it
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
