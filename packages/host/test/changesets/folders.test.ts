/** Changes in a session with several folders: recorded in all of them, and undone where they were made. */
import { access, readFile, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inFolder, located } from '../../src/workspace/git/byte-path.js';
import {
  ChangesFixture,
  type ChangesFixtureOptions,
  commitAll,
  edit,
  gitIn,
  repository,
  textOf,
} from '../support/changes-fixture.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { refusalOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const SEVERAL = { capabilities: { multipleWorkingDirectories: { immutablePrimary: true } } };
const uriOf = (...parts: string[]) => pathToFileURL(path.join(...parts)).href;
const set = (directory: string) => ({ type: 'session/workingDirectorySet', directory: uriOf(directory) });
const removed = (directory: string) => ({ type: 'session/workingDirectoryRemoved', directory: uriOf(directory) });

/** A session in one folder, to which others are added. */
async function inFolders(further: readonly string[], options: Partial<ChangesFixtureOptions> = {}) {
  const { folder = await repository(), agent = new PuppetAgent('puppet', SEVERAL) } = options;
  const fixture = await ChangesFixture.open({ ...options, folder, agent });
  const client = await nativeClient(fixture.host, `editor-${crypto.randomUUID()}`);
  await client.request('subscribe', { channel: fixture.uri });
  const change = (action: object) => refusalOf(client, fixture.uri, action as never);
  for (const each of further) expect(await change(set(each))).toBeUndefined();
  const ids = async (view: string, count: number) =>
    (await fixture.shown(view, ({ files }) => files.length === count)).files.map(({ id }) => id).sort();
  return { fixture, change, ids, folder };
}

const script = (...lines: string[]) => ({ command: lines.join(' && ') });

describe('a session with several folders', { timeout: 60_000 }, () => {
  it('[UP-063] records what commands and tools change in all of them, and takes it back there', async () => {
    const lib = await realpath(await repository({ 'l.txt': 'one\n', 'gone.txt': 'x\n' }));
    const docs = await realpath(await tempFolder({ 'd.md': 'doc\n' }));
    const { fixture, ids, folder } = await inFolders([lib, docs]);
    const turnId = await fixture.turn(async (call) => {
      await call('shell', script('echo two >> a.txt', `echo two >> ${lib}/l.txt`, `rm ${lib}/gone.txt`));
      await call('shell', script(`mkdir ${lib}/new`, `echo made > ${lib}/new/made.txt`, `echo more >> ${docs}/d.md`));
      await call('write_file', { path: path.join(docs, 'by-tool.md'), content: 'tool\n' });
      await call('write_file', { path: path.join(lib, 'a.txt'), content: 'same name as in the first\n' });
    });
    const own = [uriOf(folder, 'a.txt')];
    const ofLib = ['l.txt', 'gone.txt', 'new/made.txt', 'a.txt'].map((name) => uriOf(lib, name));
    const ofDocs = ['by-tool.md', 'd.md'].map((name) => uriOf(docs, name));
    const all = [...own, ...ofLib, ...ofDocs].sort();
    expect(await ids(`turn/${turnId}`, 7)).toEqual(all);
    const shown = await fixture.shown('session', ({ files }) => files.length === 7);
    expect([shown.status, shown.files.map(({ id }) => id).sort()]).toEqual(['ready', all]);

    // One file of a further folder, and then everything.
    await fixture.invoke('session', 'revert', { kind: 'resource', resource: uriOf(lib, 'a.txt') });
    await expect(access(path.join(lib, 'a.txt'))).rejects.toThrow();
    expect(await textOf(folder, 'a.txt')).toContain('two\nthree\ntwo');
    await edit(lib, 'mine.txt', 'of a person\n');
    const { message } = await fixture.invoke('session', 'revert');
    expect(message).toBe('Took back 6 files.');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\n');
    expect([await textOf(lib, 'l.txt'), await textOf(lib, 'gone.txt')]).toEqual(['one\n', 'x\n']);
    expect([await textOf(docs, 'd.md'), await textOf(lib, 'mine.txt')]).toEqual(['doc\n', 'of a person\n']);
    await expect(access(path.join(lib, 'new'))).rejects.toThrow();
    await expect(access(path.join(docs, 'by-tool.md'))).rejects.toThrow();

    await fixture.invoke('session', 'reapply');
    expect(await textOf(lib, 'new/made.txt')).toBe('made\n');
    expect(await textOf(docs, 'by-tool.md')).toBe('tool\n');
  });

  it('[UP-063] never removes a further folder itself, also when nothing is left in it', async () => {
    const empty = await realpath(await tempFolder({}));
    const { fixture } = await inFolders([empty]);
    await fixture.turn((call) => call('write_file', { path: path.join(empty, 'only.txt'), content: 'x' }));
    await fixture.shown('session', ({ files }) => files.length === 1);
    await fixture.invoke('session', 'revert');
    await access(empty);
  });

  it('[UP-063] knows every file once, also when folders are inside of others', async () => {
    const parent = await realpath(await tempFolder({ 'p.txt': 'p\n', 'app/a.txt': 'a\n', 'app/sub/s.txt': 's\n' }));
    const folder = path.join(parent, 'app');
    const { fixture, ids } = await inFolders([path.join(folder, 'sub'), parent], { folder });
    await fixture.turn(async (call) => {
      await call('shell', script('echo more >> a.txt', 'echo more >> sub/s.txt', 'echo more >> ../p.txt'));
      await call('write_file', { path: 'sub/n.txt', content: 'n' });
    });
    const names = [
      [folder, 'a.txt'],
      [folder, 'sub/n.txt'],
      [folder, 'sub/s.txt'],
      [parent, 'p.txt'],
    ] as const;
    expect(await ids('session', 4)).toEqual(names.map((parts) => uriOf(...parts)).sort());
    await fixture.invoke('session', 'revert');
    expect([await textOf(parent, 'p.txt'), await textOf(folder, 'sub/s.txt')]).toEqual(['p\n', 's\n']);
  });

  it('[UP-063] leaves a folder alone that the session lost, and says so', async () => {
    const lib = await realpath(await tempFolder({ 'l.txt': 'one\n' }));
    const { fixture, change, ids } = await inFolders([lib]);
    await fixture.turn((call) => call('shell', script('echo two >> a.txt', `echo two >> ${lib}/l.txt`)));
    await ids('session', 2);
    expect(await change(removed(lib))).toBeUndefined();
    const { message } = await fixture.invoke('session', 'revert');
    expect(message).toMatch(/^Took back 1 file\. Left alone: .*l\.txt \(its folder/);
    expect(await textOf(lib, 'l.txt')).toBe('one\ntwo\n');
    expect((await fixture.refusal('session', 'revert')).message).toContain(path.join(lib, 'l.txt'));
    expect(await change(set(lib))).toBeUndefined();
    await fixture.invoke('session', 'revert');
    expect(await textOf(lib, 'l.txt')).toBe('one\n');
  });

  it('[UP-063] tells of a folder that could not be looked at, and records the others', async () => {
    const lib = await realpath(await repository({ 'l.txt': 'one\n' }));
    const { fixture } = await inFolders([lib]);
    await fixture.turn((call) => call('shell', script('echo two >> a.txt', `rm -rf ${lib}`)));
    const { files, status, error } = await fixture.shown('session', (state) => state.status === 'error');
    expect(files.map(({ id }) => path.basename(id))).toContain('a.txt');
    expect([status, error?.message]).toEqual(['error', expect.stringContaining(lib)]);
  });

  it('[UP-063] keeps all of it over a restart, with what was being undone when the host died', async () => {
    const [log, data] = [new KeptLog(), await tempFolder()];
    const lib = await realpath(await repository({ 'l.txt': 'one\n' }));
    const first = await inFolders([lib], { log, data });
    const { folder, fixture } = first;
    await fixture.turn((call) => call('shell', script('echo two >> a.txt', `echo two >> ${lib}/l.txt`)));
    await first.ids('session', 2);
    // The host has noted what it is about to write, and one of the two files is written.
    const [step] = (await log.records('changes:')).flatMap(({ value }) => {
      const event = JSON.parse(value) as { kind: string; turnId: string; changes: Recorded[] };
      return event.kind === 'step' ? [event] : [];
    });
    const back = (step?.changes ?? []).map(({ path: file, before, after }) => ({
      path: file,
      before: after,
      after: before,
    }));
    expect(back.map(({ path: file }) => file).sort()).toEqual([inFolder(lib, 'l.txt'), 'a.txt'].sort());
    await fixture.host.stop();
    const view = fixture.view('session');
    const meaning = { view, turns: [{ turnId: step?.turnId, changes: back }] };
    const writing = { kind: 'writing', id: 'w', planned: back, meaning };
    const [{ key } = { key: '' }] = (await log.records('changes:')).slice(-1);
    const value = JSON.stringify(writing);
    await log.append({ entries: [], records: [{ key: key.replace(/\d+$/, '9999999999'), value }], durability: 'full' });
    await edit(lib, 'l.txt', 'one\n');
    const next = await ChangesFixture.open({
      ...{ folder, data, log, uri: fixture.uri, agent: new PuppetAgent('puppet', SEVERAL) },
    });
    const { files, operations } = await next.shown('session', (state) => state.files.length === 1);
    expect(files.map(({ id }) => id)).toEqual([uriOf(folder, 'a.txt')]);
    expect(operations?.map(({ id }) => id)).toContain('reapply');
    await next.invoke('session', 'reapply');
    expect(await textOf(lib, 'l.txt')).toBe('one\ntwo\n');
    await rm(lib, { recursive: true });
  });

  it('[UP-063] sees what Git does in a further folder', async () => {
    const lib = await realpath(await repository({ 'l.txt': 'one\n' }));
    const { fixture, ids } = await inFolders([lib]);
    await edit(lib, 'l.txt', 'of a person\n');
    commitAll(lib, 'by a person');
    await fixture.turn((call) => call('shell', script(`cd ${lib}`, 'git reset -q --hard HEAD~1')));
    expect(await ids('session', 1)).toEqual([uriOf(lib, 'l.txt')]);
    await fixture.invoke('session', 'revert');
    expect(await readFile(path.join(lib, 'l.txt'), 'utf8')).toBe('of a person\n');
    expect(gitIn(lib, 'status', '--porcelain')).toContain('l.txt');
  });
});

/** The name of the view of what is not committed in a further folder. */
const uncommittedIn = (folder: string) => `uncommitted/${encodeURIComponent(folder)}`;

describe('uncommitted changes in further folders', { timeout: 60_000 }, () => {
  const asked = async ({ client, uri }: ChangesFixture, where: string) => {
    const { action } = await client.action(
      uri,
      (each) => each.type === 'session/inputRequested' && JSON.stringify(each).includes(where),
    );
    return action.request as { id: string };
  };
  const commitAs = ({ client, uri }: ChangesFixture, { id: requestId }: { id: string }, text: string) => {
    const answers = { message: { state: 'submitted', value: { kind: 'text', value: text } } };
    client.dispatch(uri, { type: 'session/inputCompleted', requestId, response: 'accept', answers } as never);
  };

  it('[UP-063] are views of their own, where a folder is in a repository of its own', async () => {
    const folder = await realpath(await repository({ 'a.txt': 'one\n', 'part/p.txt': 'p\n', '.gitignore': 'inner\n' }));
    const lib = await realpath(await repository({ 'l.txt': 'one\n', 'kept.txt': 'k\n' }));
    const plain = await realpath(await tempFolder({ 'd.md': 'doc\n' }));
    const inner = path.join(folder, 'inner');
    await edit(inner, 'i.txt', 'i\n');
    gitIn(inner, 'init', '-q', '-b', 'main');
    commitAllAs(inner);
    const { fixture } = await inFolders([lib, plain, inner, path.join(folder, 'part')], { folder });
    const labels = () => fixture.client.state<{ summary: { changesets?: { label: string }[] } }>(fixture.uri);
    await expect
      .poll(async () => (await labels()).summary.changesets?.map(({ label }) => label).slice(0, 4))
      .toEqual([
        'Uncommitted changes',
        `Uncommitted changes in ${path.basename(lib)}`,
        'Uncommitted changes in inner',
        'This session',
      ]);
    expect(await fixture.client.ask('subscribe', { channel: fixture.view(uncommittedIn('/etc')) })).toMatchObject({
      error: { code: -32008 },
    });

    await edit(folder, 'a.txt', 'first\n');
    await edit(lib, 'l.txt', 'two\n');
    await edit(lib, 'kept.txt', 'staged\n');
    await edit(inner, 'i.txt', 'I\n');
    const view = uncommittedIn(lib);
    const { files } = await fixture.shown(view, (state) => state.files.length === 2);
    expect(files.map(({ id }) => id).sort()).toEqual([uriOf(lib, 'kept.txt'), uriOf(lib, 'l.txt')]);
    const before = files.find(({ id }) => id === uriOf(lib, 'l.txt'))?.edit.before?.content.uri;
    expect(await fixture.client.request('resourceRead', { channel: 'ahp-root://', uri: before })).toMatchObject({
      data: 'one\n',
    });

    await fixture.invoke(view, 'stage', { kind: 'resource', resource: uriOf(lib, 'kept.txt') });
    expect(gitIn(lib, 'diff', '--cached', '--name-only')).toBe('kept.txt\n');
    expect(gitIn(folder, 'diff', '--cached', '--name-only')).toBe('');
    expect((await fixture.invoke(view, 'discard')).message).toBe('Discarded the changes of 2 files.');
    expect([await textOf(lib, 'l.txt'), gitIn(lib, 'status', '--porcelain')]).toEqual(['one\n', '']);
    expect(await textOf(folder, 'a.txt')).toBe('first\n');
    await fixture.invoke(view, 'restore');
    expect(await textOf(lib, 'l.txt')).toBe('two\n');
    expect(gitIn(lib, 'diff', '--cached', '--name-only')).toBe('kept.txt\n');

    // Two people commit at once, each in another folder, and answer in the other order.
    await fixture.invoke(view, 'commit');
    await fixture.invoke(uncommittedIn(inner), 'commit');
    commitAs(fixture, await asked(fixture, inner), 'Inner');
    commitAs(fixture, await asked(fixture, lib), 'Staged');
    await fixture.shown(view, (state) => state.files.length === 1);
    await fixture.shown(uncommittedIn(inner), (state) => state.files.length === 0);
    expect(gitIn(lib, 'show', '--format=%s', '--name-only').trim()).toBe('Staged\n\nkept.txt');
    expect(gitIn(inner, 'log', '-1', '--format=%s')).toBe('Inner\n');
    expect(gitIn(folder, 'log', '-1', '--format=%s')).toBe('first\n');
  });

  it('[UP-063] are put back after a crash where they were discarded, and left alone once the folder is taken away', async () => {
    const [log, data] = [new KeptLog(), await tempFolder()];
    const folder = await repository();
    const lib = await realpath(await repository({ 'l.txt': 'one\n', 'm.txt': 'one\n' }));
    const { fixture } = await inFolders([lib], { log, data, folder });
    for (const name of ['l.txt', 'm.txt']) await edit(lib, name, 'mine\n');
    await fixture.shown(uncommittedIn(lib), (state) => state.files.length === 2);
    await fixture.invoke(uncommittedIn(lib), 'discard');
    await fixture.host.stop();
    // The host died when it had written one of the two, before it could note that.
    const [{ key, value } = { key: '', value: '{}' }] = (await log.records('changes:')).slice(-1);
    const { applied, view, turns } = JSON.parse(value);
    const writing = { kind: 'writing', id: 'w', planned: applied, meaning: { view, turns } };
    await log.append({ entries: [], records: [{ key, value: JSON.stringify(writing) }], durability: 'full' });
    await edit(lib, 'm.txt', 'mine\n');
    const agent = new PuppetAgent('puppet', SEVERAL);
    const next = await ChangesFixture.open({ folder, data, log, uri: fixture.uri, agent });
    await next.shown(uncommittedIn(lib), ({ operations }) => operations?.some(({ id }) => id === 'restore') === true);
    expect((await next.invoke(uncommittedIn(lib), 'restore')).message).toBe('Put back 1 file.');
    expect([await textOf(lib, 'l.txt'), await textOf(lib, 'm.txt')]).toEqual(['mine\n', 'mine\n']);
    const editor = await nativeClient(next.host, 'editor');
    await editor.request('subscribe', { channel: next.uri });
    expect(await refusalOf(editor, next.uri, removed(lib) as never)).toBeUndefined();
    expect(await next.refusal(uncommittedIn(lib), 'discard')).toMatchObject({ code: -32602 });
    expect(await textOf(lib, 'l.txt')).toBe('mine\n');
  });
});

/** A first commit in a repository without a name of its own. */
function commitAllAs(folder: string): void {
  for (const [name, value] of [
    ['user.name', 'desk'],
    ['user.email', 'desk@example.com'],
  ] as const)
    gitIn(folder, 'config', name, value);
  commitAll(folder, 'first');
}

interface Recorded {
  readonly path: string;
  readonly before?: object;
  readonly after?: object;
}

describe('a path in the changes of a session', () => {
  it('[UP-063] says which folder it is in', () => {
    expect(located('/a', 'b/c')).toEqual({ root: '/a', path: 'b/c' });
    expect(located('/a', inFolder('/übung', 'b/c'))).toEqual({ root: '/übung', path: 'b/c' });
  });
});
