/** Requests that take a while: their client hears how far they are, and stops them. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { WorkStep } from '@atrium/core/contracts/work.js';
import { systemClock } from '@atrium/core/util/clock.js';
import type { Connection } from '@atrium/core/wire/connection.js';
import { LongWork, WATCHED_MAX } from '@atrium/core/wire/long-work.js';
import { CANCEL_WORK_METHOD, REWIND_METHOD, UNDO_REWIND_METHOD } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { capture } from '../../src/workspace/changes/capture.js';
import { changeOf } from '../../src/workspace/changes/change.js';
import { carryOut, planAll } from '../../src/workspace/changes/put-files.js';
import { fromText } from '../../src/workspace/git/byte-path.js';
import { nativeClient } from '../support/native-client.js';
import { RewindFixture } from '../support/rewind-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

const stepsTold = (client: RawClient, token: string) =>
  client.received
    .filter(({ method, params }) => method === 'root/progress' && params?.progressToken === token)
    .map(({ params }) => [params?.progress, params?.total, params?.message]);

async function changedFiles(count: number) {
  const folder = await tempFolder({});
  const fixture = await RewindFixture.open({ folder });
  const turnId = await fixture.turn('write', async (call) => {
    for (let at = 0; at < count; at += 1) await call('write_file', { path: `${at}.txt`, content: 'agent\n' });
  });
  return { folder, fixture, turnId };
}

describe('work that takes a while', { timeout: 30_000 }, () => {
  it('[DAY-051] tells its client how far it is, the last word being its end', async () => {
    const { folder, fixture, turnId } = await changedFiles(12);
    const { client } = fixture;
    const other = await nativeClient(fixture.host, 'other');
    const { files } = await fixture.rewind(turnId, 'files', { progressToken: 'w1' });
    expect(files).toBe(12);
    const told = stepsTold(client, 'w1');
    expect(told[0]).toEqual([0, 12, 'Putting files back']);
    expect(told.at(-1)).toEqual([12, 12, 'Putting files back']);
    expect(stepsTold(other, 'w1')).toEqual([]);
    await client.request(UNDO_REWIND_METHOD, { channel: fixture.uri, progressToken: 'w1' });
    expect(await readFile(path.join(folder, '3.txt'), 'utf8')).toBe('agent\n');
  });

  it('[DAY-051] is stopped by its client only, and before it began nothing has changed', async () => {
    const { folder, fixture, turnId } = await changedFiles(3);
    const { client } = fixture;
    const other = await nativeClient(fixture.host, 'other');
    const params = { channel: fixture.chat, turnId, what: 'both', progressToken: 'w2' };
    const answer = client.ask(REWIND_METHOD, params);
    expect(await other.request(CANCEL_WORK_METHOD, { progressToken: 'w2' })).toEqual({ wasRunning: false });
    const isStopped = await client.request<{ wasRunning: boolean }>(CANCEL_WORK_METHOD, { progressToken: 'w2' });
    const { error, result } = await answer;
    // The stop may have come too late; then the rewind is done as a whole.
    if (isStopped.wasRunning && error) {
      expect(error.message).toBe('it was stopped');
      expect(await readFile(path.join(folder, '0.txt'), 'utf8')).toBe('agent\n');
      expect(await fixture.said()).toEqual(['write']);
      expect(await fixture.chats()).toHaveLength(1);
    } else expect(result).toMatchObject({ message: expect.stringContaining('Took back 1 turn') });
    expect(await client.request(CANCEL_WORK_METHOD, { progressToken: 'w2' })).toEqual({ wasRunning: false });
  });

  it('[DAY-051] that is stopped in the middle leaves the rest as it is, and says which', async () => {
    const root = await tempFolder(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}`, 'new'])));
    const blobs = new FileBlobStore(await tempFolder());
    const before = await capture(root, fromText('0'), blobs);
    await writeFile(path.join(root, 'old'), 'old');
    const old = await capture(root, fromText('old'), blobs);
    const wanted = Array.from({ length: 40 }, (_, at) => ({
      path: fromText(`${at}`),
      changes: [changeOf(fromText(`${at}`), before, old)],
    }));
    const stopping = new AbortController();
    const told: WorkStep[] = [];
    const report = (step: WorkStep) => {
      told.push(step);
      if (step.done === 3) stopping.abort();
    };
    const plan = await planAll(root, wanted, blobs);
    const { done, refused } = await carryOut(root, plan, blobs, { signal: stopping.signal, report });
    expect(done.size).toBeGreaterThanOrEqual(3);
    expect(done.size).toBeLessThan(40);
    expect(refused).toHaveLength(40 - done.size);
    expect(refused[0]?.why).toBe('it was stopped before');
    for (let at = 0; at < 40; at += 1) {
      const expected = done.has(fromText(`${at}`)) ? 'old' : 'new';
      expect(await readFile(path.join(root, `${at}`), 'utf8')).toBe(expected);
    }
    expect(told[0]).toEqual({ done: 0, total: 40, message: 'Putting files back' });
  });

  it('[DAY-051] has a name of its own, and there is only so much of it', async () => {
    const { fixture } = await changedFiles(1);
    const { client } = fixture;
    const ask = (progressToken: unknown) => client.ask('atrium/findImports', { progressToken });
    for (const token of ['', 'x'.repeat(257), 7])
      expect((await ask(token)).error?.message).toContain('/progressToken must be a string of at most 256 characters');
    const work = new LongWork(systemClock, { notifyOne: () => {} });
    const connection = {} as Connection;
    const run = (progressToken: string) => work.run(connection, { progressToken }, () => new Promise(() => {}));
    for (let at = 0; at < WATCHED_MAX - 1; at += 1) void run(`w${at}`);
    await expect(run('w0')).rejects.toThrow('/progressToken is in use by another running request');
    void run('last');
    await expect(run('more')).rejects.toThrow(`no more than ${WATCHED_MAX} requests`);
  });
});
