/** `atrium board`, and /board in a chat. */
import { describe, expect, it } from 'vitest';
import { answer, openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, newFolder, sharedHost } from './support/host.js';
import { git, newRepository } from './support/repository.js';

describe.skipIf(!isBuilt)('the board (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();

  it('lists the sessions of a repository, and compares two branches [DAY-070]', async () => {
    const host = shared();
    const folder = await newFolder(host);
    await newRepository(folder);
    expect((await host.run(['board', folder])).stderr).toContain('No session works in');
    await host.run(['run', '--cwd', folder, '--approve', 'all', 'edit two']);
    const { stdout } = await host.run(['board', folder]);
    expect(stdout).toMatch(/^SESSION +TITLE +STATE +BRANCH +CHANGES +TESTS +COST\n/);
    expect(stdout).toMatch(/\+3 -1, 2 uncommitted +– +–/);
    const board = JSON.parse((await host.run(['board', folder, '--json'])).stdout);
    expect(board.cards).toMatchObject([{ added: 3, removed: 1, files: 2, uncommitted: 2, isWorktree: false }]);
    const [branch] = board.branches;
    git(folder, 'branch', 'old');
    git(folder, 'add', '-A');
    git(folder, 'commit', '-q', '-m', 'more');
    const diff = await host.run(['board', folder, '--compare', 'old', branch]);
    expect(diff.stdout).toContain('\n-two\n+TWO\n');
    const wrong = await host.run(['board', folder, '--compare', '--upload-pack=x', branch]);
    expect(wrong.code).not.toBe(0);
  });

  it('/board shows cards and commits with a proposed message after a yes [DAY-070]', async () => {
    const { terminal, folder } = await openChat('chat --config autoApprove=true', {
      host: shared(),
      prepare: newRepository,
    });
    await terminal.sees(PROMPT);
    await say(terminal, 'edit two');
    await terminal.sees(/※ 2 files changed[^\n]*\n\n> write/);
    await say(terminal, '/board');
    await terminal.sees(/The board of work[\s\S]*› [^\n]*\+3 -1, 2 uncommitted/);
    terminal.keys('Enter');
    await terminal.sees(
      /what now\?\n› Commit everything, with a proposed message\n {2}Push main: not now, there is no remote/,
    );
    terminal.keys('Enter');
    await terminal.sees(/\? Commit it as "Change note\.txt, new\.js"\?/);
    await answer(terminal, 'y');
    await terminal.sees(/※ Committed [0-9a-f]{7,}: /);
    expect(git(folder, 'log', '-1', '--format=%s')).toBe('Change note.txt, new.js');
  });
});
