import { describe, expect, it } from 'vitest';
import { changedFile, changesetState, reduceChangeset } from '../support/builders.js';

const error = { errorType: 'diff', message: 'No base to compare with' };
const [a, b] = [changedFile('file:///a'), changedFile('file:///b')];
const keep = { id: 'keep', label: 'Keep', scopes: ['changeset' as const] };

describe('the status of a changeset', () => {
  it('[ACT-045] turns to an error, with the reason', () => {
    const state = changesetState({ files: [a] });
    const result = reduceChangeset(state, { type: 'changeset/statusChanged', status: 'error', error });
    expect(result).toStrictEqual({ ...state, status: 'error', error });
    expect(result.files).toBe(state.files);
    expect(reduceChangeset(result, { type: 'changeset/statusChanged', status: 'error', error })).toBe(result);
  });

  it('[ACT-045] turns to an error without a reason; the key is there', () => {
    const result = reduceChangeset(changesetState(), { type: 'changeset/statusChanged', status: 'error' });
    expect(result).toStrictEqual({ status: 'error', error: undefined, files: [] });
  });

  it('[ACT-045] turns to anything else, and the reason goes, key and all, even if one is sent along', () => {
    const state = changesetState({ status: 'error', error });
    const result = reduceChangeset(state, { type: 'changeset/statusChanged', status: 'computing', error });
    expect(result).toStrictEqual({ status: 'computing', files: [] });
    expect(reduceChangeset(result, { type: 'changeset/statusChanged', status: 'computing', error })).toBe(result);
  });
});

describe('the files of a changeset', () => {
  it('[ACT-046] grow by one', () => {
    const state = changesetState({ files: [a] });
    const result = reduceChangeset(state, { type: 'changeset/fileSet', file: b });
    expect(result).toStrictEqual({ ...state, files: [a, b] });
    expect(result.files[0]).toBe(a);
  });

  it('[ACT-046] keep their order when one is replaced', () => {
    const state = changesetState({ files: [a, b] });
    const again = changedFile('file:///a', 9);
    const result = reduceChangeset(state, { type: 'changeset/fileSet', file: again });
    expect(result).toStrictEqual({ ...state, files: [again, b] });
    expect(result.files[1]).toBe(b);
    expect(reduceChangeset(result, { type: 'changeset/fileSet', file: again })).toBe(result);
  });

  it('[ACT-047] shrink by the first with the id', () => {
    const state = changesetState({ files: [b, a, a] });
    const result = reduceChangeset(state, { type: 'changeset/fileRemoved', fileId: a.id });
    expect(result).toStrictEqual({ ...state, files: [b, a] });
    expect(reduceChangeset(state, { type: 'changeset/fileRemoved', fileId: b.id }).files).toStrictEqual([a, a]);
  });

  it('[ACT-047] stay when nobody knows the id', () => {
    const state = changesetState({ files: [a] });
    expect(reduceChangeset(state, { type: 'changeset/fileRemoved', fileId: 'file:///z' })).toBe(state);
  });

  it('[ACT-049] are cleared, and nothing else is', () => {
    const state = changesetState({ status: 'error', error, files: [a], operations: [keep] });
    const result = reduceChangeset(state, { type: 'changeset/cleared' });
    expect(result).toStrictEqual({ ...state, files: [] });
    expect(reduceChangeset(result, { type: 'changeset/cleared' })).toBe(result);
  });
});

describe('the operations on a changeset', () => {
  it.each([[[keep]], [[]]])('[ACT-048] are replaced, also by an empty list', (operations) => {
    const state = changesetState({ operations: [{ ...keep, id: 'old' }] });
    const result = reduceChangeset(state, { type: 'changeset/operationsChanged', operations });
    expect(result).toStrictEqual({ ...state, operations });
    expect(reduceChangeset(result, { type: 'changeset/operationsChanged', operations })).toBe(result);
  });

  it('[ACT-048] go, key and all', () => {
    const state = changesetState({ operations: [keep] });
    const result = reduceChangeset(state, { type: 'changeset/operationsChanged' });
    expect(result).toStrictEqual({ status: 'ready', files: [] });
    expect(reduceChangeset(result, { type: 'changeset/operationsChanged' })).toBe(result);
  });
});
