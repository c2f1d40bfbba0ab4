/** "Did you mean": the known word that a mistyped one is nearest to. */

/** Longer words are not compared: nobody mistypes a sentence, and comparing costs the product of both lengths. */
const WORD_MAX_CHARACTERS = 40;
/** One mistake in this many characters is still a slip; more is another word. */
const CHARACTERS_PER_MISTAKE = 3;

export function suggestion(word: string, known: readonly string[]): string | undefined {
  if (word.length > WORD_MAX_CHARACTERS) return undefined;
  const allowed = Math.ceil(word.length / CHARACTERS_PER_MISTAKE);
  const near = known
    .map((candidate) => ({ candidate, mistakes: mistakesBetween(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ mistakes }) => mistakes <= allowed)
    .sort((a, b) => a.mistakes - b.mistakes);
  return near[0]?.candidate;
}

export function didYouMean(word: string, known: readonly string[]): string {
  const near = suggestion(word, known);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/** How many letters must be put in, taken out or changed. One row of the table is enough. */
function mistakesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
