/** What can be done with changes: by command only, on the right things only, and checked against Git afterwards. */
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { checkScope } from '../../src/workspace/changes/changesets.js';
import { ChangesFixture, edit, gitIn, repository, textOf } from '../support/changes-fixture.js';
import { failingLog } from '../support/failing-log.js';
import { refusalOf } from '../support/session-fixture.js';

const TRUSTING = { isTrusted: async () => true, allows: async () => true, trust: async () => {} };

async function answerCommit(fixture: ChangesFixture, text: string): Promise<void> {
  const { action } = await fixture.client.action(fixture.uri, 'session/inputRequested');
  const { id } = action.request as { id: string };
  const answers = { message: { state: 'submitted', value: { kind: 'text', value: text } } };
  fixture.client.dispatch(fixture.uri, {
    type: 'session/inputCompleted',
    requestId: id,
    response: 'accept',
    answers,
  } as never);
}

describe('operations on a changeset', { timeout: 30_000 }, () => {
  it('[AHP-063] [AHP-065] refuses an operation that the changeset does not have now', async () => {
    const fixture = await ChangesFixture.open({ folder: await repository() });
    expect((await fixture.refusal('uncommitted', 'explode')).code).toBe(-32602);
    const { code, message } = await fixture.refusal('uncommitted', 'commit');
    expect([code, message]).toEqual([-32602, '/operationId: there is no commit now; there are: none']);
  });

  it('[AHP-065] [AHP-223] answers -32008 for a changeset that there is not', async () => {
    const fixture = await ChangesFixture.open({ folder: await repository() });
    for (const name of ['turn/never', 'turns/never/ever', 'else', 'turn/{turnId}', 'session/x']) {
      expect((await fixture.refusal(name, 'revert')).code, name).toBe(-32008);
      expect((await fixture.client.ask('subscribe', { channel: fixture.view(name) })).error?.code, name).toBe(-32008);
    }
    const channel = 'ahp-changeset:/00000000-0000-0000-0000-000000000000/session';
    expect((await fixture.client.ask('invokeChangesetOperation', { channel, operationId: 'x' })).error?.code).toBe(
      -32008,
    );
  });

  it('[AHP-064] takes a target only of a kind that is among the scopes, and needs one where they say so', async () => {
    const folder = await repository();
    await edit(folder, 'a.txt', 'changed\n');
    const fixture = await ChangesFixture.open({ folder });
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
    const wrongKind = await fixture.refusal('uncommitted', 'stage', {
      kind: 'range',
      resource: fixture.uriOf('a.txt'),
      range,
    });
    expect([wrongKind.code, wrongKind.message]).toEqual([-32602, expect.stringContaining('/target')]);
    expect((await fixture.refusal('uncommitted', 'commit', fixture.resource('a.txt'))).code).toBe(-32602);
    const absent = await fixture.refusal('uncommitted', 'stage', fixture.resource('absent.txt'));
    expect([absent.code, absent.message]).toEqual([-32602, expect.stringContaining('/target/resource')]);
    const onBefore = { ...fixture.resource('a.txt'), side: 'before' };
    await fixture.invoke('uncommitted', 'stage', onBefore);
    expect(gitIn(folder, 'status', '--porcelain').trim()).toBe('M  a.txt');
    // None of ours is for files alone; one that were would need a target.
    const forFiles = { id: 'x', label: 'X', status: 'idle' as const, scopes: ['resource' as const] };
    expect(() => checkScope(forFiles, undefined)).toThrow('it needs one');
    expect(() => checkScope(forFiles, { kind: 'resource', resource: 'file:///a' })).not.toThrow();
  });

  it('[AHP-066] [AHP-225] tells what came of it by actions, which clients cannot dispatch themselves', async () => {
    const folder = await repository();
    await edit(folder, 'a.txt', 'changed\n');
    const fixture = await ChangesFixture.open({ folder });
    const { files } = await fixture.shown('uncommitted');
    const view = fixture.view('uncommitted');
    const actions = [
      { type: 'changeset/cleared' },
      { type: 'changeset/fileSet', file: files[0] },
      { type: 'changeset/fileRemoved', fileId: files[0]?.id },
      { type: 'changeset/statusChanged', status: 'computing' },
      { type: 'changeset/operationsChanged', operations: [] },
    ];
    for (const action of actions) expect(await refusalOf(fixture.client, view, action)).toBeTypeOf('string');
    expect((await fixture.shown('uncommitted')).files).toEqual(files);
    const { message } = await fixture.invoke('uncommitted', 'stage');
    expect(message).toBe('Staged 1 file.');
    const isStaged = ({ file }: Record<string, never>) =>
      (file as { _meta?: { git?: { index?: string } } } | undefined)?._meta?.git?.index === 'M';
    await fixture.client.action(view, (action) => action.type === 'changeset/fileSet' && isStaged(action));
    await fixture.client.action(view, 'changeset/operationsChanged');
  });

  it('stages and unstages one file or all, as git add and git reset do', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', '*.txt': 'star\n' });
    for (const name of ['a.txt', 'b.txt', '*.txt', 'new.txt']) await edit(folder, name, 'changed\n');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'stage', fixture.resource('*.txt'));
    expect(gitIn(folder, 'diff', '--cached', '--name-only').trim()).toBe('*.txt');
    await fixture.invoke('uncommitted', 'stage');
    expect(gitIn(folder, 'diff', '--cached', '--name-only').trim().split('\n')).toHaveLength(4);
    await fixture.invoke('uncommitted', 'unstage', fixture.resource('b.txt'));
    expect(gitIn(folder, 'status', '--porcelain', 'b.txt')).toBe(' M b.txt\n');
    await fixture.invoke('uncommitted', 'unstage');
    expect(gitIn(folder, 'diff', '--cached', '--name-only')).toBe('');
  });

  it('discards after a confirmation, keeps what was thrown away, and restores it', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await edit(folder, 'a.txt', 'mine\n');
    gitIn(folder, 'add', 'a.txt');
    await edit(folder, 'new/n.txt', 'mine, too\n');
    const fixture = await ChangesFixture.open({ folder });
    const { operations } = await fixture.shown('uncommitted');
    expect(operations?.find(({ id }) => id === 'discard')?.confirmation).toBeTypeOf('string');
    await fixture.invoke('uncommitted', 'discard');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
    expect(await textOf(folder, 'a.txt')).toBe('a\n');
    await edit(folder, 'a.txt', 'a\nand more\n');
    await fixture.invoke('uncommitted', 'discard');
    await fixture.invoke('uncommitted', 'restore');
    expect(await textOf(folder, 'a.txt')).toBe('a\nand more\n');
    expect((await fixture.invoke('uncommitted', 'restore')).message).toContain('Put back 1 file. Left alone: a.txt');
    expect((await fixture.refusal('uncommitted', 'restore')).code).toBe(-32011);
    gitIn(folder, 'checkout', '-q', 'a.txt');
    await fixture.invoke('uncommitted', 'restore');
    expect([await textOf(folder, 'a.txt'), await textOf(folder, 'new/n.txt')]).toEqual(['mine\n', 'mine, too\n']);
  });

  it('[AHP-066] commits what is staged under a message that people are asked for', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await edit(folder, 'a.txt', 'A\n');
    await edit(folder, 'b.txt', 'B\n');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'stage', fixture.resource('a.txt'));
    expect((await fixture.invoke('uncommitted', 'commit')).message).toBe('The session asks for the commit message.');
    await answerCommit(fixture, '  Say it louder  ');
    await fixture.shown('uncommitted', ({ files }) => files.length === 1);
    expect(gitIn(folder, 'log', '-1', '--format=%s|%an')).toBe('Say it louder|desk\n');
    expect(gitIn(folder, 'cat-file', 'blob', 'HEAD:a.txt')).toBe('A\n');
    expect(gitIn(folder, 'status', '--porcelain')).toBe(' M b.txt\n');
  });

  it('answers when the question that it asks is there', async () => {
    const folder = await repository();
    await edit(folder, 'a.txt', 'A\n');
    const log = failingLog();
    const fixture = await ChangesFixture.open({ folder, log });
    await fixture.shown('uncommitted');
    const release = log.hold();
    const answered = fixture.invoke('uncommitted', 'commit').then(() => 'answered');
    expect(await Promise.race([answered, delay(1_000, 'waits')])).toBe('waits');
    release();
    await answered;
    const types = fixture.client.received.map(({ params }) => (params?.action as { type?: string } | undefined)?.type);
    expect(types).toContain('session/inputRequested');
  });

  it('commits everything when nothing is staged, without hooks where nobody trusts the folder', async () => {
    const folder = await repository();
    await writeFile(path.join(folder, '.git/hooks/pre-commit'), '#!/bin/sh\ntouch hooked\nexit 1\n', { mode: 0o755 });
    await writeFile(path.join(folder, '.git/hooks/post-commit'), '#!/bin/sh\ntouch hooked\n', { mode: 0o755 });
    await edit(folder, 'new.txt', 'n\n');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'commit');
    await answerCommit(fixture, 'all');
    await fixture.shown('uncommitted', ({ files }) => files.length === 0);
    expect(gitIn(folder, 'show', '--format=%s', '--name-only').trim()).toBe('all\n\nnew.txt');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
  });

  it('[AHP-066] runs hooks where the folder is trusted, and tells a later failure by the status', async () => {
    const folder = await repository();
    const hook = path.join(folder, '.git/hooks/pre-commit');
    await writeFile(hook, '#!/bin/sh\necho "tests are red" >&2\nexit 1\n');
    await chmod(hook, 0o755);
    await edit(folder, 'a.txt', 'A\n');
    const fixture = await ChangesFixture.open({ folder, trust: TRUSTING });
    await fixture.shown('uncommitted');
    await fixture.invoke('uncommitted', 'commit');
    await answerCommit(fixture, 'no');
    const { action } = await fixture.client.action(
      fixture.view('uncommitted'),
      ({ type, status }) => type === 'changeset/statusChanged' && status === 'error',
    );
    expect(action.error).toMatchObject({
      errorType: 'commit-failed',
      message: expect.stringContaining('tests are red'),
    });
    expect(gitIn(folder, 'log', '--format=%s').trim()).toBe('first');
    await fixture.invoke('uncommitted', 'unstage');
    expect((await fixture.shown('uncommitted')).status).toBe('ready');
  });

  it('a question that is declined commits nothing', async () => {
    const folder = await repository();
    await edit(folder, 'a.txt', 'A\n');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'commit');
    const { inputRequests = [] } = await fixture.client.state<SessionState>(fixture.uri);
    expect(inputRequests[0]?.questions?.[0]).toMatchObject({ kind: 'text', required: true });
    const requestId = inputRequests[0]?.id ?? '';
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId, response: 'decline' });
    await fixture.client.action(fixture.uri, 'session/inputCompleted');
    await fixture.invoke('uncommitted', 'stage');
    expect(gitIn(folder, 'log', '--format=%s').trim()).toBe('first');
  });

  it('takes back some lines of what a turn changed', async () => {
    const folder = await repository({ 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('write_file', { path: 'a.txt', content: 'one\n2\n3\n4\n5\n6\n7\n8\nnine\nten\n' });
    });
    const target = (line: number) => ({
      kind: 'range',
      resource: fixture.uriOf('a.txt'),
      range: { start: { line, character: 0 }, end: { line, character: 3 } },
    });
    const view = `turn/${turnId}`;
    expect((await fixture.refusal(view, 'revert', target(4))).code).toBe(-32602);
    await fixture.invoke(view, 'revert', target(0));
    expect(await textOf(folder, 'a.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\nnine\nten\n');
    const { files } = await fixture.shown(view);
    expect(files[0]?.edit.diff).toEqual({ added: 2, removed: 1 });
    await fixture.invoke(view, 'revert', target(9));
    expect(await textOf(folder, 'a.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    await fixture.invoke(view, 'reapply');
    await fixture.invoke(view, 'reapply');
    expect(await textOf(folder, 'a.txt')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\nten\n');
  });

  it('touches nothing of a file where a person changed the same lines, and says so', async () => {
    const folder = await repository({ 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: '2', newText: 'two' });
      await call('edit_file', { path: 'b.txt', oldText: 'b', newText: 'B' });
      await call('write_file', { path: 'c.txt', content: 'c\n' });
    });
    await edit(folder, 'a.txt', '1\nTWO!\n3\n');
    await edit(folder, 'c.txt', 'c and mine\n');
    const view = `turn/${turnId}`;
    const alone = await fixture.refusal(view, 'revert', fixture.resource('a.txt'));
    expect([alone.code, alone.message]).toEqual([-32011, expect.stringContaining('the same lines')]);
    const { message } = await fixture.invoke(view, 'revert');
    expect(message).toContain('Took back 1 file. Left alone: a.txt');
    expect([await textOf(folder, 'a.txt'), await textOf(folder, 'c.txt')]).toEqual(['1\nTWO!\n3\n', 'c and mine\n']);
    expect(await textOf(folder, 'b.txt')).toBe('b\n');
    expect([...(await fixture.files(view)).keys()].sort()).toEqual(['a.txt', 'c.txt']);
  });

  it('changes no files while the agent does', async () => {
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder });
    await fixture.turn(async (call) => {
      await call('write_file', { path: 'new.txt', content: 'n\n' });
      const running = call('shell', { command: 'touch started; until [ -e go ]; do sleep 0.02; done' });
      await expect.poll(() => textOf(folder, 'started').catch(() => 'not yet'), { timeout: 10_000 }).toBe('');
      expect((await fixture.refusal('uncommitted', 'discard')).code).toBe(-32004);
      expect((await fixture.refusal('session', 'revert')).code).toBe(-32004);
      await edit(folder, 'go', '');
      await running;
    });
    await fixture.invoke('session', 'revert');
    await expect(textOf(folder, 'new.txt')).rejects.toThrow('ENOENT');
  });
});
