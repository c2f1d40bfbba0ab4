/** Nothing that a person has is lost: not by a save at the wrong moment, not by a crash, not by what Git had staged. */
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { capture } from '../../src/workspace/changes/capture.js';
import type { Entry } from '../../src/workspace/changes/change.js';
import { takeOverJournal } from '../../src/workspace/changes/legacy-journal.js';
import { planOf } from '../../src/workspace/changes/merge.js';
import { NotPutError, putEntry } from '../../src/workspace/changes/put-files.js';
import { ChangesFixture, changeRecords, edit, gitIn, repository, textOf } from '../support/changes-fixture.js';
import { failingLog } from '../support/failing-log.js';
import { withoutGit } from '../support/git-stand-in.js';
import { openLog } from '../support/log-folders.js';
import { tempFolder } from '../support/temp-folder.js';

/** Lets somebody act right after a content was read, which is when nobody looks. */
class LateStore extends FileBlobStore {
  afterwards: (() => Promise<void>) | undefined;

  override async put(bytes: Uint8Array): Promise<string> {
    const hash = await super.put(bytes);
    const act = this.afterwards;
    this.afterwards = undefined;
    await act?.();
    return hash;
  }
}

describe('a file that is saved at the very moment it is put back', () => {
  const saves = {
    'in place': (file: string) => writeFile(file, 'mine\n'),
    'by a rename': async (file: string) => {
      await writeFile(`${file}.new`, 'mine\n');
      await rename(`${file}.new`, file);
    },
  };

  for (const [how, save] of Object.entries(saves)) {
    for (const what of ['written', 'deleted']) {
      it(`stays as it was saved (${how}) when it was to be ${what}`, async () => {
        const folder = await tempFolder({ 'a.txt': 'agent\n' });
        const store = new LateStore(await tempFolder());
        const current = await capture(folder, 'a.txt', store);
        const target: Entry = { kind: 'file', hash: await store.put(Buffer.from('before\n')), bytes: 7 };
        store.afterwards = () => save(path.join(folder, 'a.txt'));
        const put = { path: 'a.txt', ...(current && { current }), ...(what === 'written' && { target }) };
        await expect(putEntry(folder, put, store)).rejects.toThrow(NotPutError);
        expect(await textOf(folder, 'a.txt')).toBe('mine\n');
        expect(await readdir(folder)).toEqual(['a.txt']);
      });
    }
  }

  it.runIf(process.platform === 'linux')(
    'is the one in its folder, although a link has taken the name of that',
    async () => {
      const folder = await tempFolder({ 'd/a.txt': 'agent\n', 'd/b.txt': '' });
      const outside = await tempFolder({ 'a.txt': 'agent\n' });
      const store = new LateStore(await tempFolder());
      const current = await capture(folder, 'd/a.txt', store);
      store.afterwards = async () => {
        await rename(path.join(folder, 'd'), path.join(folder, 'old'));
        await symlink(outside, path.join(folder, 'd'));
      };
      await putEntry(folder, { path: 'd/a.txt', ...(current && { current }) }, store);
      expect([await readdir(outside), await readdir(path.join(folder, 'old'))]).toEqual([['a.txt'], ['b.txt']]);
    },
  );

  it.runIf(process.platform === 'linux')('takes no folder along that a link leads to meanwhile', async () => {
    const folder = await tempFolder({ 'd/e/a.txt': 'agent\n' });
    const outside = await tempFolder();
    await mkdir(path.join(outside, 'e'));
    const store = new LateStore(await tempFolder());
    const current = await capture(folder, 'd/e/a.txt', store);
    store.afterwards = async () => {
      await rename(path.join(folder, 'd'), path.join(folder, 'old'));
      await symlink(outside, path.join(folder, 'd'));
    };
    await putEntry(folder, { path: 'd/e/a.txt', ...(current && { current }) }, store);
    expect([await readdir(outside), await readdir(path.join(folder, 'old/e'))]).toEqual([['e'], []]);
  });

  it('is not written over when it is new', async () => {
    const folder = await tempFolder();
    const store = new FileBlobStore(await tempFolder());
    const target: Entry = { kind: 'file', hash: await store.put(Buffer.from('before\n')), bytes: 7 };
    await mkdir(path.join(folder, 'a.txt'));
    await expect(putEntry(folder, { path: 'a.txt', target }, store)).rejects.toThrow(NotPutError);
    expect(await readdir(folder)).toEqual(['a.txt']);
  });

  it('is not turned into a link, or the other way round, because the words are the same', async () => {
    const folder = await tempFolder();
    const store = new FileBlobStore(await tempFolder());
    const [word, other] = [await store.put(Buffer.from('b')), await store.put(Buffer.from('c'))];
    await symlink('b', path.join(folder, 'a'));
    const changes = [
      { path: 'a', before: { kind: 'file', hash: word, bytes: 1 }, after: { kind: 'file', hash: other, bytes: 1 } },
    ] as const;
    expect(await planOf(folder, { path: 'a', changes }, store)).toMatchObject({ why: expect.any(String) });
  });
});

/** The host stops before it has stored that an undo is over. */
const UNDONE = '"kind":"undone"';

describe('a host that stops in the middle', { timeout: 30_000 }, () => {
  it('still knows what it had thrown away, and brings back what it had only moved', async () => {
    const [folder, data, logs] = [
      await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' }),
      await tempFolder(),
      await tempFolder(),
    ];
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await edit(folder, name, 'mine\n');
    const log = failingLog(await openLog(logs));
    const first = await ChangesFixture.open({ folder, data, log });
    log.failRecords(UNDONE);
    await first.refusal('uncommitted', 'discard');
    await first.host.stop();
    // As if it had come as far as the first file, and had the second one in its hands.
    await rm(path.join(folder, 'b.txt'));
    await edit(folder, 'c.txt', 'mine\n');
    const second = await ChangesFixture.open({ folder, data, log: await openLog(logs), uri: first.uri });
    await second.shown('uncommitted');
    expect(await textOf(folder, 'b.txt')).toBe('mine\n');
    await second.invoke('uncommitted', 'restore');
    expect(await textOf(folder, 'a.txt')).toBe('mine\n');
    expect((await second.refusal('uncommitted', 'restore')).code).toBe(-32602);
  });

  it('takes a turn back to its end when it is asked again', async () => {
    const [folder, data, logs] = [
      await tempFolder({ 'a.txt': 'a\n', 'b.txt': 'b\n' }),
      await tempFolder(),
      await tempFolder(),
    ];
    const log = failingLog(await openLog(logs));
    const first = await ChangesFixture.open({ folder, data, log });
    const turnId = await first.turn((call) => call('shell', { command: 'echo A > a.txt; echo B > b.txt' }));
    log.failRecords(UNDONE);
    await first.refusal(`turn/${turnId}`, 'revert');
    await first.host.stop();
    await edit(folder, 'b.txt', 'B\n');
    const second = await ChangesFixture.open({ folder, data, log: await openLog(logs), uri: first.uri });
    expect([...(await second.files(`turn/${turnId}`)).keys()]).toEqual(['b.txt']);
    await second.invoke(`turn/${turnId}`, 'revert');
    await second.invoke(`turn/${turnId}`, 'reapply');
    await second.invoke(`turn/${turnId}`, 'reapply');
    expect([await textOf(folder, 'a.txt'), await textOf(folder, 'b.txt')]).toEqual(['A\n', 'B\n']);
  });

  it('does not throw away a journal of version 0.1 that it cannot read', async () => {
    const folder = await tempFolder({ 'contents/kept': 'k', 'journal.jsonl/in-the-way': '' });
    await expect(takeOverJournal(changeRecords(), 's', folder)).rejects.toThrow('EISDIR');
    expect(await textOf(folder, 'contents/kept')).toBe('k');
  });
});

describe('what is staged', { timeout: 30_000 }, () => {
  it('comes back with what was thrown away, also where the folder had something else', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'deep/c.txt': 'c\n' });
    for (const name of ['a.txt', 'deep/c.txt', 'new.txt', 'gone.txt']) await edit(folder, name, 'staged\n');
    gitIn(folder, 'add', '-A');
    await edit(folder, 'a.txt', 'staged\nand more\n');
    await rm(path.join(folder, 'gone.txt'));
    const before = gitIn(folder, 'status', '--porcelain');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.invoke('uncommitted', 'discard');
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
    gitIn(folder, 'gc', '-q', '--prune=now');
    await fixture.invoke('uncommitted', 'restore');
    expect(gitIn(folder, 'status', '--porcelain')).toBe(before);
    expect(gitIn(folder, 'cat-file', 'blob', ':a.txt')).toBe('staged\n');
    expect(gitIn(folder, 'cat-file', 'blob', ':gone.txt')).toBe('staged\n');
  });

  it('is what a commit was asked for: it does not become everything because nothing is staged any more', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await edit(folder, 'a.txt', 'A\n');
    await edit(folder, 'b.txt', 'B\n');
    gitIn(folder, 'add', 'a.txt');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.shown('uncommitted');
    await fixture.invoke('uncommitted', 'commit');
    gitIn(folder, 'reset', '-q');
    const { inputRequests = [] } = await fixture.client.state<SessionState>(fixture.uri);
    expect(inputRequests[0]?.message).toContain('What is staged');
    const answers = { message: { state: 'submitted', value: { kind: 'text', value: 'oops' } } };
    const answer = { type: 'session/inputCompleted', requestId: inputRequests[0]?.id, response: 'accept', answers };
    fixture.client.dispatch(fixture.uri, answer as never);
    const { error } = await fixture.shown('uncommitted', ({ status }) => status === 'error');
    expect(error?.message).toContain('nothing is staged any more');
    expect(gitIn(folder, 'log', '--format=%s')).toBe('first\n');
  });

  it('cannot be committed while there is a conflict', async () => {
    const folder = await repository({ 'a.txt': 'a\n' });
    gitIn(folder, 'checkout', '-q', '-b', 'other');
    await edit(folder, 'a.txt', 'other\n');
    gitIn(folder, 'commit', '-qam', 'other');
    gitIn(folder, 'checkout', '-q', 'main');
    await edit(folder, 'a.txt', 'main\n');
    gitIn(folder, 'commit', '-qam', 'main');
    expect(() => gitIn(folder, 'merge', '-q', 'other')).toThrow();
    const fixture = await ChangesFixture.open({ folder });
    const { operations = [] } = await fixture.shown('uncommitted');
    expect(operations.map(({ id }) => id)).toEqual(['stage', 'unstage', 'discard']);
  });
});

describe('a machine without Git', { timeout: 30_000 }, () => {
  it('takes back what nobody else touched, and says why not the rest', async () => {
    await withoutGit();
    const folder = await tempFolder({ 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n' });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: '1', newText: 'one' });
      await call('edit_file', { path: 'b.txt', oldText: 'b', newText: 'B' });
    });
    await edit(folder, 'a.txt', 'one\n2\n3\nmine\n');
    const { message } = await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(message).toContain('Took back 1 file. Left alone: a.txt (it has been changed since');
    expect([await textOf(folder, 'a.txt'), await textOf(folder, 'b.txt')]).toEqual(['one\n2\n3\nmine\n', 'b\n']);
  });
});
