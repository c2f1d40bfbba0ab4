import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  countTests,
  readUnsteady,
  secondRun,
  skipReasons,
  UNSTEADY_MAX_DAYS,
  UNSTEADY_MAX_ENTRIES,
} from '../scripts/test-report.mjs';

const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ fullName: `${name} ${index}`, status })),
});

const unloadable = (name: string) => ({ name, status: 'failed', assertionResults: [] });

describe('the report of the tests', () => {
  it('counts what passed, failed and was skipped, and a file that cannot be loaded as one failure', () => {
    const report = { testResults: [file('a', 'passed', 'failed', 'pending'), file('b', 'todo'), unloadable('c')] };
    expect(countTests(report)).toEqual({ passed: 1, failed: 2, skipped: 2, unsteady: [], races: [] });
  });

  it('runs the files that failed a second time, unless they are many', () => {
    const broken = ['a', 'b', 'c'].map((name) => file(name, 'failed'));
    expect(secondRun({ testResults: [...broken, file('d', 'passed')] })).toEqual(['a', 'b', 'c']);
    expect(secondRun({ testResults: [...broken, unloadable('d')] })).toEqual([]);
  });

  const first = { testResults: [file('a', 'failed', 'passed'), file('b', 'failed', 'failed'), file('c', 'passed')] };
  const again = { testResults: [file('a', 'passed', 'passed'), file('b', 'failed', 'passed')] };

  it('[REL-072] counts a test that passed only alone as failed', () => {
    const counts = { passed: 2, failed: 3, skipped: 0, unsteady: [], races: ['a 0', 'b 1'] };
    expect(countTests(first, again)).toEqual(counts);
  });

  it('[REL-072] counts it as passed and unsteady only if it is listed', () => {
    const counts = { passed: 3, failed: 2, skipped: 0, unsteady: ['a 0'], races: ['b 1'] };
    expect(countTests(first, again, new Set(['a 0', 'c 0']))).toEqual(counts);
  });

  it('[REL-072] counts a file that could be loaded only alone as failed', () => {
    const loadable = { testResults: [file('a', 'passed')] };
    expect(countTests({ testResults: [unloadable('a')] }, loadable)).toMatchObject({ passed: 1, failed: 1 });
  });

  it('groups what was skipped by its reason, and names what was skipped in silence', () => {
    const named = (fullName: string, status = 'skipped') => ({ fullName, status });
    const assertionResults = [
      named('Claude (skipped: its SDK is not installed) talks'),
      named('Claude (skipped: its SDK is not installed) listens'),
      named('completes in fish (skipped unless it is installed)'),
      named('the page (needs Chromium) opens', 'pending'),
      named('takes a port'),
      named('says nothing (at all)', 'todo'),
      named('is run (skipped unless it is installed)', 'passed'),
    ];
    expect(
      skipReasons(
        { testResults: [{ name: 'a', status: 'passed', assertionResults }] },
        { 'takes a port': 'it is taken' },
      ),
    ).toEqual({
      reasons: new Map([
        ['its SDK is not installed', 2],
        ['skipped unless it is installed', 1],
        ['needs Chromium', 1],
        ['it is taken', 1],
      ]),
      silent: ['says nothing (at all)'],
    });
  });

  it('notices when the second run breaks what passed before', () => {
    const first = { testResults: [file('a', 'failed', 'passed')] };
    const broken = { testResults: [file('a', 'passed', 'failed')] };
    expect(countTests(first, broken, new Set(['a 0']))).toMatchObject({ passed: 1, failed: 1, unsteady: ['a 0'] });
  });
});

describe('the list of tests that may be unsteady', () => {
  const now = new Date('2030-01-15T12:00:00Z');
  const entry = { title: 'a 0', reason: 'the browser is slow to start', expires: '2030-01-31' };
  const read = (list: unknown) => readUnsteady(JSON.stringify(list), now);

  it('[REL-072] has a title, a reason and a day that has not passed', () => {
    expect(read([entry])).toEqual({ titles: new Set(['a 0']), problems: [] });
    expect(read([{ ...entry, expires: '2030-01-15' }]).problems).toEqual([]);
    expect(read([{ ...entry, expires: '2030-01-14' }]).problems).toEqual([expect.stringContaining('expired')]);
    expect(read([{ ...entry, expires: '2031-01-01' }]).problems).toEqual([
      expect.stringContaining(`${UNSTEADY_MAX_DAYS} days`),
    ]);
    expect(read([entry, { ...entry, expires: 'soon' }]).problems).toEqual([expect.stringContaining('entry 2')]);
  });

  it('[REL-072] tolerates nothing when an entry is malformed, used or not', () => {
    for (const member of ['title', 'reason', 'expires']) {
      const { titles, problems } = read([entry, { ...entry, [member]: ' ' }]);
      expect({ size: titles.size, problems }).toEqual({ size: 0, problems: [`entry 2: "${member}" is missing`] });
    }
    expect(read([null]).problems).toHaveLength(1);
    expect(read({}).problems).toHaveLength(1);
    expect(readUnsteady('[', now).problems).toHaveLength(1);
  });

  it('[REL-072] is short', () => {
    const list = Array.from({ length: UNSTEADY_MAX_ENTRIES }, (_, index) => ({ ...entry, title: `a ${index}` }));
    expect(read(list).problems).toEqual([]);
    expect(read([...list, { ...entry, title: 'b' }]).problems).toEqual([expect.stringContaining('may list 3')]);
  });

  it('[REL-072] is in order as it is checked in', () => {
    const text = readFileSync(new URL('unsteady.json', import.meta.url), 'utf8');
    expect(readUnsteady(text, new Date()).problems).toEqual([]);
  });
});
