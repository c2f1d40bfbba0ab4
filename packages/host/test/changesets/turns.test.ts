/** What the agent changed in a turn, in a session and between two turns, in a repository and without one. */
import { describe, expect, it } from 'vitest';
import { ChangesFixture, edit, repository, textOf } from '../support/changes-fixture.js';
import { nativeClient } from '../support/native-client.js';
import { tempFolder } from '../support/temp-folder.js';

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'sub/b.txt': 'b\n' };
const folders = { 'a repository': () => repository(FILES), 'a folder without Git': () => tempFolder(FILES) };

describe.each(Object.entries(folders))('in %s', { timeout: 30_000 }, (_name, make) => {
  it('[AHP-224] shows what tools and commands changed in a turn, with line counts', async () => {
    const fixture = await ChangesFixture.open({ folder: await make(), inTerminals: true });
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: 'two', newText: '2' });
      await call('write_file', { path: 'new.txt', content: 'x\ny\n' });
      await call('shell', { command: 'rm sub/b.txt && printf "s\\n" > made.sh' });
    });
    const files = await fixture.files(`turn/${turnId}`);
    expect([...files.keys()].sort()).toEqual(['a.txt', 'made.sh', 'new.txt', 'sub/b.txt']);
    expect(files.get('a.txt')?.edit.diff).toEqual({ added: 1, removed: 1 });
    expect(files.get('new.txt')?.edit).toMatchObject({ diff: { added: 2, removed: 0 } });
    expect(files.get('new.txt')?.edit.before).toBeUndefined();
    expect(files.get('sub/b.txt')?.edit.after).toBeUndefined();
    expect(files.get('made.sh')?.edit.diff).toEqual({ added: 1, removed: 0 });
  });

  it('leaves out what people change meanwhile', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    await edit(folder, 'mine.txt', 'before\n');
    const turnId = await fixture.turn(async (call) => {
      await edit(folder, 'sub/b.txt', 'by hand\n');
      await call('shell', { command: 'echo agent > agent.txt' });
      await edit(folder, 'mine.txt', 'by hand\n');
      await call('edit_file', { path: 'a.txt', oldText: 'two', newText: '2' });
    });
    expect([...(await fixture.files(`turn/${turnId}`)).keys()].sort()).toEqual(['a.txt', 'agent.txt']);
  });

  it('[AHP-224] [UP-078] counts what a worker changes, and a worker of it, to the turn that they work for', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    // Somebody has to be able to see workers.
    const phone = await nativeClient(fixture.host, 'phone');
    await phone.request('subscribe', { channel: fixture.uri });
    const { agent } = fixture;
    const task = { title: 'Write', prompt: 'Write it.' };
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: 'two', newText: '2' });
      const done = call('task', task);
      const worker = await agent.turn(1);
      await worker.turn.callTool({ name: 'write_file', input: { path: 'worker.txt', content: 'w\n' } });
      const inner = worker.turn.callTool({ name: 'task', input: task });
      const deepest = await agent.turn(2);
      await deepest.turn.callTool({ name: 'shell', input: { command: 'rm sub/b.txt; echo d > deep.txt' } });
      deepest.finish();
      await inner;
      worker.finish();
      await done;
    });
    const all = ['a.txt', 'deep.txt', 'sub/b.txt', 'worker.txt'];
    expect([...(await fixture.files(`turn/${turnId}`)).keys()].sort()).toEqual(all);
    expect([...(await fixture.files('session')).keys()].sort()).toEqual(all);
    const next = await fixture.turn((call) => call('write_file', { path: 'next.txt', content: 'n\n' }));
    expect([...(await fixture.files(`turn/${next}`)).keys()]).toEqual(['next.txt']);
    const { message } = await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(message).toBe('Took back 4 files.');
    expect(await textOf(folder, 'sub/b.txt')).toBe('b\n');
    await expect(textOf(folder, 'worker.txt')).rejects.toThrow('ENOENT');
    await expect(textOf(folder, 'deep.txt')).rejects.toThrow('ENOENT');
  });

  it('takes a turn back, and keeps what people changed since', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    const turnId = await fixture.turn(async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: 'one', newText: '1' });
      await call('shell', { command: 'rm -r sub; echo n > n.txt' });
    });
    await edit(folder, 'a.txt', '1\ntwo\nthree\nfour\n');
    const { message } = await fixture.invoke(`turn/${turnId}`, 'revert');
    expect(message).toBe('Took back 3 files.');
    expect(await textOf(folder, 'a.txt')).toBe('one\ntwo\nthree\nfour\n');
    expect(await textOf(folder, 'sub/b.txt')).toBe('b\n');
    await expect(textOf(folder, 'n.txt')).rejects.toThrow('ENOENT');
    expect((await fixture.shown(`turn/${turnId}`)).files).toEqual([]);
    await fixture.invoke(`turn/${turnId}`, 'reapply');
    expect(await textOf(folder, 'a.txt')).toBe('1\ntwo\nthree\nfour\n');
    expect(await textOf(folder, 'n.txt')).toBe('n\n');
    expect((await fixture.files(`turn/${turnId}`)).size).toBe(3);
  });

  it('shows nothing that was taken back, in whatever order turns were', async () => {
    const folder = await make();
    const fixture = await ChangesFixture.open({ folder });
    await edit(folder, 'a.txt', '1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    const first = await fixture.turn((call) => call('edit_file', { path: 'a.txt', oldText: '1', newText: 'one' }));
    const second = await fixture.turn((call) => call('edit_file', { path: 'a.txt', oldText: '9', newText: 'nine' }));
    await fixture.invoke(`turn/${first}`, 'revert');
    const files = await fixture.files('session');
    expect(files.get('a.txt')?.edit.diff).toEqual({ added: 1, removed: 1 });
    await fixture.invoke(`turn/${second}`, 'revert');
    expect(await textOf(folder, 'a.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    expect((await fixture.shown('session', ({ files: left }) => left.length === 0)).operations).toEqual([]);
  });
});
