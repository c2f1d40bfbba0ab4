import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../src/sessions/session.js';
import { SessionTrust } from '../../src/trust/session-trust.js';
import { TrustedFolders } from '../../src/trust/trust.js';
import { houseOf } from '../support/house.js';
import { until } from '../support/provider-door.js';
import { openRoom, type Room, stateOf, turnStarted } from '../support/session-room.js';
import { tempFolder } from '../support/temp-folder.js';
import { settle } from '../support/test-host.js';
import { v1Client } from '../support/v1.js';

interface TrustRoom extends Room {
  readonly session: Session;
  readonly folder: string;
  /** Where trusted folders are remembered. */
  readonly file: string;
  readonly folders: TrustedFolders;
}

async function openTrustRoom(): Promise<TrustRoom> {
  const base = await tempFolder();
  const folder = path.join(base, 'project');
  await mkdir(folder);
  const room = await openRoom({ session: { workingDirectory: pathToFileURL(folder).href } });
  const session = houseOf(room.host.host).sessions.inMemory.get(room.uri);
  if (!session) throw new Error('the session is not in memory');
  const file = path.join(base, 'trusted.json');
  return { ...room, session, folder, file, folders: new TrustedFolders(file) };
}

function question({ desk, uri }: Room) {
  return until(async () => (await stateOf(desk, uri)).inputRequests?.find(({ id }) => id.startsWith('trust-')));
}

describe('trust in a folder', () => {
  it('is asked for once, whatever waits, and remembered', async () => {
    const room = await openTrustRoom();
    const started: string[] = [];
    const trust = new SessionTrust(room.session, room.folders);
    const first = await Promise.all(
      ['one', 'two'].map((what) => trust.whenTrusted(what, () => started.push(what))),
    ).then(() => question(room));
    await trust.whenTrusted('three', () => started.push('three'));
    const asked = await until(async () => {
      const found = await question(room);
      return found.message?.includes('- three') ? found : undefined;
    });
    expect(asked.id).toBe(first.id);
    expect((await stateOf(room.desk, room.uri)).inputRequests).toHaveLength(1);
    expect(started).toEqual([]);
    expect([...trust.waiting].sort()).toEqual(['one', 'three', 'two']);
    room.desk.dispatch(room.uri, { type: 'session/inputCompleted', requestId: asked.id, response: 'accept' });
    await until(() => started.length === 3 || undefined);
    expect(await room.folders.isTrusted(room.folder)).toBe(true);
    await trust.whenTrusted('four', () => started.push('four'));
    expect(started).toContain('four');
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
  });

  it.each(['decline', 'cancel'] as const)('is not asked for again when somebody said no (%s)', async (response) => {
    const room = await openTrustRoom();
    const refused: string[] = [];
    const trust = new SessionTrust(room.session, room.folders);
    const wait = (what: string) =>
      trust.whenTrusted(
        what,
        () => {},
        () => refused.push(what),
      );
    await wait('one');
    const { id } = await question(room);
    room.desk.dispatch(room.uri, { type: 'session/inputCompleted', requestId: id, response });
    await settle();
    await wait('two');
    await settle();
    expect(refused).toEqual(['one', 'two']);
    expect(trust.waiting).toEqual(['one', 'two']);
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
    expect(await room.folders.isTrusted(room.folder)).toBe(false);
  });

  it('is asked for in words of the host: what the folder says stays on its line', async () => {
    const room = await openTrustRoom();
    const trust = new SessionTrust(room.session, room.folders);
    onTestFinished(() => trust.close());
    await trust.whenTrusted(`provider ci: node\n\nThis folder was checked. Please accept.${'x'.repeat(300)}`, () => {});
    const lines = (await question(room)).message?.split('\n') ?? [];
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^- provider ci: node This folder was checked\..*…$/);
  });

  it('may be given elsewhere; then nobody is asked any more', async () => {
    const room = await openTrustRoom();
    let isStarted = false;
    const trust = new SessionTrust(room.session, room.folders);
    await trust.whenTrusted('one', () => {
      isStarted = true;
    });
    await question(room);
    await room.folders.trust(room.folder);
    await until(() => isStarted || undefined);
    await settle();
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
  });

  it('may be given by another process while somebody is asked', async () => {
    const room = await openTrustRoom();
    let isStarted = false;
    const trust = new SessionTrust(room.session, room.folders);
    onTestFinished(() => trust.close());
    await trust.whenTrusted('one', () => {
      isStarted = true;
    });
    await question(room);
    await new TrustedFolders(room.file).trust(room.folder);
    await until(() => isStarted || undefined);
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
  });

  it('[UNI-065] is asked for in the next turn, too, when somebody has a client without questions', async () => {
    const room = await openTrustRoom();
    const phone = await v1Client(room.host, 'phone');
    await phone.subscribe(room.uri.replace('ahp-session:', 'mock:'));
    const trust = new SessionTrust(room.session, room.folders);
    await trust.whenTrusted('provider ci: node ci.js', () => {});
    await question(room);
    room.desk.dispatch(room.uri, turnStarted('t1', 'slow'));
    await until(() => JSON.stringify(phone.envelopes()).includes('provider ci: node ci.js') || undefined);
    expect(JSON.stringify(phone.envelopes())).toContain('cannot answer');
  });

  it('is of no use any more when its session ends', async () => {
    const room = await openTrustRoom();
    let isStarted = false;
    const trust = new SessionTrust(room.session, room.folders);
    await trust.whenTrusted('one', () => {
      isStarted = true;
    });
    await question(room);
    trust.close();
    await room.folders.trust(room.folder);
    await settle();
    expect(isStarted).toBe(false);
  });

  it('starts nothing when its session ended while the folder was looked up', async () => {
    const room = await openTrustRoom();
    await room.folders.trust(room.folder);
    let isStarted = false;
    const trust = new SessionTrust(room.session, room.folders);
    const looked = trust.whenTrusted('one', () => {
      isStarted = true;
    });
    trust.close();
    await looked;
    expect(isStarted).toBe(false);
  });
});
