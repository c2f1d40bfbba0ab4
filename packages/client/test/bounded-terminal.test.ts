/** A terminal that prints without an end does not fill the memory of those who watch it. */
import type { TerminalState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { reduce, TERMINAL_MAX_CHARACTERS, TERMINAL_MAX_PARTS } from '../src/reducers.js';

const EMPTY: TerminalState = {
  title: 't',
  content: [],
  lifecycle: { status: 'running' },
  claim: { kind: 'client', clientId: 'desk' },
};
const print = (state: TerminalState, data: string) =>
  reduce('terminal', state, { type: 'terminal/data', data }) as TerminalState;

describe('the mirror of a terminal', () => {
  it('keeps the newest lines whole, and stays below the limit', () => {
    let state = EMPTY;
    const line = `${'x'.repeat(1_023)}\n`;
    for (let count = 0; count < 6 * 1_024; count++) state = print(state, count === 6 * 1_024 - 1 ? 'the end\n' : line);
    const [part] = state.content;
    const text = part?.type === 'unclassified' ? part.value : '';
    expect(text.length).toBeLessThanOrEqual(TERMINAL_MAX_CHARACTERS);
    expect(text.endsWith('the end\n')).toBe(true);
    expect(text.startsWith(line)).toBe(true);
  });

  it('drops the oldest commands when there are too many, and the rest of one that is too long', () => {
    const done = (id: number, output: string) =>
      ({ type: 'command', commandId: `${id}`, commandLine: 'ls', output, timestamp: 0, isComplete: true }) as const;
    const many = Array.from({ length: TERMINAL_MAX_PARTS + 5 }, (_, index) => done(index, 'x'));
    const state = print({ ...EMPTY, content: [...many, done(-1, 'y'.repeat(TERMINAL_MAX_CHARACTERS))] }, 'z');
    expect(state.content.length).toBeLessThanOrEqual(2);
    expect(state.content.at(-1)).toEqual({ type: 'unclassified', value: 'z' });
  });
});
