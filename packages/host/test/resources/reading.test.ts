import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { READ_MAX_BYTES } from '../../src/workspace/files/read.js';
import { openResourceFixture } from '../support/resource-fixture.js';

describe('resourceRead', () => {
  it('[AHP-069] gives text as text, other bytes as base64, and base64 to a client that prefers it', async () => {
    const fixture = await openResourceFixture({ files: { 'a.md': 'héllo\n' } });
    await writeFile(fixture.path('b.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]));
    const uri = fixture.file('a.md');
    expect(await fixture.result('resourceRead', { uri })).toEqual({
      data: 'héllo\n',
      encoding: 'utf-8',
      contentType: 'text/markdown',
    });
    const preferred = await fixture.result<{ data: string; encoding: string }>('resourceRead', {
      uri,
      encoding: 'base64',
    });
    expect(preferred.encoding).toBe('base64');
    expect(Buffer.from(preferred.data, 'base64').toString()).toBe('héllo\n');
    for (const encoding of [undefined, 'utf-8']) {
      const image = { uri: fixture.file('b.png'), ...(encoding && { encoding }) };
      expect(await fixture.result('resourceRead', image)).toEqual({
        data: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]).toString('base64'),
        encoding: 'base64',
        contentType: 'image/png',
      });
    }
  });

  it('[AHP-069] takes a zero byte, and half a character, for what no text has', async () => {
    const fixture = await openResourceFixture();
    await writeFile(fixture.path('zero'), 'a\0b');
    await writeFile(fixture.path('half'), Buffer.from('é').subarray(0, 1));
    await writeFile(fixture.path('empty'), '');
    for (const name of ['zero', 'half']) {
      expect(await fixture.result('resourceRead', { uri: fixture.file(name) })).toMatchObject({ encoding: 'base64' });
    }
    expect(await fixture.result('resourceRead', { uri: fixture.file('empty') })).toEqual({
      data: '',
      encoding: 'utf-8',
    });
  });

  it('[AHP-069] [AHP-099] says what is not there, and that a folder is not read', async () => {
    const fixture = await openResourceFixture({ files: { 'd/a': 'x', file: 'x' } });
    for (const name of ['none', 'none/none', 'file/none']) {
      expect(await fixture.code('resourceRead', { uri: fixture.file(name) }), name).toBe(-32008);
    }
    const { error } = await fixture.ask('resourceRead', { uri: fixture.file('d') });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('resourceList') });
    expect(await fixture.code('resourceRead', { uri: 'atrium-content:/nothing' })).toBe(-32009);
  });

  it('[REL-042] does not read a file of 2 GB, and names the limit; a range of it is read', async () => {
    const fixture = await openResourceFixture();
    const handle = await open(fixture.path('huge'), 'w');
    await handle.truncate(2 ** 31);
    await handle.write('end', 2 ** 31 - 3);
    await handle.close();
    const uri = fixture.file('huge');
    const { error } = await fixture.ask('resourceRead', { uri });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('4 MiB') });
    const range = { start: 2 ** 31 - 3, end: 2 ** 31 + 100 };
    expect(await fixture.result('resourceRead', { uri, range })).toEqual({
      data: 'end',
      encoding: 'utf-8',
      size: 2 ** 31,
    });
    const whole = { start: 0, end: READ_MAX_BYTES + 1 };
    expect(await fixture.code('resourceRead', { uri, range: whole })).toBe(-32602);
    for (const bad of [{ start: -1, end: 2 }, { start: 2, end: 1 }, { start: 0.5, end: 1 }, { start: 0 }, 'x']) {
      expect(await fixture.code('resourceRead', { uri, range: bad }), JSON.stringify(bad)).toBe(-32602);
    }
  });

  it('sends text that would not fit when it is escaped as base64', async () => {
    const fixture = await openResourceFixture();
    await writeFile(fixture.path('bells'), '\x07'.repeat(READ_MAX_BYTES));
    expect(await fixture.result('resourceRead', { uri: fixture.file('bells') })).toMatchObject({ encoding: 'base64' });
  });

  it('follows links that stay inside', async () => {
    const fixture = await openResourceFixture({ files: { 'd/a.txt': 'A' } });
    await symlink('d', fixture.path('near'));
    await symlink('../near/./a.txt', fixture.path('d/again'));
    await symlink(fixture.path('d'), fixture.path('absolute'));
    await mkdir(fixture.path('e'));
    await symlink('../../nowhere/../d', fixture.path('e/odd'));
    expect(await fixture.text('near/a.txt')).toBe('A');
    expect(await fixture.text('d/again')).toBe('A');
    expect(await fixture.text('absolute/again')).toBe('A');
    expect(await fixture.code('resourceRead', { uri: fixture.file('e/odd/a.txt') })).toBe(-32009);
    // Back from what is not there leads nowhere.
    await symlink('none/../d/a.txt', fixture.path('back'));
    expect(await fixture.code('resourceRead', { uri: fixture.file('back') })).toBe(-32008);
  });
});
