/**
 * `ssh://user@host[:port]`: reaches the host of another machine by running `atrium bridge` there with this machine's
 * ssh, keys
 * and configuration; ssh asks its usual questions. The messages go through ssh's own pipes: neither machine opens a
 * port, and
 * the connection token never leaves the other one.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@atrium/client';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { printable } from '../text/printable.js';
import { BRIDGE_READY, lines } from './lines.js';

export interface SshAddress {
  /** As ssh takes it: `user@host`, or a name of its configuration. */
  readonly destination: string;
  readonly port: string | undefined;
}

/** How many lines a shell may print before the bridge starts. */
const PREAMBLE_LINES_MAX = 1_000;
const COMPLAINT_MAX_CHARACTERS = 2_000;
/** The exit code of shells for an unknown command. */
const NOT_FOUND = 127;
const SSH_FAILED = 255;
const FORM = 'Write it as ssh://user@host or ssh://user@host:22';

export function isSshAddress(text: string): boolean {
  return /^ssh:\/\//i.test(text);
}

/** Refuses addresses that ssh could read as an option, or a shell as syntax. */
export function parseSshAddress(text: string): SshAddress {
  const [, user, host, port] =
    /^ssh:\/\/(?:(\w[\w.+-]*)@)?(\w[\w.-]*|\[[\da-f:.%\w]+\])(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
  if (host === undefined) throw new UsageError(`"${printable(text)}" is no address for ssh. ${FORM}`);
  const name = host.replace(/^\[|\]$/g, '');
  return { destination: user === undefined ? name : `${user}@${name}`, port };
}

export interface SshOptions {
  /** How Atrium is called on the other machine. */
  readonly remoteCommand: string;
  /** ssh must not ask anything, because a chat has the screen. */
  readonly isSilent: boolean;
}

type Ssh = ChildProcessByStdio<Writable, Readable, Readable>;

export async function sshTransport(address: SshAddress, { remoteCommand, isSilent }: SshOptions): Promise<Transport> {
  const { destination, port } = address;
  const args = [
    ...['-T', '-o', 'ClearAllForwardings=yes', '-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3'],
    ...(isSilent ? ['-o', 'BatchMode=yes'] : []),
    ...(port === undefined ? [] : ['-p', port]),
    ...['--', destination, `${remoteCommand} bridge`],
  ];
  const child: Ssh = spawn('ssh', args, { env: io().env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
  // The end of the process reports failed writes.
  child.stdin.on('error', () => {});
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-COMPLAINT_MAX_CHARACTERS);
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(notStarted(error)));
    // `close` comes after all output has been read.
    child.once('close', (code) => reject(failure(address, { code, complaint, remoteCommand })));
  });
  ended.catch(() => {});
  const messages = lines(child.stdout);
  try {
    await Promise.race([untilReady(messages), ended]);
  } catch (error) {
    child.kill();
    throw error;
  }
  return transportOf(child, messages);
}

async function untilReady(messages: AsyncGenerator<string>): Promise<void> {
  for (let left = PREAMBLE_LINES_MAX; left > 0; left -= 1) {
    const { value, done } = await messages.next();
    if (value === BRIDGE_READY) return;
    // The end of the process says why.
    if (done) return new Promise(() => {});
  }
  throw new Error('the other machine says much, but nothing of Atrium: what its shell prints at its start is too long');
}

function transportOf(child: Ssh, messages: AsyncGenerator<string>): Transport {
  const end = once(child, 'close');
  return {
    send: (text) => void child.stdin.write(`${text}\n`),
    close: () => {
      child.stdin.end();
      child.kill();
    },
    onMessage: (listener) => void deliver(messages, listener).catch(() => child.kill()),
    onClose: (listener) => void end.then(() => listener({ reason: 'the connection by ssh has ended' })),
  };
}

async function deliver(messages: AsyncGenerator<string>, listener: (text: string) => void): Promise<void> {
  for await (const text of messages) listener(text);
}

function notStarted({ code, message }: NodeJS.ErrnoException): Error {
  if (code === 'ENOENT') return new Error('ssh is not installed here, or not on the PATH');
  return new Error(`ssh cannot be started: ${message}`);
}

interface SshEnd {
  readonly code: number | null;
  readonly complaint: string;
  readonly remoteCommand: string;
}

function failure({ destination }: SshAddress, { code, complaint, remoteCommand }: SshEnd): Error {
  const said = printable(complaint.trim());
  if (code === SSH_FAILED) return new Error(`ssh cannot connect to ${destination}: ${said || 'it did not say why'}`);
  if (code === NOT_FOUND)
    return new Error(
      `"${remoteCommand}" was not found on ${destination}. Install Atrium there, or say how it is called there with --remote-atrium`,
    );
  return new Error(`Atrium on ${destination} did not answer${said ? `: ${said}` : ` (exit code ${code})`}`);
}
