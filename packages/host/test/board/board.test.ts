/** The board of a project, with real repositories: figures, comparing, merging, rebasing, removing, committing, pushing, pull requests. */
import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  BOARD_METHOD,
  type Board,
  BRANCH_ACTION_METHOD,
  type BranchComparison,
  COMPARE_BRANCHES_METHOD,
  type CommitProposal,
  PROPOSE_COMMIT_METHOD,
  PULL_REQUEST_METHOD,
  type PullRequest,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { FolderTrust } from '../../src/plugins/trust/folder-trust.js';
import { compareLink } from '../../src/workspace/board/forges.js';
import { testCommandIn } from '../../src/workspace/board/test-results.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { commitAll, edit, gitIn, repository } from '../support/changes-fixture.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const TRUSTING: FolderTrust = { isTrusted: async () => true, allows: async () => true, trust: async () => {} };

/** A project with two sessions in worktrees of it. */
async function project(trust?: FolderTrust) {
  const folder = await repository({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' });
  const agent = new PuppetAgent();
  const tools = builtinTools().map((tool) => ({ ...tool, confirmation: () => undefined }));
  const host = await startHost({
    tools,
    agents: [agent],
    dataFolder: await tempFolder(),
    terminals: false,
    ...(trust && { trust }),
  });
  const client = await nativeClient(host, 'desk');
  const root = pathToFileURL(folder).href;
  const open = async () => {
    const { uri, chat } = await nativeSession(client, {
      ...{ provider: 'puppet', workingDirectories: [root], config: { isolation: 'worktree', branch: 'main' } },
    });
    const { workingDirectories } = await client.state<{ workingDirectories: string[] }>(uri);
    return { uri, chat, at: decodeURIComponent(new URL(workingDirectories[0] ?? '').pathname) };
  };
  const sessions = [await open(), await open()] as const;
  const board = () => client.request<Board>(BOARD_METHOD, { folder: root });
  const act = (session: string, action: string, more: object = {}) =>
    client.ask(BRANCH_ACTION_METHOD, { session, action, ...more });
  const turn = async (
    chat: string,
    work: (call: (name: string, input: object) => Promise<unknown>) => Promise<void>,
  ) => {
    const turnId = crypto.randomUUID();
    client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('Fix the sum') } as never);
    const { turn: running, finish } = await agent.turn(agent.turns.length);
    await work((name, input) => running.callTool({ name, input }));
    finish();
    await client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === turnId);
  };
  return { folder, root, client, sessions, board, act, turn };
}

const done = (answer: { result?: unknown; error?: { message: string } }) =>
  answer.error?.message ?? (answer.result as { message: string }).message;

describe('the board of a project', { timeout: 30_000 }, () => {
  it('shows sessions with branch, changes and tests, and compares and merges their branches [DAY-070]', async () => {
    const { folder, root, client, sessions, board, act, turn } = await project();
    const [one, two] = sessions;
    await turn(one.chat, async (call) => {
      await call('write_file', { path: 'a.txt', content: 'one\nTWO\nthree\n' });
      await call('write_file', { path: 'new.txt', content: 'new\n' });
      await call('shell', { command: 'npm test' });
    });
    const { name, branches, cards } = await board();
    expect([name, branches.length]).toEqual([path.basename(folder), 3]);
    const card = cards.find(({ session }) => session === one.uri);
    expect(card).toMatchObject({
      isWorktree: true,
      base: 'main',
      ahead: 0,
      behind: 0,
      // A new file counts with its lines, although Git does not count them.
      added: 2,
      removed: 1,
      files: 2,
      uncommitted: 2,
    });
    expect(card?.tests).toEqual({ command: 'npm test', passed: false });
    const branch = card?.branch ?? '';
    expect(branch).toMatch(/^atrium\//);
    // Without a model that makes titles, the names of the files are the proposal.
    const proposal = await client.request<CommitProposal>(PROPOSE_COMMIT_METHOD, { session: one.uri });
    expect(proposal).toEqual({
      ...{ message: 'Change a.txt, new.txt', by: 'files', branch },
      ...{ files: ['a.txt', 'new.txt'], count: 2, isStaged: false },
    });
    expect(done(await act(one.uri, 'commit', { message: '' }))).toContain('must not be empty');
    // What a person was shown is what is committed, or nothing is.
    const { branch: on, count, isStaged } = proposal;
    for (const shown of [
      { branch: on, count: count + 1, isStaged },
      { branch: 'other', count, isStaged },
    ])
      expect(done(await act(one.uri, 'commit', { message: 'Unseen', shown }))).toContain(
        'has changed since you were asked',
      );
    expect(gitIn(one.at, 'log', '-1', '--format=%s')).not.toContain('Unseen');
    const shown = { branch: on, count, isStaged };
    expect(done(await act(one.uri, 'commit', { ...proposal, shown }))).toMatch(/^Committed [0-9a-f]{7,}: /);
    expect(gitIn(folder, 'log', '-1', '--format=%s', branch).trim()).toBe('Change a.txt, new.txt');
    const compared = await client.request<BranchComparison>(COMPARE_BRANCHES_METHOD, {
      folder: root,
      from: 'main',
      to: branch,
    });
    expect(compared.files).toEqual([
      { path: 'a.txt', added: 1, removed: 1 },
      { path: 'new.txt', added: 1, removed: 0 },
    ]);
    expect(compared.diff).toContain('-two\n+TWO\n');
    // Both changed on: a merge commit, and the checkout of main follows.
    await edit(folder, 'b.txt', 'B\n');
    commitAll(folder, 'on main');
    expect(done(await act(one.uri, 'merge', { into: 'main' }))).toBe(`Merged ${branch} into main.`);
    expect(await readFile(path.join(folder, 'a.txt'), 'utf8')).toBe('one\nTWO\nthree\n');
    expect(await readFile(path.join(folder, 'b.txt'), 'utf8')).toBe('B\n');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
    expect(done(await act(one.uri, 'merge', { into: 'main' }))).toBe(`main has every commit of ${branch} already.`);
    await edit(one.at, 'late.txt', 'late\n');
    expect(done(await act(one.uri, 'merge', { into: 'main' }))).toContain(
      '1 changed file is not committed there, and not merged.',
    );
    // The other one changed the same line.
    await edit(two.at, 'a.txt', 'one\nzwei\nthree\n');
    commitAll(two.at, 'other');
    const heads = () => gitIn(folder, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
    const before = heads();
    for (const action of ['merge', 'rebase'] as const) {
      expect(done(await act(two.uri, action, { into: 'main' }))).toMatch(
        /changed the same lines, so nothing was changed: a\.txt$/,
      );
      expect(heads()).toBe(before);
      expect(gitIn(two.at, 'status', '--porcelain', '--branch')).not.toContain('rebas');
      expect(await readFile(path.join(two.at, 'a.txt'), 'utf8')).toBe('one\nzwei\nthree\n');
    }
    expect((await board()).cards.find(({ session }) => session === two.uri)).toMatchObject({ ahead: 1, behind: 3 });
  });

  it('rebases, refuses with uncommitted work and while a turn runs, and removes a worktree only when said [DAY-070]', async () => {
    const { folder, client, sessions, board, act } = await project();
    const [one] = sessions;
    const branch = gitIn(one.at, 'branch', '--show-current').trim();
    await edit(one.at, 'c.txt', 'c\n');
    commitAll(one.at, 'mine');
    await edit(folder, 'b.txt', 'B\n');
    commitAll(folder, 'on main');
    await edit(one.at, 'open.txt', 'open\n');
    expect(done(await act(one.uri, 'rebase'))).toContain('1 file is not committed');
    expect(done(await act(one.uri, 'remove'))).toContain('1 file is not committed');
    commitAll(one.at, 'more');
    client.dispatch(one.chat, { type: 'chat/turnStarted', turnId: 't', message: userMessage('go') } as never);
    await client.action(one.chat, 'chat/turnStarted');
    expect((await act(one.uri, 'rebase')).error).toMatchObject({ code: -32004 });
    client.dispatch(one.chat, { type: 'chat/turnCancelled', turnId: 't', duration: 1 } as never);
    await client.action(one.chat, 'chat/turnCancelled');
    expect(done(await act(one.uri, 'rebase'))).toBe(`Put ${branch} onto main.`);
    expect(await readFile(path.join(one.at, 'b.txt'), 'utf8')).toBe('B\n');
    expect(gitIn(folder, 'rev-list', '--count', `main..${branch}`).trim()).toBe('2');
    await edit(one.at, 'open.txt', 'again\n');
    expect(done(await act(one.uri, 'remove', { force: true }))).toBe(
      `Removed the worktree. The branch ${branch} stays.`,
    );
    await expect(readFile(path.join(one.at, 'c.txt'))).rejects.toThrow('ENOENT');
    for (const into of ['--all', 'none', 'main~1', ':/first', '']) {
      expect(done(await act(sessions[1].uri, 'merge', { into }))).toMatch(/there is no branch|say which/);
    }
    expect(done(await act(sessions[1].uri, 'delete'))).toContain('/action must be one of');
    expect(done(await act(sessions[1].uri, 'push'))).toContain(
      `trust the folder first (atrium trust ${await realpath(sessions[1].at)})`,
    );
    gitIn(folder, 'remote', 'add', 'origin', 'https://github.com/acme/shop.git');
    const card = (await board()).cards.find(({ session }) => session === sessions[1].uri);
    expect(card?.noPush).toContain('trust the folder first');
    expect(card?.noPullRequest).toBeUndefined();
  });

  it('pushes, asks first with title and body, and makes a pull request by gh; without it there is a link [DAY-071]', async () => {
    const { folder, client, sessions, act, board } = await project(TRUSTING);
    const [one] = sessions;
    const branch = gitIn(one.at, 'branch', '--show-current').trim();
    await edit(one.at, 'c.txt', 'c\n');
    commitAll(one.at, 'mine');
    const bare = await tempFolder();
    gitIn(bare, 'init', '-q', '--bare');
    expect(done(await act(one.uri, 'push'))).toContain('there is no remote');
    const card = async () => (await board()).cards.find(({ session }) => session === one.uri);
    const refused = 'there is no remote to push to: add one with git remote add';
    expect(await card()).toMatchObject({ noPush: refused, noPullRequest: refused });
    gitIn(folder, 'remote', 'add', 'origin', 'https://me:secret@github.com/acme/shop.git');
    expect((await card())?.noPush).toBeUndefined();
    expect((await card())?.noPullRequest).toBeUndefined();
    // What is pushed goes to a folder instead of the network.
    gitIn(folder, 'config', `url.${bare}.pushInsteadOf`, 'https://me:secret@github.com/acme/shop.git');
    const ask = (more: object = {}) => client.ask(PULL_REQUEST_METHOD, { session: one.uri, ...more });
    const tools = await tempFolder();
    const withTools = async (work: () => Promise<void>) => {
      vi.stubEnv('PATH', `${tools}:${process.env.PATH}`);
      await work().finally(() => vi.unstubAllEnvs());
    };
    await mkdir(tools, { recursive: true });
    const gh = path.join(tools, 'gh');
    await writeFile(gh, '#!/bin/sh\nexit 1\n');
    await chmod(gh, 0o755);
    gitIn(folder, 'config', 'remote.origin.pushurl', 'https://me:secret@github.com/acme/shop.git');
    await withTools(async () => {
      const { result } = (await ask()) as { result: PullRequest };
      expect(result).toMatchObject({ base: 'main', head: branch });
      expect(result.tool).toBeUndefined();
      expect(result.link).toBe(`https://github.com/acme/shop/compare/main...${encodeURIComponent(branch)}?expand=1`);
      expect(JSON.stringify(await ask({ create: true }))).not.toContain('secret');
    });
    gitIn(folder, 'config', '--unset', 'remote.origin.pushurl');
    gitIn(folder, 'config', 'remote.origin.pushurl', bare);
    const log = path.join(tools, 'log');
    await writeFile(
      gh,
      `#!/bin/sh\n[ "$1" = auth ] && exit 0\nprintf '%s\\n' "$@" > ${log}\necho https://github.com/acme/shop/pull/7\n`,
    );
    await withTools(async () => {
      expect(done(await act(one.uri, 'push'))).toBe(`Pushed ${branch} to origin.`);
      expect(gitIn(bare, 'branch', '--list').trim()).toBe(branch);
      const shown = (await ask()) as { result: PullRequest };
      expect(shown.result.tool).toBe('gh');
      await expect(readFile(log)).rejects.toThrow('ENOENT');
      const made = (await ask({ title: '--web', body: 'Why', create: true })) as { result: PullRequest };
      expect(made.result.url).toBe('https://github.com/acme/shop/pull/7');
      expect((await readFile(log, 'utf8')).split('\n')).toEqual([
        'pr',
        'create',
        '--title=--web',
        '--body=Why',
        '--base=main',
        `--head=${branch}`,
        '',
      ]);
    });
  });

  it('merges nothing into a folder in which another agent works, or which only says that it is a worktree [DAY-070]', async () => {
    const { folder, root, client, sessions, act } = await project();
    const [one] = sessions;
    await edit(one.at, 'a.txt', 'other\n');
    commitAll(one.at, 'Other');
    const { chat } = await nativeSession(client, { provider: 'puppet', workingDirectories: [root] });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'long', message: userMessage('Work') } as never);
    await client.action(chat, (action) => action.type === 'chat/turnStarted');
    expect(done(await act(one.uri, 'merge', { into: 'main' }))).toContain(`works in ${folder}: wait for the end`);
    expect(await readFile(path.join(folder, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 'long' } as never);
    await client.action(chat, (action) => action.type === 'chat/turnCancelled');
    const foreign = await repository({ 'a.txt': 'foreign\n' });
    const named = path.join(folder, '.git', 'worktrees', 'evil');
    await mkdir(named, { recursive: true });
    gitIn(folder, 'branch', 'bait');
    await writeFile(path.join(named, 'gitdir'), `${path.join(foreign, '.git')}\n`);
    await writeFile(path.join(named, 'HEAD'), 'ref: refs/heads/bait\n');
    await writeFile(path.join(named, 'commondir'), '../..\n');
    expect(done(await act(one.uri, 'merge', { into: 'bait' }))).toContain('which is not a worktree of this');
    expect(done(await act(one.uri, 'merge', { into: 'main' }))).toContain('into main.');
  });
});

describe('the link of a forge', () => {
  it('is made from every form of a remote, without its credentials [DAY-071]', () => {
    const links = [
      'https://github.com/acme/shop.git',
      'git@github.com:acme/shop.git',
      'https://me:token@gitlab.example.com:8443/group/sub/shop.git',
      'ssh://git@gitlab.com:22/group/shop.git',
      'git@bitbucket.org:acme/shop.git',
      'https://codeberg.org/acme/shop',
      'git@gitea.example.com:acme/shop.git',
      'https://acme@dev.azure.com/acme/My%20Shop/_git/shop',
      'git@ssh.dev.azure.com:v3/acme/My%20Shop/shop',
    ].map((remote) => compareLink(remote, 'main', 'fix/a b'));
    expect(links).toEqual([
      'https://github.com/acme/shop/compare/main...fix%2Fa%20b?expand=1',
      'https://github.com/acme/shop/compare/main...fix%2Fa%20b?expand=1',
      'https://gitlab.example.com:8443/group/sub/shop/-/merge_requests/new?merge_request%5Bsource_branch%5D=fix%2Fa%20b&merge_request%5Btarget_branch%5D=main',
      'https://gitlab.com/group/shop/-/merge_requests/new?merge_request%5Bsource_branch%5D=fix%2Fa%20b&merge_request%5Btarget_branch%5D=main',
      'https://bitbucket.org/acme/shop/pull-requests/new?source=fix%2Fa%20b&dest=main',
      'https://codeberg.org/acme/shop/compare/main...fix%2Fa%20b',
      'https://gitea.example.com/acme/shop/compare/main...fix%2Fa%20b',
      'https://dev.azure.com/acme/My%20Shop/_git/shop/pullrequestcreate?sourceRef=fix%2Fa%20b&targetRef=main',
      'https://dev.azure.com/acme/My%20Shop/_git/shop/pullrequestcreate?sourceRef=fix%2Fa%20b&targetRef=main',
    ]);
    for (const other of [
      '/srv/git/shop.git',
      'file:///srv/shop',
      'https://example.com/a/b',
      'C:\\shop',
      'javascript:alert(1)',
      '',
    ])
      expect(compareLink(other, 'main', 'x'), other).toBeUndefined();
  });
});

describe('the result of tests', () => {
  it('is read only where the exit code is that of the tests [DAY-070]', () => {
    const tests = [
      'npm test',
      'npm run test:unit',
      'cd a && npm test',
      'CI=1 npx vitest run',
      'cargo test --all',
      'go test ./...',
      'pytest -q 2>&1',
      'make check',
    ];
    for (const line of tests) expect(testCommandIn(line), line).toBeDefined();
    const others = [
      'npm install',
      'npm test | tail',
      'npm test; echo done',
      'npm test || true',
      'npm test &',
      'echo npm test',
      'npm test\nls',
      'x $(npm test)',
      'npm run tests-are-fun',
    ];
    for (const line of others) expect(testCommandIn(line), line).toBeUndefined();
  });
});
