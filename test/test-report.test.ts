import { describe, expect, it } from 'vitest';
import { countTests, secondRun } from '../scripts/test-report.mjs';

const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ fullName: `${name} ${index}`, status })),
});

const unloadable = (name: string) => ({ name, status: 'failed', assertionResults: [] });

describe('the report of the tests', () => {
  it('counts what passed, failed and was skipped, and a file that cannot be loaded as one failure', () => {
    const report = { testResults: [file('a', 'passed', 'failed', 'pending'), file('b', 'todo'), unloadable('c')] };
    expect(countTests(report)).toEqual({ passed: 1, failed: 2, skipped: 2, unsteady: [] });
  });

  it('runs the files that failed a second time, unless they are many', () => {
    const broken = ['a', 'b', 'c'].map((name) => file(name, 'failed'));
    expect(secondRun({ testResults: [...broken, file('d', 'passed')] })).toEqual(['a', 'b', 'c']);
    expect(secondRun({ testResults: [...broken, unloadable('d')] })).toEqual([]);
  });

  it('names what passed only alone, and keeps what failed twice as failed', () => {
    const first = { testResults: [file('a', 'failed', 'passed'), file('b', 'failed', 'failed'), file('c', 'passed')] };
    const again = { testResults: [file('a', 'passed', 'passed'), file('b', 'failed', 'passed')] };
    expect(countTests(first, again)).toEqual({ passed: 4, failed: 1, skipped: 0, unsteady: ['a 0', 'b 1'] });
  });

  it('notices when the second run breaks what passed before', () => {
    const first = { testResults: [file('a', 'failed', 'passed')] };
    expect(countTests(first, { testResults: [file('a', 'passed', 'failed')] })).toMatchObject({ passed: 1, failed: 1 });
  });
});
