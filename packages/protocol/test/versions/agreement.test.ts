import { describe, expect, it } from 'vitest';
import { AHP_1_VERSION, agreeOnVersion, SUPPORTED_PROTOCOL_VERSIONS } from '../../src/versions/agreement.js';
import { isIntroduced } from '../../src/versions/versions.js';

const agreed = (version: string) => ({ outcome: 'agreed', version, family: `ahp-${version.slice(0, 3)}` });

describe('what an older client agrees on with the host', () => {
  it.each([
    [['0.3.0', '0.2.0'], '0.3.0'],
    [['0.2.0', '0.3.0'], '0.3.0'],
    [['0.2.0'], '0.2.0'],
    [['9.9.9', '0.2.0', '0.1.0'], '0.2.0'],
    [['0.3.0', '0.2.7', '0.1.0'], '0.3.0'],
  ])('takes the highest of %j that we speak: %s', (offered, version) => {
    expect(agreeOnVersion(offered)).toEqual(agreed(version));
  });

  it.each(['0.3.1', '0.4.0', '0.5.2', '0.8.17', '0.9.0', '0.10.0', '1.0.0', '2.7.1', '10.0.0'])(
    '[UP-013] knows an upstream client by its %s and never answers it with 0.3.0',
    (later) => {
      expect(agreeOnVersion([later, '0.3.0', '0.2.0'])).not.toMatchObject({ version: '0.3.0' });
      expect(agreeOnVersion(['0.3.0', later])).not.toMatchObject({ version: '0.3.0' });
    },
  );

  it('[AHP-195] refuses what is not three plain numbers, also beside a good offer', () => {
    for (const entry of [
      '0.3',
      '0.3.0-beta',
      'v0.3.0',
      '0.3.0+1',
      '',
      ' 0.3.0',
      '^0.2.0',
      '0.3.0\n',
      3,
      null,
      undefined,
    ]) {
      expect(agreeOnVersion(['0.3.0', entry])).toEqual({ outcome: 'malformed', entry });
    }
  });

  it('[AHP-201] does not speak the pre-channel 0.1.0', () => {
    expect(agreeOnVersion(['0.1.0'])).toEqual({
      outcome: 'unsupported',
      supportedVersions: SUPPORTED_PROTOCOL_VERSIONS,
    });
  });

  it('says which versions would do when nothing fits', () => {
    expect(agreeOnVersion([])).toEqual({ outcome: 'unsupported', supportedVersions: SUPPORTED_PROTOCOL_VERSIONS });
  });

  it('[AHP-017] answers only with a string that was offered', () => {
    expect(agreeOnVersion(['0.03.0', '00.2.0']).outcome).toBe('malformed');
  });
});

it('[AHP-199] advertises versions that are well formed, strictly descending, and begin with the current one', () => {
  expect(SUPPORTED_PROTOCOL_VERSIONS[0]).toBe(AHP_1_VERSION);
  for (const version of SUPPORTED_PROTOCOL_VERSIONS) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const [index, version] of SUPPORTED_PROTOCOL_VERSIONS.slice(1).entries())
    expect(isIntroduced(SUPPORTED_PROTOCOL_VERSIONS[index] ?? '', version)).toBe(false);
});

describe('isIntroduced', () => {
  it.each([
    ['0.1.0', '0.2.0', true],
    ['0.2.0', '0.2.0', true],
    ['0.3.0', '0.2.0', false],
    ['0.9.0', '0.10.0', true],
    ['0.10.0', '0.9.0', false],
    ['1.0.0', '0.9.9', false],
    ['0.2.1', '0.2.0', false],
  ])('%s in %s: %s', (since, version, expected) => expect(isIntroduced(since, version)).toBe(expected));
});
