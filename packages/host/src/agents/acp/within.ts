/** Waits for something, but not for ever. */

export async function within<T>(maxMs: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), maxMs);
  });
  return Promise.race([work, overdue]).finally(() => clearTimeout(timer));
}
