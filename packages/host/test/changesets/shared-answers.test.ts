/** Git is asked once about a folder by all who ask within a few seconds. The runs of Git are counted. */
import { realpath } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { branchIn, findRepository, forgetRepositories } from '../../src/workspace/git/repository.js';
import { GIT_KEPT_FOLDERS_MAX, GIT_KEPT_MS, SharedAnswers } from '../../src/workspace/git/shared-answers.js';
import { commitAll, gitIn, repository } from '../support/changes-fixture.js';
import { gitStandIn } from '../support/git-stand-in.js';
import { tempFolder } from '../support/temp-folder.js';

async function repositoryFolder(): Promise<string> {
  return realpath(await repository({ 'a.txt': 'one\n' }));
}

describe('the repository of a folder', () => {
  it('[GRO-005] is looked for once by 100 who ask at the same time, and by those who ask soon after', async () => {
    const folder = await repositoryFolder();
    const git = await gitStandIn('exec "$GIT" "$@"');
    const found = await Promise.all(Array.from({ length: 100 }, () => findRepository(folder)));
    expect(new Set(found).size).toBe(1);
    expect(found[0]).toMatchObject({ top: folder });
    // Where it is, and which programs it names.
    expect(await git.calls()).toHaveLength(2);
    expect(await findRepository(folder)).toBe(found[0]);
    expect(await git.calls()).toHaveLength(2);
    await Promise.all([branchIn(folder), branchIn(folder)]);
    await branchIn(folder);
    expect(await git.calls()).toHaveLength(3);
  });

  it('[GRO-005] is looked for anew as soon as its configuration changes: no program that it names now is ever run', async () => {
    const folder = await repositoryFolder();
    expect(await findRepository(folder)).toMatchObject({ hasFilters: false });
    gitIn(folder, 'config', 'filter.own.clean', 'touch /tmp/never');
    expect(await findRepository(folder)).toMatchObject({ hasFilters: true });
    gitIn(folder, 'checkout', '-q', '-b', 'other');
    expect(await branchIn(folder)).toBe('other');
    gitIn(folder, 'checkout', '-q', '-b', 'third');
    expect(await branchIn(folder)).toBe('third');
  });

  it('[GRO-005] with settings in files that it includes is looked for each time', async () => {
    const folder = await repositoryFolder();
    gitIn(folder, 'config', 'include.path', 'more');
    const git = await gitStandIn('exec "$GIT" "$@"');
    await findRepository(folder);
    await findRepository(folder);
    expect(await git.calls()).toHaveLength(4);
  });

  it('[GRO-005] is forgotten when the host itself changes a repository', async () => {
    const folder = await repositoryFolder();
    const found = await findRepository(folder);
    forgetRepositories();
    const after = await findRepository(folder);
    expect(after).not.toBe(found);
    expect(after).toEqual(found);
  });

  it('[GRO-005] of a worktree is found in it, and not taken for that of the main folder', async () => {
    const folder = await repositoryFolder();
    commitAll(folder, 'more');
    const worktree = `${await realpath(await tempFolder())}/tree`;
    gitIn(folder, 'worktree', 'add', '-q', '-b', 'side', worktree);
    const git = await gitStandIn('exec "$GIT" "$@"');
    expect(await findRepository(worktree)).toMatchObject({ top: worktree });
    expect(await findRepository(worktree)).toMatchObject({ top: worktree });
    expect(await git.calls()).toHaveLength(2);
    expect([await branchIn(worktree), (await branchIn(folder)) === 'side']).toEqual(['side', false]);
  });
});

describe('shared answers', () => {
  async function answers(options: { readonly canCache?: boolean } = {}) {
    const folder = await repositoryFolder();
    let time = 0;
    let asked = 0;
    const shared = new SharedAnswers({
      ask: async () => ++asked,
      canCache: () => options.canCache ?? true,
      now: () => time,
    });
    return { folder, shared, wait: (ms: number) => (time += ms) };
  }

  it('are kept for a few seconds, of some folders', async () => {
    const { folder, shared, wait } = await answers();
    expect([await shared.of(folder), await shared.of(folder)]).toEqual([1, 1]);
    wait(GIT_KEPT_MS - 1);
    expect(await shared.of(folder)).toBe(1);
    wait(1);
    expect(await shared.of(folder)).toBe(2);
    for (let index = 0; index < GIT_KEPT_FOLDERS_MAX; index++) await shared.of(`${folder}/${index}`);
    expect(await shared.of(folder)).toBe(3 + GIT_KEPT_FOLDERS_MAX);
  });

  it('are not kept where nothing says whether they still hold', async () => {
    const outside = await realpath(await tempFolder());
    const { shared } = await answers();
    expect([await shared.of(outside), await shared.of(outside)]).toEqual([1, 2]);
    const { folder, shared: unkept } = await answers({ canCache: false });
    expect([await unkept.of(folder), await unkept.of(folder)]).toEqual([1, 2]);
  });

  it('still come for others when one stops waiting; one that nobody waits for is stopped, and asked again', async () => {
    const folder = await repositoryFolder();
    const asked: { readonly signal: AbortSignal; readonly answer: (value: string) => void }[] = [];
    const ask = (_folder: string, signal: AbortSignal) =>
      new Promise<string>((answer) => {
        asked.push({ signal, answer });
      });
    const shared = new SharedAnswers({ ask, canCache: () => false });
    const stop = new AbortController();
    const [stopped, waiting] = [shared.of(folder, { signal: stop.signal }), shared.of(folder)];
    await expect.poll(() => asked.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await expect(shared.of(folder, { timeoutMs: 1 })).rejects.toThrow();
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false]);
    asked[0]?.answer('there');
    expect(await waiting).toBe('there');

    const alone = new AbortController();
    const left = shared.of(folder, { signal: alone.signal });
    await expect.poll(() => asked.length).toBe(2);
    alone.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(asked[1]?.signal.aborted).toBe(true);
    const again = shared.of(folder);
    await expect.poll(() => asked.length).toBe(3);
    asked[2]?.answer('again');
    expect(await again).toBe('again');
  });
});
