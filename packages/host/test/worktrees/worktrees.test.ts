/** Worktrees of sessions, in repositories of people who have worktrees of their own, and of people who mean no good. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { silentLogger } from '@atrium/core/util/logger.js';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Worktrees } from '../../src/workspace/worktrees/worktrees.js';
import { commitAll, edit, gitIn, repository } from '../support/changes-fixture.js';
import { gitStandIn } from '../support/git-stand-in.js';
import { turnStarted } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, startTestHost } from '../support/test-host.js';

const CONFIG = { isolation: 'worktree' };

interface Fixture {
  readonly client: RawClient;
  readonly data: string;
  create(name: string, folder: string, config?: object): Promise<string>;
}

async function fixture(data?: string): Promise<Fixture> {
  const dataFolder = data ?? (await tempFolder());
  const host = await startTestHost({ dataFolder });
  onTestFinished(() => host.stop());
  const client = await host.client('desk');
  const create = async (name: string, folder: string, config: object = CONFIG) => {
    const workingDirectory = pathToFileURL(folder).href;
    const uri = await client.session(`ahp-session:/${name}`, { workingDirectory, config });
    const { summary } = await client.state<SessionState>(uri);
    return fileURLToPath(summary.workingDirectory ?? '');
  };
  return { client, data: dataFolder, create };
}

async function failure(client: RawClient, channel: string, folder: string, config: object): Promise<string> {
  const workingDirectory = pathToFileURL(folder).href;
  const { error } = await client.ask('createSession', { channel, workingDirectory, config });
  if (error) return error.message;
  await client.request('subscribe', { channel });
  const failed = async () => (await client.state<SessionState>(channel)).creationError;
  await expect.poll(failed, { timeout: 10_000 }).toBeDefined();
  return (await failed())?.message ?? '';
}

describe('the worktree of a session', { timeout: 30_000 }, () => {
  it('is where the session works, also when its folder was named by a link, or is a part of the repository', async () => {
    const { create } = await fixture();
    const top = await repository({ 'a.txt': 'a\n', 'part/b.txt': 'b\n' });
    const link = path.join(await tempFolder(), 'link');
    await symlink(top, link);
    const place = await create('linked', link);
    expect(await readFile(path.join(place, 'a.txt'), 'utf8')).toBe('a\n');
    const part = await create('part', path.join(link, 'part'));
    expect(await readFile(path.join(part, 'b.txt'), 'utf8')).toBe('b\n');
    // A folder that is in no commit is made, so that the agent has one to begin in.
    await mkdir(path.join(top, 'fresh'));
    expect(existsSync(await create('fresh', path.join(top, 'fresh')))).toBe(true);
  });

  it('is waited for by a turn that comes before it is made, and made again for a turn that misses it', async () => {
    const { client } = await fixture();
    const top = await repository();
    const channel = 'ahp-session:/soon';
    await client.request('createSession', { channel, workingDirectory: pathToFileURL(top).href, config: CONFIG });
    await client.request('subscribe', { channel });
    const turns = async () => (await client.state<SessionState>(channel)).turns.map(({ state }) => state);
    client.dispatch(channel, turnStarted('t1'));
    await expect.poll(turns, { timeout: 10_000 }).toEqual(['complete']);
    const { summary } = await client.state<SessionState>(channel);
    const place = fileURLToPath(summary.workingDirectory ?? '');
    await rm(place, { recursive: true });
    client.dispatch(channel, turnStarted('t2'));
    await expect.poll(turns, { timeout: 10_000 }).toEqual(['complete', 'complete']);
    expect(existsSync(place)).toBe(true);
  });

  it('leaves alone what people keep elsewhere, such as a worktree on a disk that is not there now', async () => {
    const { create } = await fixture();
    const top = await repository();
    const disk = path.join(await tempFolder(), 'disk');
    gitIn(top, 'worktree', 'add', '-q', '-b', 'away', disk);
    await edit(disk, 'a.txt', 'staged there\n');
    gitIn(disk, 'add', '-A');
    await rename(disk, `${disk}-unplugged`);
    await create('a', top);
    await rename(`${disk}-unplugged`, disk);
    expect(gitIn(disk, 'diff', '--cached', '--name-only')).toBe('a.txt\n');
  });

  it('is made anew when it was not finished, or when somebody removed it by hand; commits stay', async () => {
    const first = await fixture();
    const top = await repository();
    const place = await first.create('a', top);
    await edit(place, 'new.txt', 'n\n');
    gitIn(place, 'add', '-A');
    gitIn(place, 'commit', '-qm', 'in the worktree');
    const make = async () => {
      const worktrees = new Worktrees(path.join(first.data, 'worktrees'), silentLogger);
      const { summary, config } = await first.client.state<SessionState>('ahp-session:/a');
      const state = { project: summary.project, workingDirectories: [summary.workingDirectory], config };
      await worktrees.attach({ uri: 'ahp-session:/a', state } as never).prepareFolder?.(() => {});
    };
    await rm(place, { recursive: true });
    await make();
    expect(await readFile(path.join(place, 'new.txt'), 'utf8')).toBe('n\n');
    const locked = gitIn(place, 'rev-parse', '--path-format=absolute', '--git-path', 'locked').trim();
    await writeFile(locked, 'initializing');
    await rm(path.join(place, 'new.txt'));
    await make();
    expect(gitIn(place, 'status', '--porcelain')).toBe('');
    expect(existsSync(locked)).toBe(false);
  });

  it('takes a branch for a branch, whatever it is called', async () => {
    const { client } = await fixture();
    const top = await repository();
    for (const branch of ['-M', '--detach', 'nowhere']) {
      const why = await failure(client, `ahp-session:/${branch}`, top, { ...CONFIG, branch });
      expect(why).toContain(`there is no branch ${branch}`);
    }
    expect(gitIn(top, 'branch', '--format=%(refname:short)')).toBe('main\n');
  });

  it('is refused where there can be none, and never silently replaced by the folder itself', async () => {
    const { client } = await fixture();
    expect(await failure(client, 'ahp-session:/a', await tempFolder(), CONFIG)).toContain('git repository');
    const bare = await startTestHost();
    onTestFinished(() => bare.stop());
    const phone = await bare.client('phone');
    expect(await failure(phone, 'ahp-session:/a', await repository(), CONFIG)).toContain('no folder to keep worktrees');
  });

  it('stays when it has commits that are in no branch', async () => {
    const { create, data } = await fixture();
    const place = await create('a', await repository());
    gitIn(place, 'checkout', '-q', '--detach');
    await edit(place, 'new.txt', 'n\n');
    gitIn(place, 'add', '-A');
    gitIn(place, 'commit', '-qm', 'in no branch');
    const worktrees = new Worktrees(path.join(data, 'worktrees'), silentLogger);
    await worktrees.forgotten('ahp-session:/a');
    expect(existsSync(place)).toBe(true);
    gitIn(place, 'checkout', '-q', '-B', 'kept');
    await worktrees.forgotten('ahp-session:/a');
    expect(existsSync(place)).toBe(false);
  });

  it('starts no program that its repository names, not even when it is removed', async () => {
    const { create, data } = await fixture();
    const proof = path.join(await tempFolder(), 'proof');
    const top = await repository();
    await edit(top, '.gitattributes', '*.txt filter=evil\n');
    commitAll(top, 'attributes');
    const place = await create('a', top);
    for (const key of ['filter.evil.clean', 'core.fsmonitor']) gitIn(top, 'config', key, `touch ${proof}; cat`);
    // Git has to look into the file to know that it is the same.
    await writeFile(path.join(place, 'a.txt'), 'one\ntwo\nthree\n');
    await new Worktrees(path.join(data, 'worktrees'), silentLogger).forgotten('ahp-session:/a');
    expect([existsSync(place), existsSync(proof)]).toEqual([false, false]);
  });

  it.each(['onbranch:atrium/**', 'gitdir:**/worktrees/**'])(
    'starts none that is named only there: %s',
    async (when) => {
      const { client } = await fixture();
      const proof = path.join(await tempFolder(), 'proof');
      const top = await repository();
      await edit(top, '.gitattributes', '*.txt filter=late\n');
      commitAll(top, 'attributes');
      await edit(top, '.git/late', `[filter "late"]\n\tsmudge = touch ${proof}; cat\n`);
      gitIn(top, 'config', `includeIf.${when}.path`, 'late');
      expect(await failure(client, 'ahp-session:/late', top, CONFIG)).toContain('includeIf');
      expect(existsSync(proof)).toBe(false);
    },
  );
});

describe('a repository that keeps Git waiting', { timeout: 30_000 }, () => {
  it('does not keep the rest of a client waiting', async () => {
    const { client } = await fixture();
    const top = await repository();
    const gate = path.join(await tempFolder(), 'gate');
    await gitStandIn(`until [ -e ${gate} ]; do sleep 0.02; done; exec "$GIT" "$@"`);
    const workingDirectory = pathToFileURL(top).href;
    const resolved = client.request('resolveSessionConfig', { channel: ROOT, workingDirectory });
    const looked = client.request('sessionConfigCompletions', {
      channel: ROOT,
      workingDirectory,
      config: CONFIG,
      property: 'branch',
    });
    await client.request('listSessions', { channel: ROOT });
    await writeFile(gate, '');
    expect(await resolved).toMatchObject({ values: { isolation: 'folder' } });
    expect(await looked).toMatchObject({ items: [{ value: 'main' }] });
  });
});

describe('looking for a folder', () => {
  it('[AHP-038] finds names below the folders that clients may look into, and nowhere else', async () => {
    const folder = await tempFolder({
      'open/inner/a': '',
      'open/.keys/a': '',
      'open/.keys/deep/a': '',
      'closed/inner/a': '',
    });
    await symlink(path.join(folder, 'closed'), path.join(folder, 'open', 'way-out'));
    const host = await startTestHost({ defaultDirectory: pathToFileURL(path.join(folder, 'open')).href });
    onTestFinished(() => host.stop());
    const client = await host.client('desk');
    const found = async (query: string) => {
      const params = { channel: ROOT, property: 'folder', query: `${folder}/${query}` };
      const { items } = await client.request<{ items: { value: string }[] }>('sessionConfigCompletions', params);
      return items.map(({ value }) => path.relative(folder, value));
    };
    expect(await found('open/')).toEqual(['open/inner']);
    expect(await found('open/IN')).toEqual(['open/inner']);
    expect(await found('op')).toEqual(['open']);
    for (const query of ['', 'closed/', 'open/.', 'open/.keys/', 'open/way-out/', 'open/../closed/']) {
      expect(await found(query), query).toEqual(query === '' ? ['open'] : []);
    }
  });
});
