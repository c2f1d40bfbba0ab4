/** Compressed copies of files: which there are, and which of them a browser takes. */

export type Encoding = 'br' | 'gzip';

/** Files beside the original, made when the page is built. The smaller comes first. */
export const ENCODED_FILES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/**
 * The encoding that the header likes best, of those that there are; undefined for the file as it is. What the header
 * does not name is not sent, and a weight that is no number between 0 and 1 counts as a no.
 */
export function chosenEncoding(header: string | undefined, available: readonly Encoding[]): Encoding | undefined {
  const weights = weightsOf(header ?? '');
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  let chosen: Encoding | undefined;
  // Sent as it is, a file is always understood; it is preferred only where the header says so.
  let best = weights.get('identity') ?? 0;
  for (const encoding of available) {
    const weight = weightOf(encoding);
    if (weight === 0 || weight < best || (weight === best && chosen)) continue;
    chosen = encoding;
    best = weight;
  }
  return chosen;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const entry of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (name !== '') weights.set(name, weightOf(parameters));
  }
  return weights;
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function weightOf(parameters: readonly string[]): number {
  if (parameters.length === 0) return 1;
  const weight = WEIGHT.exec(parameters.join(';'))?.[1];
  return weight === undefined ? 0 : Number(weight);
}
