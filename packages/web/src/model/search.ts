/** Finds by words: every word that was typed must occur somewhere. */

export function matches(query: string, ...texts: readonly (string | undefined)[]): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const text = texts.join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}
