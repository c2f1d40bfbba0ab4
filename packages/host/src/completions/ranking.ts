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

/** The best ones, shorter names first among equals. */
export function best<Item>(items: Iterable<Item>, nameOf: (item: Item) => string, query: string, max: number): Item[] {
  const ranked: { item: Item; name: string; place: number }[] = [];
  for (const item of items) {
    const name = nameOf(item);
    const place = rank(name, query);
    if (place !== undefined) ranked.push({ item, name, place });
  }
  ranked.sort((a, b) => a.place - b.place || a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, max).map(({ item }) => item);
}
