/**
 * Content that another app of the device shares with this one. The service worker stores it here; nothing of it reaches
 * a server
 * before a person has chosen a session for it and sent it there.
 */
const DATABASE = 'atrium-shared';
const STORE = 'items';
const ONLY = 'newest';
/** After a day the browser forgets content that nobody opened. */
const KEPT_MS = 24 * 60 * 60_000;

/** As in the manifest. */
export const SHARE_PATH = '/share';
export const SHARED_FILES_MAX = 10;
export const SHARED_BYTES_MAX = 50 * 2 ** 20;
export const SHARED_CHARACTERS_MAX = 100_000;

export interface SharedItems {
  readonly text: string;
  readonly files: readonly File[];
  /** Files that were too many or too large. */
  readonly leftOut: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The parts of a form, as the manifest names them. */
export function sharedIn(form: FormData, at: number): SharedItems {
  const said = (name: string) => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const [title, text, url] = [said('title'), said('text'), said('url')];
  const words = [text, url].filter((part) => part !== '');
  const isTold = title === '' || words.some((part) => part.includes(title));
  const whole = [
    ...(isTold ? [] : [title]),
    ...words.filter((part, index) => index === 0 || !words[0]?.includes(part)),
  ];
  const all = form.getAll('files').filter((entry) => entry instanceof File && entry.size > 0) as File[];
  const files: File[] = [];
  let bytes = 0;
  for (const file of all) {
    if (files.length === SHARED_FILES_MAX || bytes + file.size > SHARED_BYTES_MAX) continue;
    bytes += file.size;
    files.push(file);
  }
  return { text: whole.join('\n\n').slice(0, SHARED_CHARACTERS_MAX), files, leftOut: all.length - files.length, at };
}

export function keepShared(items: SharedItems): Promise<unknown> {
  return inStore('readwrite', (store) => store.put(items, ONLY));
}

export async function keptShared(now: number): Promise<SharedItems | undefined> {
  const items = (await inStore('readonly', (store) => store.get(ONLY))) as SharedItems | undefined;
  if (!items || now - items.at <= KEPT_MS) return items;
  await forgetShared();
  return undefined;
}

export function forgetShared(): Promise<unknown> {
  return inStore('readwrite', (store) => store.delete(ONLY));
}

async function inStore(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = use(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}
