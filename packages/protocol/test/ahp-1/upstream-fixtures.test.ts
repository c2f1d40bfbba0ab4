/** The published fixtures of 0.7.0: a reducer that others wrote must come to the same states. */
import { describe, expect, it } from 'vitest';
import { readJson, runUpstreamFixture, type UpstreamFixture } from './support/upstream-0.7.js';

const fixtures = readJson<UpstreamFixture>('reducer-fixtures');

describe.skipIf(fixtures.length === 0)('[UP-217] the published fixtures of AHP 0.7.0 (skipped: not here)', () => {
  it.each(fixtures.map((fixture) => [fixture.file, fixture] as const))('%s', (_file, fixture) => {
    const { result, expected } = runUpstreamFixture(fixture);
    expect(result).toEqual(expected);
  });
});
