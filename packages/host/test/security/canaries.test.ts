/**
 * Everything that opens something is shown to a whole host, in every way in which it may come and in some in which it may not. None
 * of it is in what the host writes down or tells others: its log, the wire log, telemetry, answers, exports, names of files.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  ANSWER_PATH,
  COOKIE_PATH,
  defaultChatUri,
  HOST_KEY_PATH,
  REDEEM_PATH,
  TOKEN_SUBPROTOCOL,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { bearer, startDeviceHost, TOKEN } from '../support/device-fixture.js';
import { startServer, TestBrowser } from '../support/push-service.js';
import { tempFolder } from '../support/temp-folder.js';
import { DEFAULT_SCRIPT, RawClient } from '../support/test-host.js';

const SESSION = 'ahp-session:/canaries';

async function watchedHost() {
  const lines: string[] = [];
  const logger: Logger = {
    hears: () => true,
    log: (level, message, fields) => lines.push(JSON.stringify({ level, message, fields })),
  };
  const dataFolder = await tempFolder();
  const wireLog = path.join(dataFolder, 'wire');
  const collector = await startServer();
  const service = await startServer(true);
  const fixture = await startDeviceHost({
    logger,
    log: await openSqliteLog({ dataDir: dataFolder }),
    host: {
      agents: [scriptedAgent(DEFAULT_SCRIPT)],
      ...{ dataFolder, wireLog, telemetry: { endpoint: collector.url.replace(/\/$/, '') } },
      notifications: { desktop: null, ...service.reach },
    },
  });
  /** By where it is found. */
  const told = async () => {
    const files = await readdir(dataFolder, { recursive: true });
    const wire = await Promise.all((await readdir(wireLog)).map((name) => readFile(path.join(wireLog, name), 'utf8')));
    return {
      log: lines.join('\n'),
      'wire log': wire.join('\n'),
      telemetry: collector.received.map(({ path: at, body }) => at + body.toString()).join('\n'),
      'names of files': files.join('\n'),
    };
  };
  return { ...fixture, service, told };
}

describe('[DEV-004] what opens something', () => {
  it('is in nothing that the host writes down or tells others', async () => {
    const { told, service, ...fixture } = await watchedHost();
    const { host, ask, invite, redeem, open, upgrade, stop } = fixture;
    const owner = new RawClient();
    host.connect(owner.transport);
    await owner.initialize('newest', { protocolVersions: ['1.0.0'] });
    const answers: string[] = [];
    const asked = async (at: string, options?: Parameters<typeof ask>[1]) => {
      const { text, headers } = await ask(at, options);
      answers.push(text, JSON.stringify({ ...headers, 'set-cookie': undefined }));
    };

    await owner.request('createSession', { channel: SESSION });
    const { code, shortCode = '' } = await invite({ name: 'Phone', role: 'driver' });
    const { token } = JSON.parse((await redeem(code)).text) as { token: string };
    const { code: unused } = await invite();
    const share = await owner.request<{ token: string }>('atrium/shareSession', { session: SESSION });
    const browser = new TestBrowser(`${service.url}push/canary-endpoint-0123456789`);
    await owner.request('atrium/setReceiver', { kind: 'push', name: 'browser', subscription: browser.subscription });
    const hook = {
      kind: 'webhook',
      name: 'hook',
      url: `${service.url}hooks/canary-webhook-0123456789`,
      format: 'slack',
    };
    const { secret, receiver } = await owner.request<{ secret: string; receiver: { id: string } }>(
      'atrium/setReceiver',
      hook,
    );
    await owner.request('atrium/testReceiver', { id: receiver.id });

    // Where each may stand, where it may not, and where people put it by mistake.
    for (const each of [TOKEN, token, share.token]) {
      for (const at of [
        `/?token=${each}`,
        `/?tkn=${each}&x=1`,
        `/${each}`,
        `/x.js?token=${each}`,
        `//${each}/?token=${each}`,
      ])
        await asked(at);
      for (const at of [REDEEM_PATH, COOKIE_PATH, ANSWER_PATH]) {
        await asked(`${at}?token=${each}`, { body: { code: each, key: each, name: 'x' } });
        await asked(at, { headers: { ...bearer(each), origin: 'null' }, body: { token: each } });
        await asked(at, { text: `{"code":"${each}"`, headers: bearer(each) });
      }
      await asked(`${HOST_KEY_PATH}?nonce=${each}`);
      await upgrade({ path: `/?token=${each}x` });
      await upgrade({ headers: { cookie: `atrium=${each}`, origin: 'https://evil.example' } });
      await upgrade({ protocols: ['atrium', `${TOKEN_SUBPROTOCOL}${each}y`] });
      const socket = await open({ headers: { ...bearer(each), 'user-agent': 'a browser' } });
      socket.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { channel: 'ahp-root://', clientId: 'c', protocolVersions: ['1.0.0'], token: each },
        }),
      );
      socket.send('not json');
    }
    await redeem(`${unused.slice(0, -1)}A`);
    await redeem(unused);
    const device = new RawClient();
    host.connect(device.transport, host.devices.accessOf(token));
    await device.initialize('device');
    await device.ask('atrium/devices');
    for (const channel of ['ahp-otlp://logs', 'ahp-otlp://traces']) await owner.ask('subscribe', { channel });
    for (const channel of [SESSION, defaultChatUri(SESSION)]) await owner.request('subscribe', { channel });
    owner.dispatch(defaultChatUri(SESSION), {
      type: 'chat/turnStarted',
      turnId: 't1',
      message: { text: 'hello' },
    } as never);
    owner.dispatch(defaultChatUri(SESSION), { type: 'chat/turnCancelled', turnId: 't1' } as never);
    await owner.action(defaultChatUri(SESSION), 'chat/turnCancelled');
    for (const method of [
      'atrium/devices',
      'atrium/shares',
      'atrium/notifications',
      'atrium/chats',
      'atrium/chatTurns',
      'fetchTurns',
    ])
      answers.push(
        JSON.stringify(
          await owner.ask(method, { channel: defaultChatUri(SESSION), session: SESSION, start: 0, count: 9 }),
        ),
      );
    const telemetry = owner.received.filter((message) => JSON.stringify(message).includes('ahp-otlp'));
    await stop();

    const all = { ...(await told()), answers: answers.join('\n'), 'telemetry channels': JSON.stringify(telemetry) };
    expect(all['wire log']).toContain('atrium/setReceiver');
    expect(all.telemetry).toContain('a device was admitted');
    const { keys, endpoint } = browser.subscription;
    const secrets = {
      token,
      code,
      shortCode,
      unused,
      share: share.token,
      secret,
      auth: keys.auth,
      p256dh: keys.p256dh,
    };
    const places = { endpoint: new URL(endpoint).pathname, webhook: new URL(hook.url).pathname };
    for (const [what, text] of Object.entries({ ...secrets, ...places, connection: TOKEN })) {
      expect(text.length, what).toBeGreaterThan(7);
      for (const [where, written] of Object.entries(all))
        expect([what, where, written.includes(text)]).toEqual([what, where, false]);
    }
  });
});
