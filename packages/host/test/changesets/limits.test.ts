/** Large repositories, slow ones, and many views: nobody waits for them longer than is said, and nothing is hidden. */
import { realpath, truncate } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import type { Change, Entry } from '../../src/workspace/changes/change.js';
import { ChangeLog } from '../../src/workspace/changes/change-log.js';
import { ChangeStorage, SnapshotBlobs } from '../../src/workspace/changes/change-storage.js';
import { FolderSnapshots } from '../../src/workspace/changes/folder-snapshots.js';
import { SNAPSHOT_PAUSE_MS, SNAPSHOT_WAIT_MAX_MS, VIEWS_MAX } from '../../src/workspace/changes/limits.js';
import { PlainFolder } from '../../src/workspace/changes/plain-folder.js';
import { RecordedFiles } from '../../src/workspace/changes/recorded-source.js';
import { Recorder } from '../../src/workspace/changes/recorder.js';
import { findRepository, programsIn } from '../../src/workspace/git/repository.js';
import {
  ChangesFixture,
  changeRecords,
  commitAll,
  edit,
  gitIn,
  repository,
  textOf,
} from '../support/changes-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { gitStandIn } from '../support/git-stand-in.js';
import { tempFolder } from '../support/temp-folder.js';

describe('a folder without Git', () => {
  it('starts no Git, neither to look for a repository nor after a turn; one above it is found', async () => {
    const git = await gitStandIn('exec "$GIT" "$@"');
    const folder = await realpath(await tempFolder({ 'a.txt': 'one\n', 'part/b.txt': '' }));
    expect(await findRepository(path.join(folder, 'part'))).toBeUndefined();
    const fixture = await ChangesFixture.open({ folder });
    await fixture.turn((call) => call('write_file', { path: 'a.txt', content: 'two\n' }));
    expect(await git.calls()).toEqual([]);
    gitIn(folder, 'init', '-q');
    expect(await findRepository(path.join(folder, 'part'))).toMatchObject({ top: folder, prefix: 'part/' });
    expect(await git.calls()).not.toEqual([]);
  });

  it('says that the look was given up, and not that there is no repository', async () => {
    const signal = AbortSignal.abort(new Error('given up'));
    await expect(findRepository(await realpath(await tempFolder()), { signal })).rejects.toThrow('given up');
  });
});

describe('a large repository', { timeout: 60_000 }, () => {
  it('is looked at with a few runs of Git, however many files a call changed', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `many/${index}.txt`);
    const folder = await repository(Object.fromEntries(names.map((name) => [name, 'one\n'])));
    gitIn(folder, 'checkout', '-q', '-b', 'other');
    for (const name of names) await edit(folder, name, 'two\n');
    commitAll(folder, 'second');
    const git = await gitStandIn('exec "$GIT" "$@"');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'git checkout -q main' }));
    expect((await fixture.files(`turn/${turnId}`)).size).toBe(60);
    expect((await git.calls()).length).toBeLessThan(40);
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(await textOf(folder, 'many/59.txt')).toBe('two\n');
  });

  it('may have files that are too large to be kept: the others are recorded all the same', async () => {
    const folder = await repository({ 'a.txt': 'a\n', 'large.bin': '' });
    await truncate(path.join(folder, 'large.bin'), 33 * 2 ** 20);
    commitAll(folder, 'large');
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'rm large.bin; echo A > a.txt' }));
    const files = await fixture.files(`turn/${turnId}`);
    expect([...files.keys()].sort()).toEqual(['a.txt', 'large.bin']);
    expect(files.get('large.bin')?._meta).toMatchObject({ contentNotKept: true });
    const { message } = await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(message).toContain('Took back 1 file. Left alone: large.bin');
    expect((await fixture.refusal('uncommitted', 'discard')).message).toContain('large.bin');
  });

  it('keeps line endings and names with line breaks', async () => {
    const odd = 'two\nlines.txt';
    const folder = await repository({
      '.gitattributes': '*.win text eol=crlf\n',
      'a.win': '1\r\n2\r\n',
      [odd]: 'odd\n',
    });
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: "rm a.win; rm two*; echo '' > empty" }));
    await fixture.invoke(`turn/${turnId}`, 'revert');
    expect([await textOf(folder, 'a.win'), await textOf(folder, odd)]).toEqual(['1\r\n2\r\n', 'odd\n']);
    expect(gitIn(folder, 'status', '--porcelain')).toBe('');
  });
});

describe('a folder that takes too long to look at', () => {
  it('holds up one call, and not the next ones', async () => {
    const [clock, root] = [new FakeClock(), await repository()];
    const git = await gitStandIn('exec sleep 20');
    const blobs = new SnapshotBlobs(await tempFolder());
    const snapshots = new FolderSnapshots({ clock, folder: async () => ({ root, blobs, isOurs: () => false }) });
    const first = snapshots.begin().catch(String);
    await expect.poll(() => git.calls()).not.toEqual([]);
    await clock.advance(SNAPSHOT_WAIT_MAX_MS);
    expect(await first).toContain('took longer than 4 s');
    const asked = (await git.calls()).length;
    expect(await snapshots.begin().catch(String)).toContain('takes longer');
    expect(await git.calls()).toHaveLength(asked);
    await clock.advance(SNAPSHOT_PAUSE_MS);
    const again = snapshots.begin().catch(String);
    await expect.poll(async () => (await git.calls()).length).toBeGreaterThan(asked);
    await clock.advance(SNAPSHOT_WAIT_MAX_MS);
    await again;
    await snapshots.close();
  });
});

describe('a folder without Git', () => {
  it('is captured without what tools put there: packages, builds, and the stores of version control', async () => {
    const skipped = ['node_modules', '.git', '.hg', '.svn', '.venv', '__pycache__'];
    const files = Object.fromEntries(skipped.map((name) => [`sub/${name}/file.txt`, 'x\n']));
    const root = await tempFolder({ ...files, 'a.txt': 'a\n', 'sub/b.txt': 'b\n', 'node_modules.txt': 'c\n' });
    const blobs = new SnapshotBlobs(await tempFolder());
    const { signal } = new AbortController();
    const snapshot = await new PlainFolder({ root, blobs, isOurs: () => false }).take(signal);
    expect([...snapshot.files.keys()].sort()).toEqual(['a.txt', 'node_modules.txt', 'sub/b.txt']);
  });
});

describe('a call that began without a look', () => {
  it('is said to be incomplete, also when another one has looked meanwhile', async () => {
    const [root, storage] = [await tempFolder({ 'a.txt': 'a\n' }), new ChangeStorage(await tempFolder())];
    const changeLog = await ChangeLog.open(changeRecords(), 's');
    let isThere = false;
    const recorder = new Recorder({
      clock: systemClock,
      logger: silentLogger,
      blobs: storage.blobs('s'),
      changeLog: async () => changeLog,
      folders: async () => (isThere ? [{ root, blobs: storage.snapshots, isOurs: () => false }] : []),
      changed: () => {},
    });
    const first = await recorder.begin('t');
    await edit(root, 'unseen.txt', 'u\n');
    isThere = true;
    const second = await recorder.begin('t');
    await edit(root, 'a.txt', 'A\n');
    await first();
    await second();
    expect([...changeLog.segments(['t']).keys()]).toEqual(['a.txt']);
    expect(changeLog.gaps(['t'], recorder.inProgress)).toEqual([expect.stringContaining('the folder does not exist')]);
    await recorder.close();
  });
});

describe('many files that were rewritten', () => {
  it('are compared as long as there is time, and counted as rewritten then', async () => {
    const store = new FileBlobStore(await tempFolder());
    const entryOf = async (text: string): Promise<Entry> => {
      const bytes = Buffer.from(text);
      return { kind: 'file', hash: await store.put(bytes), bytes: bytes.length };
    };
    const lines = (mark: string, count: number) =>
      Array.from({ length: count }, (_, line) => `${mark} ${line}\n`).join('');
    const files = new RecordedFiles('k', store);
    const small = { path: 'small', before: await entryOf('1\n2\n'), after: await entryOf('1\n3\n') };
    const diffOf = async (change: Change) => (await files.shown('/f', change)).file.edit.diff;
    // Nobody has begun, so there is no time at all.
    expect(await diffOf(small)).toEqual({ added: 2, removed: 2 });
    files.begin();
    expect(await diffOf(small)).toEqual({ added: 1, removed: 1 });
    for (let index = 0; index < 40; index += 1) {
      await diffOf({
        path: `${index}`,
        before: await entryOf(lines(`a${index}`, 1_500)),
        after: await entryOf(lines(`b${index}`, 1_500)),
      });
    }
    const another = { path: 'other', before: await entryOf('1\n2\n'), after: await entryOf('1\n4\n') };
    expect(await diffOf(another)).toEqual({ added: 2, removed: 2 });
    expect(await diffOf(small)).toEqual({ added: 1, removed: 1 });
  });
});

describe('views', { timeout: 30_000 }, () => {
  it('are given up for others when nobody watches them, and are not opened without end', async () => {
    const fixture = await ChangesFixture.open({ folder: await tempFolder() });
    const turns: string[] = [];
    for (let index = 0; index < 8; index += 1) turns.push(await fixture.turn(async () => {}));
    const pairs = turns.flatMap((one) => turns.map((other) => fixture.view(`turns/${one}/${other}`)));
    const answers = [];
    for (const channel of pairs) answers.push((await fixture.client.ask('subscribe', { channel })).error?.code);
    expect(answers.filter((code) => code === undefined)).toHaveLength(VIEWS_MAX);
    expect(answers.at(-1)).toBe(-32008);
    fixture.client.send({ method: 'unsubscribe', params: { channel: pairs[0] } });
    expect((await fixture.client.ask('subscribe', { channel: pairs.at(-1) })).error).toBeUndefined();
  });
});

describe('programs that a configuration names', () => {
  it('are turned off, each by its name: filters, and hooks that are in no folder', () => {
    const list = (...names: string[]) => names.map((name) => `local\0${name}\0`).join('');
    const settings = ['filter.a b.clean', 'filter.a b.smudge', 'hook.lint.command', 'hook.lint.event'];
    const { off, hasFilters } = programsIn(list(...settings));
    for (const setting of ['clean=', 'smudge=', 'process=', 'required=false'])
      expect(off).toContain(`filter.a b.${setting}`);
    expect(off).toContain('hook.lint.enabled=false');
    expect(hasFilters).toBe(true);
    expect(programsIn(list('hook.lint.event')).hasFilters).toBe(false);
    expect(() => programsIn(list('hook.a=b.command'))).toThrow('"="');
    expect(programsIn('').off).toEqual([]);
  });

  it('may be named under a condition: by the repository, which counts, or by the person, which does not', () => {
    const setting = 'includeif.onbranch:main.path';
    expect(programsIn(`global\0${setting}\0local\0filter.a.clean\0`).hasConditions).toBe(false);
    for (const scope of ['local', 'worktree']) expect(programsIn(`${scope}\0${setting}\0`).hasConditions).toBe(true);
  });
});

describe('the folders of changes', () => {
  it('[GRO-004] are swept by what is on the disk: no session is looked for that has none', async () => {
    const storage = new ChangeStorage(await tempFolder());
    expect(await storage.sweep(() => expect.fail('the sessions were asked for'))).toEqual([]);
    for (const session of ['ahp-session:/kept', 'ahp-session:/gone']) {
      await storage.blobs(session).put(Buffer.from('text'));
    }
    const stored = ['ahp-session:/other', 'ahp-session:/kept'];
    expect(await storage.sweep(() => stored)).toEqual(['ahp-session:/kept']);
    expect(await storage.sweep(() => [])).toEqual([]);
    expect(await storage.sweep(() => stored)).toEqual([]);
  });
});
