/** How well a name fits what was typed. Lower is better; undefined means not at all. */

export function rank(name: string, query: string): number | undefined {
  if (query === '') return 0;
  const [lower, wanted] = [name.toLowerCase(), query.toLowerCase()];
  const last = lower.slice(lower.lastIndexOf('/') + 1);
  if (last.startsWith(wanted)) return 0;
  if (last.includes(wanted)) return 1;
  if (lower.includes(wanted)) return 2;
  return isScattered(lower, wanted) ? 3 : undefined;
}

/** Whether the letters occur in this order: `srvts` in `src/server.ts`. */
function isScattered(name: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

interface Ranked<Item> {
  readonly item: Item;
  readonly name: string;
  readonly place: number;
}

/** The best ones, shorter names first among equals. Tens of thousands are gone through for every key stroke. */
export function best<Item>(items: Iterable<Item>, nameOf: (item: Item) => string, query: string, max: number): Item[] {
  const found: Ranked<Item>[] = [];
  for (const item of items) {
    const name = nameOf(item);
    const place = rank(name, query);
    const last = found.at(-1);
    if (place === undefined) continue;
    const ranked = { item, name, place };
    if (found.length < max || !last || compare(ranked, last) < 0) insert(found, ranked, max);
  }
  return found.map(({ item }) => item);
}

/** Where it belongs; whoever is beyond the limit then goes. */
function insert<Item>(found: Ranked<Item>[], ranked: Ranked<Item>, max: number): void {
  const at = found.findIndex((other) => compare(ranked, other) < 0);
  found.splice(at < 0 ? found.length : at, 0, ranked);
  if (found.length > max) found.pop();
}

function compare(one: Ranked<unknown>, other: Ranked<unknown>): number {
  return one.place - other.place || one.name.length - other.name.length || (one.name < other.name ? -1 : 1);
}
