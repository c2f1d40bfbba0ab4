import { describe, expect, it } from 'vitest';
import {
  appendFailure,
  LogFencedError,
  LogNotOwnerError,
  LogUnavailableError,
  LogWriteError,
} from '../../src/log/log.js';

describe('what a log threw', () => {
  it.each([
    new LogFencedError('fenced'),
    new LogNotOwnerError(['s', 't']),
    new LogUnavailableError('away'),
    new LogWriteError('disk-full', 'full'),
  ])('%s is one of the failures that it may throw', (error) => {
    expect(appendFailure(error)).toBe(error);
  });

  it.each([
    [new LogFencedError('x'), 'LogFencedError', 'fenced'],
    [new LogNotOwnerError([]), 'LogNotOwnerError', 'not-owner'],
    [new LogUnavailableError('x'), 'LogUnavailableError', 'unavailable'],
    [new LogWriteError('disk-full', 'x'), 'LogWriteError', 'refused'],
  ])('%s says its name and its kind', (error, name, kind) => {
    expect(error).toMatchObject({ name, kind });
  });

  it.each([new Error('broken'), 'broken'])('%s is a failure all the same, with its cause', (cause) => {
    const failure = appendFailure(cause);
    expect(failure).toBeInstanceOf(LogWriteError);
    expect(failure).toMatchObject({ kind: 'refused', reason: 'failed', message: 'broken', cause });
  });

  it('names what another host works on', () => {
    expect(new LogNotOwnerError(['s', 't'])).toMatchObject({
      kind: 'not-owner',
      message: expect.stringContaining('s, t'),
    });
  });
});
