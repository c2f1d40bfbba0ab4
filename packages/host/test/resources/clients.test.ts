/** The other direction: files that only a client has. */
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { CLIENT_REQUEST_TIMEOUT_MS, PUBLISH_MERGE_MS } from '../../src/plugins/formats/limits.js';
import { ClientError, type CustomRoom, openCustomRoom, POLL, servedFiles } from '../support/custom-room.js';
import { FakeClock } from '../support/fake-clock.js';
import type { RawClient } from '../support/test-host.js';

const URI = 'virtual://desk/plugin';
const FILES = { 'rules/a.md': '---\nalwaysApply: true\n---\nShort lines' };

function publish(room: CustomRoom, client: RawClient, nonce = '1'): void {
  const customizations = [{ type: 'plugin', id: 'p1', name: 'Workspace', uri: URI, enabled: true, nonce }];
  const activeClient = { clientId: client.clientId, tools: [], customizations };
  client.dispatch(room.uri, { type: 'session/activeClientChanged', activeClient } as unknown as StateAction);
}

async function loadOf(room: CustomRoom) {
  return (await room.entries()).find(({ id }) => id === 'p1')?.load;
}

const UNREACHABLE = { kind: 'error', message: expect.stringContaining('cannot be read') };

describe('content that a client does not hand out', { timeout: 30_000 }, () => {
  it.each([-32601, -32009, -32603])(
    '[AHP-252] is unreachable when it answers %i, and the session goes on',
    async (code) => {
      const room = await openCustomRoom();
      const phone = await room.join('phone', () => {
        throw new ClientError(code);
      });
      publish(room, phone);
      await expect.poll(() => loadOf(room), POLL).toMatchObject(UNREACHABLE);
      const { finish } = await room.turn();
      finish();
      await room.desk.action(room.uri, 'session/turnComplete');
    },
  );

  it('[AHP-252] is unreachable after ten seconds of silence', async () => {
    expect(CLIENT_REQUEST_TIMEOUT_MS).toBe(10_000);
    const clock = new FakeClock();
    const room = await openCustomRoom({ clock });
    const phone = await room.join('phone');
    publish(room, phone);
    await phone.until(({ method }) => method === 'resourceList');
    await clock.advance(CLIENT_REQUEST_TIMEOUT_MS - 1);
    expect(await loadOf(room)).toMatchObject({ kind: 'loading' });
    const later = async () => {
      await clock.advance(PUBLISH_MERGE_MS);
      return loadOf(room);
    };
    await expect.poll(later, POLL).toMatchObject(UNREACHABLE);
  });

  it('[AHP-252] does not keep the host waiting when the client leaves', async () => {
    const room = await openCustomRoom();
    const phone = await room.join('phone');
    publish(room, phone);
    await phone.until(({ method }) => method === 'resourceList');
    phone.disconnect();
    const entry = async () => (await room.entries()).find(({ id }) => id === 'p1');
    await expect.poll(async () => (await entry())?.load?.kind !== 'loading', POLL).toBe(true);
    const { finish } = await room.turn();
    finish();
    await room.desk.action(room.uri, 'session/turnComplete');
  });

  it('[AHP-253] is not watched there: another nonce says that it changed', async () => {
    const room = await openCustomRoom();
    const files: Record<string, string> = { ...FILES };
    const asked: string[] = [];
    const phone = await room.join('phone', (method, params) => servedFiles(URI, files, asked)(method, params));
    publish(room, phone, '1');
    await expect.poll(() => loadOf(room), POLL).toMatchObject({ kind: 'loaded' });
    files['rules/b.md'] = FILES['rules/a.md'];
    publish(room, phone, '2');
    const names = async () => (await room.entries()).find(({ id }) => id === 'p1')?.children?.map(({ name }) => name);
    await expect.poll(names, POLL).toEqual(['a', 'b']);
    expect(phone.received.filter(({ method }) => method === 'createResourceWatch')).toEqual([]);
    expect(asked.every((request) => /^resource(List|Read) /.test(request))).toBe(true);
  });
});
