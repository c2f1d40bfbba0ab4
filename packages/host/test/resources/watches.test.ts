import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '@atrium/core/util/logger.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FolderBudget, WATCH_BATCH_MAX_CHANGES, WATCH_BATCH_MS } from '../../src/workspace/files/tree-watch.js';
import { WATCH_UNUSED_MS, WATCHES_MAX, Watches } from '../../src/workspace/files/watches.js';
import { FakeClock } from '../support/fake-clock.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, settle } from '../support/test-host.js';

const POLL = { timeout: 10_000, interval: 10 };

interface Change {
  readonly uri: string;
  readonly type: string;
}

async function create(
  fixture: ResourceFixture,
  name = '.',
  params: object = {},
  client = fixture.client,
): Promise<string> {
  const { channel } = await fixture.result<{ channel: string }>(
    'createResourceWatch',
    { uri: fixture.file(name), ...params },
    client,
  );
  return channel;
}

async function watch(fixture: ResourceFixture, name = '.', params: object = {}): Promise<string> {
  const channel = await create(fixture, name, params);
  await fixture.client.request('subscribe', { channel });
  return channel;
}

function changes(client: RawClient, channel: string): Change[] {
  const actions = client.envelopes(channel).map(({ action }) => action as unknown as { changes: { items: Change[] } });
  return actions.flatMap(({ changes: { items } }) => items);
}

/** What was told, as `type name`. */
function told(fixture: ResourceFixture, channel: string, client = fixture.client): string[] {
  const base = `${pathToFileURL(fixture.folder).href}/`;
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
    const fixture = await openResourceFixture();
    const [first, second] = [await create(fixture), await create(fixture)];
    expect(first).toMatch(/^ahp-resource-watch:\/[\w-]+$/);
    expect(second).not.toBe(first);
    const witness = await create(fixture);
    await fixture.client.request('subscribe', { channel: witness });
    await writeFile(fixture.path('early'), '');
    await expect.poll(() => told(fixture, witness), POLL).toEqual(['added early']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await fixture.client.request('subscribe', { channel: first });
    await writeFile(fixture.path('late'), '');
    await expect.poll(() => told(fixture, first), POLL).toEqual(['added late']);
    expect(fixture.client.envelopes(second)).toEqual([]);
  });

  it('[AHP-084] [AHP-241] fails for what is missing or outside', async () => {
    const fixture = await openResourceFixture();
    expect(await fixture.code('createResourceWatch', { uri: fixture.file('none') })).toBe(-32008);
    const uri = fixture.file(fixture.outside);
    expect((await fixture.ask('createResourceWatch', { uri })).error).toMatchObject({
      code: -32009,
      data: { request: { channel: ROOT, uri, read: true } },
    });
    await symlink(fixture.outside, fixture.path('out'));
    expect(await fixture.code('createResourceWatch', { uri: fixture.file('out') })).toBe(-32009);
  });

  it('[AHP-243] shows what was asked for, and that never changes', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': '' } });
    const plain = await create(fixture, 'd');
    const filters = { excludes: { items: ['a/**'] }, includes: { items: ['*.ts'] } };
    const full = await create(fixture, '.', { recursive: true, ...filters });
    const state = (channel: string) => fixture.client.state(channel);
    expect(await state(plain)).toEqual({ root: fixture.file('d'), recursive: false });
    expect(await state(full)).toEqual({ root: fixture.file('.'), recursive: true, ...filters });
    await writeFile(fixture.path('d/y'), '');
    await expect.poll(() => told(fixture, plain), POLL).toEqual(['added d/y']);
    expect(await state(plain)).toEqual({ root: fixture.file('d'), recursive: false });
  });

  it('[AHP-246] no client can say that something changed', async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    const items = [{ uri: fixture.file('x'), type: 'added' as const }];
    fixture.client.dispatch(channel, { type: 'resourceWatch/changed', changes: { items } });
    const { rejectionReason } = await fixture.client.action(channel, 'resourceWatch/changed');
    expect(rejectionReason).toBeDefined();
  });

  it('[AHP-249] are all over with the host', async () => {
    const folder = await tempFolder({ 'inner/a.txt': '' });
    const stats = await stat(folder, { bigint: true });
    const files = {
      at: (_: unknown, act: (place: object) => Promise<string>) => act({ uri: 'file:///f', stats, real: folder }),
    };
    const clock = new FakeClock();
    const host = { clock, writer: {}, logger: silentLogger, isWatched: () => true };
    const watches = new Watches({ host, files, roots: {} } as never);
    const creator = { identity: { clientId: 'desk' } } as never;
    const before = watchersOfSystem();
    const uris = [];
    for (let count = 0; count < 2; count += 1)
      uris.push(await watches.create(creator, { channel: ROOT, uri: 'file:///f', recursive: true }));
    expect([uris.every((uri) => watches.open(uri)), clock.pending]).toEqual([true, 2]);
    watches.close();
    expect([uris.some((uri) => watches.open(uri)), clock.pending, watchersOfSystem()]).toEqual([false, 0, before]);
  });

  it('has a limit for the folders of all watches together, which ended watches give back', async () => {
    const folder = await tempFolder({ 'inner/a.txt': '' });
    const stats = await stat(folder, { bigint: true });
    const files = {
      at: (_: unknown, act: (place: object) => Promise<string>) => act({ uri: 'file:///f', stats, real: folder }),
    };
    const host = {
      clock: new FakeClock(),
      writer: {},
      logger: silentLogger,
      isWatched: () => true,
      unsubscribeAll: () => {},
    };
    const watches = new Watches({ host, files, roots: {}, budget: new FolderBudget(3) } as never);
    onTestFinished(() => watches.close());
    const creator = { identity: { clientId: 'desk' } } as never;
    const create = () => watches.create(creator, { channel: ROOT, uri: 'file:///f', recursive: true });
    const first = await create();
    await expect(create()).rejects.toThrow('no more folders can be watched');
    watches.release(first);
    const second = await create();
    await expect(create()).rejects.toThrow('no more folders can be watched');
    watches.release(second);
    const third = await create();
    const listened = host.isWatched;
    host.isWatched = () => false;
    watches.left({} as never);
    expect(watches.open(third)).toBeDefined();
    host.isWatched = listened;
    watches.left(creator);
    expect(watches.open(third)).toBeDefined();
    host.isWatched = () => false;
    watches.left(creator);
    expect(watches.open(third)).toBeUndefined();
  });

  it.each([
    ['its connection', (creator: { identity?: object }) => delete creator.identity],
    ['the host', (_: object, watches: Watches) => watches.close()],
  ])('[AHP-249] is over at once when %s closes while the tree is looked through', async (_, end) => {
    const folder = await tempFolder({ 'inner/a.txt': '' });
    const stats = await stat(folder, { bigint: true });
    const creator = { identity: { clientId: 'desk' } };
    const files = {
      at: (_asked: unknown, act: (place: object) => Promise<string>) => {
        const opening = act({ uri: 'file:///f', stats, real: folder });
        end(creator, watches);
        return opening;
      },
    };
    const host = { clock: new FakeClock(), writer: {}, logger: silentLogger, isWatched: () => true };
    const watches = new Watches({ host, files, roots: {} } as never);
    const before = watchersOfSystem();
    const uri = await watches.create(creator as never, { channel: ROOT, uri: 'file:///f', recursive: true });
    expect(watches.open(uri)).toBeUndefined();
    expect(watchersOfSystem()).toBe(before);
  });

  it('[AHP-246] says once in the log that it misses changes, and each time to look at everything again', async () => {
    const folder = await tempFolder({ 'inner/a.txt': '' });
    const stats = await stat(folder, { bigint: true });
    const files = {
      at: (_: unknown, act: (place: object) => Promise<string>) =>
        act({ uri: 'file:///f', stats, real: folder, asked: folder }),
    };
    const warnings: string[] = [];
    const written: unknown[] = [];
    const clock = new FakeClock();
    const host = {
      clock,
      writer: {},
      logger: { log: (_level: string, message: string) => void warnings.push(message) },
      isWatched: () => true,
      unsubscribeAll: () => {},
    };
    const roots = { tableFor: async () => ({ accessTo: () => 'write' }) };
    const watches = new Watches({ host, files, roots, budget: new FolderBudget(2) } as never);
    onTestFinished(() => watches.close());
    const creator = { identity: { clientId: 'desk' } } as never;
    const uri = await watches.create(creator, { channel: ROOT, uri: 'file:///f', recursive: true });
    const channel = watches.open(uri) as unknown as { write(action: unknown): void };
    channel.write = (action) => void written.push(action);
    for (const name of ['more', 'still-more']) {
      const before = written.length;
      await mkdir(path.join(folder, name));
      const isTold = async () => {
        await clock.advance(WATCH_BATCH_MS);
        return written.length > before;
      };
      await expect.poll(isTold, POLL).toBe(true);
    }
    const items = [{ uri: 'file:///f', type: 'updated' }];
    expect(written).toContainEqual({ type: 'resourceWatch/changed', changes: { items } });
    expect(warnings).toEqual(['a watch no longer sees everything']);
  });

  it('[UP-192] ten of them, as VS Code opens, cost ten small answers and no more of the system than they look at', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d${index}/x`, '']));
    const fixture = await openResourceFixture({ files });
    const before = watchersOfSystem();
    const channels: string[] = [];
    for (let index = 0; index < 10; index++) {
      const channel = await create(fixture, index === 0 ? '.' : `d${index}`, { recursive: index === 0 });
      await fixture.client.request('subscribe', { channel });
      channels.push(channel);
    }
    // One for each folder, however many watches look at it.
    expect(watchersOfSystem() - before).toBeLessThanOrEqual(42);
    await writeFile(fixture.path('d3/new'), '');
    await expect.poll(() => told(fixture, channels[3] ?? ''), POLL).toEqual(['added d3/new']);
    await expect.poll(() => told(fixture, channels[0] ?? ''), POLL).toEqual(['added d3/new']);
    expect(fixture.client.envelopes(channels[4] ?? '')).toEqual([]);
    for (const channel of channels) fixture.client.send({ method: 'unsubscribe', params: { channel } });
    await expect.poll(() => watchersOfSystem() - before, POLL).toBe(0);
  });

  it('has a limit for each connection', async () => {
    const fixture = await openResourceFixture();
    for (let index = 0; index < WATCHES_MAX; index++) await create(fixture);
    expect(await fixture.code('createResourceWatch', { uri: fixture.file('.') })).toBe(-32009);
    const phone = await fixture.join('phone');
    await create(fixture, '.', {}, phone);
  });
});

describe('a watch', { timeout: 30_000 }, () => {
  it('[AHP-244] tells of a folder and its children, and not what is deeper', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': '', 'e/y': '' } });
    const channel = await watch(fixture);
    await writeFile(fixture.path('d/deep'), '');
    await writeFile(fixture.path('new'), '');
    await expect.poll(() => told(fixture, channel), POLL).toEqual(['added new']);
    await writeFile(fixture.path('new'), 'more');
    await expect.poll(() => told(fixture, channel).at(-1), POLL).toBe('updated new');
    await rm(fixture.path('new'));
    await expect.poll(() => told(fixture, channel).at(-1), POLL).toBe('deleted new');
    await rm(fixture.folder, { recursive: true });
    await expect
      .poll(() => changes(fixture.client, channel), POLL)
      .toContainEqual({ uri: fixture.file('.'), type: 'deleted' });
    expect(told(fixture, channel).some((text) => text.includes('deep'))).toBe(false);
  });

  it('[AHP-244] tells of everything below when it is recursive, also in folders that come later', async () => {
    const fixture = await openResourceFixture({ files: { 'a/b/x': '' } });
    const channel = await watch(fixture, '.', { recursive: true });
    await writeFile(fixture.path('a/b/x'), 'changed');
    await expect.poll(() => told(fixture, channel), POLL).toEqual(['updated a/b/x']);
    await mkdir(fixture.path('n/e/w'), { recursive: true });
    await writeFile(fixture.path('n/e/w/file'), '');
    const all = ['added n', 'added n/e', 'added n/e/w', 'added n/e/w/file'];
    await expect.poll(() => told(fixture, channel).slice(1).sort(), POLL).toEqual(all);
    await writeFile(fixture.path('n/e/w/file'), 'x');
    await expect.poll(() => told(fixture, channel).at(-1), POLL).toBe('updated n/e/w/file');
    await rename(fixture.path('n'), fixture.path('m'));
    await expect.poll(() => told(fixture, channel), POLL).toContain('added m/e/w/file');
    expect(told(fixture, channel)).toContain('deleted n/e/w/file');
    await writeFile(fixture.path('m/e/w/file'), 'y');
    await expect.poll(() => told(fixture, channel).at(-1), POLL).toBe('updated m/e/w/file');
  });

  it('[AHP-244] sees a file go, come back and be replaced', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '1', 'b.txt': '' } });
    const channel = await watch(fixture, 'a.txt');
    const uri = fixture.file('a.txt');
    await rm(fixture.path('a.txt'));
    await expect.poll(() => changes(fixture.client, channel).at(-1), POLL).toEqual({ uri, type: 'deleted' });
    await writeFile(fixture.path('a.txt'), '2');
    await expect.poll(() => changes(fixture.client, channel).at(-1), POLL).toEqual({ uri, type: 'added' });
    const before = changes(fixture.client, channel).length;
    await fixture.result('resourceWrite', { uri, data: '3', encoding: 'utf-8' });
    await expect.poll(() => changes(fixture.client, channel).slice(before), POLL).toEqual([{ uri, type: 'updated' }]);
    await writeFile(fixture.path('b.txt'), 'other');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(changes(fixture.client, channel).every((change) => change.uri === uri)).toBe(true);
  });

  it("[AHP-244] tells of a file as updated when another folder with that file takes its folder's place", async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': '', 'd/old': '', 'aside/x': '', 'aside/new': '' } });
    await rename(fixture.path('aside'), path.join(fixture.outside, 'aside'));
    const channel = await watch(fixture, '.', { recursive: true });
    renameSync(fixture.path('d'), path.join(fixture.outside, 'gone'));
    renameSync(path.join(fixture.outside, 'aside'), fixture.path('d'));
    const expected = ['added d/new', 'deleted d/old', 'updated d', 'updated d/x'];
    await expect.poll(() => told(fixture, channel).sort(), POLL).toEqual(expected);
  });

  it('[AHP-245] tells what is included and not excluded', async () => {
    const fixture = await openResourceFixture({ files: { 'src/x': '', 'gen/x': '', 'node_modules/m/x': '' } });
    const includes = { items: ['**/*.ts', 'node_modules'] };
    const channel = await watch(fixture, '.', {
      recursive: true,
      includes,
      excludes: { items: ['gen', '**/*.test.ts'] },
    });
    for (const name of ['src/a.ts', 'src/a.js', 'gen/b.ts', 'src/c.test.ts', 'node_modules/m/d', 'last.ts'])
      await writeFile(fixture.path(name), '');
    await expect.poll(() => told(fixture, channel), POLL).toContain('added last.ts');
    expect(told(fixture, channel).sort()).toEqual(['added last.ts', 'added node_modules/m/d', 'added src/a.ts']);
  });

  it('[AHP-245] leaves the insides of node_modules and of the store of Git alone when nothing is included', async () => {
    const fixture = await openResourceFixture({
      files: { 'node_modules/m/x': '', '.git/objects/aa/bb': '', '.git/HEAD': 'ref', 'a/node_modules/m/x': '' },
    });
    const channel = await watch(fixture, '.', { recursive: true });
    for (const name of [
      'node_modules/m/x',
      'node_modules/m/y',
      '.git/objects/aa/cc',
      'a/node_modules/m/y',
      '.git/HEAD',
    ])
      await writeFile(fixture.path(name), 'new');
    await expect.poll(() => told(fixture, channel), POLL).toContain('updated .git/HEAD');
    expect(told(fixture, channel)).toEqual(['updated .git/HEAD']);
    expect(
      await fixture.code('createResourceWatch', { uri: fixture.file('.'), includes: { items: ['{a,b'.repeat(50)] } }),
    ).toBe('ok');
    const tooMany = { items: Array.from({ length: 101 }, () => '*') };
    expect(await fixture.code('createResourceWatch', { uri: fixture.file('.'), excludes: tooMany })).toBe(-32602);
  });

  it('[AHP-246] tells many changes as few, numbered as everything else, and never nothing', async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    await Promise.all(Array.from({ length: 50 }, (_, index) => writeFile(fixture.path(`f${index}`), '')));
    await expect.poll(() => new Set(told(fixture, channel)).size, POLL).toBe(50);
    const envelopes = fixture.client.envelopes(channel);
    expect(envelopes.length).toBeLessThan(25);
    expect(envelopes.every(({ origin, action }) => !origin && action.type === 'resourceWatch/changed')).toBe(true);
    const numbers = fixture.client.received.flatMap(({ params }) => (params?.serverSeq as number) ?? []);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    await writeFile(fixture.path('gone'), '');
    await rm(fixture.path('gone'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const items = fixture.client
      .envelopes(channel)
      .map(({ action }) => (action as never as { changes: { items: [] } }).changes.items);
    expect(items.every((list) => list.length > 0)).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')(
    'lets go of every folder, also of those that it finds while it ends',
    async () => {
      const fixture = await openResourceFixture();
      const before = watchersOfSystem();
      for (let round = 0; round < 4; round++) {
        const channel = await watch(fixture, '.', { recursive: true });
        const made = Array.from({ length: 100 }, (_, index) => fixture.path(`r${round}/d${index}/e`));
        for (const folder of made) mkdirSync(folder, { recursive: true });
        // Somewhere in the middle of finding them.
        await new Promise((resolve) => setTimeout(resolve, WATCH_BATCH_MS + 10 * round));
        fixture.client.send({ method: 'unsubscribe', params: { channel } });
        await expect
          .poll(async () => (await fixture.client.ask('subscribe', { channel })).error?.code, POLL)
          .toBe(-32008);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(watchersOfSystem()).toBe(before);
    },
  );

  it('knows what is there after a storm', { timeout: 120_000 }, async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    writeFileSync(fixture.path('f0'), '');
    // More names than the system remembers events for. A link is one call, a file is three.
    for (let index = 1; index < 20_000; index++) linkSync(fixture.path('f0'), fixture.path(`f${index}`));
    await expect
      .poll(() => changes(fixture.client, channel), POLL)
      .toContainEqual({ uri: fixture.file('.'), type: 'updated' });
    await expect.poll(() => changes(fixture.client, channel).length, POLL).toBeLessThan(5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await rm(fixture.path('f19999'));
    await expect.poll(() => told(fixture, channel).at(-1), POLL).toBe('deleted f19999');
  });

  it('says to look at everything again when too much changes at once', async () => {
    const clock = new FakeClock();
    const fixture = await openResourceFixture({ clock });
    const channel = await watch(fixture);
    for (let index = 0; index <= WATCH_BATCH_MAX_CHANGES; index++) await writeFile(fixture.path(`f${index}`), '');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await clock.advance(100);
    await expect
      .poll(() => changes(fixture.client, channel), POLL)
      .toEqual([{ uri: fixture.file('.'), type: 'updated' }]);
  });

  it('[AHP-247] [AHP-248] tells everybody, and ends with the last who listens', async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    const phone = await fixture.join('phone');
    await phone.request('subscribe', { channel });
    await writeFile(fixture.path('one'), '');
    await expect.poll(() => told(fixture, channel), POLL).toEqual(['added one']);
    await expect.poll(() => told(fixture, channel, phone), POLL).toEqual(['added one']);
    fixture.client.send({ method: 'unsubscribe', params: { channel } });
    await writeFile(fixture.path('two'), '');
    await expect.poll(() => told(fixture, channel, phone), POLL).toEqual(['added one', 'added two']);
    expect(told(fixture, channel)).toEqual(['added one']);
    phone.disconnect();
    await settle();
    expect((await fixture.client.ask('subscribe', { channel })).error?.code).toBe(-32008);
  });

  it('[AHP-248] is unknown once it was unsubscribed from', async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    fixture.client.send({ method: 'unsubscribe', params: { channel } });
    await settle();
    expect((await fixture.client.ask('subscribe', { channel })).error?.code).toBe(-32008);
  });

  it('[AHP-249] ends when nobody ever listens: after a while, or with the connection that opened it', async () => {
    const clock = new FakeClock();
    const fixture = await openResourceFixture({ clock });
    const [unused, used] = [await create(fixture), await create(fixture)];
    await fixture.client.request('subscribe', { channel: used });
    await clock.advance(WATCH_UNUSED_MS - 1);
    const other = await create(fixture);
    await clock.advance(1);
    expect((await fixture.client.ask('subscribe', { channel: unused })).error?.code).toBe(-32008);
    expect((await fixture.client.ask('subscribe', { channel: used })).error).toBeUndefined();
    expect((await fixture.client.ask('subscribe', { channel: other })).error).toBeUndefined();
    const phone = await fixture.join('phone');
    const left = await create(fixture, '.', {}, phone);
    phone.disconnect();
    await settle();
    expect((await fixture.client.ask('subscribe', { channel: left })).error?.code).toBe(-32008);
  });

  it('[AHP-250] [AHP-243] goes on after a lost connection when somebody else kept it, otherwise it is missing', async () => {
    const fixture = await openResourceFixture();
    const [kept, lost] = [await watch(fixture), await watch(fixture)];
    const phone = await fixture.join('phone');
    await phone.request('subscribe', { channel: kept });
    const lastSeenServerSeq = Math.max(
      0,
      ...fixture.client.received.flatMap(({ params }) => (params?.serverSeq as number) ?? []),
    );
    fixture.client.disconnect();
    await writeFile(fixture.path('missed'), '');
    await expect.poll(() => told(fixture, kept, phone), POLL).toEqual(['added missed']);
    const again = new (phone.constructor as typeof RawClient)();
    fixture.host.connect(again.transport);
    const back = await again.request<{ type: string; actions: { channel: string }[]; missing: string[] }>('reconnect', {
      channel: ROOT,
      clientId: 'desk',
      lastSeenServerSeq,
      subscriptions: [kept, lost],
    });
    expect(back.type).toBe('replay');
    expect(back.actions.filter(({ channel }) => channel === kept)).toHaveLength(1);
    expect(back.missing).toEqual([lost]);
    await writeFile(fixture.path('more'), '');
    await expect.poll(() => told(fixture, kept, again), POLL).toEqual(['added more']);
    expect(await again.state(kept)).toEqual({ root: fixture.file('.'), recursive: false });
  });

  it('[AHP-068] ends when what it watches is no longer allowed', async () => {
    const fixture = await openResourceFixture();
    const channel = await watch(fixture);
    await fixture.result('disposeSession', { channel: fixture.uri });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await writeFile(fixture.path('secret'), '');
    await expect.poll(async () => (await fixture.client.ask('subscribe', { channel })).error?.code, POLL).toBe(-32008);
    expect(told(fixture, channel)).toEqual([]);
  });

  it('does not look behind a folder that became a link', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': '' }, outside: { x: '', y: '' } });
    const channel = await watch(fixture, '.', { recursive: true });
    await rename(fixture.path('d'), path.join(fixture.folder, 'was'));
    await symlink(fixture.outside, fixture.path('d'));
    await expect.poll(() => told(fixture, channel), POLL).toContain('added was/x');
    await writeFile(path.join(fixture.outside, 'y'), 'changed');
    await writeFile(fixture.path('end'), '');
    await expect.poll(() => told(fixture, channel), POLL).toContain('added end');
    expect(told(fixture, channel).some((text) => text.endsWith('/y'))).toBe(false);
  });
});
