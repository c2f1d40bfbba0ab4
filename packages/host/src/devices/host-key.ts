/**
 * The key by which devices recognise this host: Ed25519, made once, in the data folder, readable only by its owner. The
 * decision "the key of the host" says what it protects against, and what it does not.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { lstat, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { NotPrivateError, writePrivateFile } from '@atrium/core/util/secrets.js';
import { HOST_KEY_CONTEXT, type HostKeyAnswer } from '@atrium/protocol/ahp-1';

export const HOST_KEY_FILE = 'host-key';
/** 128 bits: enough that nobody can find another key with the same fingerprint, and short enough to compare. */
const FINGERPRINT_BYTES = 16;
/** A raw Ed25519 key is the end of its DER form. */
const RAW_KEY_BYTES = 32;
const NONCE = /^[\w-]{16,86}$/;

export class HostKey {
  readonly fingerprint: string;
  readonly #publicKey: Buffer;

  constructor(private readonly key: KeyObject) {
    const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
    this.#publicKey = der.subarray(-RAW_KEY_BYTES);
    this.fingerprint = fingerprintOf(this.#publicKey);
  }

  /** Tells this host from others on the same machine; part of its cookie's name. */
  get hostId(): string {
    return this.fingerprint.slice(0, 12);
  }

  /** Signs only proper nonces, never text that somebody else chose; undefined for anything else. */
  answer(nonce: string | undefined): HostKeyAnswer | undefined {
    const known = { fingerprint: this.fingerprint, publicKey: this.#publicKey.toString('base64url') };
    if (nonce === undefined) return known;
    if (!NONCE.test(nonce)) return undefined;
    const signature = sign(null, Buffer.from(HOST_KEY_CONTEXT + nonce), this.key).toString('base64url');
    return { ...known, signature };
  }
}

export function fingerprintOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest().subarray(0, FINGERPRINT_BYTES).toString('hex');
}

/** The key in the data folder; without a folder, a key for this run only. */
export async function hostKey(dataFolder: string | undefined): Promise<HostKey> {
  if (dataFolder === undefined) return new HostKey(generateKeyPairSync('ed25519').privateKey);
  const file = path.join(dataFolder, HOST_KEY_FILE);
  const stats = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (stats) return new HostKey(await readKey(file, stats.mode));
  const { privateKey } = generateKeyPairSync('ed25519');
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  await writePrivateFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return new HostKey(privateKey);
}

/** Refuses a key that others could have read or planted; the person decides what to do with it. */
async function readKey(file: string, mode: number): Promise<KeyObject> {
  const isOpen = process.platform !== 'win32' && (mode & 0o077) !== 0;
  const remedy = 'remove it, and the host makes a new one; devices then see another fingerprint';
  if (isOpen) throw new NotPrivateError(`${file} can be read by other users: ${remedy}`);
  try {
    const key = createPrivateKey(await readFile(file, 'utf8'));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Same remedy as for a key of another kind.
  }
  throw new NotPrivateError(`${file} is not the key of a host: ${remedy}`);
}
