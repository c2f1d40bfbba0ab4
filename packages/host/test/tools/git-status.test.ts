import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { GIT_PROGRAMS_MAX } from '../../src/workspace/git/repository.js';
import { gitStatusTool } from '../../src/workspace/tools/git-status.js';
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

  describe.skipIf(process.platform === 'win32')('runs no program that the repository names', () => {
    const ran = () => existsSync(path.join(folder, 'ran'));

    /** A program that leaves a trace, and repeats what it reads. */
    async function spy(): Promise<string> {
      const file = path.join(folder, '.git', 'spy.sh');
      await writeFile(file, `#!/bin/sh\ntouch "${folder}/ran"\ncat\n`);
      await chmod(file, 0o755);
      return file;
    }

    /** Changed, but not in length, so that Git has to look into it. */
    async function change(file = 'a.txt'): Promise<void> {
      await writeFile(path.join(folder, file), 'b\n');
      await utimes(path.join(folder, file), 1, 1);
    }

    it('to watch its files', async () => {
      await repository();
      git('config', 'core.fsmonitor', await spy());
      await use(gitStatusTool(), {}, folder);
      expect(ran()).toBe(false);
    });

    it.each(['clean', 'process'])('as a filter, by its setting "%s"', async (setting) => {
      await repository();
      await writeFile(path.join(folder, '.gitattributes'), '*.txt filter=Odd.Name\n');
      git('config', `filter.Odd.Name.${setting}`, await spy());
      git('config', 'filter.Odd.Name.required', 'true');
      await change();
      const { text } = await use(gitStatusTool(), {}, folder);
      expect([ran(), text]).toEqual([false, '## main\n M a.txt\n?? .gitattributes']);
    });

    it('as a filter whose name ends before the setting does', async () => {
      await repository();
      await writeFile(path.join(folder, '.gitattributes'), '*.txt filter=a=b\n');
      git('config', 'filter.a=b.clean', await spy());
      await change();
      const { output, text } = await use(gitStatusTool(), {}, folder);
      expect([ran(), output.error?.code]).toEqual([false, 'GIT_FAILED']);
      expect(text).toContain('the name of one of its filters contains "="');
    });

    it('as one of more filters than can be turned off', async () => {
      await repository();
      const sections = Array.from(
        { length: GIT_PROGRAMS_MAX + 1 },
        (_, index) => `[filter "f${index}"]\n\tclean = cat\n`,
      );
      await appendFile(path.join(folder, '.git', 'config'), sections.join(''));
      expect((await use(gitStatusTool(), {}, folder)).text).toContain(`more than ${GIT_PROGRAMS_MAX} filters`);
    });

    it('as a filter of a repository inside it', async () => {
      await repository();
      git('init', '--quiet', 'inner');
      await writeFile(path.join(folder, 'inner', 'a.txt'), 'a\n');
      git('-C', 'inner', 'add', '.');
      git('-C', 'inner', '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'first');
      git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
      await writeFile(path.join(folder, 'inner', '.gitattributes'), '*.txt filter=x\n');
      git('-C', 'inner', 'config', 'filter.x.clean', await spy());
      await change('inner/a.txt');
      const { text } = await use(gitStatusTool(), {}, folder);
      expect([ran(), text]).toEqual([false, '## main\nA  inner']);
    });

    it('to fetch what is missing', async () => {
      await repository();
      await writeFile(path.join(folder, 'long.txt'), 'line\n'.repeat(100));
      git('add', '.');
      const missing = git('rev-parse', ':long.txt').toString().trim();
      git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'second');
      git('rm', '--quiet', 'long.txt');
      await writeFile(path.join(folder, 'other.txt'), `${'line\n'.repeat(100)}more\n`);
      git('add', 'other.txt');
      await rm(path.join(folder, '.git', 'objects', missing.slice(0, 2), missing.slice(2)));
      git('config', 'core.repositoryFormatVersion', '1');
      git('config', 'extensions.partialClone', 'origin');
      git('config', 'remote.origin.promisor', 'true');
      git('config', 'remote.origin.url', path.join(folder, 'nowhere'));
      git('config', 'remote.origin.uploadpack', await spy());
      await use(gitStatusTool(), {}, folder);
      expect(ran()).toBe(false);
    });

    it('and tells Git itself nothing of the host', async () => {
      const told = path.join(folder, 'told-git');
      await writeFile(told, '#!/bin/sh\nenv > told\n');
      await chmod(told, 0o755);
      vi.stubEnv('ATRIUM_TOKEN', 'open-sesame');
      onTestFinished(() => void vi.unstubAllEnvs());
      await use(gitStatusTool({ git: told }), {}, folder);
      const env = await readFile(path.join(folder, 'told'), 'utf8');
      expect([env.includes('PATH='), env.includes('open-sesame')]).toEqual([true, false]);
    });
  });

  it('says when there is no repository, no git, no folder', async () => {
    const notOne = await use(gitStatusTool(), {}, folder);
    expect(notOne.output).toMatchObject({ success: false, error: { code: 'NOT_A_REPOSITORY' } });
    expect(notOne.text).toBe("The session's folder is not in a git repository.");
    const noGit = await use(gitStatusTool({ git: 'no-such-git' }), {}, folder);
    expect(noGit.text).toBe('Git is not installed on this machine, or not on the PATH of the host.');
    expect((await use(gitStatusTool(), {}, undefined)).output.error?.code).toBe('NO_FOLDER');
  });

  it('does not wait for ever', async () => {
    const slow = path.join(folder, 'slow-git');
    await writeFile(slow, '#!/bin/sh\nsleep 60\n');
    await chmod(slow, 0o755);
    const { text } = await use(gitStatusTool({ git: slow, timeoutMs: 50 }), {}, folder);
    expect(text).toBe('Git took too long and was stopped.');
  });
});
