/** Short notes that come and go: what the host refused, what was copied, that the connection is back. */
import { Store, useStore } from '../model/store.js';
import { IconButton } from './icons.js';

const SHOWN_MS = 6_000;
/** A long one, such as an undo that left files alone and says why, gives time to read it. */
const READ_MS_PER_CHARACTER = 60;
/** One that offers something gives time to read and to reach it. */
const OFFER_SHOWN_MS = 15_000;
const SHOWN_MAX = 3;

interface Offer {
  readonly label: string;
  run(): void;
}

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly offer?: Offer | undefined;
}

const notices = new Store<readonly Notice[]>([]);
let lastId = 0;

export function tell(text: string, offer?: Offer): void {
  lastId += 1;
  const id = lastId;
  notices.set([...notices.get(), { id, text, offer }].slice(-SHOWN_MAX));
  const shownMs = Math.max(offer ? OFFER_SHOWN_MS : SHOWN_MS, text.length * READ_MS_PER_CHARACTER);
  setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

/** Shows the notes; screen readers announce each. */
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
