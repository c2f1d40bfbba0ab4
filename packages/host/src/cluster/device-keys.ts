/**
 * The keys by which devices recognise a cluster: every host derives the same ones from the cluster's secret, so that
 * pages stay signed in and phones still ring when another host takes over. See the decision "a cluster has one key".
 */
import { createPrivateKey, hkdfSync, type KeyObject, scryptSync } from 'node:crypto';
import type { DeviceKeys } from '../host-options.js';
import { VAPID_PRIVATE_BYTES, vapidKeysOf } from '../notifications/web-push.js';

const SALT = 'atrium device keys';
const ED25519_SEED_BYTES = 32;
/** The prefix of the seed in the PKCS #8 form of an Ed25519 key. */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const P256_ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
/**
 * 128 bits more than a private key has, so that after reduction by the order every key is practically equally likely.
 */
const P256_MATERIAL_BYTES = VAPID_PRIVATE_BYTES + 16;

/** Slow on purpose, about a tenth of a second: the public host key must not help to guess the secret. */
const STRETCHING = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };
const STRETCHED_BYTES = 32;

export function clusterDeviceKeys(secret: string): DeviceKeys {
  const stretched = scryptSync(secret, SALT, STRETCHED_BYTES, STRETCHING);
  return { host: hostKeyOf(stretched), push: vapidKeysOf(pushNumber(stretched)) };
}

function hostKeyOf(secret: Buffer): KeyObject {
  const seed = derived(secret, 'host key', ED25519_SEED_BYTES);
  return createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** A number from 1 to one less than the order. */
function pushNumber(secret: Buffer): Buffer {
  const material = derived(secret, 'push key', P256_MATERIAL_BYTES);
  const number = (BigInt(`0x${material.toString('hex')}`) % (P256_ORDER - 1n)) + 1n;
  return Buffer.from(number.toString(16).padStart(2 * VAPID_PRIVATE_BYTES, '0'), 'hex');
}

function derived(secret: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, SALT, purpose, bytes));
}
