/**
 * `atrium bridge`: standard input and output as a client's connection to the host of this machine, one JSON message in each
 * line. `ssh://` addresses run it on the other machine: it opens no port, and the token stays on that machine.
 */
import { once } from 'node:events';
import { type Transport, webSocketTransport } from '@atrium/client';
import { io } from '../io.js';
import type { HostOptions } from './host-options.js';
import { BRIDGE_READY, lines } from './lines.js';
import { findAddress, tokened } from './reach.js';

/** How much may wait for a slow reader; more ends the connection, and the client resumes on another one. */
export const UNREAD_MAX_BYTES = 64 * 2 ** 20;

export async function bridge(options: HostOptions): Promise<void> {
  const transport = await webSocketTransport(tokened(await findAddress(options)))();
  const { stdin, stdout } = io();
  stdout.write(`${BRIDGE_READY}\n`);
  const closed = new Promise<void>((resolve) => transport.onClose(() => resolve()));
  transport.onMessage((text) => {
    stdout.write(`${text}\n`);
    if (stdout.writableLength > UNREAD_MAX_BYTES) transport.close();
  });
  const read = sendLines(transport);
  await Promise.race([closed, read]);
  transport.close();
  stdin.destroy();
  if (stdout.writableNeedDrain) await once(stdout, 'drain');
}

async function sendLines(transport: Transport): Promise<void> {
  for await (const line of lines(io().stdin)) transport.send(line);
}
