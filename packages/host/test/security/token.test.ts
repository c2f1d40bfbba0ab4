import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NotPrivateError, newToken } from '@atrium/core/util/secrets.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTokenText, keptToken, readToken, storeToken, TOKEN_FILE } from '../../src/server/token-file.js';

const isWindows = process.platform === 'win32';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-token-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a new token', () => {
  it('is 32 random bytes in base64url, fit for a header and a query', () => {
    const token = newToken();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(isTokenText(token)).toBe(true);
    expect(newToken()).not.toBe(token);
  });

  it.each(['', 'two words', 'a&b', 'a+b', 'line\nbreak', 'ü'])('"%s" is not one', (text) => {
    expect(isTokenText(text)).toBe(false);
  });
});

describe('the token file', () => {
  it('holds the token for its owner only, and nothing is left beside it', async () => {
    const { file } = await storeToken(folder, 'secret');
    expect(await readToken(file)).toBe('secret');
    if (!isWindows) expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual([TOKEN_FILE]);
  });

  it('replaces what an earlier run left, however open that was', async () => {
    await writeFile(path.join(folder, TOKEN_FILE), 'old', { mode: 0o644 });
    const { file } = await storeToken(folder, 'new');
    expect(await readToken(file)).toBe('new');
    if (!isWindows) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is removed on stop', async () => {
    const { remove } = await storeToken(folder, 'secret');
    await remove();
    await remove();
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays when somebody has put another token there', async () => {
    const first = await storeToken(folder, 'first');
    await storeToken(folder, 'second');
    await first.remove();
    expect(await readToken(first.file)).toBe('second');
  });

  it.skipIf(isWindows)('is never a link: what the link points at is not touched', async () => {
    const target = path.join(folder, 'target');
    await writeFile(target, 'precious');
    await symlink(target, path.join(folder, TOKEN_FILE));
    await expect(storeToken(folder, 'secret')).rejects.toThrow(NotPrivateError);
    expect(await readFile(target, 'utf8')).toBe('precious');
    expect((await lstat(path.join(folder, TOKEN_FILE))).isSymbolicLink()).toBe(true);
  });

  it.skipIf(isWindows)(
    'is taken over from a host that crashed, if only its owner could touch it and we made it',
    async () => {
      const file = path.join(folder, TOKEN_FILE);
      expect(await keptToken(folder)).toBeUndefined();
      const token = newToken();
      await storeToken(folder, token);
      expect(await keptToken(folder)).toBe(token);
      const getuid = vi.spyOn(process as { getuid: () => number }, 'getuid').mockReturnValue(2 ** 20);
      expect(await keptToken(folder)).toBeUndefined();
      getuid.mockRestore();
      await chmod(file, 0o640);
      expect(await keptToken(folder)).toBeUndefined();
      await storeToken(folder, 'chosen-by-somebody');
      expect(await keptToken(folder)).toBeUndefined();
      await writeFile(path.join(folder, 'target'), token, { mode: 0o600 });
      await rm(file);
      await symlink(path.join(folder, 'target'), file);
      expect(await keptToken(folder)).toBeUndefined();
    },
  );
});
