import { describe, expect, it } from 'vitest';
import { checkCommit, checkTurnStart, duplicateOrigin, recordText, turnsPresent } from '../../src/log/check-commit.js';
import type { Commit, NewArchive } from '../../src/log/log.js';

const commit = (records: Commit['records']): Commit => ({
  entries: [{ channel: 's', time: 1, action: '{}' }],
  durability: 'normal',
  ...(records && { records }),
});
const numbered = (entry: number) => ({ before: '<', entry, after: '>' });

describe('a commit', () => {
  it('may have records with texts, without them, and with the number of one of its entries', () => {
    const values = [null, 'text', numbered(0)];
    expect(() => checkCommit(commit(values.map((value, index) => ({ key: `${index}`, value }))))).not.toThrow();
    expect(() => checkCommit(commit(undefined))).not.toThrow();
  });

  it.each([1, -1, 0.5])('has no entry %d to number a record by', (entry) => {
    expect(() => checkCommit(commit([{ key: 'k', value: numbered(entry) }]))).toThrow(
      expect.objectContaining({ reason: 'invalid-record' }),
    );
  });

  it('gives a record the number of its entry', () => {
    expect([recordText('text', 7), recordText(numbered(2), 7)]).toEqual(['text', '<9>']);
  });
});

describe('an archive', () => {
  const starting = (start: number) => ({ channel: 's', turns: { start, items: [] } }) as unknown as NewArchive;

  it.each([0, 1, 2])('continues or replaces stored turns: from %d of 2', (start) => {
    expect(() => checkTurnStart(starting(start), 2)).not.toThrow();
  });

  it.each([3, -1, 0.5, Number.NaN])('leaves no hole: not from %d of 2', (start) => {
    expect(() => checkTurnStart(starting(start), 2)).toThrow(expect.objectContaining({ reason: 'invalid-archive' }));
  });
});

describe('a refusal of the log', () => {
  it('says what it is about', () => {
    const cause = new Error('unique');
    const twice = duplicateOrigin({ clientId: 'c', epoch: 2, clientSeq: 3 }, { cause });
    expect(twice).toMatchObject({ reason: 'duplicate-origin', message: expect.stringMatching(/3 .* c .*2/), cause });
    expect(turnsPresent('s', 3)).toMatchObject({ reason: 'turns-present', message: expect.stringMatching(/^s /) });
  });
});
