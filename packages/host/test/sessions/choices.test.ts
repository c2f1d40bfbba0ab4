/** What a session can be configured with, worktrees among it, and what people set for the whole host. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import type { ResolveSessionConfigResult, RootState, SessionState } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/host.js';
import type { Host } from '../../src/host-options.js';
import { Worktrees } from '../../src/workspace/worktrees/worktrees.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient, ROOT, settle } from '../support/test-host.js';

describe('choices for a session', () => {
  let folder: string;
  let repository: string;
  let host: Host;
  let client: RawClient;
  let log: MemoryLog;

  const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
  const start = async () => {
    const agents = [new PuppetAgent(), new PuppetAgent('other')];
    host = await createHost({ log, agents, dataFolder: path.join(folder, 'data'), browsedFolders: [folder] });
    client = new RawClient();
    host.connect(client.transport);
    return client.initialize('desk');
  };
  const uri = () => pathToFileURL(repository).href;
  const resolve = (params: object) =>
    client.request<ResolveSessionConfigResult>('resolveSessionConfig', { channel: ROOT, ...params });
  const values = async (params: object) => {
    const { items } = await client.request<{ items: { value: string; label: string; description?: string }[] }>(
      'sessionConfigCompletions',
      { channel: ROOT, ...params },
    );
    return items;
  };

  beforeEach(async () => {
    folder = await tempFolder();
    repository = path.join(folder, 'project');
    execFileSync('git', ['init', '-q', '-b', 'main', repository]);
    writeFileSync(path.join(repository, 'a.txt'), 'one\n');
    git('add', '.');
    git('-c', 'user.name=desk', '-c', 'user.email=desk@example.com', 'commit', '-qm', 'first');
    git('branch', 'feature/x');
    log = new MemoryLog();
    await start();
  });

  afterEach(() => host.stop());

  it('[AHP-037] offers a worktree in a repository, and a branch once a worktree is wanted', async () => {
    const plain = await resolve({ workingDirectory: pathToFileURL(folder).href });
    expect(Object.keys(plain.schema.properties)).toEqual(['mode', 'autoApprove', 'systemMessageSections']);
    const inside = await resolve({ workingDirectory: uri() });
    expect(Object.keys(inside.schema.properties)).toEqual([
      'isolation',
      'mode',
      'autoApprove',
      'systemMessageSections',
    ]);
    expect(inside.values).toEqual({ isolation: 'folder', mode: 'ask', autoApprove: false });
    const worktree = await resolve({ workingDirectory: uri(), config: { isolation: 'worktree' } });
    expect(worktree.schema.properties.branch).toMatchObject({ enumDynamic: true, default: 'main' });
    expect(worktree.values).toEqual({ isolation: 'worktree', branch: 'main', mode: 'ask', autoApprove: false });
  });

  it('[AHP-038] looks up branches and folders, all of them or those that fit what was typed', async () => {
    const context = { workingDirectory: uri(), config: { isolation: 'worktree' }, property: 'branch' };
    const branches = await values(context);
    expect(branches.map(({ value }) => value).sort()).toEqual(['feature/x', 'main']);
    expect(branches.find(({ value }) => value === 'main')?.description).toContain('Checked out');
    expect((await values({ ...context, query: 'FEAT' })).map(({ value }) => value)).toEqual(['feature/x']);
    expect((await values({ property: 'folder', query: `${folder}/pro` })).map(({ value }) => value)).toEqual([
      repository,
    ]);
    await client.session('ahp-session:/a', { workingDirectory: uri() });
    expect((await values({ property: 'folder' })).map(({ value }) => value)).toEqual([repository]);
    const { error } = await client.ask('sessionConfigCompletions', { channel: ROOT, property: 'autoApprove' });
    expect(error?.code).toBe(-32602);
  });

  it('works in a folder that was chosen as a value', async () => {
    const channel = await client.session('ahp-session:/a', { config: { folder: repository } });
    const { summary } = await client.state<SessionState>(channel);
    expect(summary.workingDirectory).toBe(uri());
    const bad = await client.ask('createSession', { channel: 'ahp-session:/b', config: { folder: 'not/whole' } });
    expect(bad.error?.code).toBe(-32602);
  });

  it('makes a worktree on a branch of its own before the agent opens', async () => {
    const config = { isolation: 'worktree', branch: 'feature/x' };
    const channel = await client.session('ahp-session:/a', { workingDirectory: uri(), config });
    const { summary } = await client.state<SessionState>(channel);
    const place = fileURLToPath(summary.workingDirectory ?? '');
    expect(readFileSync(path.join(place, 'a.txt'), 'utf8')).toBe('one\n');
    expect(git('worktree', 'list', '--porcelain')).toContain(`worktree ${place}`);
    expect(git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
    const branch = execFileSync('git', ['-C', place, 'branch', '--show-current'], { encoding: 'utf8' }).trim();
    expect(branch).toMatch(/^atrium\//);
    // Lists show where it works, not where that began.
    expect(summary.project).toEqual({ uri: uri(), displayName: 'project', branch, from: 'feature/x' });
  });

  it('names the branch of a worktree by words, with a number where that is taken [DAY-126]', async () => {
    const branchOf = async (name: string, newBranch: string) => {
      const config = { isolation: 'worktree', newBranch };
      const channel = await client.session(`ahp-session:/${name}`, { workingDirectory: uri(), config });
      const { summary } = await client.state<SessionState>(channel);
      const place = fileURLToPath(summary.workingDirectory ?? '');
      const shown = execFileSync('git', ['-C', place, 'branch', '--show-current'], { encoding: 'utf8' }).trim();
      expect((summary.project as { branch?: string }).branch).toBe(shown);
      return shown;
    };
    expect(await branchOf('a', 'Fix the *login* form: --force')).toBe('atrium/fix-the-login-form-force');
    expect(await branchOf('b', 'fix the login form force')).toBe('atrium/fix-the-login-form-force-2');
    // There is a branch feature/x, so that none can be below it.
    expect(await branchOf('c', 'feature/x/y')).toMatch(/^atrium\/[0-9a-f]{12}$/);
  });

  it('removes the worktree of a session that is forgotten, unless something in it is not committed', async () => {
    const worktrees = new Worktrees(path.join(folder, 'data', 'worktrees'), silentLogger);
    const config = { isolation: 'worktree' };
    const place = async (name: string) => {
      const channel = await client.session(`ahp-session:/${name}`, { workingDirectory: uri(), config });
      const { summary } = await client.state<SessionState>(channel);
      return fileURLToPath(summary.workingDirectory ?? '');
    };
    const [clean, dirty] = [await place('clean'), await place('dirty')];
    writeFileSync(path.join(dirty, 'mine.txt'), 'not committed');
    await worktrees.forgotten('ahp-session:/clean');
    await worktrees.forgotten('ahp-session:/dirty');
    expect([existsSync(clean), existsSync(path.join(dirty, 'mine.txt'))]).toEqual([false, true]);
  });

  it('says why when the worktree cannot be made, and runs no program that the repository names', async () => {
    writeFileSync(path.join(repository, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch ${folder}/ran\n`, {
      mode: 0o755,
    });
    git('config', 'filter.evil.smudge', `touch ${folder}/ran; cat`);
    writeFileSync(path.join(repository, '.gitattributes'), '* filter=evil\n');
    git('add', '.gitattributes');
    git('-c', 'user.name=desk', '-c', 'user.email=desk@example.com', 'commit', '-qm', 'second');
    rmSync(path.join(folder, 'ran'), { force: true });
    await client.session('ahp-session:/a', { workingDirectory: uri(), config: { isolation: 'worktree' } });
    expect(existsSync(path.join(folder, 'ran'))).toBe(false);
    const config = { isolation: 'worktree', branch: 'nowhere' };
    await client.request('createSession', { channel: 'ahp-session:/b', workingDirectory: uri(), config });
    await client.request('subscribe', { channel: 'ahp-session:/b' });
    await settle();
    await expect
      .poll(async () => (await client.state<SessionState>('ahp-session:/b')).creationError)
      .toMatchObject({ errorType: 'worktree', message: expect.stringContaining('nowhere') });
  });

  it('[AHP-140] takes settings of the whole host that fit, and turns others down', async () => {
    client.dispatch(ROOT, { type: 'root/configChanged', config: { defaultAgent: 'nobody' } });
    client.dispatch(ROOT, { type: 'root/configChanged', config: { made: 'up' } });
    client.dispatch(ROOT, { type: 'root/configChanged', config: { autoApprove: 'yes' } });
    client.dispatch(ROOT, { type: 'root/configChanged', config: { defaultAgent: 'other', autoApprove: true } });
    await client.action(ROOT, (action) => JSON.stringify(action).includes('"other"'));
    const answers = client.envelopes(ROOT).filter(({ action }) => action.type === 'root/configChanged');
    expect(answers.map(({ rejectionReason }) => rejectionReason)).toEqual([
      'defaultAgent must be one of puppet, other',
      'there is no property made',
      'autoApprove must be of type boolean',
      undefined,
    ]);
    const channel = await client.session('ahp-session:/a');
    const { summary, config } = await client.state<SessionState>(channel);
    expect([summary.provider, config?.values.autoApprove]).toEqual(['other', true]);
  });

  it('keeps the settings of the host over a restart', async () => {
    client.dispatch(ROOT, { type: 'root/configChanged', config: { defaultAgent: 'other' } });
    await client.action(ROOT, 'root/configChanged');
    const kept = log;
    kept.close = async () => {};
    await host.stop();
    const { snapshots } = await start();
    const [root] = snapshots as { state: RootState }[];
    expect(root?.state.config?.values).toEqual({ defaultAgent: 'other' });
  });
});
