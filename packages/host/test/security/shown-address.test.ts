import { hasLogin, shownAddress, withoutLogins } from '@atrium/core/util/addresses.js';
import { describe, expect, it } from 'vitest';
import { modelError } from '../../../agents/src/shared/model-errors.js';

describe('passwords in addresses', () => {
  it.each([
    ['http://me:hush@host.test:8080/v1?key=hush', 'http://host.test:8080/v1', true],
    ['https://me@host.test/', 'https://host.test/', true],
    ['https://host.test/a@b', 'https://host.test/a@b', false],
    ['hush', 'something that is not an address', false],
  ])('are not shown: %s', (address, shown, has) => {
    expect([shownAddress(address), hasLogin(address)]).toEqual([shown, has]);
  });

  it('are cut out of the words of others', () => {
    const words = 'Cannot use "http://me:hu@sh@host.test/v1" or https://token@x.test. Write to me@x.test.';
    expect(withoutLogins(words)).toBe('Cannot use "http://host.test/v1" or https://x.test. Write to me@x.test.');
  });

  it('are in no error of a model, wherever they come from', () => {
    const baseURL = 'http://me:hush@host.test/v1';
    const place = { displayName: 'House', modelId: 'm', baseURL };
    const said = new Error(`fetch failed: ${baseURL}`);
    expect(modelError(said, place).message).toBe(
      'House cannot be reached at http://host.test/v1. Check that it is running. (fetch failed: http://host.test/v1)',
    );
  });
});
