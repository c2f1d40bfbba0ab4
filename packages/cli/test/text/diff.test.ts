import { describe, expect, it } from 'vitest';
import { diffLines } from '../../src/text/diff.js';

const SIGNS = { same: ' ', added: '+', removed: '-', gap: '…' } as const;
const diff = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => SIGNS[kind] + text);

describe('a diff', () => {
  it('shows what changed, with a little around it', () => {
    expect(diff('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nX\ne\nf\n')).toEqual([' b', ' c', '-d', '+X', ' e', ' f']);
    expect(diff('', 'new\n')).toEqual(['+new']);
    expect(diff('old\n', '')).toEqual(['-old']);
    expect(diff('same\n', 'same\n')).toEqual([]);
  });

  it('leaves out what is far from a change', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}`);
    const changed = lines.with(0, 'first').with(19, 'last');
    expect(diff(lines.join('\n'), changed.join('\n'))).toEqual([
      '-0',
      '+first',
      ' 1',
      ' 2',
      '…',
      ' 17',
      ' 18',
      '-19',
      '+last',
    ]);
  });

  it('stays quick for files that have nothing in common', () => {
    const big = (letter: string) => Array.from({ length: 5_000 }, (_, index) => letter + index).join('\n');
    expect(diffLines(big('a'), big('b'))).toHaveLength(10_000);
  });
});
