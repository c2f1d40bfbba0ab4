/** A load balancer in a few lines, for tests and the demonstration: passes each connection on to a host that says it is ready. */
import { request as ask, createServer } from 'node:http';

/**
 * @param {() => readonly number[]} ports of the hosts, on this machine; they are started with `--behind-proxy 127.0.0.1`
 * @param {number} [port] to listen on; 0 is any
 */
export async function startBalancer(ports, port = 0) {
  const server = createServer(async (request, response) => {
    const passed = await passOn(request, ports());
    if (!passed) return void response.writeHead(503).end('No host is ready.\n');
    passed.on('error', () => response.destroy());
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  /** @type {Set<import('node:stream').Duplex>} */
  const sockets = new Set();
  server.on('upgrade', async (request, client) => {
    client.on('error', () => client.destroy());
    const passed = await passOn(request, ports());
    if (!passed) return void client.destroy();
    passed.on('error', () => client.destroy());
    passed.on('response', () => client.destroy());
    passed.on('upgrade', (answer, host, head) => {
      const headers = answer.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`);
      client.write(head);
      for (const socket of [client, host]) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          client.destroy();
          host.destroy();
        });
      }
      client.pipe(host).pipe(client);
    });
    passed.end();
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * The same question for a host that is ready; undefined when none is.
 * @param {import('node:http').IncomingMessage} request @param {readonly number[]} ports
 */
async function passOn({ method, url, headers, socket }, ports) {
  const ready = await portsWhere(ports, ({ isReady }) => isReady);
  const port = ready[turn++ % ready.length];
  if (port === undefined) return undefined;
  const forwarded = { 'x-forwarded-for': socket.remoteAddress ?? '', 'x-forwarded-proto': 'http' };
  return ask({ host: '127.0.0.1', port, method, path: url, headers: { ...headers, ...forwarded } });
}

/** Connections go to the hosts that are ready, one after the other. */
let turn = 0;

/** The port of the host that is active. @param {readonly number[]} ports @returns {Promise<number | undefined>} */
export async function activePort(ports) {
  const [active] = await portsWhere(ports, ({ isReady, text }) => isReady && text === 'active');
  return active;
}

/** @param {readonly number[]} ports @param {(answer: { isReady: boolean, text: string }) => boolean} isWanted */
async function portsWhere(ports, isWanted) {
  const answers = await Promise.all(ports.map(async (port) => ({ port, answer: await readiness(port) })));
  return answers.filter(({ answer }) => isWanted(answer)).map(({ port }) => port);
}

/** What a host says of itself. @param {number} port @returns {Promise<{ isReady: boolean, text: string }>} */
export async function readiness(port) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1_000) });
    return { isReady: response.ok, text: (await response.text()).trim() };
  } catch {
    return { isReady: false, text: 'does not answer' };
  }
}
