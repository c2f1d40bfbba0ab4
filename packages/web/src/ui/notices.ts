/** Short notes that come and go: what the host refused, what was copied, that the connection is back. */
import { Store } from '../model/store.js';

const SHOWN_MS = 6_000;
/** One that offers something gives time to read and to reach it. */
const OFFER_SHOWN_MS = 15_000;
const SHOWN_MAX = 3;

export interface Offer {
  readonly label: string;
  run(): void;
}

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly offer?: Offer | undefined;
}

export const notices = new Store<readonly Notice[]>([]);
let lastId = 0;

export function tell(text: string, offer?: Offer): void {
  lastId += 1;
  const id = lastId;
  notices.set([...notices.get(), { id, text, offer }].slice(-SHOWN_MAX));
  setTimeout(() => dismiss(id), offer ? OFFER_SHOWN_MS : SHOWN_MS);
}

export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}
