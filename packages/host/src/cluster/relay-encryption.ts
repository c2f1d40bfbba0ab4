/**
 * Encrypts a link that carries a client: TLS with a key that both sides make from the secret of the cluster and the two
 * numbers of this connection. Whoever does not know the secret can neither read nor write nor stand between; what is recorded
 * stays secret when the secret gets out later. No certificates have to be handed out.
 */
import { hkdfSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { RELAY_TIMEOUT_MS } from './limits.js';

const IDENTITY = 'relay';
const KEY_BYTES = 32;
// Node offers keys that both sides know in TLS 1.2 only. ECDHE: a key of its own for each connection.
const TLS = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

export interface SharedKnowledge {
  readonly secret: string;
  /** Of the side that was asked, then of the side that asks. */
  readonly nonces: readonly string[];
}

/** The side that listens. */
export function encryptAsAsked(socket: Socket, known: SharedKnowledge): Promise<TLSSocket> {
  const psk = keyOf(known);
  const stream = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext(TLS),
    // The types of Node leave out what only a server may give.
    ...{ pskCallback: (_stream: TLSSocket, identity: string) => (identity === IDENTITY ? psk : null) },
  });
  return inTime(stream, 'secure');
}

/** The side that asks. */
export function encryptAsAsking(socket: Socket, known: SharedKnowledge): Promise<TLSSocket> {
  const psk = keyOf(known);
  const stream = connect({
    ...TLS,
    socket,
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // The key is the proof of who it is; there is no certificate.
    checkServerIdentity: () => undefined,
  });
  return inTime(stream, 'secureConnect');
}

function keyOf({ secret, nonces }: SharedKnowledge): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, nonces.join(' '), 'atrium relay', KEY_BYTES));
}

function inTime(stream: TLSSocket, event: 'secure' | 'secureConnect'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => stream.destroy(new Error('not encrypted in time')), RELAY_TIMEOUT_MS);
    const failed = () => {
      clearTimeout(timer);
      reject(new Error('the link could not be encrypted'));
    };
    // Stays: whoever uses the stream sees its end by `close`.
    stream.on('error', failed);
    stream.once('close', failed);
    stream.once(event, () => {
      clearTimeout(timer);
      stream.off('close', failed);
      resolve(stream);
    });
  });
}
