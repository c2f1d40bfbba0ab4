/** A host that is killed, and another one that takes its place at the same port and with the same folder. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../support/gateway-connections.js';
import { stateOf, turnStarted } from '../../support/session-fixture.js';
import { TalkingProcess } from './support/processes.js';
import { type Place, Rig } from './support/rig.js';

const FAITHFUL = fileURLToPath(new URL('./support/faithful.mjs', import.meta.url));

/** Somebody works in the session again, so that what its project declares is started. */
async function reopen({ client }: Rig, { uri, folder, token }: Place): Promise<string> {
  await client.request('subscribe', { channel: uri });
  client.dispatch(uri, turnStarted('again', 'nothing'));
  const file = path.join(folder, 'token');
  return until(() => {
    const found = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return found !== '' && found !== token ? found : undefined;
  });
}

it('[GW-222] [GW-224] forgets its providers with its death; they come in afresh, and nobody has to help them', async () => {
  const first = await Rig.open();
  onTestFinished(() => first.close());
  const place = await first.place();
  const tokenFile = path.join(place.folder, 'token');
  const provider = new TalkingProcess(FAITHFUL, [JSON.stringify({ port: first.gatewayPort, tokenFile })]);
  onTestFinished(() => provider.kill());
  const before = await provider.next<{ providerId: string }>();
  expect(await provider.next()).toEqual({ revision: 1 });

  await first.kill();
  const second = await Rig.open(first);
  onTestFinished(() => second.close());
  // Until the session is there again, its old token is nobody's.
  expect(await provider.next()).toEqual({ code: 'AUTH_FAILED' });
  expect((await second.figures()).providers).toBe(0);
  await reopen(second, place);

  // It showed its old reconnect token, which this host has never given to anybody: it is somebody new.
  let after: { providerId?: string; code?: string } = await provider.next();
  while (after.code === 'AUTH_FAILED') after = await provider.next();
  expect(after.providerId).toMatch(/^p-/);
  expect(after.providerId).not.toBe(before.providerId);
  expect(await provider.next()).toEqual({ revision: 1 });
  const isIdle = async () => (await stateOf(second.client, place.uri)).activeTurn === undefined;
  await expect.poll(isIdle, { timeout: 10_000 }).toBe(true);
  second.client.dispatch(place.uri, turnStarted('work', 'work'));
  const worked = async () => JSON.stringify((await stateOf(second.client, place.uri)).turns).includes('worked');
  await expect.poll(worked, { timeout: 10_000 }).toBe(true);
}, 90_000);
