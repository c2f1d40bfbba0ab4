/** Changesets as clients of AHP 1.0 see them: kinds, reviewed files, and operations that run or have failed. */
import { rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { ChangesetState, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { ChangesFixture, type ChangesFixtureOptions, edit, gitIn, repository } from '../support/changes-fixture.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient } from '../support/native-client.js';
import { refusalOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

const POLL = { timeout: 15_000 };

async function openNative(options: ChangesFixtureOptions) {
  const fixture = await ChangesFixture.open(options);
  const client = await nativeClient(fixture.host, 'editor');
  await client.request('subscribe', { channel: fixture.uri });
  return { fixture, client };
}

/** The files that count as reviewed in a view, by their names. */
async function reviewed(client: RawClient, view: string): Promise<readonly string[]> {
  const { files } = await client.state<ChangesetState>(view);
  return files.filter((file) => file.reviewed).map(({ id }) => path.basename(id));
}

const review = (file: string, isReviewed = true) => ({
  ...{ type: 'changeset/filesReviewChanged', files: [file], reviewed: isReviewed },
});

async function changed(): Promise<string> {
  const folder = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await edit(folder, 'a.txt', 'A\n');
  await edit(folder, 'b.txt', 'B\n');
  return folder;
}

describe('a changeset, for a client of 1.0', { timeout: 60_000 }, () => {
  it('[UP-178] is listed with what kind of changes it holds, the turns that its name asks for, and that files can be reviewed', async () => {
    const { fixture, client } = await openNative({ folder: await changed() });
    const listed = async () => (await client.state<SessionState>(fixture.uri)).changesets ?? [];
    await expect.poll(async () => (await listed()).length, POLL).toBe(4);
    const kinds = (await listed()).map(({ changeKind }) => changeKind);
    expect(kinds).toEqual(['uncommitted', 'session', 'turn', 'compare-turns']);
    const variables = (await listed()).map(({ uriTemplate }) => uriTemplate.match(/\{\w+\}/g));
    expect(variables).toEqual([null, null, ['{turnId}'], ['{originalTurnId}', '{modifiedTurnId}']]);
    for (const { capabilities } of await listed()) expect(capabilities).toEqual({ review: {} });
  });

  it('[UP-143] [UP-180] remembers which files a person has reviewed, until they change', async () => {
    const folder = await changed();
    const { fixture, client } = await openNative({ folder });
    const view = fixture.view('uncommitted');
    await fixture.shown('uncommitted', ({ files }) => files.length === 2);
    const [a, b] = [fixture.uriOf('a.txt'), fixture.uriOf('b.txt')];
    expect(await refusalOf(client, view, review('file:///else'))).toContain('there is no file file:///else');
    expect(await refusalOf(client, view, review(a))).toBeUndefined();
    expect(await refusalOf(client, view, review(b))).toBeUndefined();
    expect(await reviewed(client, view)).toEqual(['a.txt', 'b.txt']);
    // What is staged is still the same change.
    gitIn(folder, 'add', 'b.txt');
    await edit(folder, 'a.txt', 'Z\n');
    await expect.poll(() => reviewed(client, view), POLL).toEqual(['b.txt']);
    expect(await refusalOf(client, view, review(b, false))).toBeUndefined();
    expect(await reviewed(client, view)).toEqual([]);
  });

  it('[UP-180] keeps reviews while nobody watches, and over a restart of the host', async () => {
    const folder = await changed();
    const log = new KeptLog();
    const first = await openNative({ folder, log });
    const { uri, data } = first.fixture;
    const view = first.fixture.view('uncommitted');
    await first.fixture.shown('uncommitted', ({ files }) => files.length === 2);
    expect(await refusalOf(first.client, view, review(first.fixture.uriOf('a.txt')))).toBeUndefined();
    await first.fixture.host.stop();
    const { client } = await openNative({ folder, data, log, uri });
    await expect.poll(() => reviewed(client, view), POLL).toEqual(['a.txt']);
  });

  it('[UP-144] shows that an operation runs, and that it is done', async () => {
    const { fixture, client } = await openNative({ folder: await changed() });
    const view = fixture.view('uncommitted');
    await fixture.shown('uncommitted', ({ files }) => files.length === 2);
    await client.request('subscribe', { channel: view });
    await fixture.invoke('uncommitted', 'stage');
    const statuses = () =>
      client.envelopes(view).flatMap(({ action }) => {
        const { type, operationId, status } = action as { type: string; operationId?: string; status?: string };
        return type === 'changeset/operationStatusChanged' ? [`${operationId} ${status}`] : [];
      });
    await expect.poll(statuses, POLL).toEqual(['stage running', 'stage idle']);
  });

  it('[UP-144] says why an operation failed, until the next one runs', async () => {
    const folder = await repository();
    await edit(folder, 'sub/s.txt', 's\n');
    const { fixture, client } = await openNative({ folder });
    const turnId = await fixture.turn((call) => call('shell', { command: 'echo changed > sub/s.txt' }));
    const outside = await tempFolder({ 's.txt': 'changed\n' });
    await rename(path.join(folder, 'sub'), path.join(folder, 'moved'));
    await symlink(outside, path.join(folder, 'sub'));
    await fixture.shown(`turn/${turnId}`);
    const { message } = await fixture.refusal(`turn/${turnId}`, 'revert');
    const { operations = [] } = await client.state<ChangesetState>(fixture.view(`turn/${turnId}`));
    expect(operations).toContainEqual(expect.objectContaining({ id: 'revert', status: 'error' }));
    expect(operations.find(({ id }) => id === 'revert')?.error?.message).toBe(message);
  });
});

describe('a changeset, for clients of versions below 1.0', { timeout: 60_000 }, () => {
  it.each(['0.9.0', '0.7.0', '0.6.0'])('[UP-143] is reviewed by clients of %s as by others', async (version) => {
    const { fixture, client } = await openNative({ folder: await changed() });
    const older = await nativeClient(fixture.host, 'older', { protocolVersions: [version] });
    const view = fixture.view('uncommitted');
    await fixture.shown('uncommitted', ({ files }) => files.length === 2);
    expect(await refusalOf(older, view, review(fixture.uriOf('a.txt')))).toBeUndefined();
    expect(await reviewed(older, view)).toEqual(['a.txt']);
    expect(await reviewed(client, view)).toEqual(['a.txt']);
  });

  it.each(['0.5.2', '0.5.1'])('[UP-223] is not reviewed by clients of %s, which cannot say it', async (version) => {
    const { fixture } = await openNative({ folder: await changed() });
    const older = await nativeClient(fixture.host, 'older', { protocolVersions: [version] });
    const view = fixture.view('uncommitted');
    await fixture.shown('uncommitted', ({ files }) => files.length === 2);
    expect(await refusalOf(older, view, review(fixture.uriOf('a.txt')))).toContain('filesReviewChanged');
  });
});
