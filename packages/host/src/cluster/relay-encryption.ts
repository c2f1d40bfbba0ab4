/**
 * Encrypts a link that carries a client: TLS with a key that both sides derive from the secret of the cluster and the
 * two random numbers of this connection. Without the secret, nobody can read, write or intercept it; recorded traffic
 * stays confidential even if the secret leaks later. No certificates have to be distributed.
 */
import { hkdfSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { RELAY_TIMEOUT_MS } from './limits.js';

const IDENTITY = 'relay';
const KEY_BYTES = 32;
// Node offers pre-shared keys only in TLS 1.2. ECDHE gives each connection a key of its own.
const TLS = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

export interface SharedKnowledge {
  readonly secret: string;
  /** That of the listening side comes first. */
  readonly nonces: readonly string[];
}

/** For the listening side. */
export function encryptAsAsked(socket: Socket, known: SharedKnowledge): Promise<TLSSocket> {
  const psk = keyOf(known);
  const stream = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext(TLS),
    // Node's types omit this option of servers.
    ...{ pskCallback: (_stream: TLSSocket, identity: string) => (identity === IDENTITY ? psk : null) },
  });
  return inTime(stream, 'secure');
}

/** For the connecting side. */
export function encryptAsAsking(socket: Socket, known: SharedKnowledge): Promise<TLSSocket> {
  const psk = keyOf(known);
  const stream = connect({
    ...TLS,
    socket,
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // The key proves the identity; there is no certificate.
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
    // Stays attached: users of the stream see its end by `close`.
    stream.on('error', failed);
    stream.once('close', failed);
    stream.once(event, () => {
      clearTimeout(timer);
      stream.off('close', failed);
      resolve(stream);
    });
  });
}
