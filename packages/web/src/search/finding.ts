/** Whether the chat that is open shows the field that finds words in it. */
import { Store } from '../model/store.js';

export const isFinding = new Store(false);
