/** Sessions whose folder not every host sees. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { checkAdmission } from '../../src/cluster/admission.js';
import { folderPlaces } from '../../src/cluster/folder-places.js';
import { addVolume, VOLUME_FILE } from '../../src/cluster/volumes.js';
import { createHost } from '../../src/host.js';
import { nativeSession, nativeTurn } from '../support/native-client.js';
import { describeWithEngine, freshCluster, onEngine } from '../support/postgres.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient } from '../support/test-host.js';

const A = { hostId: 'a', machine: 'one' };
const B = { hostId: 'b', machine: 'two' };

/** A folder on a volume, as `atrium cluster volume` marks it. */
async function volumeWith(name: string, id = 'volume-id-0000-1') {
  const volume = await tempFolder();
  const folder = path.join(volume, name);
  await mkdir(folder);
  await writeFile(path.join(volume, VOLUME_FILE), `${id}\n`);
  return { volume, folder };
}

/** A log whose close does not end it: the next host goes on with it. */
class SharedLog extends MemoryLog {
  override async close(): Promise<void> {}
}

async function hostWith(log: MemoryLog, places: FolderPlaces) {
  const agent = new PuppetAgent();
  const host = await createHost({ log, agents: [agent], folderPlaces: places });
  const client = new RawClient();
  host.connect(client.transport);
  await client.initialize('person', { protocolVersions: ['1.0.0'] });
  return { host, agent, client };
}

async function sessionIn(folder: string, log: MemoryLog) {
  const { host, agent, client } = await hostWith(log, folderPlaces(A));
  const workingDirectories = [pathToFileURL(folder).href];
  const session = await nativeSession(client, { provider: 'puppet', workingDirectories });
  void agent.turn(0).then(({ turn, finish }) => {
    turn.text('done here');
    finish();
  });
  await nativeTurn(client, session.chat, 'begin');
  await host.stop();
  return session;
}

/** What came of a turn at another host, and what could be read there before. */
async function turnAt(places: FolderPlaces, chat: string, log: MemoryLog) {
  const { host, agent, client } = await hostWith(log, places);
  await client.request('subscribe', { channel: chat });
  const before = JSON.stringify((await client.state<ChatState>(chat)).turns);
  void agent.turn(0).then(({ finish }) => finish());
  const id = await nativeTurn(client, chat, 'go on');
  const turn = (await client.state<ChatState>(chat)).turns.find((found) => found.id === id);
  await host.stop();
  const error = turn?.responseParts.find(({ kind }) => kind === 'error');
  return { before, error: error?.kind === 'error' ? error.error : undefined, openings: agent.openings.length };
}

describe('a session whose folder is not everywhere', () => {
  it('[CLU-031] is readable where nobody sees its volume, and its turn is refused with the volume that it waits for', async () => {
    const { volume, folder } = await volumeWith('project');
    const log = new SharedLog();
    const { chat } = await sessionIn(folder, log);
    // Another disk is mounted there, or none: the path is there all the same.
    await rename(path.join(volume, VOLUME_FILE), path.join(volume, 'aside'));
    const { before, error, openings } = await turnAt(folderPlaces(B), chat, log);
    expect(before).toContain('done here');
    expect(error).toMatchObject({
      errorType: 'folder-elsewhere',
      message: expect.stringContaining('volume-id-0000-1'),
    });
    expect(error?.message).toContain('host b does not see');
    expect(openings).toBe(0);
    await writeFile(path.join(volume, VOLUME_FILE), 'another-id-00001\n');
    expect((await turnAt(folderPlaces(B), chat, log)).error?.errorType).toBe('folder-elsewhere');
    await rm(folder, { recursive: true });
    expect((await turnAt(folderPlaces(B), chat, log)).error?.errorType).toBe('folder-elsewhere');
    await mkdir(folder);
    await rename(path.join(volume, 'aside'), path.join(volume, VOLUME_FILE));
    expect(await turnAt(folderPlaces(B), chat, log)).toMatchObject({ error: undefined, openings: 1 });
  });

  it('[CLU-031] waits for its own host when the folder is of that machine alone, and goes on at another host of it', async () => {
    const folder = await tempFolder();
    const log = new SharedLog();
    const { chat } = await sessionIn(folder, log);
    const elsewhere = await turnAt(folderPlaces(B), chat, log);
    expect(elsewhere.error?.message).toContain('on the machine of host a (one), and host b does not see it');
    expect(elsewhere.before).toContain('done here');
    expect((await turnAt(folderPlaces({ ...B, machine: 'one' }), chat, log)).error).toBeUndefined();
    // The host has moved with its disk.
    expect((await turnAt(folderPlaces({ ...B, machine: 'three' }), chat, log)).error).toBeUndefined();
  });

  it('[CLU-031] goes on anywhere below the folder that all hosts share, and in one whose place nobody knows', async () => {
    const sharedDir = await tempFolder();
    const folder = path.join(sharedDir, 'worktrees');
    await mkdir(folder);
    expect(await folderPlaces({ ...A, sharedDir }).placeOf(folder)).toBeUndefined();
    expect(await folderPlaces({ ...A, sharedDir: path.join(sharedDir, 'other') }).placeOf(folder)).toBeDefined();
    const log = new SharedLog();
    const { chat } = await sessionIn(folder, log);
    for (const { key } of await log.records('folder:'))
      await log.append({ entries: [], records: [{ key, value: null }], durability: 'normal' });
    expect((await turnAt(folderPlaces(B), chat, log)).error).toBeUndefined();
    expect(await log.records('folder:')).toMatchObject([{ value: expect.stringContaining('"host":"b"') }]);
  });
});

describeWithEngine('a host that does not see every shared folder', () => {
  it('[CLU-031] [CLU-028] starts without one, but not with another disk in its place, nor without the one of --shared-dir', async () => {
    const url = await freshCluster();
    const place = await tempFolder();
    await onEngine(url, async (engine) => {
      const { id } = await addVolume(engine, place);
      const admitted = async (sharedDir?: string) =>
        checkAdmission({ engine, hostId: 'b', dataDir: await tempFolder(), token: 'token', sharedDir });
      expect(await admitted(path.join(place, '.atrium'))).toEqual({ missing: [] });
      await rm(path.join(place, VOLUME_FILE));
      expect(await admitted()).toEqual({ missing: [{ id, path: place }] });
      expect((await admitted(`${place}-beside`)).missing).toHaveLength(1);
      await expect(admitted(path.join(place, '.atrium'))).rejects.toThrow('--shared-dir is on it');
      await writeFile(path.join(place, VOLUME_FILE), 'another-id-00001\n');
      await expect(admitted()).rejects.toThrow('not the folder that the other hosts share');
    });
  });
});
