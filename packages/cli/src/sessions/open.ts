/** The session that a command works in: one that is there, or a new one in a folder. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@atrium/client';
import { ROOT_CHANNEL } from '@atrium/protocol';
import { defaultAgentOf } from '../agents/agent-report.js';
import { UsageError } from '../exit.js';
import { tell } from '../output.js';
import { printable } from '../text/printable.js';
import { type ConfigChoice, configOf, hasConfig } from './config.js';
import { findSession } from './reference.js';

export interface SessionChoice extends ConfigChoice {
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
}

interface Choice extends SessionChoice {
  /** The address of a host that was named; the host of the data folder has none. */
  readonly url?: string;
}

/** Resolves with its URI. */
export async function chooseSession(client: Client, choice: Choice): Promise<string> {
  const { session, agent, model, cwd } = choice;
  if (session === undefined) return newSession(client, choice);
  if (agent !== undefined || cwd !== undefined)
    throw new UsageError('--agent and --cwd are for new sessions; leave them out with --session');
  if (hasConfig(choice))
    throw new UsageError('--worktree, --branch and --config are for new sessions; leave them out with --session');
  const { resource, provider } = findSession(await client.listSessions(), session);
  if (model !== undefined) {
    await client.dispatch(resource, { type: 'session/modelChanged', model: { id: model } });
    await tellUnchecked(client, provider, model);
  }
  return resource;
}

/** The host refuses a model that the agent does not have; where nobody knows, people should. */
async function tellUnchecked(client: Client, provider: string | undefined, model: string): Promise<void> {
  const root = await client.subscribe(ROOT_CHANNEL);
  const wanted = provider ?? defaultAgentOf(root.state);
  const agent = root.state.agents.find((each) => each.provider === wanted);
  root.close();
  if (agent && agent.models.length === 0)
    tell(`The agent ${agent.provider} does not say which models it has; "${printable(model)}" is taken as it is.`);
}

/** A host on another machine has other folders: it is told of one only when somebody names it. */
async function newSession(client: Client, choice: Choice): Promise<string> {
  const { agent, model, cwd, url } = choice;
  const folder = cwd ?? (isElsewhere(url) ? undefined : process.cwd());
  if (cwd !== undefined && url === undefined) await checkFolder(path.resolve(cwd));
  const context = {
    ...(folder !== undefined && { workingDirectory: pathToFileURL(path.resolve(folder)).href }),
    ...(agent !== undefined && { provider: agent }),
  };
  const config = await configOf(client, choice, context);
  const uri = await client.createSession({
    ...context,
    ...(config && { config }),
    ...(model !== undefined && { model: { id: model } }),
  });
  if (model !== undefined) await tellUnchecked(client, agent, model);
  return uri;
}

function isElsewhere(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  return !/^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`--cwd: ${folder} is ${found ? 'no folder' : 'not there'}`);
}
