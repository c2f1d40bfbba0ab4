/**
 * Makes this program a device of another host: checks that the host has the key that the link names, sends it the code
 * of the
 * link, and stores the token that comes back in a file that only its owner can read.
 */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { makeFolder, writePrivateFile } from '@atrium/host/folders';
import {
  type DeviceLink,
  HOST_KEY_CONTEXT,
  HOST_KEY_PATH,
  REDEEM_PATH,
  shownFingerprint,
} from '@atrium/protocol/ahp-1';
import { isConfirmed } from '../confirm.js';
import { tell } from '../io.js';

/** In the data folder: one file for each host that this program is a device of. */
const FOLDER = 'hosts';
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');
const TIMEOUT_MS = 15_000;
const ONLY_HERE = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/;

/** Asks the person first if others can read along. Throws when the host has another key, or refuses the code. */
export async function becomeDevice(link: DeviceLink, dataDir: string): Promise<void> {
  const { address, code, fingerprint } = link;
  const told = await hostFingerprint(address);
  const both = `  in the link:  ${shownFingerprint(fingerprint)}\n  of this host: ${shownFingerprint(told)}`;
  if (told !== fingerprint)
    throw new Error(`${address} is not the host that the link is from. Nothing was sent.\n${both}`);
  if (address.startsWith('http:') && !ONLY_HERE.test(address)) {
    const question = `The connection to ${address} is not encrypted. Does its owner see this key?\n${both}\nGo on?`;
    if (!(await isConfirmed(question))) throw new Error('Nothing was sent.');
  }
  const token = await redeem(address, code);
  await keep(dataDir, address, { token, fingerprint });
  tell(`This machine is a device of ${address} now. Its token is in ${fileOf(dataDir, address)}`);
}

/** The token from an earlier link to this host; undefined if there was none. */
export async function deviceTokenFor(url: string, dataDir: string): Promise<string | undefined> {
  const address = new URL(url.replace(/^ws/, 'http')).origin;
  const text = await readFile(fileOf(dataDir, address), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { token } = JSON.parse(text) as { token?: unknown };
    return typeof token === 'string' ? token : undefined;
  } catch {
    return undefined;
  }
}

/** The host proves that it has the key: it signs a nonce that nobody could know before. */
async function hostFingerprint(address: string): Promise<string> {
  const nonce = randomBytes(24).toString('base64url');
  const answer = await ask(`${address}${HOST_KEY_PATH}?nonce=${nonce}`, {});
  const { publicKey = '', signature = '' } = (await answer.json().catch(() => ({}))) as Record<string, string>;
  const raw = Buffer.from(String(publicKey), 'base64url');
  const signed = Buffer.from(HOST_KEY_CONTEXT + nonce);
  const isRight =
    raw.length === 32 &&
    verify(
      null,
      signed,
      createPublicKey({ key: Buffer.concat([ED25519_DER, raw]), format: 'der', type: 'spki' }),
      Buffer.from(String(signature), 'base64url'),
    );
  if (!isRight) throw new Error(`${address} does not show a key as hosts of ours do: is the address right?`);
  return createHash('sha256').update(raw).digest('hex').slice(0, 32);
}

async function redeem(address: string, code: string): Promise<string> {
  const answer = await ask(`${address}${REDEEM_PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, name: `atrium on ${hostname()}` }),
  });
  const { token, error } = (await answer.json().catch(() => ({}))) as { token?: unknown; error?: unknown };
  if (typeof token === 'string') return token;
  throw new Error(`${address} refused the code: ${typeof error === 'string' ? error : `status ${answer.status}`}`);
}

async function ask(url: string, options: RequestInit): Promise<Response> {
  const { origin } = new URL(url);
  try {
    return await fetch(url, { ...options, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`${origin} cannot be reached: ${cause}`);
  }
}

async function keep(dataDir: string, address: string, kept: object): Promise<void> {
  await makeFolder(path.join(dataDir, FOLDER), { mode: 0o700 });
  await writePrivateFile(fileOf(dataDir, address), `${JSON.stringify({ address, ...kept })}\n`);
}

/** The file name contains no token, and only characters that are legal in file names. */
function fileOf(dataDir: string, address: string): string {
  return path.join(dataDir, FOLDER, `${address.replace(/^https?:\/\//, '').replaceAll(/[^\w.-]/g, '_')}.json`);
}
