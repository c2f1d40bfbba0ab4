/** Counts and distributions of one interval, by name and attributes. */
import { type Attributes, BOUNDS, type MetricPoint } from './otlp.js';

export interface Named {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
}

interface Distribution extends Named {
  readonly kind: 'histogram';
  count: number;
  sum: number;
  min: number;
  max: number;
  readonly buckets: number[];
}

interface Sum extends Named {
  readonly kind: 'count';
  value: number;
}

export class MetricSet {
  #points = new Map<string, Distribution | Sum>();

  /** `max`: names with different attributes beyond this are left out. */
  constructor(private readonly max: number) {}

  measure(named: Named, value: number): void {
    const point = this.#point(named, () => ({
      ...named,
      ...{ kind: 'histogram' as const, count: 0, sum: 0, min: value, max: value },
      buckets: new Array<number>(BOUNDS.length + 1).fill(0),
    }));
    if (point?.kind !== 'histogram') return;
    point.count++;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    const above = BOUNDS.findIndex((bound) => value <= bound);
    const index = above < 0 ? BOUNDS.length : above;
    point.buckets[index] = (point.buckets[index] ?? 0) + 1;
  }

  count(named: Named, by: number): void {
    const point = this.#point(named, () => ({ ...named, kind: 'count' as const, value: 0 }));
    if (point?.kind === 'count') point.value += by;
  }

  take(): MetricPoint[] {
    const points = [...this.#points.values()];
    this.#points = new Map();
    return points;
  }

  #point(named: Named, make: () => Distribution | Sum): Distribution | Sum | undefined {
    const key = JSON.stringify([named.name, named.attributes]);
    const present = this.#points.get(key);
    if (present || this.#points.size >= this.max) return present;
    const point = make();
    this.#points.set(key, point);
    return point;
  }
}
