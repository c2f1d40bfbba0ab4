/** A set of whole numbers, kept as ranges: the numbers that a client uses are almost always one unbroken run. */

/** The first and the last number of a run. */
export type NumberRange = readonly [first: number, last: number];

export class NumberSet {
  /** Sorted, with at least one missing number between two ranges. */
  readonly #ranges: NumberRange[];

  constructor(ranges: readonly NumberRange[] = []) {
    this.#ranges = [...ranges];
  }

  static of(numbers: Iterable<number>): NumberSet {
    const set = new NumberSet();
    for (const number of numbers) set.add(number);
    return set;
  }

  get ranges(): readonly NumberRange[] {
    return this.#ranges;
  }

  has(number: number): boolean {
    const range = this.#ranges[this.#indexAfter(number) - 1];
    return range !== undefined && number <= range[1];
  }

  add(number: number): void {
    if (this.has(number)) return;
    const index = this.#indexAfter(number);
    const before = this.#ranges[index - 1];
    const after = this.#ranges[index];
    const continues = before?.[1] === number - 1 ? before : undefined;
    const precedes = after?.[0] === number + 1 ? after : undefined;
    const joined: NumberRange = [continues?.[0] ?? number, precedes?.[1] ?? number];
    this.#ranges.splice(continues ? index - 1 : index, Number(!!continues) + Number(!!precedes), joined);
  }

  delete(number: number): void {
    if (!this.has(number)) return;
    const index = this.#indexAfter(number) - 1;
    const [first, last] = this.#ranges[index] ?? [number, number];
    const rest: NumberRange[] = [
      [first, number - 1],
      [number + 1, last],
    ];
    this.#ranges.splice(index, 1, ...rest.filter((range) => range[0] <= range[1]));
  }

  /** All numbers at or above `start`, ascending. */
  from(start: number): number[] {
    const numbers: number[] = [];
    for (const [first, last] of this.#ranges) {
      for (let number = Math.max(first, start); number <= last; number++) numbers.push(number);
    }
    return numbers;
  }

  /** The index of the first range that begins above the number. Searches from the end, because numbers mostly grow. */
  #indexAfter(number: number): number {
    return this.#ranges.findLastIndex(([first]) => first <= number) + 1;
  }
}
