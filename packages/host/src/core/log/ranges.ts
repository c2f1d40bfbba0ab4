/** A set of whole numbers kept as ranges: a client's settled numbers are almost always one unbroken run. */

/** First and last number of a run, both included. */
export type NumberRange = readonly [first: number, last: number];

/** The ranges with more numbers in them: sorted, and merged where they touch. */
export function addNumbers(ranges: readonly NumberRange[], numbers: readonly number[]): NumberRange[] {
  const all = [...ranges, ...numbers.map((value): NumberRange => [value, value])].sort((a, b) => a[0] - b[0]);
  const merged: NumberRange[] = [];
  for (const range of all) {
    const last = merged.at(-1);
    if (last === undefined || range[0] > last[1] + 1) merged.push(range);
    else merged[merged.length - 1] = [last[0], Math.max(last[1], range[1])];
  }
  return merged;
}

export function hasNumber(ranges: readonly NumberRange[], value: number): boolean {
  return ranges.some(([first, last]) => first <= value && value <= last);
}

/** Every number at or above `from`, ascending. */
export function numbersFrom(ranges: readonly NumberRange[], from: number): number[] {
  const numbers: number[] = [];
  for (const [first, last] of ranges) {
    for (let value = Math.max(first, from); value <= last; value++) numbers.push(value);
  }
  return numbers;
}
