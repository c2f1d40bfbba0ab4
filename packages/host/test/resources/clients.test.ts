/** The other direction: files that only a client has. */
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { CLIENT_REQUEST_TIMEOUT_MS, PUBLISH_MERGE_MS } from '../../src/plugins/formats/limits.js';
import { ClientError, type CustomFixture, openCustomFixture, POLL, servedFiles } from '../support/custom-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import type { RawClient } from '../support/test-host.js';

const URI = 'virtual://desk/plugin';
const FILES = { 'rules/a.md': '---\nalwaysApply: true\n---\nShort lines' };

function publish(fixture: CustomFixture, client: RawClient, nonce = '1'): void {
  const customizations = [{ type: 'plugin', id: 'p1', name: 'Workspace', uri: URI, enabled: true, nonce }];
  const activeClient = { clientId: client.clientId, tools: [], customizations };
  client.dispatch(fixture.uri, { type: 'session/activeClientChanged', activeClient } as unknown as StateAction);
}

async function loadOf(fixture: CustomFixture) {
  return (await fixture.entries()).find(({ id }) => id === 'p1')?.load;
}

const UNREACHABLE = { kind: 'error', message: expect.stringContaining('cannot be read') };

describe('content that a client does not hand out', { timeout: 30_000 }, () => {
  it.each([-32601, -32009, -32603])(
    '[AHP-252] is unreachable when it answers %i, and the session goes on',
    async (code) => {
      const fixture = await openCustomFixture();
      const phone = await fixture.join('phone', () => {
        throw new ClientError(code);
      });
      publish(fixture, phone);
      await expect.poll(() => loadOf(fixture), POLL).toMatchObject(UNREACHABLE);
      const { finish } = await fixture.turn();
      finish();
      await fixture.client.action(fixture.uri, 'session/turnComplete');
    },
  );

  it('[AHP-252] is unreachable after ten seconds of silence', async () => {
    expect(CLIENT_REQUEST_TIMEOUT_MS).toBe(10_000);
    const clock = new FakeClock();
    const fixture = await openCustomFixture({ clock });
    const phone = await fixture.join('phone');
    publish(fixture, phone);
    await phone.until(({ method }) => method === 'resourceList');
    await clock.advance(CLIENT_REQUEST_TIMEOUT_MS - 1);
    expect(await loadOf(fixture)).toMatchObject({ kind: 'loading' });
    const later = async () => {
      await clock.advance(PUBLISH_MERGE_MS);
      return loadOf(fixture);
    };
    await expect.poll(later, POLL).toMatchObject(UNREACHABLE);
  });

  it('[AHP-252] does not keep the host waiting when the client leaves', async () => {
    const fixture = await openCustomFixture();
    const phone = await fixture.join('phone');
    publish(fixture, phone);
    await phone.until(({ method }) => method === 'resourceList');
    phone.disconnect();
    const entry = async () => (await fixture.entries()).find(({ id }) => id === 'p1');
    await expect.poll(async () => (await entry())?.load?.kind !== 'loading', POLL).toBe(true);
    const { finish } = await fixture.turn();
    finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
  });

  it('[AHP-253] is not watched there: another nonce says that it changed', async () => {
    const fixture = await openCustomFixture();
    const files: Record<string, string> = { ...FILES };
    const asked: string[] = [];
    const phone = await fixture.join('phone', (method, params) => servedFiles(URI, files, asked)(method, params));
    publish(fixture, phone, '1');
    await expect.poll(() => loadOf(fixture), POLL).toMatchObject({ kind: 'loaded' });
    files['rules/b.md'] = FILES['rules/a.md'];
    publish(fixture, phone, '2');
    const names = async () =>
      (await fixture.entries()).find(({ id }) => id === 'p1')?.children?.map(({ name }) => name);
    await expect.poll(names, POLL).toEqual(['a', 'b']);
    expect(phone.received.filter(({ method }) => method === 'createResourceWatch')).toEqual([]);
    expect(asked.every((request) => /^resource(List|Read) /.test(request))).toBe(true);
  });
});
