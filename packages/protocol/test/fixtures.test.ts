import { describe, expect, it } from 'vitest';
import { OWN_FIXTURES, PUBLISHED_FIXTURES, readFixtures, runFixture } from './support/fixtures.js';

const published = readFixtures(PUBLISHED_FIXTURES);
const own = readFixtures(OWN_FIXTURES);

describe('our own reducer fixtures', () => {
  it('are there', () => expect(own.length).toBeGreaterThan(0));

  it.each(own.map((fixture) => [fixture.file, fixture] as const))('%s', (_file, fixture) => {
    const { result, expected } = runFixture(fixture);
    expect(result).toStrictEqual(expected);
  });
});

const skipped = published.length === 0;
describe.skipIf(skipped)('the published reducer fixtures of AHP 0.2.0 (skipped: not in this checkout)', () => {
  it.each(published.map((fixture) => [fixture.file, fixture] as const))('%s', (_file, fixture) => {
    const { result, expected } = runFixture(fixture);
    expect(result).toStrictEqual(expected);
  });
});
