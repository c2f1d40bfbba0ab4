/** Turns that do unusual things: commits, checkouts, links, modes, renames, large files, folders that become files. */
import { chmod, lstat, mkdir, readFile, readlink, rename, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ChangesetState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { CONTENT_MAX_BYTES } from '../../src/workspace/changes/limits.js';
import { ChangesFixture, commitAll, edit, gitIn, repository, textOf } from '../support/changes-fixture.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' };
const folders = { 'a repository': () => repository(FILES), 'a folder without Git': () => tempFolder(FILES) };

describe.each(Object.entries(folders))('in %s', { timeout: 30_000 }, (_name, make) => {
  it('takes back links, modes, renames and folders that became files', async () => {
    const folder = await make();
    await symlink('a.txt', path.join(folder, 'link'));
    await mkdir(path.join(folder, 'dir'));
    await writeFile(path.join(folder, 'dir/x'), 'x\n');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) =>
      call('shell', { command: 'ln -sf b.txt link; chmod +x a.txt; mv b.txt c.txt; rm -r dir; echo file > dir' }),
    );
    const files = await fixture.files(`turn/${turnId}`);
    expect([...files.keys()].sort()).toEqual(['a.txt', 'c.txt', 'dir', 'dir/x', 'link']);
    expect(files.get('c.txt')?.edit.before?.uri).toBe(fixture.uriOf('b.txt'));
    expect(files.get('a.txt')?._meta).toMatchObject({ kindBefore: 'file', kindAfter: 'exec' });
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await readlink(path.join(folder, 'link'))).toBe('a.txt');
    expect((await stat(path.join(folder, 'a.txt'))).mode & 0o111).toBe(0);
    expect([await textOf(folder, 'b.txt'), await textOf(folder, 'dir/x')]).toEqual(['b\n', 'x\n']);
    await expect(lstat(path.join(folder, 'c.txt'))).rejects.toThrow('ENOENT');
  });

  it('keeps the permissions that people gave a file', async () => {
    const folder = await make();
    await chmod(path.join(folder, 'a.txt'), 0o640);
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo more >> a.txt' }));
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect((await stat(path.join(folder, 'a.txt'))).mode & 0o777).toBe(0o640);
  });

  it('names a file that is too large to be kept, and leaves it alone', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) =>
      call('shell', { command: `head -c ${CONTENT_MAX_BYTES + 1} /dev/zero > large; echo s > small` }),
    );
    const files = await fixture.files(`turn/${turnId}`);
    expect(files.get('large')?._meta).toMatchObject({ contentNotKept: true });
    const { message } = await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(message).toContain('Took back 1 file. Left alone: large (it is too large to be kept)');
    expect((await stat(path.join(folder, 'large'))).size).toBe(CONTENT_MAX_BYTES + 1);
  });

  it('does not write through a folder that has become a link', async () => {
    const folder = await make();
    await edit(folder, 'sub/s.txt', 's\n');
    const outside = await tempFolder({ 's.txt': 'changed\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo changed > sub/s.txt' }));
    await rename(path.join(folder, 'sub'), path.join(folder, 'moved'));
    await symlink(outside, path.join(folder, 'sub'));
    const { message } = await fixture.refusal(`turn/${turnId}`, 'revert');
    expect(message).toContain('has become a link');
    expect(await textOf(outside, 's.txt')).toBe('changed\n');
  });

  it('records a call that is cancelled', async () => {
    const folder = await make();
    const agent = new PuppetAgent();
    const fixture = await ChangesFixture.open({ folder, agent, inTerminals: true });
    fixture.client.dispatch(fixture.uri, { type: 'session/turnStarted', turnId: 'cut', userMessage: { text: 'go' } });
    const { turn } = await agent.turn(0);
    const running = turn.callTool({ name: 'shell', input: { command: 'echo half > half.txt; sleep 60' } });
    running.catch(() => {});
    await expect.poll(() => textOf(folder, 'half.txt').catch(() => ''), { timeout: 10_000 }).toBe('half\n');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 'cut' });
    await fixture.shown('turn/cut', ({ files }) => files.length === 1);
    await fixture.invoke('turn/cut', 'revert');
    await expect(textOf(folder, 'half.txt')).rejects.toThrow('ENOENT');
  });

  it('takes the whole turn for an agent that does not say what it runs, and warns before it is taken back', async () => {
    const folder = await make();
    const agent = new OwnToolsAgent('on-request');
    const fixture = await ChangesFixture.open({ folder, agent });
    const turnId = await fixture.turn(async () => {
      await edit(folder, 'a.txt', 'one\n2\nthree\n');
      await edit(folder, 'new.txt', 'n\n');
    });
    const { operations } = await fixture.shown(`turn/${turnId}`, ({ files }) => files.length === 2);
    expect(operations?.[0]?.confirmation).toContain('That includes what you changed meanwhile');
    await edit(folder, 'a.txt', 'one\n2\nthree\nfour\n');
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\nfour\n');
  });

  it('takes call by call for an agent that says what it runs, and leaves out what people do in between', async () => {
    const folder = await make();
    const agent = new OwnToolsAgent('all');
    const fixture = await ChangesFixture.open({ folder, agent });
    const turnId = await fixture.turn(async () => {
      const { turn } = await agent.turn(0);
      const done = { success: true, pastTenseMessage: 'Done' };
      await edit(folder, 'mine-1.txt', 'before\n');
      const first = turn.agentRunCall({ name: 'Bash', displayName: 'Bash' });
      await first.check({ command: 'x' }, 'Run x');
      await edit(folder, 'a.txt', 'one\n2\nthree\n');
      await first.complete(done);
      await edit(folder, 'mine-2.txt', 'in between\n');
      const second = turn.agentRunCall({ name: 'Write', displayName: 'Write' });
      await second.check({ file_path: 'new.txt' }, 'Write new.txt');
      const asked = second.confirm({ title: 'Write new.txt?' });
      await edit(folder, 'mine-3.txt', 'while I was asked\n');
      const { action } = await fixture.client.action(
        fixture.uri,
        ({ confirmationTitle }) => confirmationTitle !== undefined,
      );
      const { toolCallId } = action as unknown as { toolCallId: string };
      const answer = { approved: true, confirmed: 'user-action', turnId: action.turnId, toolCallId };
      fixture.client.dispatch(fixture.uri, { type: 'session/toolCallConfirmed', ...answer } as never);
      await asked;
      await edit(folder, 'new.txt', 'n\n');
      await second.complete(done);
      const look = turn.agentRunCall({ name: 'Read', displayName: 'Read' });
      await look.check({ file_path: 'a.txt' }, 'Read a.txt');
      await edit(folder, 'mine-4.txt', 'while it read\n');
      await look.complete(done);
    });
    const files = await fixture.files(`turn/${turnId}`, ({ files }) => files.length > 1);
    expect([...files.keys()].sort()).toEqual(['a.txt', 'new.txt']);
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\n');
    for (const number of [1, 2, 3, 4]) expect(await textOf(folder, `mine-${number}.txt`)).not.toBe('');
  });

  it('keeps what one call changed while a person was asked about another', async () => {
    const folder = await make();
    const agent = new OwnToolsAgent('all');
    const fixture = await ChangesFixture.open({ folder, agent });
    const turnId = await fixture.turn(async () => {
      const { turn } = await agent.turn(0);
      const done = { success: true, pastTenseMessage: 'Done' };
      const [first, second] = ['Bash', 'Write'].map((name) => turn.agentRunCall({ name, displayName: name }));
      await first?.check({ command: 'x' }, 'Run x');
      await second?.check({ file_path: 'new.txt' }, 'Write new.txt');
      await edit(folder, 'a.txt', 'one\n2\nthree\n');
      const asked = second?.confirm({ title: 'Write new.txt?' });
      const { action } = await fixture.client.action(
        fixture.uri,
        ({ confirmationTitle }) => confirmationTitle !== undefined,
      );
      const { toolCallId } = action as unknown as { toolCallId: string };
      const answer = { approved: true, confirmed: 'user-action', turnId: action.turnId, toolCallId };
      fixture.client.dispatch(fixture.uri, { type: 'session/toolCallConfirmed', ...answer } as never);
      await asked;
      await edit(folder, 'new.txt', 'n\n');
      for (const call of [first, second]) await call?.complete(done);
    });
    const files = await fixture.files(`turn/${turnId}`, ({ files }) => files.length > 0);
    expect([...files.keys()].sort()).toEqual(['a.txt', 'new.txt']);
  });

  it('takes call by call what a client changes with tools of its own, unless they only look', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    const { client, uri } = fixture;
    const tools = [{ name: 'format' }, { name: 'glance', annotations: { readOnlyHint: true } }];
    const activeClient = { clientId: 'desk', tools };
    client.dispatch(uri, { type: 'session/activeClientChanged', activeClient } as never);
    await client.action(uri, 'session/activeClientChanged');
    const turnId = await fixture.turn(async () => {
      const { turn } = await fixture.agent.turn(0);
      for (const [name, file] of [
        ['format', 'a.txt'],
        ['glance', 'mine-1.txt'],
      ] as const) {
        const outcome = turn.callTool({ id: name, name, input: {} });
        await client.action(uri, ({ type, toolCallId }) => type === 'session/toolCallReady' && toolCallId === name);
        await edit(folder, file, 'formatted\n');
        const result = { success: true, pastTenseMessage: 'Done' };
        const done = { turnId: turn.id, toolCallId: name, result };
        client.dispatch(uri, { type: 'session/toolCallComplete', ...done } as never);
        await outcome;
        await edit(folder, 'mine-2.txt', name);
      }
    });
    const files = await fixture.files(`turn/${turnId}`, ({ files }) => files.length > 0);
    expect([...files.keys()]).toEqual(['a.txt']);
  });

  it('keeps what a client had changed when another one goes on with its call', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    const { client, host, uri, agent } = fixture;
    const phone = await host.client('phone');
    await phone.request('subscribe', { channel: uri });
    const take = (client: RawClient, clientId: string) => {
      const activeClient = { clientId, tools: [{ name: 'format', annotations: { idempotentHint: true } }] };
      client.dispatch(uri, { type: 'session/activeClientChanged', activeClient } as never);
      return phone.action(uri, 'session/activeClientChanged');
    };
    await take(client, 'desk');
    phone.dispatch(uri, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'go' } });
    const { turn, finish } = await agent.turn(0);
    const outcome = turn.callTool({ id: 'c1', name: 'format', input: {} });
    await phone.action(uri, ({ type, toolCallId }) => type === 'session/toolCallReady' && toolCallId === 'c1');
    await edit(folder, 'a.txt', 'half\n');
    client.disconnect();
    await take(phone, 'phone');
    const { action } = await phone.action(
      uri,
      ({ type, toolCallId }) => type === 'session/toolCallReady' && toolCallId !== 'c1',
    );
    await edit(folder, 'b.txt', 'whole\n');
    const { toolCallId } = action as unknown as { toolCallId: string };
    const done = { turnId: 't1', toolCallId, result: { success: true, pastTenseMessage: 'Done' } };
    phone.dispatch(uri, { type: 'session/toolCallComplete', ...done } as never);
    await outcome;
    finish();
    await phone.action(uri, 'session/turnComplete');
    const names = async () =>
      (await phone.state<ChangesetState>(fixture.view('turn/t1'))).files.map(({ id }) => path.basename(id));
    await expect.poll(names).toEqual(['a.txt', 'b.txt']);
  });

  it('ends what was recorded when the turn is cancelled in the middle of a call', async () => {
    const folder = await make();
    const agent = new OwnToolsAgent('all');
    const fixture = await ChangesFixture.open({ folder, agent });
    fixture.client.dispatch(fixture.uri, {
      type: 'session/turnStarted',
      turnId: 't1',
      userMessage: { text: 'go' },
    } as never);
    const { turn } = await agent.turn(0);
    await turn.agentRunCall({ name: 'Bash', displayName: 'Bash' }).check({ command: 'x' }, 'Run x');
    await edit(folder, 'a.txt', 'half\n');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' } as never);
    await fixture.client.action(fixture.uri, 'session/turnCancelled');
    expect([...(await fixture.files('turn/t1', ({ files }) => files.length > 0)).keys()]).toEqual(['a.txt']);
    await fixture.invoke('turn/t1', 'revert');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\n');
  });
});

class OwnToolsAgent extends PuppetAgent {
  override readonly abilities;

  constructor(toolIntent: 'all' | 'on-request') {
    super();
    const live = { tools: 'live', render: 'none', steer: true, cancelTool: true } as const;
    this.abilities = { ...live, toolIntent, ownTools: true };
  }
}

describe('what Git does in a turn', { timeout: 30_000 }, () => {
  it('shows what the files became, whether it was committed or not', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) =>
      call('shell', { command: 'echo A > a.txt && git commit -qam agent && echo B > b.txt && echo c > c.txt' }),
    );
    const files = await fixture.files(`turn/${turnId}`);
    expect([...files.keys()]).toEqual(['a.txt', 'b.txt', 'c.txt']);
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect([await textOf(folder, 'a.txt'), await textOf(folder, 'b.txt')]).toEqual(['a\n', 'b\n']);
    expect(gitIn(folder, 'log', '-1', '--format=%s').trim()).toBe('agent');
  });

  it('shows a checkout of another branch as the files it changed', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'same.txt': 's\n' });
    gitIn(folder, 'checkout', '-q', '-b', 'other');
    await edit(folder, 'a.txt', 'other\n');
    await edit(folder, 'only-there.txt', 'o\n');
    commitAll(folder, 'other');
    gitIn(folder, 'checkout', '-q', 'main');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'git checkout -q other' }));
    expect([...(await fixture.files(`turn/${turnId}`)).keys()]).toEqual(['a.txt', 'only-there.txt']);
  });

  it('is right about line endings that Git converts, byte by byte', async () => {
    const folder = await repository({ '.gitattributes': '* text eol=crlf\n' });
    await edit(folder, 'w.txt', '1\r\n2\r\n');
    commitAll(folder, 'windows');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: "printf '3\\r\\n' >> w.txt" }));
    const files = await fixture.files(`turn/${turnId}`);
    expect(files.get('w.txt')?.edit.diff).toEqual({ added: 1, removed: 0 });
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await readFile(path.join(folder, 'w.txt'), 'utf8')).toBe('1\r\n2\r\n');
  });

  it('never touches the repository: no object, no ref, not the index', async () => {
    const folder = await repository();
    await edit(folder, 'untracked.txt', 'u\n');
    const before = async () => [
      gitIn(folder, 'count-objects', '-v'),
      gitIn(folder, 'for-each-ref'),
      (await stat(path.join(folder, '.git/index'), { bigint: true })).mtimeNs,
    ];
    const old = await before();
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo x > untracked.txt; echo y > a.txt' }));
    await fixture.shown('uncommitted');
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await before()).toEqual(old);
  });

  it('leaves out what Git ignores, but not what a tool wrote by name', async () => {
    const folder = await repository({ '.gitignore': 'build/\n.env\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('shell', { command: 'mkdir build; echo x > build/out' });
      await call('write_file', { path: '.env', content: 'A=1\n' });
    });
    expect([...(await fixture.files(`turn/${turnId}`)).keys()]).toEqual(['.env']);
  });
});
