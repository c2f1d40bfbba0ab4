/** Puts a fake gateway on a port of this machine, for providers in other processes. Only in Node. */
import type { Transport } from '@atrium/link';
import { transportOver } from '@atrium/link';

export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

export async function listenOnLoopback(accept: (transport: Transport) => void): Promise<Loopback> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => accept(transportOver(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((done) => {
        for (const client of server.clients) client.terminate();
        server.close(done);
      }),
  };
}
