/** What a benchmark says: figures with their spread, what they are held against, and whether the target is met. */

/**
 * @typedef {{ atMost?: number, atLeast?: number }} Target
 * @typedef {{ median: number, min: number, max: number, rounds: number }} Spread
 * @typedef {object} Measured
 * @property {string} name
 * @property {string} unit `x` is a ratio
 * @property {string} [limit] what it is held against
 * @property {Target} [target] a figure without one is for comparison
 * @property {boolean} [met]
 * @property {string} worse one word for what would make it worse
 * @property {Spread} [other] the same of the other build
 * @property {Spread} [change] this build over the other one
 *
 * @typedef {Measured & Spread} Figure
 * @typedef {{ name: string, limit?: string, target?: Target, skipped: string }} Skipped could not be measured, and why
 */

/**
 * @param {Pick<Measured, 'name' | 'limit' | 'target' | 'worse'> & { unit?: string, samples: number[], others?: number[], changes?: number[] }} given
 *   one sample for each round
 * @returns {Figure}
 */
export function figure({ name, samples, others, changes, limit, unit = 'x', target, worse }) {
  const spread = spreadOf(samples);
  return {
    name,
    unit,
    ...spread,
    ...(limit !== undefined && { limit }),
    ...(target && { target, met: isMet(spread.median, target) }),
    worse,
    ...(others && changes && { other: spreadOf(others), change: spreadOf(changes) }),
  };
}

/** @param {Skipped} given @returns {Skipped} */
export function skipped(given) {
  return given;
}

/** @param {number} value @param {Target} target */
function isMet(value, { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }) {
  return value <= atMost && value >= atLeast;
}

/** @param {number[]} samples @returns {Spread} */
function spreadOf(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median: rounded(median), min: rounded(at(0)), max: rounded(at(sorted.length - 1)), rounds: sorted.length };
}

/** Four digits that mean something, whatever the size. @param {number} value */
export function rounded(value) {
  return Number(value.toPrecision(4));
}

const COLUMNS = ['figure', 'against', 'target', 'median', 'spread', '', 'made worse by'];

/** @param {(Figure | Skipped)[]} figures */
export function table(figures) {
  const rows = figures.map(cells);
  const isCompared = rows.some(({ length }) => length > COLUMNS.length);
  const lines = [isCompared ? [...COLUMNS, 'other build', 'this over it'] : COLUMNS, ...rows];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const written = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return written.join('\n');
}

/** @param {Figure | Skipped} one */
function cells(one) {
  const start = [one.name, one.limit ?? '', targetText(one.target)];
  if ('skipped' in one) return [...start, '', '', `skipped: ${one.skipped}`];
  const { median, min, max, unit, met, worse, other, change } = one;
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED';
  const own = [...start, unit === 'x' ? `${median}` : `${median} ${unit}`, `${min}-${max}`, verdict, worse];
  return other && change ? [...own, spreadText(other), spreadText(change)] : own;
}

/** @param {Target | undefined} target */
function targetText(target) {
  if (!target) return '';
  return target.atMost === undefined ? `>= ${target.atLeast}` : `<= ${target.atMost}`;
}

/** @param {Spread} spread */
function spreadText({ median, min, max }) {
  return `${median} [${min}-${max}]`;
}

/** How many targets were met, and which were not. @param {(Figure | Skipped)[]} figures */
export function summary(figures) {
  const measured = figures.flatMap((one) => ('skipped' in one ? [] : [one]));
  const missed = measured.filter(({ met }) => met === false).map(({ name }) => name);
  const met = measured.filter((one) => one.met).length;
  const names = missed.length > 0 ? ` (${missed.join(', ')})` : '';
  return `${met} met, ${missed.length} missed${names}, ${figures.length - measured.length} skipped`;
}
