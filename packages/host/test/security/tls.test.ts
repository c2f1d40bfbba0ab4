/** TLS on the port of the host, with real certificates and sockets. One server serves all cases that can share it. */
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  type CertificateFiles,
  hasOpenssl,
  makeCertificate,
  replacePair,
} from '../../../../test/support/certificate.js';
import { TLS_CHECK_MS } from '../../src/server/limits.js';
import { type RunningServer, startServer } from '../../src/server/server.js';
import { readTlsPair } from '../../src/server/tls-files.js';
import { ask, echo, TestClock, TOKEN } from '../wire/transports/support.js';

const HANDSHAKE_MS = 1_500;

/** Knows how often the files have been looked at: the next look is planned when the last one is over. */
class CountingClock extends TestClock {
  looks = 0;

  override after(milliseconds: number, callback: () => void): () => void {
    if (milliseconds === TLS_CHECK_MS) this.looks += 1;
    return super.after(milliseconds, callback);
  }
}

const isWindows = process.platform === 'win32';

describe.skipIf(!hasOpenssl)('TLS (skipped where there is no openssl to make certificates)', () => {
  const clock = new CountingClock();
  const log = vi.fn();
  let folder: string;
  let files: CertificateFiles;
  let server: RunningServer;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'atrium-tls-'));
    files = makeCertificate(folder, 'first', 'DNS:agents.example,DNS:localhost,IP:127.0.0.1');
    await chmod(files.key, 0o600);
    server = await startServer({
      host: '127.0.0.1',
      policy: { token: TOKEN, allowedHosts: ['agents.example'] },
      tls: files,
      clock,
      logger: { log },
      onConnection: echo,
    });
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  interface Dialled {
    readonly port?: number;
    readonly ca?: string;
    readonly host?: string;
    readonly origin?: string;
  }

  async function dial({ port = server.port, ...options }: Dialled = {}): Promise<WebSocket> {
    const { host = `localhost:${port}`, ca = await readFile(files.cert, 'utf8'), origin } = options;
    const websocket = new WebSocket(`wss://127.0.0.1:${port}/?token=${TOKEN}`, {
      ca,
      headers: { host },
      ...(origin !== undefined && { origin }),
    });
    onTestFinished(() => websocket.terminate());
    return websocket;
  }

  async function opened(options?: Dialled): Promise<WebSocket> {
    const websocket = await dial(options);
    await once(websocket, 'open');
    return websocket;
  }

  async function handshake(options: { maxVersion?: SecureVersion; minVersion?: SecureVersion } = {}) {
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  }

  const shownName = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN;
  const said = () => JSON.stringify(log.mock.calls);

  it('[DEV-051] serves clients over wss, and the page of its own https origin only', async () => {
    expect(await ask(await opened(), 'hello')).toBe('hello');
    const own = await opened({ origin: `https://localhost:${server.port}` });
    expect(await ask(own, 'from the page')).toBe('from the page');
    const named = { host: `agents.example:${server.port}`, origin: `https://agents.example:${server.port}` };
    expect(await ask(await opened(named), 'by name')).toBe('by name');
    for (const origin of [`http://localhost:${server.port}`, 'https://localhost', 'https://evil.test']) {
      const [, response] = await once(
        (await dial({ origin })).on('error', () => {}),
        'unexpected-response',
      );
      expect([origin, response.statusCode]).toEqual([origin, 403]);
    }
  });

  it('[DEV-051] speaks TLS 1.2 and 1.3, and nothing older', async () => {
    expect((await handshake({ maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
    expect((await handshake()).getProtocol()).toBe('TLSv1.3');
    await expect(handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow();
  });

  it('[DEV-051] does not answer on the port without TLS', async () => {
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await once(socket, 'close');
    expect(text).not.toContain('HTTP/1.1');
  });

  it('[DEV-051] cuts off a handshake that takes too long, and strangers in one keep nobody out', async () => {
    // A server of its own: on a busy machine an honest handshake of the other tests would take too long as well.
    const impatient = await startServer({
      host: '127.0.0.1',
      policy: { token: TOKEN },
      tls: files,
      limits: { tlsHandshakeTimeoutMs: HANDSHAKE_MS, unadmitted: 3 },
      onConnection: echo,
    });
    onTestFinished(() => impatient.close());
    const slow = Array.from({ length: 5 }, () => connectTcp(impatient.port, '127.0.0.1'));
    for (const socket of slow) socket.on('error', () => {}).resume();
    const closed = Promise.all(slow.map((socket) => once(socket, 'close')));
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    slow.forEach((socket) => void socket.write(Buffer.from([0x16, 0x03, 0x01])));
    const meanwhile = await opened({ port: impatient.port });
    expect(await ask(meanwhile, 'served meanwhile')).toBe('served meanwhile');
    await closed;
  });

  it('[DEV-051] takes a new pair for new connections, and drops none of the old ones', async () => {
    const before = await opened();
    const next = makeCertificate(folder, 'second');
    const fresh = { cert: await readFile(next.cert, 'utf8'), key: await readFile(next.key, 'utf8') };
    await replacePair(files, fresh);
    await lookAgain();
    expect(said()).toContain('new certificate in use');
    const after = await handshake();
    expect([shownName(after), after.getProtocol()]).toEqual(['second', 'TLSv1.3']);
    await expect(handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow();
    expect(await ask(before, 'still here')).toBe('still here');
    expect(said()).not.toContain('PRIVATE KEY');
  });

  it.each([
    ['another key', (key: string) => makeOther(key), 'is not the key of the certificate'],
    ['half a file', (key: string) => key.slice(0, 60), 'cannot be used with'],
    ['an empty file', () => '', 'cannot be used with'],
  ])('[DEV-051] keeps the old pair when the new one is bad, and says so once: %s', async (_, change, words) => {
    const good = await readFile(files.key, 'utf8');
    const shown = shownName(await handshake());
    log.mockClear();
    await writeFile(files.key, await change(good));
    for (let looks = 0; looks < 3; looks += 1) await lookAgain();
    const errors = log.mock.calls.filter(([level]) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.[1]).toMatch(/^the old certificate stays in use: --tls-/);
    expect(errors[0]?.[1]).toContain(words);
    expect(shownName(await handshake())).toBe(shown);
    await writeFile(files.key, good);
    await lookAgain();
    expect(said()).not.toContain('new certificate');
  });

  async function makeOther(_key: string): Promise<string> {
    return readFile(makeCertificate(folder, 'third').key, 'utf8');
  }

  async function lookAgain(): Promise<void> {
    const { looks } = clock;
    clock.advance(TLS_CHECK_MS);
    await vi.waitFor(() => expect(clock.looks).toBe(looks + 1), 10_000);
  }

  it('[DEV-055] tells browsers to stay with TLS, for a name, and for no address', async () => {
    const hsts = async (host: string) => {
      const sent = request({
        host: '127.0.0.1',
        port: server.port,
        rejectUnauthorized: false,
        headers: { host },
      }).end();
      const [response] = await once(sent, 'response');
      response.resume();
      return [response.statusCode, response.headers['strict-transport-security']];
    };
    expect(await hsts('agents.example')).toEqual([200, 'max-age=15552000']);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) expect(await hsts(host)).toEqual([200, undefined]);
    expect(await hsts('evil.test')).toEqual([403, undefined]);
  });

  describe('files that cannot be used', () => {
    const start = (tls: CertificateFiles) =>
      startServer({ host: '127.0.0.1', policy: { token: TOKEN }, tls, onConnection: echo });

    it('[DEV-051] end the start with an error that says which one and what to do', async () => {
      const one = makeCertificate(folder, 'one');
      const other = makeCertificate(folder, 'other');
      await expect(start({ cert: one.cert, key: other.key })).rejects.toThrow(
        `--tls-key: ${other.key} is not the key of the certificate in ${one.cert}`,
      );
      await expect(start({ cert: one.key, key: one.key })).rejects.toThrow(/holds no certificate\. Give a PEM file/);
      await expect(start({ cert: `${folder}/no`, key: one.key })).rejects.toThrow(
        `--tls-cert: ${folder}/no cannot be read (ENOENT)`,
      );
      await expect(start({ cert: one.cert, key: folder })).rejects.toThrow(/--tls-key: .* (is not a file|EISDIR)/);
    });

    it('[DEV-051] are larger than any certificate', async () => {
      const one = makeCertificate(folder, 'large');
      await writeFile(one.cert, 'x'.repeat(256 * 2 ** 10 + 1));
      await expect(start(one)).rejects.toThrow('is larger than 262144 bytes');
    });

    it.skipIf(isWindows)(
      '[DEV-051] a key that others can read, and a date that has passed, are warned about',
      async () => {
        const one = makeCertificate(folder, 'open');
        await chmod(one.key, 0o640);
        expect((await readTlsPair(one)).warnings).toEqual([]);
        await chmod(one.key, 0o644);
        const years = Date.now() + 10 ** 11;
        expect((await readTlsPair(one, years)).warnings).toEqual([
          `every user of this machine can read or change the key ${one.key}: chmod 600 ${one.key}`,
          expect.stringMatching(/^the certificate has expired/),
        ]);
        expect((await readTlsPair(one, 0)).warnings[1]).toMatch(/^the certificate is not valid before/);
      },
    );
  });
});
