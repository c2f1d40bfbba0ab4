/** Members that are not there do not exist on the wire. */

/** A copy without the members whose value is undefined. */
export function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
