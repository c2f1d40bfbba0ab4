import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { READ_MAX_BYTES } from '../../src/workspace/files/read.js';
import { openResourceRoom } from '../support/resource-room.js';

describe('resourceRead', () => {
  it('[AHP-069] gives text as text, other bytes as base64, and base64 to whoever prefers it', async () => {
    const room = await openResourceRoom({ files: { 'a.md': 'héllo\n' } });
    await writeFile(room.path('b.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]));
    const uri = room.file('a.md');
    expect(await room.result('resourceRead', { uri })).toEqual({
      data: 'héllo\n',
      encoding: 'utf-8',
      contentType: 'text/markdown',
    });
    const preferred = await room.result<{ data: string; encoding: string }>('resourceRead', {
      uri,
      encoding: 'base64',
    });
    expect(preferred.encoding).toBe('base64');
    expect(Buffer.from(preferred.data, 'base64').toString()).toBe('héllo\n');
    for (const encoding of [undefined, 'utf-8']) {
      const image = { uri: room.file('b.png'), ...(encoding && { encoding }) };
      expect(await room.result('resourceRead', image)).toEqual({
        data: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]).toString('base64'),
        encoding: 'base64',
        contentType: 'image/png',
      });
    }
  });

  it('[AHP-069] takes a zero byte, and half a character, for what no text has', async () => {
    const room = await openResourceRoom();
    await writeFile(room.path('zero'), 'a\0b');
    await writeFile(room.path('half'), Buffer.from('é').subarray(0, 1));
    await writeFile(room.path('empty'), '');
    for (const name of ['zero', 'half']) {
      expect(await room.result('resourceRead', { uri: room.file(name) })).toMatchObject({ encoding: 'base64' });
    }
    expect(await room.result('resourceRead', { uri: room.file('empty') })).toEqual({ data: '', encoding: 'utf-8' });
  });

  it('[AHP-069] [AHP-099] says what is not there, and that a folder is not read', async () => {
    const room = await openResourceRoom({ files: { 'd/a': 'x', file: 'x' } });
    for (const name of ['none', 'none/none', 'file/none']) {
      expect(await room.code('resourceRead', { uri: room.file(name) }), name).toBe(-32008);
    }
    const { error } = await room.ask('resourceRead', { uri: room.file('d') });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('resourceList') });
    expect(await room.code('resourceRead', { uri: 'atrium-content:/nothing' })).toBe(-32009);
  });

  it('[REL-042] does not read a file of 2 GB, and names the limit; a range of it is read', async () => {
    const room = await openResourceRoom();
    const handle = await open(room.path('huge'), 'w');
    await handle.truncate(2 ** 31);
    await handle.write('end', 2 ** 31 - 3);
    await handle.close();
    const uri = room.file('huge');
    const { error } = await room.ask('resourceRead', { uri });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('4 MiB') });
    const range = { start: 2 ** 31 - 3, end: 2 ** 31 + 100 };
    expect(await room.result('resourceRead', { uri, range })).toEqual({
      data: 'end',
      encoding: 'utf-8',
      size: 2 ** 31,
    });
    const whole = { start: 0, end: READ_MAX_BYTES + 1 };
    expect(await room.code('resourceRead', { uri, range: whole })).toBe(-32602);
    for (const bad of [{ start: -1, end: 2 }, { start: 2, end: 1 }, { start: 0.5, end: 1 }, { start: 0 }, 'x']) {
      expect(await room.code('resourceRead', { uri, range: bad }), JSON.stringify(bad)).toBe(-32602);
    }
  });

  it('sends text that would not fit when it is escaped as base64', async () => {
    const room = await openResourceRoom();
    await writeFile(room.path('bells'), '\x07'.repeat(READ_MAX_BYTES));
    expect(await room.result('resourceRead', { uri: room.file('bells') })).toMatchObject({ encoding: 'base64' });
  });

  it('follows links that stay inside', async () => {
    const room = await openResourceRoom({ files: { 'd/a.txt': 'A' } });
    await symlink('d', room.path('near'));
    await symlink('../near/./a.txt', room.path('d/again'));
    await symlink(room.path('d'), room.path('absolute'));
    await mkdir(room.path('e'));
    await symlink('../../nowhere/../d', room.path('e/odd'));
    expect(await room.text('near/a.txt')).toBe('A');
    expect(await room.text('d/again')).toBe('A');
    expect(await room.text('absolute/again')).toBe('A');
    expect(await room.code('resourceRead', { uri: room.file('e/odd/a.txt') })).toBe(-32009);
  });
});
