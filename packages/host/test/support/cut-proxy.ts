/** A way to the engine that breaks when it is told to, in one of the two places that matter. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** `question`: what is sent next does not arrive. `answer`: it arrives, and the answer is lost. */
export type Cut = 'question' | 'answer';

export async function cutProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let next: Cut | undefined;
  let isClosed = false;
  const server = createServer((client) => {
    if (isClosed) return void client.destroy();
    const engine = connect({ host: hostname, port: Number(port) });
    const end = () => {
      client.destroy();
      engine.destroy();
    };
    for (const socket of [client, engine]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      if (next === 'question') {
        next = undefined;
        return end();
      }
      engine.write(data);
    });
    engine.on('data', (data) => {
      if (next === 'answer') {
        next = undefined;
        return end();
      }
      client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cutAll();
    server.close();
  });
  return {
    url: url.href,
    cutNext: (where: Cut) => {
      next = where;
    },
    /** Nothing gets through until `open`. */
    close: () => {
      isClosed = true;
      cutAll();
    },
    open: () => {
      isClosed = false;
    },
  };
}
