/** What differs from the last commit, compared with what Git itself says. */
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VIEW_MAX_FILES } from '../../src/workspace/changes/limits.js';
import { ChangesFixture, commitAll, edit, gitIn, repository, textOf } from '../support/changes-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT } from '../support/test-host.js';

/** Path to the two letters, as `git status --short` has them. */
function statusOf(folder: string): Map<string, string> {
  const out = gitIn(folder, 'status', '--porcelain', '-uall', '--no-renames', '-z', '--', '.');
  return new Map(
    out
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(3), line.slice(0, 2)]),
  );
}

async function lettersOf(fixture: ChangesFixture): Promise<Map<string, string>> {
  const files = await fixture.files('uncommitted');
  return new Map(
    [...files].map(([name, { _meta }]) => {
      const { index, folder } = (_meta as { git: { index: string; folder: string } }).git;
      return [name, `${index}${folder}`.replaceAll('.', ' ')];
    }),
  );
}

describe('uncommitted changes', { timeout: 30_000 }, () => {
  it('[AHP-224] lists staged, unstaged and untracked files as git status does', async () => {
    const folder = await repository({ 'a.txt': '1\n2\n', 'b.txt': 'b\n', 'gone.txt': 'g\n', 'both.txt': 'x\n' });
    await edit(folder, 'a.txt', '1\n2\n3\n');
    await edit(folder, 'b.txt', 'B\n');
    gitIn(folder, 'add', 'b.txt');
    await edit(folder, 'both.txt', 'y\n');
    gitIn(folder, 'add', 'both.txt');
    await edit(folder, 'both.txt', 'z\n');
    await rm(path.join(folder, 'gone.txt'));
    await edit(folder, 'new folder/ü n.txt', 'n\nn\n');
    await edit(folder, 'staged-and-gone.txt', 's\n');
    gitIn(folder, 'add', 'staged-and-gone.txt');
    await rm(path.join(folder, 'staged-and-gone.txt'));
    const fixture = await ChangesFixture.open({ folder });
    const letters = await lettersOf(fixture);
    const told = [...letters].map(([name, value]) => [decodeURIComponent(name), value]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(statusOf(folder)));
    expect(letters.size).toBe(6);
    const files = await fixture.files('uncommitted');
    expect(files.get('a.txt')?.edit.diff).toEqual({ added: 1, removed: 0 });
    expect(files.get('both.txt')?.edit.diff).toEqual({ added: 1, removed: 1 });
    expect(files.get('new%20folder/%C3%BC%20n.txt')?.edit).toMatchObject({ diff: { added: 2, removed: 0 } });
    expect(files.get('gone.txt')?.edit.after).toBeUndefined();
  });

  it('shows a rename as one file with two names, and counts what changed in it', async () => {
    const folder = await repository({ 'old.txt': '1\n2\n3\n4\n5\n6\n' });
    gitIn(folder, 'mv', 'old.txt', 'new.txt');
    await edit(folder, 'new.txt', '1\n2\n3\n4\n5\n6\n7\n');
    const fixture = await ChangesFixture.open({ folder });
    const files = await fixture.files('uncommitted');
    expect([...files.keys()]).toEqual(['new.txt']);
    const { before, after, diff } = files.get('new.txt')?.edit ?? {};
    expect([before?.uri, after?.uri]).toEqual([fixture.uriOf('old.txt'), fixture.uriOf('new.txt')]);
    expect(diff).toEqual({ added: 1, removed: 0 });
    await fixture.invoke('uncommitted', 'stage', fixture.resource('new.txt'));
    expect(gitIn(folder, 'status', '--porcelain')).toBe('R  old.txt -> new.txt\n');
    await fixture.invoke('uncommitted', 'unstage', { ...fixture.resource('old.txt'), side: 'before' });
    expect(statusOf(folder)).toEqual(
      new Map([
        ['old.txt', ' D'],
        ['new.txt', '??'],
      ]),
    );
    await fixture.invoke('uncommitted', 'discard');
    expect([await textOf(folder, 'old.txt'), gitIn(folder, 'status', '--porcelain')]).toEqual([
      '1\n2\n3\n4\n5\n6\n',
      '',
    ]);
  });

  it('works in a repository without a commit', async () => {
    const folder = await tempFolder({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    gitIn(folder, 'init', '-q', '-b', 'main');
    gitIn(folder, 'add', 'a.txt');
    const fixture = await ChangesFixture.open({ folder });
    expect(Object.fromEntries(await lettersOf(fixture))).toEqual({ 'a.txt': 'A ', 'b.txt': '??' });
    await fixture.invoke('uncommitted', 'unstage', fixture.resource('a.txt'));
    expect(statusOf(folder).get('a.txt')).toBe('??');
    await fixture.invoke('uncommitted', 'stage');
    expect([...statusOf(folder).values()]).toEqual(['A ', 'A ']);
  });

  it('looks only at its own folder of a repository, and at a worktree for itself', async () => {
    const top = await repository({ 'top.txt': 't\n', 'part/a.txt': 'a\n' });
    await edit(top, 'top.txt', 'T\n');
    await edit(top, 'part/a.txt', 'A\n');
    const part = await ChangesFixture.open({ folder: path.join(top, 'part') });
    expect([...(await part.files('uncommitted')).keys()]).toEqual(['a.txt']);
    await part.invoke('uncommitted', 'stage');
    expect(gitIn(top, 'diff', '--cached', '--name-only').trim()).toBe('part/a.txt');

    const worktree = path.join(await tempFolder(), 'tree');
    gitIn(top, 'worktree', 'add', '-q', worktree);
    await edit(worktree, 'part/a.txt', 'in the worktree\n');
    const fixture = await ChangesFixture.open({ folder: worktree });
    expect([...(await fixture.files('uncommitted')).keys()]).toEqual(['part/a.txt']);
  });

  it('knows links, modes, binary files and line endings', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'run.sh': 'r\n', 'bin.dat': 'x\0y' });
    await writeFile(path.join(folder, '.gitattributes'), '*.win text eol=crlf\n');
    await writeFile(path.join(folder, 'c.win'), '1\r\n2\r\n');
    await symlink('a.txt', path.join(folder, 'link'));
    commitAll(folder, 'more');
    await rm(path.join(folder, 'link'));
    await symlink('run.sh', path.join(folder, 'link'));
    await chmod(path.join(folder, 'run.sh'), 0o755);
    await edit(folder, 'bin.dat', 'x\0z');
    await edit(folder, 'c.win', '1\r\n2\r\n3\r\n');
    const fixture = await ChangesFixture.open({ folder });
    const files = await fixture.files('uncommitted');
    expect([...files.keys()].sort()).toEqual(['bin.dat', 'c.win', 'link', 'run.sh']);
    expect(files.get('bin.dat')?.edit.diff).toBeUndefined();
    expect(files.get('c.win')?.edit.diff).toEqual({ added: 1, removed: 0 });
    expect(files.get('run.sh')?.edit.diff).toEqual({ added: 0, removed: 0 });
    expect(files.get('link')?.edit.after?.content.uri).toBe(`data:text/plain;base64,${btoa('run.sh')}`);
    await fixture.invoke('uncommitted', 'discard');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
    expect(await textOf(folder, 'c.win')).toBe('1\r\n2\r\n');
    await fixture.invoke('uncommitted', 'restore');
    expect(gitIn(folder, 'diff', '--summary')).toContain('mode change 100644 => 100755 run.sh');
    expect(gitIn(folder, 'diff', '--name-only').trim().split('\n')).toEqual(['bin.dat', 'c.win', 'link', 'run.sh']);
  });

  it('treats a submodule as one thing that nobody looks into', async () => {
    const inner = await repository({ 'i.txt': 'i\n' });
    const folder = await repository();
    gitIn(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner');
    commitAll(folder, 'with a submodule');
    await edit(folder, 'inner/i.txt', 'changed inside\n');
    const fixture = await ChangesFixture.open({ folder });
    expect((await fixture.files('uncommitted')).size).toBe(0);
    gitIn(path.join(folder, 'inner'), '-c', 'user.name=desk', '-c', 'user.email=d@e', 'commit', '-qam', 'inside');
    await fixture.fresh('uncommitted');
    const files = await fixture.files('uncommitted');
    expect(files.get('inner')?._meta).toMatchObject({ git: { submodule: true } });
    expect((await fixture.refusal('uncommitted', 'discard', fixture.resource('inner'))).message).toContain(
      'left alone',
    );
    expect(await textOf(folder, 'inner/i.txt')).toBe('changed inside\n');
  });

  it.skipIf(process.platform !== 'linux')('names files whose names are no text', async () => {
    const folder = await repository();
    const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff, 0x2e, 0x74])]);
    await writeFile(odd, 'odd\n');
    const fixture = await ChangesFixture.open({ folder });
    const { files } = await fixture.shown('uncommitted');
    expect(files.map(({ id }) => id)).toEqual([`${pathToFileURL(folder).href}/f%FF.t`]);
    await fixture.invoke('uncommitted', 'stage', { kind: 'resource', resource: files[0]?.id });
    expect(gitIn(folder, '-c', 'core.quotePath=true', 'diff', '--cached', '--name-only').trim()).toBe('"f\\377.t"');
    await fixture.invoke('uncommitted', 'discard');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
  });

  it('keeps up with people while somebody watches, and rests when nobody does', async () => {
    const clock = new FakeClock();
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder, clock });
    expect((await fixture.shown('uncommitted')).files).toEqual([]);
    const before = clock.pending;
    await edit(folder, 'a.txt', 'by hand\n');
    await clock.advance(2_100);
    await fixture.client.action(fixture.view('uncommitted'), 'changeset/fileSet');
    gitIn(folder, 'checkout', '-q', 'a.txt');
    await clock.advance(10_000);
    await fixture.client.action(fixture.view('uncommitted'), 'changeset/fileRemoved');
    fixture.client.send({ method: 'unsubscribe', params: { channel: fixture.view('uncommitted') } });
    await fixture.client.request('listSessions', { channel: ROOT });
    expect(clock.pending).toBeLessThan(before);
  });

  it('says so when there are too many files to show', async () => {
    const folder = await repository();
    await mkdir(path.join(folder, 'many'));
    const names = Array.from({ length: VIEW_MAX_FILES + 1 }, (_, index) => `many/${index}`);
    await Promise.all(names.map((name) => writeFile(path.join(folder, name), '')));
    const fixture = await ChangesFixture.open({ folder });
    const { status, error, files } = await fixture.shown('uncommitted');
    expect([status, error?.errorType, files.length]).toEqual(['error', 'incomplete', VIEW_MAX_FILES]);
  });

  it('keeps what a deleted folder held, and brings it back', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'deep/er/x.txt': 'x\n' });
    await rename(path.join(folder, 'deep'), path.join(folder, 'moved'));
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'discard');
    expect(await textOf(folder, 'deep/er/x.txt')).toBe('x\n');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
  });
});
