/** Goes through a list, a few at once: one program after the other is slow, and all together are too many. */

export async function mapSome<T, R>(list: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(list.length);
  const left = list.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}
