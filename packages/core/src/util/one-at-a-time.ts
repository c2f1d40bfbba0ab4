/** Changes of one file come one after the other: two that were begun together must not overlook each other. */

/** What is under way, by file. Files belong to the machine, so all sessions share this. */
const underWay = new Map<string, Promise<void>>();

export async function oneAtATime<T>(file: string, change: () => Promise<T>): Promise<T> {
  const before = underWay.get(file) ?? Promise.resolve();
  const mine = before.then(change);
  const over = mine.then(
    () => {},
    () => {},
  );
  underWay.set(file, over);
  try {
    return await mine;
  } finally {
    if (underWay.get(file) === over) underWay.delete(file);
  }
}
