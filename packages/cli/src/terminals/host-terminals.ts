/** The terminals of a host: lists, finds and opens them. */

import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { Client } from '@atrium/client';
import { ROOT_CHANNEL, type TerminalInfo } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { printable } from '../text/printable.js';
import { codeOf } from './attach.js';

const SCHEME = 'ahp-terminal:/';
const SHORT_CHARACTERS = 8;

export async function terminalsOf(client: Client): Promise<readonly TerminalInfo[]> {
  const root = await client.subscribe(ROOT_CHANNEL);
  const { terminals = [] } = root.state;
  root.close();
  return terminals;
}

/** Opens a shell in this folder, as large as this window. */
export async function openTerminal(client: Client, name: string | undefined): Promise<string> {
  const channel = `${SCHEME}${randomUUID()}`;
  const { columns: cols = 80, rows = 24 } = io().stdout;
  await client.request('createTerminal', {
    channel,
    claim: { kind: 'client', clientId: client.clientId },
    cwd: pathToFileURL(io().cwd).href,
    cols,
    rows,
    ...(name !== undefined && { name }),
  });
  return channel;
}

/** Finds a terminal by its id, the beginning of it, or `last`. */
export function findTerminal(terminals: readonly TerminalInfo[], reference: string): TerminalInfo {
  const last = reference === 'last' ? terminals.at(-1) : undefined;
  const [first, ...more] = last
    ? [last]
    : terminals.filter(({ resource }) => resource === reference || idOf(resource).startsWith(reference));
  if (!first) throw new Error(`there is no terminal "${reference}"; atrium terminals list shows those there are`);
  if (more.length > 0) throw new UsageError(`${more.length + 1} terminals begin with "${reference}": type more`);
  return first;
}

export function terminalRow({ resource, title, claim, lifecycle }: TerminalInfo): string[] {
  const owner = claim.kind === 'client' ? 'a person' : claim.toolCallId === undefined ? 'a session' : 'a tool';
  const state = lifecycle.status === 'exited' ? `ended${codeOf(lifecycle)}` : 'running';
  return [shortId(resource), state, owner, printable(title)];
}

/** By which people name it. */
export function shortId(uri: string): string {
  return idOf(uri).slice(0, SHORT_CHARACTERS);
}

function idOf(uri: string): string {
  return uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : uri;
}
