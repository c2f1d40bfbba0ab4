import { describe, expect, it } from 'vitest';
import { startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

describe('the member `channel`', () => {
  it('[AHP-010][AHP-011] stands in every notification of the host, and never inside an action', async () => {
    const host = await startHost();
    const client = await host.client('desk');
    const uri = await client.session();
    await client.turn(uri, 'hello');
    await client.request('disposeSession', { channel: uri });
    await settle();
    const notifications = client.received.filter(({ method }) => method !== undefined);
    const methods = new Set(notifications.map(({ method }) => method));
    expect(methods).toEqual(
      new Set(['action', 'root/sessionAdded', 'root/sessionSummaryChanged', 'root/sessionRemoved']),
    );
    for (const { method, params } of notifications) {
      expect([ROOT, uri]).toContain(params?.channel);
      if (method !== 'action') expect(params?.channel).toBe(ROOT);
      const action = (params?.action ?? {}) as Record<string, unknown>;
      expect(Object.keys(action)).not.toContain('channel');
      expect(Object.keys(action)).not.toContain('session');
    }
  });

  it.each(['listSessions', 'resolveSessionConfig', 'ping'])(
    '[AHP-012][AHP-092] %s needs it to be the root, and says so',
    async (method) => {
      const host = await startHost();
      const client = await host.client();
      for (const params of [{}, { channel: 'ahp-session:/1' }, { channel: 7 }, { channel: null }]) {
        const { error } = await client.ask(method, params);
        expect(error).toMatchObject({ code: -32602 });
        expect(error?.message).toContain('channel');
      }
      expect((await client.ask(method, { channel: ROOT })).error).toBeUndefined();
    },
  );

  it.each([
    ['initialize', { protocolVersions: ['0.3.0'], clientId: 'desk' }],
    ['reconnect', { clientId: 'desk', lastSeenServerSeq: 0, subscriptions: [] }],
  ])('[AHP-012] %s needs it too', async (method, params) => {
    const host = await startHost();
    await host.client('desk');
    const client = host.connect();
    for (const channel of [{}, { channel: 'ahp-session:/1' }]) {
      expect((await client.ask(method, { ...params, ...channel })).error).toMatchObject({ code: -32602 });
    }
    expect((await client.ask(method, { ...params, channel: ROOT })).error).toBeUndefined();
  });

  it.each(['subscribe', 'createSession', 'disposeSession', 'fetchTurns'])('[AHP-012] %s needs one', async (method) => {
    const host = await startHost();
    const client = await host.client();
    expect((await client.ask(method, {})).error).toMatchObject({ code: -32602 });
    expect((await client.ask(method, { channel: 5 })).error).toMatchObject({ code: -32602 });
  });
});

describe('results', () => {
  it('[AHP-009] commands without a result answer null', async () => {
    const host = await startHost();
    const client = await host.client();
    const channel = 'ahp-session:/none';
    expect(await client.ask('ping', { channel: ROOT })).toMatchObject({ result: null });
    expect(await client.ask('createSession', { channel })).toMatchObject({ result: null });
    expect(await client.ask('disposeSession', { channel })).toMatchObject({ result: null });
  });
});
