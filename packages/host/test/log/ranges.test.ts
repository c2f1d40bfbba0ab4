import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addNumbers, hasNumber, type NumberRange, numbersFrom } from '../../src/core/log/ranges.js';

describe('ranges of numbers', () => {
  it('hold exactly what was added, in as few ranges as possible', () => {
    const batches = fc.array(fc.array(fc.integer({ min: 0, max: 60 })), { maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 0, max: 60 }), (added, from) => {
        const ranges = added.reduce<NumberRange[]>(addNumbers, []);
        const expected = [...new Set(added.flat())].sort((a, b) => a - b);
        expect(numbersFrom(ranges, 0)).toEqual(expected);
        expect(numbersFrom(ranges, from)).toEqual(expected.filter((value) => value >= from));
        expect(hasNumber(ranges, from)).toBe(expected.includes(from));
        ranges.slice(1).forEach(([first], index) => {
          expect(first).toBeGreaterThan((ranges[index]?.[1] ?? 0) + 1);
        });
      }),
    );
  });
});
