import { describe, expect, it } from 'vitest';
import { hasLogin, isLoopback, shownAddress, withoutLogins } from '../../src/util/addresses.js';

describe('an address', () => {
  it.each([
    ...['localhost', 'LocalHost', '127.0.0.1', '127.255.0.9', '::1', '[::1]', '::ffff:127.0.0.1', '[::FFFF:127.0.0.1]'],
  ])('%s stays on this machine', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    ...['', '0.0.0.0', '::', '128.0.0.1', '10.127.0.1', '127.0.0.1.example.org', '127.example', 'localhost.example'],
    ...['xlocalhost', '::1x', 'x::ffff:127.0.0.1', '::ffff:10.0.0.1', '127.0.0', '::2'],
  ])('%s does not', (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it('is shown without name, password, query and fragment', () => {
    expect(shownAddress('https://me:secret@host.example:8443/path?key=1#part')).toBe('https://host.example:8443/path');
    expect(shownAddress('not an address')).toBe('something that is not an address');
  });

  it('holds a login when it has a name or a password', () => {
    const logins = ['https://me@host', 'https://me:secret@host', 'https://:secret@host'];
    expect(logins.map(hasLogin)).toEqual([true, true, true]);
    expect(['https://host/@me', 'me@host', 'https://host'].map(hasLogin)).toEqual([false, false, false]);
  });
});

describe('a foreign text', () => {
  it.each([
    ['cannot reach https://me:secret@host/path', 'cannot reach https://host/path'],
    ['HTTP://me@a and git+ssh://x:y@b', 'HTTP://a and git+ssh://b'],
    ['https://a@b@host', 'https://host'],
    ['see https://host/a@b', 'see https://host/a@b'],
    ['see https://host?a@b', 'see https://host?a@b'],
    ['mail me@host', 'mail me@host'],
    ['"https://host" said me@other', '"https://host" said me@other'],
    ['https://host me@other', 'https://host me@other'],
  ])('%j loses its logins and nothing else', (text, expected) => {
    expect(withoutLogins(text)).toBe(expected);
  });
});
