import {
  appendFile,
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { REWRITE_MAX_BYTES } from '../../src/workspace/files/write.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';

function write(fixture: ResourceFixture, name: string, data: string, params: object = {}) {
  return fixture.ask('resourceWrite', { uri: fixture.file(name), data, encoding: 'utf-8', ...params });
}

async function codeOf(fixture: ResourceFixture, name: string, data: string, params: object = {}) {
  return (await write(fixture, name, data, params)).error?.code ?? 'ok';
}

async function etag(fixture: ResourceFixture, name: string): Promise<string> {
  return (await fixture.result<{ etag: string }>('resourceResolve', { uri: fixture.file(name) })).etag;
}

const read = (fixture: ResourceFixture, name: string) => readFile(fixture.path(name), 'utf8');

describe('resourceWrite', () => {
  it('[AHP-070] makes a file, also from base64, but not its folder', async () => {
    const fixture = await openResourceFixture();
    expect(await write(fixture, 'a.txt', 'ä')).toMatchObject({ result: {} });
    expect(await read(fixture, 'a.txt')).toBe('ä');
    const bytes = Buffer.from([0, 255, 1]);
    expect(await codeOf(fixture, 'b.bin', bytes.toString('base64'), { encoding: 'base64' })).toBe('ok');
    expect(await readFile(fixture.path('b.bin'))).toEqual(bytes);
    expect(await codeOf(fixture, 'none/c.txt', 'x')).toBe(-32008);
    expect(await codeOf(fixture, 'a.txt/c.txt', 'x')).toBe(-32008);
  });

  it('[AHP-070] does not take for base64 what is none, and changes nothing', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'old' } });
    const write = (data: string) =>
      fixture.code('resourceWrite', { uri: fixture.file('a.txt'), data, encoding: 'base64' });
    expect(await write('this is no base64!')).toBe(-32602);
    expect(await fixture.text('a.txt')).toBe('old');
    for (const data of ['bmV3=== ', 'bmV3=x', '=bmV3']) expect(await write(data), data).toBe(-32602);
    for (const [data, text] of [
      ['bmV3', 'new'],
      ['bmV3cw==', 'news'],
      ['bmV3ZXI=\n', 'newer'],
    ] as const)
      expect([await write(data), await fixture.text('a.txt')]).toEqual(['ok', text]);
    expect(await write('bmV3\nbmV3\n')).toBe('ok');
    expect(await fixture.text('a.txt')).toBe('newnew');
  });

  it('[AHP-070] [AHP-101] does not write over a file that is to be new', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'old' } });
    expect(await codeOf(fixture, 'a.txt', 'new', { createOnly: true })).toBe(-32010);
    expect(await read(fixture, 'a.txt')).toBe('old');
    const both = await Promise.all(['1', '2'].map((data) => codeOf(fixture, 'b.txt', data, { createOnly: true })));
    expect(both.sort()).toEqual([-32010, 'ok']);
  });

  it('[AHP-071] cuts at the position and goes on from there', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '0123456789', 'b.txt': 'long text' } });
    expect(await codeOf(fixture, 'a.txt', 'X', { mode: 'truncate', position: 3 })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('012X');
    expect(await codeOf(fixture, 'a.txt', '', { position: 4 })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('012X');
    expect(await codeOf(fixture, 'b.txt', 'x')).toBe('ok');
    expect(await read(fixture, 'b.txt')).toBe('x');
  });

  it('[AHP-072] appends at the end, or in front of the last bytes', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '0123456789' } });
    expect(await codeOf(fixture, 'a.txt', 'E', { mode: 'append' })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('0123456789E');
    expect(await codeOf(fixture, 'a.txt', '-', { mode: 'append', position: 5 })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('012345-6789E');
    expect(await codeOf(fixture, 'a.txt', '<', { mode: 'append', position: 12 })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('<012345-6789E');
    expect(await codeOf(fixture, 'new.txt', 'first', { mode: 'append' })).toBe('ok');
    expect(await read(fixture, 'new.txt')).toBe('first');
  });

  it('[AHP-073] loses no append of clients at once, and of other programs', async () => {
    const fixture = await openResourceFixture({ files: { 'log.txt': '' } });
    const phone = await fixture.join('phone');
    const line = (who: string, index: number) => `${who}${index}\n`;
    const appends = Array.from({ length: 40 }, (_, index) => [
      fixture.ask('resourceWrite', appending(fixture, line('desk', index))),
      fixture.ask('resourceWrite', appending(fixture, line('phone', index)), phone),
      appendFile(fixture.path('log.txt'), line('program', index)),
    ]).flat();
    await Promise.all(appends);
    const lines = (await read(fixture, 'log.txt')).trimEnd().split('\n');
    const expected = Array.from({ length: 40 }, (_, index) => ['desk', 'phone', 'program'].map((who) => who + index));
    expect(lines.sort()).toEqual(expected.flat().sort());
  });

  it('[AHP-073] loses no append among changes in the middle', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '' } });
    const phone = await fixture.join('phone');
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => [
        fixture.ask('resourceWrite', appending(fixture, 'a', 'a.txt')),
        fixture.ask(
          'resourceWrite',
          { ...appending(fixture, 'b', 'a.txt'), mode: 'insert', position: Math.min(index, 1) },
          phone,
        ),
      ]).flat(),
    );
    const text = await read(fixture, 'a.txt');
    expect(text.replaceAll('b', '')).toBe('a'.repeat(30));
    expect(text).toHaveLength(60);
  });

  it('[AHP-074] inserts, and the file grows by what was written', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '0123456789' } });
    expect(await codeOf(fixture, 'a.txt', 'ab', { mode: 'insert' })).toBe('ok');
    expect(await codeOf(fixture, 'a.txt', '-', { mode: 'insert', position: 4 })).toBe('ok');
    expect(await codeOf(fixture, 'a.txt', '.', { mode: 'insert', position: 13 })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('ab01-23456789.');
  });

  it('[AHP-071] [AHP-072] [AHP-074] refuses a position that is not in the file, and changes nothing', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '0123' } });
    for (const mode of ['truncate', 'append', 'insert']) {
      for (const position of [-1, 1.5, 5, 2 ** 60]) {
        expect(await codeOf(fixture, 'a.txt', 'x', { mode, position }), `${mode} ${position}`).toBe(-32602);
        expect(await codeOf(fixture, 'new.txt', 'x', { mode, position: 1 }), `${mode} of nothing`).toBe(-32602);
      }
    }
    expect(await read(fixture, 'a.txt')).toBe('0123');
    expect(await fixture.names()).toEqual(['a.txt']);
  });

  it('[AHP-075] [AHP-102] writes only over the version that is meant', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'one' } });
    const first = await etag(fixture, 'a.txt');
    await writeFile(fixture.path('a.txt'), 'two');
    for (const mode of ['truncate', 'append', 'insert']) {
      expect(await codeOf(fixture, 'a.txt', 'three', { mode, ifMatch: first }), mode).toBe(-32011);
    }
    expect(await read(fixture, 'a.txt')).toBe('two');
    expect(await codeOf(fixture, 'a.txt', 'three', { ifMatch: await etag(fixture, 'a.txt') })).toBe('ok');
    expect(await read(fixture, 'a.txt')).toBe('three');
    expect(await codeOf(fixture, 'none.txt', 'x', { ifMatch: first })).toBe(-32011);
    expect(await codeOf(fixture, 'a.txt', 'x', { ifMatch: first, createOnly: true })).toBe(-32010);
  });

  it('[AHP-075] tells versions of large files apart, too', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'x'.repeat(300_000) } });
    const first = await etag(fixture, 'a.txt');
    expect(await codeOf(fixture, 'a.txt', 'y'.repeat(300_000), { ifMatch: first })).toBe('ok');
    expect(await codeOf(fixture, 'a.txt', 'z', { ifMatch: first })).toBe(-32011);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'leaves a file that it replaces to its owner (skipped for all but the superuser, who alone can give files away)',
    async () => {
      const fixture = await openResourceFixture({ files: { 'a.txt': 'one', 'b.txt': 'one' } });
      await chown(fixture.path('a.txt'), 1_234, 0);
      await chown(fixture.path('b.txt'), 0, 1_234);
      const owners = [];
      for (const name of ['a.txt', 'b.txt']) {
        expect(await codeOf(fixture, name, 'two')).toBe('ok');
        const { uid, gid } = await stat(fixture.path(name));
        owners.push([uid, gid]);
      }
      expect(owners).toEqual([
        [1_234, 0],
        [0, 1_234],
      ]);
    },
  );

  it('replaces a file as a whole: readers see the old or the new one, and its mode stays', async () => {
    const fixture = await openResourceFixture({ files: { 'run.sh': 'a'.repeat(100_000) } });
    await chmod(fixture.path('run.sh'), 0o750);
    const seen = new Set<string>();
    let isOver = false;
    const reading = (async () => {
      while (!isOver) seen.add(await read(fixture, 'run.sh'));
    })();
    for (let round = 0; round < 20; round++) await write(fixture, 'run.sh', (round % 2 ? 'a' : 'b').repeat(100_000));
    isOver = true;
    await reading;
    expect([...seen].every((text) => /^(a{100000}|b{100000})$/.test(text))).toBe(true);
    expect((await stat(fixture.path('run.sh'))).mode & 0o7777).toBe(0o750);
    expect(await fixture.names()).toEqual(['run.sh']);
  });

  it('lets nobody else read what takes the place of a private file, not even for a moment', async () => {
    const fixture = await openResourceFixture({ files: { 'key.txt': 'secret' } });
    await truncate(fixture.path('key.txt'), 48 * 2 ** 20);
    await chmod(fixture.path('key.txt'), 0o600);
    const write = { uri: fixture.file('key.txt'), data: 'more', encoding: 'utf-8', mode: 'insert' };
    let isDone = false;
    const written = fixture.code('resourceWrite', write).finally(() => {
      isDone = true;
    });
    const modes = new Set<number>();
    while (!isDone) {
      const temporary = (await readdir(fixture.folder)).find((name) => name !== 'key.txt');
      const stats = temporary && (await stat(fixture.path(temporary)).catch(() => undefined));
      if (stats) modes.add(stats.mode & 0o777);
    }
    expect(await written).toBe('ok');
    expect([...modes]).toEqual([0o600]);
  });

  it('does not write into a folder, through a dead link, or over a file that may not be written', async () => {
    const fixture = await openResourceFixture({ files: { 'd/a': 'x', fixed: 'fixed' } });
    await symlink('nothing', fixture.path('dead'));
    await chmod(fixture.path('fixed'), 0o444);
    expect(await codeOf(fixture, 'd', 'x')).toBe(-32602);
    expect(await codeOf(fixture, 'dead', 'x')).toBe(-32009);
    // Nothing is closed to the superuser.
    if (process.getuid?.() !== 0) expect(await codeOf(fixture, 'fixed', 'x')).toBe(-32009);
    expect(await fixture.names()).toEqual(['d', 'dead', 'fixed']);
  });

  it('writes through a link that stays inside, and leaves the link', async () => {
    const fixture = await openResourceFixture({ files: { 'd/a.txt': 'old' } });
    await symlink('d/a.txt', fixture.path('link'));
    expect(await codeOf(fixture, 'link', 'new')).toBe('ok');
    expect(await read(fixture, 'd/a.txt')).toBe('new');
    expect(await fixture.result('resourceResolve', { uri: fixture.file('link'), followSymlinks: false })).toMatchObject(
      {
        type: 'symlink',
      },
    );
  });

  it('[REL-043] keeps customizations of other tools also when the folder that they are in would be exchanged', async () => {
    const fixture = await openResourceFixture({
      files: { 'x/prompts/evil.md': 'EVIL', 'x/agents/evil.md': 'EVIL', '.cursor/rules/a.mdc': 'OLD', 'd/x': '' },
    });
    for (const name of ['.github', '.GitHub', '.claude', '.cursor', 'd/.github']) {
      const request = { source: fixture.file('x'), destination: fixture.file(name) };
      expect(await fixture.code('resourceMove', request), name).toBe(-32009);
      expect(await fixture.code('resourceCopy', request), name).toBe(-32009);
    }
    const [source, destination] = [fixture.file('.cursor'), fixture.file('y')];
    expect(await fixture.code('resourceMove', { source, destination })).toBe(-32009);
    expect(await fixture.code('resourceDelete', { uri: source, recursive: true })).toBe(-32009);
    expect(await fixture.text('.cursor/rules/a.mdc')).toBe('OLD');
    expect(await fixture.code('resourceWrite', { uri: fixture.file('.github'), data: '', encoding: 'utf-8' })).toBe(
      'ok',
    );
    expect(await fixture.code('resourceMove', { source: fixture.file('x'), destination: fixture.file('z') })).toBe(
      'ok',
    );
  });

  it('keeps what Git runs, and what the host would, to those who own it', async () => {
    const fixture = await openResourceFixture({ files: { '.git/config': 'c', '.github/prompts/a.md': 'A' } });
    await mkdir(fixture.path('sub/.git'), { recursive: true });
    const kept = ['.git/config', '.GIT/hooks', '.git', 'sub/.git/x', '.agents/plugins/x', '.github/prompts/b.md'];
    for (const name of kept) expect(await codeOf(fixture, name, 'x'), name).toBe(-32009);
    expect(await fixture.text('.git/config')).toBe('c');
  });

  it('does not rewrite the middle of a file that is too large, but appends to it', async () => {
    const fixture = await openResourceFixture();
    const handle = await open(fixture.path('huge'), 'w');
    await handle.truncate(REWRITE_MAX_BYTES + 1);
    await handle.close();
    expect(await codeOf(fixture, 'huge', 'x', { mode: 'insert', position: 1 })).toBe(-32602);
    expect(await codeOf(fixture, 'huge', 'x', { mode: 'append' })).toBe('ok');
    expect((await stat(fixture.path('huge'))).size).toBe(REWRITE_MAX_BYTES + 2);
  });
});

function appending(fixture: ResourceFixture, data: string, name = 'log.txt') {
  return { uri: fixture.file(name), data, encoding: 'utf-8', mode: 'append' };
}
