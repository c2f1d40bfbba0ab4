/**
 * The link between hosts: one question and its answer on a TCP connection, in lines of JSON. Both sides prove that they
 * know the secret of the cluster, over a number of their own and one of the other's. Nothing about safety depends on it:
 * the engine decides who may write. The link tells whether a host is there, and whether the engine answers it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LINK_MESSAGE_MAX_BYTES, LINK_TIMEOUT_MS, LINKS_MAX } from './limits.js';

export const DEFAULT_LINK_PORT = 9500;
const NONCE_BYTES = 24;

/** `engine`: does the engine answer you? `look`: look at the others now, one of them has left. */
export type LinkQuestion = 'engine' | 'look';

export interface LinkAddress {
  readonly host: string;
  readonly port: number;
}

/** Undefined when the text is not a name or address with a port. */
export function linkAddress(text: string): LinkAddress | undefined {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { host, port: Number(port) };
}

export interface LinkServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface LinkServerOptions {
  /** The address to listen on; undefined is every one of this machine. */
  readonly host: string | undefined;
  readonly port: number;
  readonly secret: string;
  answer(question: LinkQuestion): Promise<boolean> | boolean;
}

/** Listens for the other hosts. */
export async function listenForLinks(options: LinkServerOptions): Promise<LinkServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    if (sockets.size >= LINKS_MAX) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    void serveOne(socket, options)
      .catch(() => {})
      .finally(() => socket.end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...(options.host !== undefined && { host: options.host }), port: options.port }, resolve);
  });
  server.on('error', () => {});
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function serveOne(socket: Socket, { secret, answer }: LinkServerOptions): Promise<void> {
  const lines = linesOf(socket);
  const own = newNonce();
  send(socket, { nonce: own });
  const asked = await lines.next();
  const { nonce, question, proof } = asked;
  if (typeof nonce !== 'string' || (question !== 'engine' && question !== 'look')) return;
  if (!isProof(proof, secret, ['question', own, nonce, question])) return send(socket, { refused: 'secret' });
  const yes = await answer(question);
  send(socket, { yes, proof: proofOf(secret, ['answer', own, nonce, String(yes)]) });
}

/** `refused`: nobody listens there. `stranger`: somebody does, who does not know our secret. `silent`: no answer in time. */
export type LinkAnswer = 'yes' | 'no' | 'refused' | 'stranger' | 'silent';

/** Asks another host. */
export async function askLink(address: string, secret: string, question: LinkQuestion): Promise<LinkAnswer> {
  const to = linkAddress(address);
  if (!to) return 'silent';
  const socket = connect(to);
  try {
    return await talk(socket, secret, question);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED' ? 'refused' : 'silent';
  } finally {
    socket.destroy();
  }
}

async function talk(socket: Socket, secret: string, question: LinkQuestion): Promise<LinkAnswer> {
  const lines = linesOf(socket);
  const { nonce: theirs } = await lines.next();
  if (typeof theirs !== 'string') return 'stranger';
  const own = newNonce();
  send(socket, { nonce: own, question, proof: proofOf(secret, ['question', theirs, own, question]) });
  const { yes, proof } = await lines.next();
  if (typeof yes !== 'boolean' || !isProof(proof, secret, ['answer', theirs, own, String(yes)])) return 'stranger';
  return yes ? 'yes' : 'no';
}

/** The messages of the other side, each within its time and its size. */
function linesOf(socket: Socket): { next(): Promise<Readonly<Record<string, unknown>>> } {
  let text = '';
  let wake: () => void = () => {};
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake();
  };
  socket.setTimeout(LINK_TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
  const deadline = setTimeout(() => socket.destroy(new Error('no answer in time')), 2 * LINK_TIMEOUT_MS);
  deadline.unref();
  socket.setEncoding('utf8');
  socket.on('error', fail);
  socket.on('close', () => {
    clearTimeout(deadline);
    fail(new Error('closed'));
  });
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.length > LINK_MESSAGE_MAX_BYTES) socket.destroy(new Error('too long'));
    wake();
  });
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n');
        if (end >= 0) {
          const line = text.slice(0, end);
          text = text.slice(end + 1);
          const message: unknown = JSON.parse(line);
          return typeof message === 'object' && message !== null ? { ...message } : {};
        }
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function send(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

function proofOf(secret: string, parts: readonly string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

function isProof(proof: unknown, secret: string, parts: readonly string[]): boolean {
  if (typeof proof !== 'string') return false;
  const [given, expected] = [Buffer.from(proof), Buffer.from(proofOf(secret, parts))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
