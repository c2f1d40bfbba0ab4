/** Whether terminals keep a copy of their lines for screen readers. It costs time while they write, so people ask for it. */
import { Store } from '../model/store.js';

const KEY = 'atrium.terminals-for-screen-readers';

export const isForScreenReaders = new Store(localStorage.getItem(KEY) === 'yes');

export function toggleScreenReaders(): void {
  isForScreenReaders.set(!isForScreenReaders.get());
  if (isForScreenReaders.get()) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
}
