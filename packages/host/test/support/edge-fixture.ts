/** A host that stands by before a real host: the link between them, and the port at which clients are passed on. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type EdgeOptions, startEdge } from '../../src/cluster/edge.js';
import { type LinkServerOptions, listenForLinks } from '../../src/cluster/link.js';
import type { RunningServer } from '../../src/server/server.js';
import { TOKEN } from './device-fixture.js';

export const LINK_SECRET = 'secret-of-the-link-in-tests';

/** Listens for clients of other hosts, and gives them to the server. */
export async function linkTo(server: RunningServer, options: Partial<LinkServerOptions> = {}): Promise<string> {
  const links = await listenForLinks({
    ...{ host: '127.0.0.1', port: 0, secret: LINK_SECRET, answer: () => true },
    takesClients: () => server.isAccepting,
    relayed: (stream, client) => server.takeRelayed(stream, client),
    ...options,
  });
  onTestFinished(() => links.close());
  return `127.0.0.1:${links.port}`;
}

export interface EdgeBefore extends Partial<EdgeOptions> {
  readonly link: string;
}

/** An edge that knows the active host by its link. */
export async function edgeBefore({ link, ...options }: EdgeBefore) {
  let active: { host: string; term: number; link: string } | undefined = { host: 'a', term: 1, link };
  const edge = await startEdge({
    ...{ host: 'localhost', port: 0, policy: { token: TOKEN, isGenerated: true }, secret: LINK_SECRET },
    logger: { log: () => {} },
    active: () => active,
    state: () => (active ? `stand-by; ${active.host} is active` : 'stand-by'),
    ...options,
  });
  onTestFinished(() => edge.close());
  return {
    edge,
    port: edge.port,
    /** Another host is active, or none. */
    activate(next: typeof active): void {
      active = next;
    },
  };
}

/** A way to a port on this machine that can be closed and held. */
export async function cuttable(to: string) {
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect(Number(to.split(':')[1]), '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('data', (chunk) => isHeld || other.write(chunk));
      socket.on('close', () => {
        sockets.delete(socket);
        if (!isHeld) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  const { port } = server.address() as { port: number };
  return {
    link: `127.0.0.1:${port}`,
    cut,
    /** Takes everything and passes nothing on, as a network does that drops packets. */
    hold(yes: boolean): void {
      isHeld = yes;
    },
  };
}
