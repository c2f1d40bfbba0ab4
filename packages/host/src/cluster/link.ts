/**
 * The link between hosts: one question and its answer on a TCP connection, in lines of JSON. Both sides prove that they
 * know the secret of the cluster, with a random number from each side. The engine alone decides who may write; nothing
 * about that depends on the link. The link tells whether a host is alive, and whether the engine answers it. Hosts also
 * ask whether they may use the connection for something: to pass a client on, to have a program run, or to let such a
 * program reach what it was lent. After a yes the connection carries that, encrypted.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  LINK_MESSAGE_MAX_BYTES,
  LINK_TIMEOUT_MS,
  LINKS_MAX,
  PROGRAM_STREAMS_MAX,
  RELAY_TIMEOUT_MS,
  RELAYS_MAX,
} from './limits.js';
import { encryptAsAsked, encryptAsAsking } from './relay-encryption.js';
import { type RelayedClient, relayedClient } from './relayed-client.js';

export const DEFAULT_LINK_PORT = 9500;
const NONCE_BYTES = 24;

/** `engine`: does the engine answer you? `look`: look at the others now, because one of them has left. */
export type LinkQuestion = 'engine' | 'look';
/** May I pass a client on to you? */
const RELAY = 'relay';
/** `work`: will you run a program for me? `reach`: may a program that I run for you use what you lent it? */
export type StreamQuestion = 'work' | 'reach';

/** Serves a connection that another host may use. */
export type ServeStream = (stream: TLSSocket) => void;

export interface LinkAddress {
  readonly host: string;
  readonly port: number;
}

/** The active host, and its link address. */
export interface ActiveLink {
  readonly host: string;
  readonly term: number;
  readonly link: string;
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
  /** The address to listen on; undefined means every address of this machine. */
  readonly host: string | undefined;
  readonly port: number;
  readonly secret: string;
  answer(question: LinkQuestion): Promise<boolean> | boolean;
  /** Whether clients of other hosts are accepted now, which only the active host does. */
  takesClients?(): boolean;
  /** Serves a client of another host as if it had connected here. */
  relayed?(stream: TLSSocket, client: RelayedClient): void;
  /** Serves programs, and what they were lent; undefined refuses. `about`: what the other host says about it. */
  serves?(question: StreamQuestion, about: string): Promise<ServeStream | undefined>;
}

interface OpenLinks {
  /** Connections that have not proved yet that they know the secret, oldest first. */
  readonly strangers: Set<Socket>;
  /** Connections that carry clients. */
  readonly relays: Set<Socket>;
  /** Connections for programs. */
  readonly programs: Set<Socket>;
  readonly all: Set<Socket>;
}

export async function listenForLinks(options: LinkServerOptions): Promise<LinkServer> {
  const open: OpenLinks = { strangers: new Set(), relays: new Set(), programs: new Set(), all: new Set() };
  const sets = Object.values(open) as Set<Socket>[];
  const server: Server = createServer({ noDelay: true }, (socket) => {
    makeRoom(open);
    open.strangers.add(socket);
    open.all.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const set of sets) set.delete(socket);
    });
    void serveOne(socket, options, open).catch(() => socket.destroy());
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
        for (const socket of open.all) socket.destroy();
      }),
  };
}

/**
 * If too many connections have not proved themselves, closes the oldest one of the address that has the most. So an
 * attacker cannot keep out the other hosts, which prove themselves at once.
 */
function makeRoom({ strangers }: OpenLinks): void {
  if (strangers.size < LINKS_MAX) return;
  const counts = new Map<string | undefined, number>();
  for (const { remoteAddress: from } of strangers) counts.set(from, (counts.get(from) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const oldest = [...strangers].find(({ remoteAddress: from }) => counts.get(from) === most);
  if (oldest) strangers.delete(oldest.destroy());
}

async function serveOne(socket: Socket, options: LinkServerOptions, open: OpenLinks): Promise<void> {
  const { secret, answer } = options;
  const lines = linesOf(socket, RELAY_TIMEOUT_MS);
  const own = newNonce();
  send(socket, { nonce: own });
  const { nonce, question, proof, client: about = '' } = await lines.next();
  if (typeof nonce !== 'string' || typeof question !== 'string' || typeof about !== 'string') return void socket.end();
  if (!isProof(proof, secret, questionParts(own, nonce, question, about)))
    return void socket.end(lineOf({ refused: 'secret' }));
  open.strangers.delete(socket);
  const isPlain = question === 'engine' || question === 'look';
  const carried = isPlain ? undefined : await carriedBy(question, about, options, open);
  if (!isPlain && carried === 'unknown') return void socket.end();
  const serve = typeof carried === 'object' ? carried : undefined;
  const yes = isPlain ? await answer(question) : serve !== undefined;
  const reply = lineOf({ yes, proof: proofOf(secret, ['answer', own, nonce, String(yes)]) });
  if (!serve) return void socket.end(reply);
  lines.release();
  if (socket.destroyed) return;
  serve.among.add(socket);
  socket.write(reply);
  serve.serve(await encryptAsAsked(socket, { secret, nonces: [own, nonce] }));
}

interface Carried {
  readonly among: Set<Socket>;
  readonly serve: ServeStream;
}

/** What a connection would carry after a yes; undefined for a no, `unknown` for a question that hosts do not ask. */
async function carriedBy(
  question: string,
  about: string,
  { takesClients, relayed, serves }: LinkServerOptions,
  { relays, programs }: OpenLinks,
): Promise<Carried | 'unknown' | undefined> {
  if (question === 'work' || question === 'reach') {
    const serve = programs.size < PROGRAM_STREAMS_MAX ? await serves?.(question, about) : undefined;
    return serve && { among: programs, serve };
  }
  const client = question === RELAY ? relayedClient(about) : undefined;
  if (!client) return 'unknown';
  const mayPass = relays.size < RELAYS_MAX && (takesClients?.() ?? false);
  return mayPass ? { among: relays, serve: (stream) => relayed?.(stream, client) } : undefined;
}

/**
 * `refused`: nothing listens there. `stranger`: something does, but does not know our secret. `silent`: no answer in
 * time.
 */
export type LinkAnswer = 'yes' | 'no' | 'refused' | 'stranger' | 'silent';

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
  const { answer } = await askedOn(linesOf(socket, LINK_TIMEOUT_MS), socket, { secret, question });
  return answer;
}

/**
 * Asks whether a host accepts a client, and returns the encrypted connection for it. Undefined when the host refuses or
 * cannot be reached.
 */
export function openRelay(address: string, secret: string, client: RelayedClient): Promise<TLSSocket | undefined> {
  return openConnection(address, { secret, question: RELAY, client: JSON.stringify(client) });
}

/** Opens an encrypted connection for a program. Undefined when the host refuses or cannot be reached. */
export function openStream(
  address: string,
  secret: string,
  { question, about }: { readonly question: StreamQuestion; readonly about: string },
): Promise<TLSSocket | undefined> {
  return openConnection(address, { secret, question, client: about });
}

async function openConnection(address: string, asked: Asked): Promise<TLSSocket | undefined> {
  const to = linkAddress(address);
  if (!to) return undefined;
  const { secret } = asked;
  const socket = connect({ ...to, noDelay: true });
  try {
    const lines = linesOf(socket, RELAY_TIMEOUT_MS);
    const { answer, nonces } = await askedOn(lines, socket, asked);
    if (answer !== 'yes') throw new Error(answer);
    lines.release();
    return await encryptAsAsking(socket, { secret, nonces });
  } catch {
    socket.destroy();
    return undefined;
  }
}

interface Asked {
  readonly secret: string;
  readonly question: string;
  /** What the question is about, such as a client. Hosts of the first release with it sent clients only. */
  readonly client?: string;
}

async function askedOn(lines: Lines, socket: Socket, { secret, question, client = '' }: Asked) {
  const { nonce: theirs } = await lines.next();
  const own = newNonce();
  if (typeof theirs !== 'string') return { answer: 'stranger' as const, nonces: ['', own] };
  const proof = proofOf(secret, questionParts(theirs, own, question, client));
  socket.write(lineOf({ nonce: own, question, proof, ...(client !== '' && { client }) }));
  const { yes, proof: theirProof } = await lines.next();
  const isTheirs = typeof yes === 'boolean' && isProof(theirProof, secret, ['answer', theirs, own, String(yes)]);
  const answer: LinkAnswer = isTheirs ? (yes ? 'yes' : 'no') : 'stranger';
  return { answer, nonces: [theirs, own] };
}

interface Lines {
  next(): Promise<Readonly<Record<string, unknown>>>;
  /** Stops reading lines: the rest of the socket's data is something else, and stays unread. */
  release(): void;
}

/** Reads the messages of the other side, each with a limit of time and size. */
function linesOf(socket: Socket, timeoutMs: number): Lines {
  let text = '';
  let wake: () => void = () => {};
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake();
  };
  const late = () => void socket.destroy(new Error('no answer in time'));
  const deadline = setTimeout(late, 2 * timeoutMs).unref();
  const closed = () => {
    clearTimeout(deadline);
    fail(new Error('closed'));
  };
  const received = (chunk: Buffer) => {
    // Genuine lines are ASCII; anything else fails its proof.
    text += chunk.toString('latin1');
    if (text.length > LINK_MESSAGE_MAX_BYTES) socket.destroy(new Error('too long'));
    wake();
  };
  socket.setTimeout(timeoutMs, late);
  socket.on('error', fail).on('close', closed).on('data', received);
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
    release() {
      clearTimeout(deadline);
      socket.setTimeout(0, late);
      socket.off('close', closed).off('data', received).pause();
    },
  };
}

function lineOf(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

/** Hosts of earlier releases send no client; without one the proof has their form. */
function questionParts(theirs: string, own: string, question: string, client: string): string[] {
  return ['question', theirs, own, question, ...(client === '' ? [] : [client])];
}

function send(socket: Socket, message: object): void {
  socket.write(lineOf(message));
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
