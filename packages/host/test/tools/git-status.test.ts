import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitStatusTool } from '../../src/tools/git-status.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function repository(): Promise<void> {
  git('init', '--quiet', '--initial-branch=main');
  await writeFile(path.join(folder, 'a.txt'), 'a\n');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'first');
}

describe('git_status', () => {
  it('says the branch and what changed', async () => {
    await repository();
    expect((await use(gitStatusTool(), {}, folder)).text).toBe('## main\nNothing has changed since the last commit.');
    await writeFile(path.join(folder, 'a.txt'), 'b\n');
    await writeFile(path.join(folder, 'new.txt'), 'n\n');
    const { output, text } = await use(gitStatusTool(), {}, folder);
    expect(text).toBe('## main\n M a.txt\n?? new.txt');
    expect(output).toMatchObject({ success: true, pastTenseMessage: 'Checked the git status' });
  });

  it('looks only at the session’s folder', async () => {
    await repository();
    await mkdir(path.join(folder, 'sub'));
    await writeFile(path.join(folder, 'sub', 'in.txt'), 'n\n');
    await writeFile(path.join(folder, 'out.txt'), 'n\n');
    expect((await use(gitStatusTool(), {}, path.join(folder, 'sub'))).text).toBe('## main\n?? ./');
  });

  it('runs no program that the repository names', async () => {
    await repository();
    const hook = path.join(folder, 'hook.sh');
    await writeFile(hook, `#!/bin/sh\ntouch "${folder}/ran"\n`);
    await chmod(hook, 0o755);
    git('config', 'core.fsmonitor', hook);
    await use(gitStatusTool(), {}, folder);
    expect(existsSync(path.join(folder, 'ran'))).toBe(false);
  });

  it('says when there is no repository, no git, no folder', async () => {
    const notOne = await use(gitStatusTool(), {}, folder);
    expect(notOne.output).toMatchObject({ success: false, error: { code: 'not-a-repository' } });
    expect(notOne.text).toBe("The session's folder is not in a git repository.");
    const noGit = await use(gitStatusTool({ git: 'no-such-git' }), {}, folder);
    expect(noGit.text).toBe('Git is not installed on this machine, or not on the PATH of the host.');
    expect((await use(gitStatusTool(), {}, undefined)).output.error?.code).toBe('no-folder');
  });

  it('does not wait for ever', async () => {
    const slow = path.join(folder, 'slow-git');
    await writeFile(slow, '#!/bin/sh\nsleep 60\n');
    await chmod(slow, 0o755);
    const { text } = await use(gitStatusTool({ git: slow, timeoutMs: 50 }), {}, folder);
    expect(text).toBe('Git took too long and was stopped.');
  });
});
