/** A client that comes by the network, and one that only measures how long the host takes to answer. */
import { performance } from 'node:perf_hooks';
import { WireFrame } from '@atrium/core/wire/frames.js';
import WebSocket from 'ws';
import { RawClient, ROOT } from '../../../support/test-host.js';

async function open(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}

/** The usual client of tests, at the other end of a real socket. */
export async function clientOver(port: number, clientId: string): Promise<{ client: RawClient; close(): void }> {
  const socket = await open(port);
  const client = new RawClient();
  client.transport.start({ message: (text) => socket.send(text), drain: () => {}, closed: () => socket.close() });
  socket.on('message', (data) => client.transport.send([new WireFrame(data.toString())]));
  await client.initialize(clientId);
  return { client, close: () => socket.terminate() };
}

/** Asks one cheap question after the other, and waits for each answer. */
export class Bystander {
  #id = 0;
  #answered = () => {};

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', () => this.#answered());
  }

  static async over(port: number): Promise<Bystander> {
    const bystander = new Bystander(await open(port));
    await bystander.#ask('initialize', { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'phone' });
    return bystander;
  }

  /** Round trips in milliseconds. The pauses between them keep the bystander from being a flood itself. */
  async roundTrips(count: number): Promise<number[]> {
    const trips: number[] = [];
    while (trips.length < count) {
      const began = performance.now();
      await this.#ask('listSessions', { channel: ROOT });
      trips.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return trips;
  }

  close(): void {
    this.socket.terminate();
  }

  #ask(method: string, params: object): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }));
    });
  }
}
