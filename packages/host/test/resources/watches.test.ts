import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '@atrium/core/util/logger.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FolderBudget, WATCH_BATCH_MAX_CHANGES, WATCH_BATCH_MS } from '../../src/workspace/files/tree-watch.js';
import { WATCH_UNUSED_MS, WATCHES_MAX, Watches } from '../../src/workspace/files/watches.js';
import { FakeClock } from '../support/fake-clock.js';
import { openResourceRoom, type ResourceRoom } from '../support/resource-room.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, settle } from '../support/test-host.js';

const POLL = { timeout: 10_000, interval: 10 };

interface Change {
  readonly uri: string;
  readonly type: string;
}

async function create(room: ResourceRoom, name = '.', params: object = {}, client = room.desk): Promise<string> {
  const { channel } = await room.result<{ channel: string }>(
    'createResourceWatch',
    { uri: room.file(name), ...params },
    client,
  );
  return channel;
}

async function watch(room: ResourceRoom, name = '.', params: object = {}): Promise<string> {
  const channel = await create(room, name, params);
  await room.desk.request('subscribe', { channel });
  return channel;
}

function changes(client: RawClient, channel: string): Change[] {
  const actions = client.envelopes(channel).map(({ action }) => action as unknown as { changes: { items: Change[] } });
  return actions.flatMap(({ changes: { items } }) => items);
}

/** What was told, as `type name`. */
function told(room: ResourceRoom, channel: string, client = room.desk): string[] {
  const base = `${pathToFileURL(room.folder).href}/`;
  return changes(client, channel).map(({ uri, type }) => `${type} ${decodeURI(uri).replace(base, '')}`);
}

/** Folders that the system watches for this process. */
function watchersOfSystem(): number {
  const infos = readdirSync('/proc/self/fdinfo').map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    } catch {
      return '';
    }
  });
  return infos.join('').match(/^inotify /gm)?.length ?? 0;
}

describe('createResourceWatch', () => {
  it('[AHP-084] [AHP-242] gives a fresh channel each time, and tells nothing before somebody subscribes', async () => {
    const room = await openResourceRoom();
    const [first, second] = [await create(room), await create(room)];
    expect(first).toMatch(/^ahp-resource-watch:\/[\w-]+$/);
    expect(second).not.toBe(first);
    await writeFile(room.path('early'), '');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await room.desk.request('subscribe', { channel: first });
    await writeFile(room.path('late'), '');
    await expect.poll(() => told(room, first), POLL).toEqual(['added late']);
    expect(room.desk.envelopes(second)).toEqual([]);
  });

  it('[AHP-084] [AHP-241] fails for what is missing or outside', async () => {
    const room = await openResourceRoom();
    expect(await room.code('createResourceWatch', { uri: room.file('none') })).toBe(-32008);
    const uri = room.file(room.outside);
    expect((await room.ask('createResourceWatch', { uri })).error).toMatchObject({
      code: -32009,
      data: { request: { channel: ROOT, uri, read: true } },
    });
    await symlink(room.outside, room.path('out'));
    expect(await room.code('createResourceWatch', { uri: room.file('out') })).toBe(-32009);
  });

  it('[AHP-243] shows what was asked for, and that never changes', async () => {
    const room = await openResourceRoom({ files: { 'd/x': '' } });
    const plain = await create(room, 'd');
    const filters = { excludes: { items: ['a/**'] }, includes: { items: ['*.ts'] } };
    const full = await create(room, '.', { recursive: true, ...filters });
    const state = (channel: string) => room.desk.state(channel);
    expect(await state(plain)).toEqual({ root: room.file('d'), recursive: false });
    expect(await state(full)).toEqual({ root: room.file('.'), recursive: true, ...filters });
    await writeFile(room.path('d/y'), '');
    await expect.poll(() => told(room, plain), POLL).toEqual(['added d/y']);
    expect(await state(plain)).toEqual({ root: room.file('d'), recursive: false });
  });

  it('[AHP-246] no client can say that something changed', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    const items = [{ uri: room.file('x'), type: 'added' as const }];
    room.desk.dispatch(channel, { type: 'resourceWatch/changed', changes: { items } });
    const { rejectionReason } = await room.desk.action(channel, 'resourceWatch/changed');
    expect(rejectionReason).toBeDefined();
  });

  it('has a limit for the folders of all watches together, which ended watches give back', async () => {
    const folder = await tempFolder({ 'inner/a.txt': '' });
    const stats = await stat(folder, { bigint: true });
    const places = {
      at: (_: unknown, act: (place: object) => Promise<string>) => act({ uri: 'file:///f', stats, real: folder }),
    };
    const host = {
      clock: new FakeClock(),
      writer: {},
      logger: silentLogger,
      isWatched: () => true,
      unsubscribeAll: () => {},
    };
    const watches = new Watches({ host, places, roots: {}, budget: new FolderBudget(3) } as never);
    onTestFinished(() => watches.close());
    const creator = { identity: { clientId: 'desk' } } as never;
    const create = () => watches.create(creator, { channel: ROOT, uri: 'file:///f', recursive: true });
    const first = await create();
    await expect(create()).rejects.toThrow('no more folders can be watched');
    watches.release(first);
    const second = await create();
    await expect(create()).rejects.toThrow('no more folders can be watched');
    watches.release(second);
    await create();
  });

  it('has a limit for each connection', async () => {
    const room = await openResourceRoom();
    for (let index = 0; index < WATCHES_MAX; index++) await create(room);
    expect(await room.code('createResourceWatch', { uri: room.file('.') })).toBe(-32009);
    const phone = await room.client('phone');
    await create(room, '.', {}, phone);
  });
});

describe('a watch', { timeout: 30_000 }, () => {
  it('[AHP-244] tells of a folder and its children, and not what is deeper', async () => {
    const room = await openResourceRoom({ files: { 'd/x': '', 'e/y': '' } });
    const channel = await watch(room);
    await writeFile(room.path('d/deep'), '');
    await writeFile(room.path('new'), '');
    await expect.poll(() => told(room, channel), POLL).toEqual(['added new']);
    await writeFile(room.path('new'), 'more');
    await expect.poll(() => told(room, channel).at(-1), POLL).toBe('updated new');
    await rm(room.path('new'));
    await expect.poll(() => told(room, channel).at(-1), POLL).toBe('deleted new');
    await rm(room.folder, { recursive: true });
    await expect.poll(() => changes(room.desk, channel), POLL).toContainEqual({ uri: room.file('.'), type: 'deleted' });
    expect(told(room, channel).some((text) => text.includes('deep'))).toBe(false);
  });

  it('[AHP-244] tells of everything below when it is recursive, also in folders that come later', async () => {
    const room = await openResourceRoom({ files: { 'a/b/x': '' } });
    const channel = await watch(room, '.', { recursive: true });
    await writeFile(room.path('a/b/x'), 'changed');
    await expect.poll(() => told(room, channel), POLL).toEqual(['updated a/b/x']);
    await mkdir(room.path('n/e/w'), { recursive: true });
    await writeFile(room.path('n/e/w/file'), '');
    const all = ['added n', 'added n/e', 'added n/e/w', 'added n/e/w/file'];
    await expect.poll(() => told(room, channel).slice(1).sort(), POLL).toEqual(all);
    await writeFile(room.path('n/e/w/file'), 'x');
    await expect.poll(() => told(room, channel).at(-1), POLL).toBe('updated n/e/w/file');
    await rename(room.path('n'), room.path('m'));
    await expect.poll(() => told(room, channel), POLL).toContain('added m/e/w/file');
    expect(told(room, channel)).toContain('deleted n/e/w/file');
    await writeFile(room.path('m/e/w/file'), 'y');
    await expect.poll(() => told(room, channel).at(-1), POLL).toBe('updated m/e/w/file');
  });

  it('[AHP-244] sees a file go, come back and be replaced', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': '1', 'b.txt': '' } });
    const channel = await watch(room, 'a.txt');
    const uri = room.file('a.txt');
    await rm(room.path('a.txt'));
    await expect.poll(() => changes(room.desk, channel).at(-1), POLL).toEqual({ uri, type: 'deleted' });
    await writeFile(room.path('a.txt'), '2');
    await expect.poll(() => changes(room.desk, channel).at(-1), POLL).toEqual({ uri, type: 'added' });
    const before = changes(room.desk, channel).length;
    await room.result('resourceWrite', { uri, data: '3', encoding: 'utf-8' });
    await expect.poll(() => changes(room.desk, channel).slice(before), POLL).toEqual([{ uri, type: 'updated' }]);
    await writeFile(room.path('b.txt'), 'other');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(changes(room.desk, channel).every((change) => change.uri === uri)).toBe(true);
  });

  it("[AHP-244] tells of a file as updated when another folder with that file takes its folder's place", async () => {
    const room = await openResourceRoom({ files: { 'd/x': '', 'd/old': '', 'aside/x': '', 'aside/new': '' } });
    await rename(room.path('aside'), path.join(room.outside, 'aside'));
    const channel = await watch(room, '.', { recursive: true });
    renameSync(room.path('d'), path.join(room.outside, 'gone'));
    renameSync(path.join(room.outside, 'aside'), room.path('d'));
    const expected = ['added d/new', 'deleted d/old', 'updated d', 'updated d/x'];
    await expect.poll(() => told(room, channel).sort(), POLL).toEqual(expected);
  });

  it('[AHP-245] tells what is included and not excluded', async () => {
    const room = await openResourceRoom({ files: { 'src/x': '', 'gen/x': '', 'node_modules/m/x': '' } });
    const includes = { items: ['**/*.ts', 'node_modules'] };
    const channel = await watch(room, '.', { recursive: true, includes, excludes: { items: ['gen', '**/*.test.ts'] } });
    for (const name of ['src/a.ts', 'src/a.js', 'gen/b.ts', 'src/c.test.ts', 'node_modules/m/d', 'last.ts'])
      await writeFile(room.path(name), '');
    await expect.poll(() => told(room, channel), POLL).toContain('added last.ts');
    expect(told(room, channel).sort()).toEqual(['added last.ts', 'added node_modules/m/d', 'added src/a.ts']);
  });

  it('[AHP-245] leaves the insides of node_modules and of the store of Git alone when nothing is included', async () => {
    const room = await openResourceRoom({
      files: { 'node_modules/m/x': '', '.git/objects/aa/bb': '', '.git/HEAD': 'ref', 'a/node_modules/m/x': '' },
    });
    const channel = await watch(room, '.', { recursive: true });
    for (const name of [
      'node_modules/m/x',
      'node_modules/m/y',
      '.git/objects/aa/cc',
      'a/node_modules/m/y',
      '.git/HEAD',
    ])
      await writeFile(room.path(name), 'new');
    await expect.poll(() => told(room, channel), POLL).toContain('updated .git/HEAD');
    expect(told(room, channel)).toEqual(['updated .git/HEAD']);
    expect(
      await room.code('createResourceWatch', { uri: room.file('.'), includes: { items: ['{a,b'.repeat(50)] } }),
    ).toBe('ok');
    const tooMany = { items: Array.from({ length: 101 }, () => '*') };
    expect(await room.code('createResourceWatch', { uri: room.file('.'), excludes: tooMany })).toBe(-32602);
  });

  it('[AHP-246] tells many changes as few, numbered as everything else, and never nothing', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    await Promise.all(Array.from({ length: 50 }, (_, index) => writeFile(room.path(`f${index}`), '')));
    await expect.poll(() => new Set(told(room, channel)).size, POLL).toBe(50);
    const envelopes = room.desk.envelopes(channel);
    expect(envelopes.length).toBeLessThan(25);
    expect(envelopes.every(({ origin, action }) => !origin && action.type === 'resourceWatch/changed')).toBe(true);
    const numbers = room.desk.received.flatMap(({ params }) => (params?.serverSeq as number) ?? []);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    await writeFile(room.path('gone'), '');
    await rm(room.path('gone'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const items = room.desk
      .envelopes(channel)
      .map(({ action }) => (action as never as { changes: { items: [] } }).changes.items);
    expect(items.every((list) => list.length > 0)).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')(
    'lets go of every folder, also of those that it finds while it ends',
    async () => {
      const room = await openResourceRoom();
      const before = watchersOfSystem();
      for (let round = 0; round < 4; round++) {
        const channel = await watch(room, '.', { recursive: true });
        const made = Array.from({ length: 100 }, (_, index) => room.path(`r${round}/d${index}/e`));
        for (const folder of made) mkdirSync(folder, { recursive: true });
        // Somewhere in the middle of finding them.
        await new Promise((resolve) => setTimeout(resolve, WATCH_BATCH_MS + 10 * round));
        room.desk.send({ method: 'unsubscribe', params: { channel } });
        await expect.poll(async () => (await room.desk.ask('subscribe', { channel })).error?.code, POLL).toBe(-32008);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(watchersOfSystem()).toBe(before);
    },
  );

  it('knows what is there after a storm', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    for (let index = 0; index < 20_000; index++) writeFileSync(room.path(`f${index}`), '');
    await expect.poll(() => changes(room.desk, channel), POLL).toContainEqual({ uri: room.file('.'), type: 'updated' });
    await expect.poll(() => changes(room.desk, channel).length, POLL).toBeLessThan(5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await rm(room.path('f19999'));
    await expect.poll(() => told(room, channel).at(-1), POLL).toBe('deleted f19999');
  });

  it('says to look at everything again when too much changes at once', async () => {
    const clock = new FakeClock();
    const room = await openResourceRoom({ clock });
    const channel = await watch(room);
    for (let index = 0; index <= WATCH_BATCH_MAX_CHANGES; index++) await writeFile(room.path(`f${index}`), '');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await clock.advance(100);
    await expect.poll(() => changes(room.desk, channel), POLL).toEqual([{ uri: room.file('.'), type: 'updated' }]);
  });

  it('[AHP-247] [AHP-248] tells everybody, and ends with the last who listens', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    const phone = await room.client('phone');
    await phone.request('subscribe', { channel });
    await writeFile(room.path('one'), '');
    await expect.poll(() => told(room, channel), POLL).toEqual(['added one']);
    await expect.poll(() => told(room, channel, phone), POLL).toEqual(['added one']);
    room.desk.send({ method: 'unsubscribe', params: { channel } });
    await writeFile(room.path('two'), '');
    await expect.poll(() => told(room, channel, phone), POLL).toEqual(['added one', 'added two']);
    expect(told(room, channel)).toEqual(['added one']);
    phone.disconnect();
    await settle();
    expect((await room.desk.ask('subscribe', { channel })).error?.code).toBe(-32008);
  });

  it('[AHP-248] is unknown once it was unsubscribed from', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    room.desk.send({ method: 'unsubscribe', params: { channel } });
    await settle();
    expect((await room.desk.ask('subscribe', { channel })).error?.code).toBe(-32008);
  });

  it('[AHP-249] ends when nobody ever listens: after a while, or with the connection that opened it', async () => {
    const clock = new FakeClock();
    const room = await openResourceRoom({ clock });
    const [unused, used] = [await create(room), await create(room)];
    await room.desk.request('subscribe', { channel: used });
    await clock.advance(WATCH_UNUSED_MS - 1);
    const other = await create(room);
    await clock.advance(1);
    expect((await room.desk.ask('subscribe', { channel: unused })).error?.code).toBe(-32008);
    expect((await room.desk.ask('subscribe', { channel: used })).error).toBeUndefined();
    expect((await room.desk.ask('subscribe', { channel: other })).error).toBeUndefined();
    const phone = await room.client('phone');
    const left = await create(room, '.', {}, phone);
    phone.disconnect();
    await settle();
    expect((await room.desk.ask('subscribe', { channel: left })).error?.code).toBe(-32008);
  });

  it('[AHP-250] [AHP-243] goes on after a lost connection when somebody else kept it, otherwise it is missing', async () => {
    const room = await openResourceRoom();
    const [kept, lost] = [await watch(room), await watch(room)];
    const phone = await room.client('phone');
    await phone.request('subscribe', { channel: kept });
    const lastSeenServerSeq = Math.max(
      0,
      ...room.desk.received.flatMap(({ params }) => (params?.serverSeq as number) ?? []),
    );
    room.desk.disconnect();
    await writeFile(room.path('missed'), '');
    await expect.poll(() => told(room, kept, phone), POLL).toEqual(['added missed']);
    const again = new (phone.constructor as typeof RawClient)();
    room.host.connect(again.transport);
    const back = await again.request<{ type: string; actions: { channel: string }[]; missing: string[] }>('reconnect', {
      channel: ROOT,
      clientId: 'desk',
      lastSeenServerSeq,
      subscriptions: [kept, lost],
    });
    expect(back.type).toBe('replay');
    expect(back.actions.filter(({ channel }) => channel === kept)).toHaveLength(1);
    expect(back.missing).toEqual([lost]);
    await writeFile(room.path('more'), '');
    await expect.poll(() => told(room, kept, again), POLL).toEqual(['added more']);
    expect(await again.state(kept)).toEqual({ root: room.file('.'), recursive: false });
  });

  it('[AHP-068] ends when what it watches is no longer allowed', async () => {
    const room = await openResourceRoom();
    const channel = await watch(room);
    await room.result('disposeSession', { channel: room.uri });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await writeFile(room.path('secret'), '');
    await expect.poll(async () => (await room.desk.ask('subscribe', { channel })).error?.code, POLL).toBe(-32008);
    expect(told(room, channel)).toEqual([]);
  });

  it('does not look behind a folder that became a link', async () => {
    const room = await openResourceRoom({ files: { 'd/x': '' }, outside: { x: '', y: '' } });
    const channel = await watch(room, '.', { recursive: true });
    await rename(room.path('d'), path.join(room.folder, 'was'));
    await symlink(room.outside, room.path('d'));
    await expect.poll(() => told(room, channel), POLL).toContain('added was/x');
    await writeFile(path.join(room.outside, 'y'), 'changed');
    await writeFile(room.path('end'), '');
    await expect.poll(() => told(room, channel), POLL).toContain('added end');
    expect(told(room, channel).some((text) => text.endsWith('/y'))).toBe(false);
  });
});
