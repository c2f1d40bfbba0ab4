/** Whether the open chat shows the search field. */
import { Store } from '../model/store.js';

export const isFinding = new Store(false);
