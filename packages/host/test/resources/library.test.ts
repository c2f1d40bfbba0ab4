import { writeFile } from 'node:fs/promises';
import { connect, RequestError } from '@atrium/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { transportTo } from '../support/library.js';
import { openResourceFixture } from '../support/resource-fixture.js';

describe('the client library', () => {
  it('reads, writes, lists and watches files', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'A' } });
    const client = await connect({ clientId: 'phone', transport: () => transportTo(fixture.host) });
    onTestFinished(() => client.close());
    const uri = fixture.file('a.txt');
    expect(await client.request('resourceRead', { uri })).toMatchObject({ data: 'A', encoding: 'utf-8' });
    await client.request('resourceWrite', { uri, data: 'B', encoding: 'utf-8', mode: 'append' });
    expect((await client.request('resourceList', { uri: fixture.file('.') })).entries).toEqual([
      { name: 'a.txt', type: 'file' },
    ]);
    const denied = client.request('resourceRead', { uri: fixture.file(fixture.outside) });
    await expect(denied).rejects.toBeInstanceOf(RequestError);
    const { channel } = await client.request('createResourceWatch', { uri: fixture.file('.') });
    const watch = await client.subscribe(channel, { kind: 'resourceWatch' });
    expect(watch.state).toEqual({ root: fixture.file('.'), recursive: false });
    const actions = watch.actions();
    await writeFile(fixture.path('b.txt'), '');
    const { value } = await actions.next();
    expect(value?.action).toEqual({
      type: 'resourceWatch/changed',
      changes: { items: [{ uri: fixture.file('b.txt'), type: 'added' }] },
    });
  });
});
