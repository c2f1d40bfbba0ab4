import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  digestOf,
  matchesToken,
  NotPrivateError,
  newToken,
  TOKEN_BYTES,
  writePrivateFile,
} from '../../src/util/secrets.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a token', () => {
  it('is random bytes, fit for a header and a query', () => {
    expect(newToken((bytes) => Buffer.alloc(bytes, 0xff))).toBe(Buffer.alloc(TOKEN_BYTES, 0xff).toString('base64url'));
    expect(newToken()).not.toBe(newToken());
    expect(newToken()).toMatch(/^[\w-]{43}$/);
  });

  it('matches its own digest only', () => {
    const digest = digestOf('tökén');
    expect([matchesToken('tökén', digest), matchesToken('token', digest), matchesToken('', digest)]).toEqual([
      ...[true, false, false],
    ]);
    expect(digest.toString('hex')).toBe(digestOf('tökén').toString('hex'));
    expect(digest).toHaveLength(32);
  });
});

describe('a private file', () => {
  it('is for its owner only, replaces what was there, and leaves nothing beside it', async () => {
    const file = path.join(folder, 'secret');
    await writeFile(file, 'old');
    await chmod(file, 0o666);
    await writePrivateFile(file, 'new');
    expect(await readFile(file, 'utf8')).toBe('new');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['secret']);
  });

  it.skipIf(process.platform !== 'linux')(
    'is not held open once it is written (skipped where no /proc says so)',
    async () => {
      const held = async () => {
        const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
        return (await Promise.all(links)).filter((target) => target.startsWith(folder));
      };
      await writePrivateFile(path.join(folder, 'secret'), 'text');
      expect(await held()).toEqual([]);
    },
  );

  it('is no link, wherever that leads', async () => {
    const [target, link] = [path.join(folder, 'target'), path.join(folder, 'link')];
    await writeFile(target, 'precious');
    await symlink(target, link);
    await expect(writePrivateFile(link, 'new')).rejects.toBeInstanceOf(NotPrivateError);
    expect(await readFile(target, 'utf8')).toBe('precious');
    await symlink(path.join(folder, 'nothing'), path.join(folder, 'dead'));
    await expect(writePrivateFile(path.join(folder, 'dead'), 'new')).rejects.toMatchObject({ name: 'NotPrivateError' });
  });

  it('that cannot be put in its place leaves no draft', async () => {
    const nowhere = writePrivateFile(path.join(folder, 'nothing', 'secret'), 'new');
    await expect(nowhere).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
    const inTheWay = path.join(folder, 'folder');
    await writePrivateFile(path.join(folder, 'x'), '');
    await mkdir(path.join(inTheWay, 'inner'), { recursive: true });
    await expect(writePrivateFile(inTheWay, 'new')).rejects.toThrow();
    expect((await readdir(folder)).sort()).toEqual(['folder', 'x']);
  });
});
