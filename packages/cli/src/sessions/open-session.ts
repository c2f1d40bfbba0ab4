/** The session that a command works in: an existing one, or a new one with its configuration. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@atrium/client';
import {
  LAST_CHOICE_METHOD,
  type LastChoice,
  type ModelSelection,
  ROOT_CHANNEL,
  type SessionConfigPropertySchema,
} from '@atrium/protocol/ahp-1';
import { defaultAgentOf } from '../agents/agent-report.js';
import { hostName } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, tell } from '../io.js';
import { printable } from '../text/printable.js';
import { findSession } from './find-session.js';

export interface SessionChoice extends ConfigChoice {
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
}

interface Choice extends SessionChoice {
  /** Uses the agent and the model of the last session in the folder, unless the user names others. */
  readonly isLikeLast?: boolean;
  /** The address of a host that the user named; absent for the host of the data folder. */
  readonly url?: string;
}

export interface ChosenSession {
  readonly uri: string;
  /** The model that the user asked for, which messages name. */
  readonly model?: ModelSelection;
}

export async function chooseSession(client: Client, choice: Choice): Promise<ChosenSession> {
  const { session, agent, model, cwd } = choice;
  if (session === undefined) return newSession(client, choice);
  if (agent !== undefined || cwd !== undefined)
    throw new UsageError('--agent and --cwd are for new sessions; leave them out with --session');
  if (hasConfig(choice))
    throw new UsageError('--worktree, --branch and --config are for new sessions; leave them out with --session');
  const { resource, provider } = findSession(await client.listSessions(), session);
  if (model !== undefined) await tellUnchecked(client, provider, model);
  return { uri: resource, ...modelMember(model) };
}

function modelMember(id: string | undefined): { model?: ModelSelection } {
  return id === undefined ? {} : { model: { id } };
}

/** The host refuses a model that the agent does not have. An agent without a list takes any: tells the user. */
async function tellUnchecked(client: Client, provider: string | undefined, model: string): Promise<void> {
  const root = await client.subscribe(ROOT_CHANNEL);
  const wanted = provider ?? defaultAgentOf(root.state);
  const agent = root.state.agents.find((each) => each.provider === wanted);
  root.close();
  if (agent && agent.models.length === 0)
    tell(`The agent ${agent.provider} does not say which models it has; "${printable(model)}" is taken as it is.`);
}

/** A host on another machine has other folders, so it gets a folder only if the user names one. */
async function newSession(client: Client, choice: Choice): Promise<ChosenSession> {
  const { cwd, url } = choice;
  const folder = cwd ?? (isElsewhere(url) ? undefined : io().cwd);
  if (cwd !== undefined && url === undefined) await checkFolder(path.resolve(cwd));
  const workingDirectory = folder === undefined ? undefined : pathToFileURL(path.resolve(folder)).href;
  const last = choice.isLikeLast && workingDirectory !== undefined ? await lastChoice(client, workingDirectory) : {};
  const agent = choice.agent ?? last.provider;
  const model = choice.model ?? (agent === last.provider ? last.model : undefined);
  const provider = agent === undefined ? {} : { provider: agent };
  const context = { ...(workingDirectory !== undefined && { workingDirectory }), ...provider };
  const config = await configOf(client, choice, context);
  const uri = await client.createSession({
    ...provider,
    ...(workingDirectory !== undefined && { workingDirectories: [workingDirectory] }),
    ...(config && { config }),
    ...modelMember(model),
  });
  if (model !== undefined) await tellUnchecked(client, agent, model);
  return { uri, ...modelMember(model) };
}

/** The agent and model of the last session in a folder, as far as they still exist. */
async function lastChoice(client: Client, folder: string): Promise<LastChoice> {
  const answer = await client.requestExtension(LAST_CHOICE_METHOD, { folder }).catch(() => ({}));
  const last = answer as LastChoice;
  const root = await client.subscribe(ROOT_CHANNEL);
  const agent = root.state.agents.find(({ provider }) => provider === last.provider);
  root.close();
  if (!agent) return {};
  const isThere = agent.models.length === 0 || agent.models.some(({ id }) => id === last.model);
  return { provider: agent.provider, ...(last.model !== undefined && isThere && { model: last.model }) };
}

function isElsewhere(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  return !/^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`--cwd: ${folder} is ${found ? 'no folder' : 'not there'}`);
}

// The configuration of a new session, checked against the offer of the host.

interface ConfigChoice {
  /** A git worktree of its own. */
  readonly worktree?: boolean;
  /** The branch from which the worktree begins. */
  readonly branch?: string;
  /** Each as `key=value`. */
  readonly config?: readonly string[];
}

interface Context {
  readonly workingDirectory?: string;
  readonly provider?: string;
}

/** A host names at most this many branches at once, so an unnamed one may exist. */
const BRANCHES_NAMED_MAX = 100;
const BRANCHES_SHOWN_MAX = 10;

type Values = Readonly<Record<string, unknown>>;

function hasConfig({ worktree, branch, config = [] }: ConfigChoice): boolean {
  return worktree === true || branch !== undefined || config.length > 0;
}

/** Undefined if the user chose nothing. A wrong choice fails with a list of the right ones. */
async function configOf(client: Client, choice: ConfigChoice, context: Context): Promise<Values | undefined> {
  if (choice.branch !== undefined && !choice.worktree)
    throw new UsageError('--branch says where a worktree begins: add --worktree');
  if (!hasConfig(choice)) return undefined;
  const typed = typedValues(choice);
  // One choice makes others available, so the request carries all of them.
  const { schema } = await client
    .request('resolveSessionConfig', { ...context, config: typed })
    .catch(noConfig(client));
  const values = Object.fromEntries(
    Object.entries(typed).map(([key, text]) => [key, propertyValue(key, text, schema.properties)]),
  );
  if (choice.branch !== undefined) await checkBranch(client, { ...context, config: values }, choice.branch);
  return values;
}

/** Hosts of others may have no settings for sessions. */
function noConfig(client: Client): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error.name !== 'MethodNotFound') throw error;
    throw new UsageError(
      `${hostName(client)} has no settings for new sessions: leave out --worktree, --branch and --config`,
    );
  };
}

function typedValues({ worktree, branch, config = [] }: ConfigChoice): Record<string, string> {
  const pairs = config.map((pair) => {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === '') throw new UsageError(`--config: write it as name=value, not as "${pair}"`);
    return [key, value] as const;
  });
  return {
    ...Object.fromEntries(pairs),
    ...(worktree && { isolation: 'worktree' }),
    ...(branch !== undefined && { branch }),
  };
}

function propertyValue(
  key: string,
  text: string,
  offered: Readonly<Record<string, SessionConfigPropertySchema>>,
): unknown {
  const property = Object.hasOwn(offered, key) ? offered[key] : undefined;
  if (!property && (key === 'isolation' || key === 'branch'))
    throw new UsageError(
      'a worktree cannot be had here: the folder is in no git repository, or the host does not make any',
    );
  if (!property)
    throw new UsageError(`--config: there is no "${key}" here; there are: ${Object.keys(offered).join(', ')}`);
  const value = property.type === 'string' ? text : parsed(text);
  const actual = Array.isArray(value) ? 'array' : typeof value;
  if (actual !== property.type) throw new UsageError(`--config: ${key} must be a ${property.type}, not "${text}"`);
  if (property.enum && !property.enumDynamic && !property.enum.includes(text))
    throw new UsageError(`--config: ${key} must be one of ${property.enum.join(', ')}, not "${text}"`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function checkBranch(
  client: Client,
  context: Context & { readonly config: Values },
  branch: string,
): Promise<void> {
  const look = async (query: string) =>
    (await client.request('sessionConfigCompletions', { ...context, property: 'branch', query })).items;
  const found = await look(branch);
  if (found.length >= BRANCHES_NAMED_MAX || found.some(({ value }) => value === branch)) return;
  const names = (await look('')).slice(0, BRANCHES_SHOWN_MAX).map(({ value }) => value);
  throw new UsageError(`--branch: there is no branch "${branch}"; there are: ${names.join(', ') || 'none'}`);
}
