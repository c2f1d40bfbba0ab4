/**
 * A push service of our own on loopback: real TLS, real encryption. What it was sent is decrypted as a browser would, by a library
 * that shares nothing with the host.
 */
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HostOptions } from '@atrium/host';
import type { NotificationMessage } from '@atrium/protocol/ahp-1';
import { decrypt } from 'http_ece';
import { onTestFinished, vi } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificate.js';
import { tempFolder } from './temp-folder.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestServer {
  readonly url: string;
  readonly received: Received[];
  /** What it answers next, in this order; then 201. */
  readonly answers: (Answer | 'hang' | 'cut')[];
  /** What the host has to be told to reach it. */
  readonly reach: Pick<NonNullable<HostOptions['notifications']>, 'privateHosts' | 'ca'>;
  until(count: number): Promise<Received>;
}

/** Anything that takes POST requests. `secure`: with a certificate that only `reach` makes believable. */
export async function startServer(isSecure = false): Promise<TestServer> {
  const received: Received[] = [];
  const answers: TestServer['answers'] = [];
  const pair = isSecure ? makeCertificate(await tempFolder(), 'push', 'DNS:localhost,IP:127.0.0.1') : undefined;
  const cert = pair && readFileSync(pair.cert, 'utf8');
  const server = pair ? createTlsServer({ cert, key: readFileSync(pair.key) }) : createServer();
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      const answer = answers.shift() ?? { status: 201 };
      if (answer === 'cut') request.socket.destroy();
      else if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = `localhost:${port}`;
  return {
    ...{ received, answers, url: `${isSecure ? 'https' : 'http'}://${host}/` },
    reach: { privateHosts: [host], ...(cert && { ca: cert }) },
    async until(count) {
      await vi.waitFor(() => {
        if (received.length < count) throw new Error(`${received.length} of ${count} requests`);
      }, 10_000);
      return received[count - 1] as Received;
    },
  };
}

/** A browser as far as Web Push goes: its subscription, and how it reads what it gets. */
export class TestBrowser {
  readonly #pair = createECDH('prime256v1');
  readonly #auth = randomBytes(16);

  constructor(readonly endpoint: string) {
    this.#pair.generateKeys();
  }

  get subscription() {
    const keys = { p256dh: this.#pair.getPublicKey('base64url'), auth: this.#auth.toString('base64url') };
    return { endpoint: this.endpoint, keys };
  }

  read({ body }: Received): NotificationMessage {
    const options = { version: 'aes128gcm', privateKey: this.#pair, authSecret: this.#auth.toString('base64url') };
    return JSON.parse(decrypt(body, options).toString('utf8'));
  }
}

/** The claims of a signed request, after the signature was checked with the key that the host tells browsers. */
export function vapidClaims(authorization: string | undefined, publicKey: string): Record<string, unknown> {
  const [, token = '', key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization ?? '') ?? [];
  if (key !== publicKey) throw new Error('signed with another key');
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const jwk = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' } });
  const how = { key: jwk, dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', Buffer.from(`${head}.${claims}`), how, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
