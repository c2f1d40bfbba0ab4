/** Where short notes appear. Screen readers are told of each. */
import { useStore } from '../model/store.js';
import { IconButton } from './icon-button.js';
import { dismiss, notices } from './notices.js';

export function NoticeList() {
  const shown = useStore(notices);
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, offer }) => (
        <div key={id} className="notice">
          <span>{text}</span>
          {offer && (
            <button
              type="button"
              className="small"
              onClick={() => {
                dismiss(id);
                offer.run();
              }}
            >
              {offer.label}
            </button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
