/**
 * Remembers the newest messages that this browser has shown, in a database of the browser. The host sends a message
 * again when it
 * cannot know whether it arrived, for example after a crash; the person must not see it twice.
 */
const DATABASE = 'atrium-notifications';
const STORE = 'shown';
export const SHOWN_MAX = 200;

/** Remembers the id; true if it was unknown. Also true if the database fails: a message twice is better than none. */
export async function isNew(id: string): Promise<boolean> {
  try {
    const database = await open();
    try {
      return await add(database, id);
    } finally {
      database.close();
    }
  } catch {
    return true;
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore(STORE, { autoIncrement: true }).createIndex('id', 'id');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function add(database: IDBDatabase, id: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, 'readwrite');
    const store = transaction.objectStore(STORE);
    let wasKnown = false;
    const known = store.index('id').count(id);
    known.onsuccess = () => {
      wasKnown = known.result > 0;
      if (!wasKnown) store.add({ id });
    };
    const all = store.count();
    all.onsuccess = () => {
      if (all.result > SHOWN_MAX)
        store.openCursor().onsuccess = ({ target }) =>
          (target as IDBRequest<IDBCursorWithValue | null>).result?.delete();
    };
    transaction.oncomplete = () => resolve(!wasKnown);
    transaction.onerror = () => reject(transaction.error);
  });
}
