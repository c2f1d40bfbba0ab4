import { describe, expect, it } from 'vitest';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { SESSION as ONE, ROOT, summary, OTHER_SESSION as TWO } from './support/states.js';

const THREE = 'ahp-session:/three';

describe('[CLI-024] the list of sessions', () => {
  it('is read once and kept by what the host tells', async () => {
    const { client, host } = await connected();
    const list = await client.sessions();
    const lengths: number[] = [];
    list.onChange((items) => lengths.push(items.length));
    host.notify('root/sessionAdded', { channel: ROOT, summary: summary(THREE) });
    host.notify('root/sessionRemoved', { channel: ROOT, session: TWO });
    host.notify('root/sessionSummaryChanged', { channel: ROOT, session: ONE, changes: { title: 'A', status: 8 } });
    await settle();
    expect(list.items.map(({ resource, title }) => [resource, title])).toEqual([
      [ONE, 'A'],
      [THREE, 'Untitled'],
    ]);
    expect(list.get(ONE)?.status).toBe(8);
    expect(lengths).toEqual([3, 2, 2]);
    expect(host.params('listSessions')).toHaveLength(1);
  });

  it('ignores members in a change that say what a session is', async () => {
    const { client, host } = await connected();
    const list = await client.sessions();
    const changes = { resource: TWO, provider: 'other', createdAt: '2001-01-01T00:00:00.000Z', title: 'A' };
    host.notify('root/sessionSummaryChanged', { channel: ROOT, session: ONE, changes });
    await settle();
    expect(list.get(ONE)).toEqual(summary(ONE, { title: 'A' }));
  });

  it('takes a member away that comes as null', async () => {
    const { client, host } = await connected();
    const list = await client.sessions();
    const change = (changes: object) =>
      host.notify('root/sessionSummaryChanged', { channel: ROOT, session: ONE, changes });
    change({ activity: 'Reading', changes: { files: 1 } });
    change({ activity: null });
    await settle();
    expect(list.get(ONE)).toEqual(summary(ONE, { changes: { files: 1 } }));
  });

  it('ignores changes of sessions that it does not know', async () => {
    const { client, host } = await connected();
    const list = await client.sessions();
    const before = list.items;
    host.notify('root/sessionSummaryChanged', { channel: ROOT, session: THREE, changes: { title: 'A' } });
    host.notify('root/sessionRemoved', { channel: ROOT, session: THREE });
    await settle();
    expect(list.items).toBe(before);
  });

  it('is right when something changes while it is being read', async () => {
    const { client, host } = await connected();
    host.scripts.set('listSessions', () => {
      host.notify('root/sessionAdded', { channel: ROOT, summary: summary(THREE) });
      host.notify('root/sessionRemoved', { channel: ROOT, session: TWO });
      return { items: [summary(ONE), summary(TWO)] };
    });
    const list = await client.sessions();
    expect(list.items.map(({ resource }) => resource)).toEqual([ONE, THREE]);
  });

  it('[CLI-035] of many pages is read again when a session moved from one to another meanwhile', async () => {
    const { client, host } = await connected();
    let reads = 0;
    host.scripts.set('listSessions', ({ cursor }) => {
      if (cursor === undefined) return { items: [summary(ONE)], nextCursor: 'more' };
      reads += 1;
      if (reads > 1) return { items: [summary(TWO)] };
      // It changes, so it now stands on the page that was read already.
      host.notify('root/sessionSummaryChanged', { channel: ROOT, session: TWO, changes: { title: 'A' } });
      return { items: [] };
    });
    const list = await client.sessions();
    expect(list.items.map(({ resource }) => resource)).toEqual([ONE, TWO]);
    expect(reads).toBe(2);
  });

  it('[CLI-035] is not read without end for a session that a host never lists', async () => {
    const { client, host } = await connected();
    host.scripts.set('listSessions', ({ cursor }) => {
      host.notify('root/sessionSummaryChanged', { channel: ROOT, session: THREE, changes: { title: 'A' } });
      return cursor === undefined ? { items: [summary(ONE)], nextCursor: 'more' } : { items: [] };
    });
    expect((await client.sessions()).items).toHaveLength(1);
    expect(host.params('listSessions')).toHaveLength(6);
  });

  it('can be followed with a loop, which ends with it', async () => {
    const { client, host } = await connected();
    const list = await client.sessions();
    const lengths: number[] = [];
    const loop = (async () => {
      for await (const items of list) lengths.push(items.length);
    })();
    await settle();
    host.notify('root/sessionRemoved', { channel: ROOT, session: TWO });
    await settle();
    list.close();
    await loop;
    expect(lengths).toEqual([2, 1]);
    await settle();
    expect(host.params('unsubscribe')).toEqual([]);
  });

  it('that cannot be read fails, and leaves nothing behind', async () => {
    const { client, host } = await connected();
    host.scripts.set('listSessions', () => {
      throw new Refusal(-32603);
    });
    await expect(client.sessions()).rejects.toMatchObject({ name: 'InternalError' });
    await settle();
    expect(host.params('unsubscribe')).toEqual([]);
  });
});
