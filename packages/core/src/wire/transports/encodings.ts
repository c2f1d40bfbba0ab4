/** Compressed copies of files, and the choice of the one that a browser accepts. */

export type Encoding = 'br' | 'gzip';

/** Files next to the original, made when the page is built; the smallest first. */
export const ENCODED_FILES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/**
 * The available encoding that the header prefers; undefined for the original file. An encoding that the header does not
 * name is not sent, and a weight that is not a number between 0 and 1 counts as a refusal.
 */
export function chosenEncoding(header: string | undefined, available: readonly Encoding[]): Encoding | undefined {
  const weights = weightsOf(header ?? '');
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  let chosen: Encoding | undefined;
  // Every client can read the original file, but it is preferred only where the header says so.
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
