import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBuilt, newFolder, sharedHost, startHost, type TestHost } from './support/host.js';
import { git, newRepository } from './support/repository.js';

/** A repository for a test, on the host of all of them. */
function repositories(): () => Promise<{ host: TestHost; folder: string }> {
  const shared = sharedHost();
  return async () => {
    const folder = await newFolder(shared());
    await newRepository(folder);
    return { host: shared(), folder };
  };
}

describe.skipIf(!isBuilt)('atrium changes (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const openRepository = repositories();

  it('lists what a turn changed, takes it back after a yes, and never without one', async () => {
    const { host, folder } = await openRepository();
    await host.run(['run', '--cwd', folder, '--approve', 'all', 'edit two']);
    const listed = await host.run(['changes']);
    expect(listed.stderr).toContain('Last turn: 2 files (+3 −1)');
    expect(listed.stdout).toBe('  M note.txt    +2 −1\n  A src/new.js  +1 −0\n');
    const { stdout: diff } = await host.run(['changes', 'list', 'last', '--diff']);
    expect(diff).toContain('@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+three\n');
    execFileSync('git', ['apply', '--check', '--reverse', '-'], { cwd: folder, input: diff });
    const refused = await host.run(['changes', 'revert']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/Take back what the agent changed[\s\S]*--yes/);
    const one = await host.run(['changes', 'revert', '--yes', '--file', 'new.js']);
    expect(one.stderr).toContain('Took back 1 file');
    const rest = await host.run(['changes', 'revert', '--yes', '--view', 'session', '--json']);
    expect(JSON.parse(rest.stdout)).toMatchObject({ operation: 'revert', view: 'session' });
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(git(folder, 'status', '--short')).toBe('');
    const nothing = await host.run(['changes', 'revert', '--yes']);
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain('nothing is changed there');
  });

  it('stages, commits and discards what is not committed', async () => {
    const { host, folder } = await openRepository();
    await host.run(['run', '--cwd', folder, 'hello']);
    await writeFile(path.join(folder, 'note.txt'), 'one\n');
    await writeFile(path.join(folder, 'more.txt'), 'more\n');
    const { stderr } = await host.run(['changes', 'stage', '--file', 'more.txt']);
    expect(stderr).toContain('Staged 1 file');
    const { stdout } = await host.run(['changes', '--view', 'uncommitted']);
    expect(stdout).toMatch(/A more\.txt {2}\+1 −0 {2}staged\n {2}M note\.txt {2}\+0 −1\n/);
    await host.run(['changes', 'stage', '--file', 'note.txt']);
    expect((await host.run(['changes', 'unstage', '--file', 'note.txt'])).stderr).toContain('1 file');
    expect((await host.run(['changes', 'commit', '--message', 'More of it'])).stderr).toContain('Committed.');
    expect(git(folder, 'log', '-1', '--format=%s', '--name-only')).toBe('More of it\n\nmore.txt');
    expect((await host.run(['changes', 'discard', '--yes'])).stderr).toContain('Discarded the changes of 1 file');
    expect(git(folder, 'status', '--short')).toBe('');
    const { code, stderr: why } = await host.run(['changes', 'commit', '--message', 'Nothing']);
    expect(code).toBe(2);
    expect(why).toContain('nothing to commit');
  });

  it('says where nothing can be uncommitted, and which session is not there', async () => {
    const { host } = await openRepository();
    await host.run(['run', '--cwd', path.dirname(host.dataDir), 'hello']);
    const { code, stderr } = await host.run(['changes', '--view', 'uncommitted']);
    expect(code).toBe(2);
    expect(stderr).toContain('not in a Git repository');
    expect((await host.run(['changes', 'list', 'nowhere'])).code).toBe(4);
  });
});

describe.skipIf(!isBuilt)('a worktree of its own (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const openRepository = repositories();
  /** Nothing is done to it where a command was wrong. */
  let repository: ReturnType<typeof openRepository> | undefined;

  it('keeps what a session does away from the folder', async () => {
    const { host, folder } = await openRepository();
    const args = ['run', '--cwd', folder, '--worktree', '--branch', 'main', '--config', 'autoApprove=true', 'edit two'];
    expect((await host.run(args)).code).toBe(0);
    expect(git(folder, 'status', '--short')).toBe('');
    expect((await host.run(['changes'])).stdout).toContain('M note.txt');
    const [, branch = ''] = /worktrees.*\[(atrium\/.+)\]/.exec(git(folder, 'worktree', 'list')) ?? [];
    expect(branch).not.toBe('');
    expect((await host.run(['sessions', 'list'])).stdout).toContain(`  ${path.basename(folder)} · ${branch}\n`);
  });

  it.each([
    [['--worktree', '--branch', 'nope'], 'there is no branch "nope"; there are: main'],
    [['--branch', 'main'], 'add --worktree'],
    [['--config', 'autoApprove=maybe'], 'autoApprove must be a boolean'],
    [['--config', 'isolation=moon'], 'isolation must be one of folder, worktree'],
    [['--config', 'colour=red'], 'there is no "colour" here; there are: isolation, mode, autoApprove'],
    [['--config', 'colour'], 'write it as name=value'],
    [['--session', 'last', '--worktree'], 'are for new sessions'],
  ])('says what is wrong with %j', async (args, expected) => {
    repository ??= openRepository();
    const { host, folder } = await repository;
    const place = args.includes('--session') ? [] : ['--cwd', folder];
    const { code, stderr } = await host.run(['run', ...place, ...args, 'hello']);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });

  it('says where there can be none', async () => {
    const { host } = await openRepository();
    const { code, stderr } = await host.run(['run', '--cwd', path.dirname(host.dataDir), '--worktree', 'hello']);
    expect(code).toBe(2);
    expect(stderr).toContain('no git repository');
  });
});

describe.skipIf(!isBuilt)('atrium files (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const openRepository = repositories();

  it('lists, reads and writes within the folder of a session, and nowhere else', async () => {
    const { host, folder } = await openRepository();
    await host.run(['run', '--cwd', folder, 'hello']);
    const here = ['--session', 'last'];
    expect((await host.run(['files', 'list', ...here])).stdout).toBe('.git/\nnote.txt\nsrc/\n');
    const { stdout } = await host.run(['files', 'list', ...here, '--json', 'src']);
    expect(JSON.parse(stdout)).toEqual([{ name: 'parser.js', type: 'file' }]);
    expect((await host.run(['files', 'read', ...here, 'note.txt'])).stdout).toBe('one\ntwo\n');
    await host.run(['files', 'write', ...here, 'ein #neuer.txt'], 'first\n');
    await host.run(['files', 'write', ...here, '--append', 'ein #neuer.txt'], 'second\n');
    expect(await readFile(path.join(folder, 'ein #neuer.txt'), 'utf8')).toBe('first\nsecond\n');
    const again = await host.run(['files', 'write', ...here, '--create', 'note.txt'], 'x');
    expect(again.code).not.toBe(0);
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('one\ntwo\n');
    expect((await host.run(['files', 'read', ...here, '/etc/hostname'])).code).toBe(5);
  });
});

describe.skipIf(!isBuilt)('removed sessions (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('are listed until they are restored, by the beginning of their id', async () => {
    const host = await startHost();
    expect((await host.run(['sessions', 'list', '--removed'])).stdout).toContain('No removed sessions');
    await host.run(['run', 'hello']);
    await host.run(['sessions', 'rm', 'last']);
    const { stdout } = await host.run(['sessions', 'list', '--removed']);
    const [, id = ''] = /^([\da-f]{8}) +\ds ago +mock +A first hello/m.exec(stdout) ?? [];
    expect(id).not.toBe('');
    const { stdout: json } = await host.run(['sessions', 'list', '--removed', '--json']);
    expect(JSON.parse(json)).toMatchObject([{ summary: { title: 'A first hello' }, disposedAt: expect.any(Number) }]);
    const wrong = await host.run(['sessions', 'restore', 'zzz']);
    expect(wrong).toMatchObject({ code: 4, stderr: expect.stringContaining('atrium sessions list --removed') });
    expect((await host.run(['sessions', 'restore', id])).code).toBe(0);
    expect((await host.run(['sessions', 'list'])).stdout).toContain('A first hello');
    expect((await host.run(['sessions', 'list', '--removed'])).stdout).toContain('No removed sessions');
  });
});
