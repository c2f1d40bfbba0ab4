/** The keys by which devices and push services know a cluster, whichever of its hosts is active. */
import { HOST_KEY_PATH } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { clusterDeviceKeys } from '../../src/cluster/device-keys.js';
import { HostKey } from '../../src/devices/host-key.js';
import type { DeviceKeys } from '../../src/host-options.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { vapidHeader } from '../../src/notifications/web-push.js';
import { cookieIn, startDeviceHost } from '../support/device-fixture.js';
import { vapidClaims } from '../support/push-service.js';
import { tempFolder } from '../support/temp-folder.js';

const SECRET = 'the secret of a cluster in a test';
/** The private number of its push key begins with eight zeros, which Node leaves out. */
const SHORT_SECRET = `${SECRET} 306`;
const PUSH = { endpoint: 'https://push.example/1', now: 0, contact: 'mailto:operator@example.org' };

const fingerprint = ({ host }: DeviceKeys) => new HostKey(host).fingerprint;

/** A host with a data folder of its own, on the log that all hosts share. */
async function activeHost(logFolder: string, deviceKeys?: DeviceKeys) {
  const log = await openSqliteLog({ dataDir: logFolder });
  return startDeviceHost({ log, host: { dataFolder: await tempFolder(), ...(deviceKeys && { deviceKeys }) } });
}

/** What the browser of a page was given at a host, and whether it is still let in at the host that took over. */
async function pageAfterTakeOver(deviceKeys?: DeviceKeys) {
  const log = await tempFolder();
  const first = await activeHost(log, deviceKeys);
  const origin = (port: number) => ({ origin: `http://localhost:${port}` });
  const cookie = cookieIn(await first.redeem((await first.invite()).code, origin(first.port)));
  expect(await first.upgrade({ headers: { cookie, ...origin(first.port) } })).toBe(101);
  const known = (await first.ask(HOST_KEY_PATH)).text;
  await first.stop();
  const second = await activeHost(log, deviceKeys);
  return {
    status: await second.upgrade({ headers: { cookie, ...origin(second.port) } }),
    isKnownHost: (await second.ask(HOST_KEY_PATH)).text === known,
  };
}

describe('the device keys of a cluster', () => {
  it('[CLU-041] are made from its secret: the same at every host, others with another secret', () => {
    const keys = clusterDeviceKeys(SECRET);
    expect(fingerprint(clusterDeviceKeys(SECRET))).toBe(fingerprint(keys));
    expect(clusterDeviceKeys(SECRET).push).toEqual(keys.push);
    const others = clusterDeviceKeys(`${SECRET}!`);
    expect(fingerprint(others)).not.toBe(fingerprint(keys));
    expect(others.push.publicKey).not.toBe(keys.push.publicKey);
    expect(keys.host.asymmetricKeyType).toBe('ed25519');
  });

  it('[CLU-041] never change with a release: phones that were let in once know them', () => {
    const { push, host } = clusterDeviceKeys(SECRET);
    expect({ fingerprint: new HostKey(host).fingerprint, publicKey: push.publicKey }).toMatchInlineSnapshot(`
      {
        "fingerprint": "1eab5c5f0090ab04252f3797563c4a67",
        "publicKey": "BI5vnScJ9YfhMvmN9ke2EacjOItyLqU-Egufd24tyR2reQjK938-8EXJJBq9C_h7gqBvGxREhkFIn10Dq7mScoM",
      }
    `);
  });

  it('[CLU-041] sign for push services, also where the private number begins with zeros', () => {
    const { push } = clusterDeviceKeys(SHORT_SECRET);
    expect(Buffer.from(push.privateKey, 'base64url')).toHaveLength(32);
    expect(Buffer.from(push.privateKey, 'base64url')[0]).toBe(0);
    expect(vapidClaims(vapidHeader({ keys: push, ...PUSH }), push.publicKey)).toMatchObject({ sub: PUSH.contact });
  });

  it('[CLU-041] let the page of a device in after another host took over', async () => {
    expect(await pageAfterTakeOver(clusterDeviceKeys(SECRET))).toEqual({ status: 101, isKnownHost: true });
    // What happens with the keys of two data folders.
    expect(await pageAfterTakeOver()).toEqual({ status: 401, isKnownHost: false });
  });
});
