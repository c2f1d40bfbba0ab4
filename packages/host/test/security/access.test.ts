import { describe, expect, it } from 'vitest';
import { checkAccess, EncryptionRequiredError, isInsecure, TokenRequiredError } from '../../src/server/access.js';

describe('an access policy', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'needs no token on %s',
    (host) => {
      expect(() => checkAccess(host, {})).not.toThrow();
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.7', 'example.org', 'localhost.example.org', '127.0.0.1.example.org', ''])(
    '[REL-005] needs a token on "%s", and says how to give one',
    (host) => {
      expect(() => checkAccess(host, {})).toThrow(TokenRequiredError);
      expect(() => checkAccess(host, { token: '' })).toThrow(/--connection-token-file .* --host localhost/);
      expect(() => checkAccess(host, { token: 'nobody-else-knows-it', isGenerated: true })).toThrow(TokenRequiredError);
      expect(() => checkAccess(host, { token: 'chosen-by-the-user' }, true)).not.toThrow();
    },
  );

  it.each(['0.0.0.0', '::', '[::]', '192.168.1.7', 'example.org', ''])(
    '[DEV-050] needs TLS on "%s", or the word of the user that none is needed',
    (host) => {
      const token = 'chosen-by-the-user';
      expect(() => checkAccess(host, { token })).toThrow(EncryptionRequiredError);
      expect(() => checkAccess(host, { token, insecureRemote: false })).toThrow(
        /--tls-cert .* --tls-key .* --host localhost, or say --insecure-remote/,
      );
      expect(() => checkAccess(host, { token }, true)).not.toThrow();
      expect(() => checkAccess(host, { token, insecureRemote: true })).not.toThrow();
      expect(() => checkAccess(host, { insecureRemote: true })).toThrow(TokenRequiredError);
      expect([isInsecure(host, false), isInsecure(host, true)]).toEqual([true, false]);
    },
  );

  it.each(['localhost', '127.0.0.1', '::1'])('[DEV-050] needs no TLS on %s', (host) => {
    expect(() => checkAccess(host, { token: 'chosen-by-the-user' })).not.toThrow();
    expect(isInsecure(host, false)).toBe(false);
  });

  it.each(['*', 'localhost:5173', 'http://localhost:5173/', 'null'])('refuses %s as an origin', (origin) => {
    expect(() => checkAccess('localhost', { allowedOrigins: [origin] })).toThrow(/is not an origin/);
  });
});
