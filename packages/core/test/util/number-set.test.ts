import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberSet } from '../../src/util/number-set.js';

const number = fc.integer({ min: 0, max: 60 });
const step = fc.record({ number, isAdded: fc.boolean() });

describe('a set of numbers', () => {
  it('holds exactly what was added and not deleted, in as few ranges as possible', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), number, (steps, from) => {
        const set = new NumberSet();
        const model = new Set<number>();
        for (const { number, isAdded } of steps) {
          if (isAdded) set.add(number);
          else set.delete(number);
          if (isAdded) model.add(number);
          else model.delete(number);
        }
        const expected = [...model].sort((a, b) => a - b);
        expect(set.from(0)).toEqual(expected);
        expect(set.from(from)).toEqual(expected.filter((value) => value >= from));
        expect(set.has(from)).toBe(model.has(from));
        expect(set.ranges.every(([first, last]) => first <= last)).toBe(true);
        set.ranges.slice(1).forEach(([first], index) => {
          expect(first).toBeGreaterThan((set.ranges[index]?.[1] ?? 0) + 1);
        });
        expect(new NumberSet(set.ranges).from(0)).toEqual(expected);
      }),
    );
  });
});
