/** What stays of changes: after a restart, a truncation, a fork and a disposal; and what clients can read of it. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import { DISPOSED_KEPT_MS } from '@atrium/core/sessions/limits.js';
import type { ChangesetFile, ContentRef } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { ChangeStorage } from '../../src/workspace/changes/change-storage.js';
import { ChangesFixture, edit, gitIn, repository, textOf } from '../support/changes-fixture.js';
import { failingLog } from '../support/failing-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { openLog } from '../support/log-folders.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT } from '../support/test-host.js';

async function read(fixture: ChangesFixture, content: ContentRef | undefined): Promise<string> {
  const params = { channel: ROOT, uri: content?.uri, encoding: 'base64' };
  const { data, encoding } = await fixture.client.request<{ data: string; encoding: 'base64' | 'utf-8' }>(
    'resourceRead',
    params,
  );
  return Buffer.from(data, encoding).toString('latin1');
}

async function sides(fixture: ChangesFixture, file: ChangesetFile | undefined): Promise<(string | undefined)[]> {
  const { before, after } = file?.edit ?? {};
  return [before && (await read(fixture, before.content)), after && (await read(fixture, after.content))];
}

describe('contents', { timeout: 30_000 }, () => {
  it('[AHP-224] gives both sides of every change to resourceRead', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'gone.txt': 'g\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'A' });
      await call('shell', { command: 'rm gone.txt; printf "\\000\\377" > new.bin' });
    });
    await edit(folder, 'a.txt', 'later\n');
    const files = await fixture.files(`turn/${turnId}`);
    expect(await sides(fixture, files.get('a.txt'))).toEqual(['a\n', 'A\n']);
    expect(await sides(fixture, files.get('gone.txt'))).toEqual(['g\n', undefined]);
    expect(await sides(fixture, files.get('new.bin'))).toEqual([undefined, '\0\xff']);
    const uncommitted = await fixture.files('uncommitted');
    expect(await sides(fixture, uncommitted.get('a.txt'))).toEqual(['a\n', 'later\n']);
    expect(gitIn(folder, 'cat-file', 'blob', 'HEAD:a.txt')).toBe('a\n');
  });

  it.skipIf(process.platform !== 'linux')(
    'reads files whose names are no text, and nothing else that way',
    async () => {
      const folder = await repository();
      await writeFile(Buffer.concat([Buffer.from(`${folder}/f`), Buffer.from([0xff])]), 'odd\n');
      const fixture = await ChangesFixture.open({ folder });
      const { files } = await fixture.shown('uncommitted');
      expect(await read(fixture, files[0]?.edit.after?.content)).toBe('odd\n');
      const base = `atrium-changes:/${fixture.uri.slice('ahp-session:/'.length)}`;
      const others = [
        'folder/a.txt',
        'folder/../f%FF',
        'folder/.git/config',
        'git/abc/a.txt',
        `git/${'0'.repeat(40)}/a.txt`,
      ];
      for (const rest of [...others, '0'.repeat(64), '../../journal.jsonl', 'x']) {
        const { error } = await fixture.client.ask('resourceRead', { channel: ROOT, uri: `${base}/${rest}` });
        expect(error?.code, rest).toBe(-32008);
      }
    },
  );
});

describe('what stays', { timeout: 30_000 }, () => {
  it('survives a restart of the host', async () => {
    const [folder, data, logs] = [await repository(), await tempFolder(), await tempFolder()];
    const first = await ChangesFixture.open({ folder, data, log: await openLog(logs) });
    const turnId = await first.turn((call) => call('shell', { command: 'echo 2 > a.txt' }));
    await first.host.stop();
    const second = await ChangesFixture.open({ folder, data, log: await openLog(logs), uri: first.uri });
    expect((await second.files(`turn/${turnId}`)).get('a.txt')?.edit.diff).toEqual({ added: 1, removed: 3 });
    await second.invoke(`turn/${turnId}`, 'revert');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\n');
    await second.host.stop();
    const third = await ChangesFixture.open({ folder, data, log: await openLog(logs), uri: first.uri });
    await third.invoke(`turn/${turnId}`, 'reapply');
    expect(await textOf(folder, 'a.txt')).toBe('2\n');
  });

  it('says so when the host stopped in the middle of a call', async () => {
    const [folder, data, logs] = [await repository(), await tempFolder(), await tempFolder()];
    const log = failingLog(await openLog(logs));
    const first = await ChangesFixture.open({ folder, data, log });
    log.failRecords('"kind":"step"');
    const turnId = await first.turn((call) => call('shell', { command: 'echo 2 > a.txt' }));
    await first.host.stop();
    const second = await ChangesFixture.open({ folder, data, log: await openLog(logs), uri: first.uri });
    const { status, error } = await second.shown(`turn/${turnId}`);
    expect([status, error?.errorType]).toEqual(['error', 'incomplete']);
    expect(error?.message).toContain('the host stopped');
  });

  it('keeps what turns did whose words were cut off, and begins anew in a fork', async () => {
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder });
    const first = await fixture.turn((call) => call('write_file', { path: '1.txt', content: '1\n' }));
    const second = await fixture.turn((call) => call('write_file', { path: '2.txt', content: '2\n' }));
    fixture.client.dispatch(fixture.uri, { type: 'session/truncated', turnId: first });
    await fixture.client.action(fixture.uri, 'session/truncated');
    expect([...(await fixture.files('session')).keys()]).toEqual(['1.txt', '2.txt']);
    await fixture.invoke(`turn/${second}`, 'revert');
    await expect(textOf(folder, '2.txt')).rejects.toThrow('ENOENT');

    const fork = `ahp-session:/${crypto.randomUUID()}`;
    const workingDirectory = fixture.uriOf('');
    await fixture.client.session(fork, {
      provider: 'puppet',
      workingDirectory,
      fork: { session: fixture.uri, turnId: first },
    });
    const channel = fork.replace('ahp-session:', 'ahp-changeset:');
    await fixture.client.request('subscribe', { channel: `${channel}/turn/${first}` });
    const { action } = await fixture.client.action(
      `${channel}/turn/${first}`,
      ({ type, status }) => type === 'changeset/statusChanged' && status === 'error',
    );
    expect(action.error).toMatchObject({ errorType: 'not-recorded' });
  });

  it('tells a view again what could not be stored', async () => {
    const [clock, log] = [new FakeClock(), failingLog()];
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder, clock, log });
    await fixture.turn((call) => call('write_file', { path: '1.txt', content: '1\n' }));
    await fixture.shown('session', ({ files }) => files.length === 1);
    log.failBehindRecords('"kind":"undone"');
    await fixture.invoke('session', 'revert');
    await expect.poll(() => log.failures).toBe(1);
    await clock.advance(STORE_RETRY_MS);
    await fixture.client.action(fixture.view('session'), 'changeset/fileRemoved');
    expect((await fixture.shown('session')).files).toEqual([]);
  });

  it('goes when the session is forgotten, and not before', async () => {
    const clock = new FakeClock();
    const [folder, data, logs] = [await repository(), await tempFolder(), await tempFolder()];
    const sessions = () => readdir(path.join(data, 'changes/sessions'));
    const first = await ChangesFixture.open({ folder, data, clock, log: await openLog(logs) });
    await first.turn((call) => call('write_file', { path: '1.txt', content: '1\n' }));
    await first.client.request('disposeSession', { channel: first.uri });
    await first.host.stop();
    expect(await sessions()).toHaveLength(1);
    const recordsOf = async (uri: string) => {
      const log = await openLog(logs);
      const records = await log.records(`changes:${uri.slice('ahp-session:/'.length)}/`);
      await log.close();
      return records;
    };
    expect((await recordsOf(first.uri)).map(({ value }) => JSON.parse(value).kind)).toEqual(['turn', 'step']);
    const second = await ChangesFixture.open({ folder, data, clock, log: await openLog(logs) });
    expect((await sessions()).length).toBeGreaterThan(0);
    await clock.advance(DISPOSED_KEPT_MS + 1_000);
    await second.host.stop();
    // One start forgets the session, the next one what it left.
    for (const _start of [1, 2])
      await (await ChangesFixture.open({ folder, data, clock, log: await openLog(logs) })).host.stop();
    const own = new ChangeStorage(path.join(data, 'changes')).folderOf(first.uri);
    expect(await sessions()).not.toContain(path.basename(own));
    expect(await recordsOf(first.uri)).toEqual([]);
  });
});

describe('a repository from somewhere', { timeout: 30_000 }, () => {
  it('starts no program for looking, staging or taking back', async () => {
    const folder = await repository({ 'a.txt': 'a\n', '.gitattributes': '*.f filter=evil diff=evil\n' });
    const proof = path.join(await tempFolder(), 'proof');
    const evil = path.join(folder, 'evil.sh');
    await writeFile(evil, `#!/bin/sh\necho "$@" >> ${proof}\ncat\n`, { mode: 0o755 });
    for (const key of ['core.fsmonitor', 'core.pager', 'core.editor', 'diff.external', 'gpg.program']) {
      gitIn(folder, 'config', key, evil);
    }
    for (const key of ['filter.evil.clean', 'filter.evil.smudge', 'diff.evil.textconv', 'diff.evil.command']) {
      gitIn(folder, 'config', key, evil);
    }
    gitIn(folder, 'config', 'commit.gpgSign', 'true');
    for (const hook of [
      'post-index-change',
      'post-checkout',
      'pre-commit',
      'prepare-commit-msg',
      'reference-transaction',
    ]) {
      await writeFile(path.join(folder, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${proof}\n`, { mode: 0o755 });
    }
    await edit(folder, 'x.f', 'x\n');
    await edit(folder, 'a.txt', 'A\n');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo b > b.txt; echo y > x.f' }));
    await fixture.shown('uncommitted');
    await fixture.invoke(`turn/${turnId}`, 'revert');
    const refused = await fixture.refusal('uncommitted', 'stage');
    expect([refused.code, refused.message]).toEqual([-32009, expect.stringContaining('x.f goes through a filter')]);
    await fixture.invoke('uncommitted', 'stage', fixture.resource('a.txt'));
    await fixture.invoke('uncommitted', 'unstage');
    await fixture.invoke('uncommitted', 'discard', fixture.resource('a.txt'));
    await edit(folder, 'a.txt', 'again\n');
    await fixture.invoke('uncommitted', 'stage', fixture.resource('a.txt'));
    await fixture.invoke('uncommitted', 'commit');
    const { action } = await fixture.client.action(fixture.uri, 'session/inputRequested');
    const answers = { message: { state: 'submitted', value: { kind: 'text', value: 'safe' } } };
    const requestId = (action.request as { id: string }).id;
    fixture.client.dispatch(fixture.uri, {
      type: 'session/inputCompleted',
      requestId,
      response: 'accept',
      answers,
    } as never);
    await expect
      .poll(() => gitIn(folder, '-c', 'core.fsmonitor=false', 'log', '-1', '--format=%s'), { timeout: 10_000 })
      .toBe('safe\n');
    await fixture.shown('uncommitted');
    await expect(readFile(proof, 'utf8')).rejects.toThrow('ENOENT');
    // The trap is real: Git alone walks into it.
    gitIn(folder, 'status');
    expect(await readFile(proof, 'utf8')).not.toBe('');
  });

  it('is not believed about where its files are', async () => {
    const outside = await tempFolder({ 'secret.txt': 's\n' });
    const folder = await repository();
    gitIn(folder, 'config', 'core.worktree', outside);
    const fixture = await ChangesFixture.open({ folder });
    expect(await fixture.shown('uncommitted')).toMatchObject({ files: [], error: { errorType: 'no-repository' } });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo 2 > a.txt' }));
    expect([...(await fixture.files(`turn/${turnId}`)).keys()]).toEqual(['a.txt']);
  });

  it('goes on without it when its Git folder is deleted in a turn', async () => {
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder, agent: new PuppetAgent() });
    const turnId = await fixture.turn((call) => call('shell', { command: 'rm -rf .git; echo 2 > a.txt' }));
    const { status, error } = await fixture.shown(`turn/${turnId}`);
    expect([status, error?.errorType]).toEqual(['error', 'incomplete']);
    await rm(path.join(folder, 'a.txt'));
    const next = await fixture.turn((call) => call('shell', { command: 'echo 3 > b.txt' }));
    expect([...(await fixture.files(`turn/${next}`)).keys()]).toEqual(['b.txt']);
  });
});
