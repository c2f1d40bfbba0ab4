import { expect, it } from 'vitest';
import { branchName, branchWords, ownBranch } from '../../src/ahp-1/session/branch-name.js';

it.each([
  ['Fix the *login* form!', 'fix-the-login-form'],
  ['feature/Größe ändern', 'feature/große-andern'],
  ['--force ../../etc', 'force/etc'],
  ['one two three four five six seven', 'one-two-three-four-five-six'],
  [`${'word'.repeat(9)} ${'word'.repeat(9)}`, 'word'.repeat(9)],
  ['x'.repeat(99), 'x'.repeat(40)],
  ['数える', '数える'],
  ['… @{1} ~^:', '1'],
  ['…', undefined],
  ['', undefined],
])('a branch for %j [DAY-126]', (words, name) => {
  expect(branchName(words)).toBe(name);
});

it('has the folder of the host in front unless it names one, and is from the first line of a message [DAY-126]', () => {
  expect(ownBranch('a-b')).toBe('atrium/a-b');
  expect(ownBranch('fix/a')).toBe('fix/a');
  expect(branchWords('  See @src/a.ts and/or https://example.org/x now\nmore')).toBe('See   and or   now');
});
