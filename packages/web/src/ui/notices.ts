/** Short notes that come and go: what the host refused, what was copied, that the connection is back. */
import { Store } from '../model/store.js';

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

export interface Notice {
  readonly id: number;
  readonly text: string;
}

export const notices = new Store<readonly Notice[]>([]);
let lastId = 0;

export function tell(text: string): void {
  lastId += 1;
  const id = lastId;
  notices.set([...notices.get(), { id, text }].slice(-SHOWN_MAX));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}
