/** Short notes that come and go: a refusal of the host, a copied text, a restored connection. */
import { useEffect, useRef } from 'react';
import { Store, useStore } from '../model/store.js';
import { IconButton } from './icons.js';

const SHOWN_MS = 6_000;
/** A long note, such as the result of an undo that left files alone, stays long enough to read it. */
const READ_MS_PER_CHARACTER = 60;
/** A note with a button stays long enough to read it and to reach the button. */
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
  // The same note twice is one note, which stays longer.
  const others = notices.get().filter((notice) => notice.text !== text || notice.offer !== undefined);
  notices.set([...others, { id, text, offer }].slice(-SHOWN_MAX));
  const shownMs = Math.max(offer ? OFFER_SHOWN_MS : SHOWN_MS, text.length * READ_MS_PER_CHARACTER);
  setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

/** Shows the notes; screen readers announce each. */
export function NoticeList() {
  const shown = useStore(notices);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.showPopover?.(), []);
  // What came into the top layer last is above the others. Otherwise the region stays, so that screen readers hear it.
  useEffect(() => {
    if (shown.length === 0 || !document.querySelector('dialog[open]')) return;
    box.current?.hidePopover?.();
    box.current?.showPopover?.();
  }, [shown]);
  return (
    <div className="notices" role="status" aria-live="polite" popover="manual" ref={box}>
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
