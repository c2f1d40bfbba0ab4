/** The session that a command works in: one that is there, or a new one in a folder. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@atrium/client';
import { UsageError } from '../exit.js';
import { findSession } from './reference.js';

export interface SessionChoice {
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
}

/** Resolves with its URI. */
export async function chooseSession(client: Client, choice: SessionChoice): Promise<string> {
  const { session, agent, model, cwd } = choice;
  if (session === undefined) return newSession(client, choice);
  if (agent !== undefined || cwd !== undefined)
    throw new UsageError('--agent and --cwd are for new sessions; leave them out with --session');
  const { resource } = findSession(await client.listSessions(), session);
  if (model !== undefined) await client.dispatch(resource, { type: 'session/modelChanged', model: { id: model } });
  return resource;
}

export function newSession(client: Client, { agent, model, cwd = process.cwd() }: SessionChoice): Promise<string> {
  return client.createSession({
    workingDirectory: pathToFileURL(path.resolve(cwd)).href,
    ...(agent !== undefined && { provider: agent }),
    ...(model !== undefined && { model: { id: model } }),
  });
}
