/**
 * Web Push: a message is encrypted for one browser (RFC 8291, in the coding of RFC 8188), signed by this host (RFC
 * 8292) and handed to the push service of that browser (RFC 8030), which can read none of it.
 */
import { createCipheriv, createECDH, createPrivateKey, hkdfSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PushSubscriptionKeys } from '@atrium/protocol/ahp-1';
import { VAPID_VALID_MS } from './limits.js';

const CURVE = 'prime256v1';
/** An uncompressed point on the curve. */
const PUBLIC_KEY_BYTES = 65;
const AUTH_BYTES = 16;
const SALT_BYTES = 16;
/** One record holds the whole message. */
const RECORD_BYTES = 4_096;
/** Marks the last record. */
const LAST_RECORD = Buffer.from([2]);

/** Random parts, passed only by tests that compare with the example of the standard. */
export interface EncryptionSeed {
  readonly salt: Buffer;
  readonly privateKey: Buffer;
}

/** Throws when the keys are unusable. */
export function encrypt(
  payload: Buffer,
  { p256dh, auth }: PushSubscriptionKeys['keys'],
  seed?: EncryptionSeed,
): Buffer {
  const theirs = Buffer.from(p256dh, 'base64url');
  const secret = Buffer.from(auth, 'base64url');
  const pair = createECDH(CURVE);
  if (seed) pair.setPrivateKey(seed.privateKey);
  else pair.generateKeys();
  const ours = pair.getPublicKey();
  const salt = seed?.salt ?? randomBytes(SALT_BYTES);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours]);
  const shared = derive(pair.computeSecret(theirs), secret, info, 32);
  const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const body = [cipher.update(Buffer.concat([payload, LAST_RECORD])), cipher.final(), cipher.getAuthTag()];
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([salt, size, Buffer.from([ours.length]), ours, ...body]);
}

function derive(key: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, bytes));
}

/** Whether a browser could have these keys: a point on the curve, and a secret of the right length. */
export function areUsableKeys({ p256dh, auth }: PushSubscriptionKeys['keys']): boolean {
  if (![p256dh, auth].every((text) => /^[\w-]+={0,2}$/.test(text))) return false;
  const point = Buffer.from(p256dh, 'base64url');
  if (point.length !== PUBLIC_KEY_BYTES || Buffer.from(auth, 'base64url').length !== AUTH_BYTES) return false;
  try {
    const pair = createECDH(CURVE);
    pair.generateKeys();
    return pair.computeSecret(point).length > 0;
  } catch {
    return false;
  }
}

/** The keys by which push services recognise this host, both as base64url: a point and a number. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The length of a private key. Node omits leading zeros, which one key in 256 has. */
export const VAPID_PRIVATE_BYTES = 32;

export function newVapidKeys(): VapidKeys {
  const pair = createECDH(CURVE);
  pair.generateKeys();
  return vapidKeysOf(pair.getPrivateKey());
}

/** The keys for a private number, which may lack its leading zeros. */
export function vapidKeysOf(privateNumber: Uint8Array): VapidKeys {
  const pair = createECDH(CURVE);
  pair.setPrivateKey(privateNumber);
  const padded = Buffer.concat([Buffer.alloc(VAPID_PRIVATE_BYTES), privateNumber]).subarray(-VAPID_PRIVATE_BYTES);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: padded.toString('base64url') };
}

export interface VapidFacts {
  readonly keys: VapidKeys;
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How the push service reaches the people who run this host: `mailto:` or `https:`. */
  readonly contact: string;
}

/** The value of the `Authorization` header. */
export function vapidHeader({ keys, endpoint, now, contact }: VapidFacts): string {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor((now + VAPID_VALID_MS) / 1_000), sub: contact };
  const text = [{ typ: 'JWT', alg: 'ES256' }, claims].map(encoded).join('.');
  const signature = sign('sha256', Buffer.from(text), { key: signingKey(keys), dsaEncoding: 'ieee-p1363' });
  return `vapid t=${text}.${signature.toString('base64url')}, k=${keys.publicKey}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signingKey({ publicKey, privateKey }: VapidKeys): KeyObject {
  const point = Buffer.from(publicKey, 'base64url');
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d: privateKey } });
}
