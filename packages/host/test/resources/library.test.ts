import { writeFile } from 'node:fs/promises';
import { connect, RequestError } from '@atrium/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { transportTo } from '../support/library.js';
import { openResourceRoom } from '../support/resource-room.js';

describe('the client library', () => {
  it('reads, writes, lists and watches files', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': 'A' } });
    const client = await connect({ clientId: 'phone', transport: () => transportTo(room.host) });
    onTestFinished(() => client.close());
    const uri = room.file('a.txt');
    expect(await client.request('resourceRead', { uri })).toMatchObject({ data: 'A', encoding: 'utf-8' });
    await client.request('resourceWrite', { uri, data: 'B', encoding: 'utf-8', mode: 'append' });
    expect((await client.request('resourceList', { uri: room.file('.') })).entries).toEqual([
      { name: 'a.txt', type: 'file' },
    ]);
    const denied = client.request('resourceRead', { uri: room.file(room.outside) });
    await expect(denied).rejects.toBeInstanceOf(RequestError);
    const { channel } = await client.request('createResourceWatch', { uri: room.file('.') });
    const watch = await client.subscribe(channel, { kind: 'resourceWatch' });
    expect(watch.state).toEqual({ root: room.file('.'), recursive: false });
    const actions = watch.actions();
    await writeFile(room.path('b.txt'), '');
    const { value } = await actions.next();
    expect(value?.action).toEqual({
      type: 'resourceWatch/changed',
      changes: { items: [{ uri: room.file('b.txt'), type: 'added' }] },
    });
  });
});
