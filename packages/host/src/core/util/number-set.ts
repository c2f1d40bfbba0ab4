/** A set of numbers that mostly come one after the other: a run, and the few beside it. */

export class NumberSet {
  /** The run holds `from` to `to`, both included; empty while `to` is less. */
  #from = 0;
  #to = -1;
  #others = new Set<number>();

  constructor(numbers: Iterable<number> = []) {
    for (const number of [...numbers].sort((a, b) => a - b)) this.add(number);
  }

  /** How many are beside the run. */
  get scattered(): number {
    return this.#others.size;
  }

  has(number: number): boolean {
    return (number >= this.#from && number <= this.#to) || this.#others.has(number);
  }

  add(number: number): void {
    if (this.has(number)) return;
    if (this.#to < this.#from) this.#from = this.#to = number;
    else if (number === this.#to + 1) this.#extend();
    else this.#others.add(number);
  }

  delete(number: number): void {
    if (this.#others.delete(number) || !this.has(number)) return;
    for (let above = number + 1; above <= this.#to; above++) this.#others.add(above);
    this.#to = number - 1;
  }

  /** The run grows by one, and by whatever was waiting right behind. */
  #extend(): void {
    do this.#to++;
    while (this.#others.delete(this.#to + 1));
  }
}
