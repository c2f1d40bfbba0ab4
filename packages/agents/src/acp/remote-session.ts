/**
 * The agent's own session behind a session of the host: its process, its conversation, its model, its folders and the
 * tools lent to it. Opens everything again when it is lost.
 */

import os from 'node:os';
import type { McpServer, NewSessionResponse, SetSessionConfigOptionResponse } from '@agentclientprotocol/sdk';
import { AgentError, type AgentOpenContext, type AgentTurn } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { errorText } from '@atrium/core/util/text.js';
import { titleFrom } from '../shared/messages.js';
import { transcriptOf } from '../shared/transcript.js';
import type { AcpAgentOptions, OfferedModel, OfferedModels } from './backend.js';
import { AcpConnection, type AgentRequests } from './connection.js';
import { ToolBridge } from './tool-bridge.js';

/** How long opening or loading a session may take; some agents start servers of their own first. */
const SESSION_MAX_MS = 60_000;
/** Time between asking a process that did not stop a turn to end, and killing it. */
const END_AFTER_CANCEL_GRACE_MS = 100;
/** Most models that an agent may offer, and the longest ids and names. */
export const MODELS_MAX = 500;
const MODEL_TEXT_MAX_CHARACTERS = 200;
/** How many of the newest turns an agent is told when it cannot load its session. */
const TRANSCRIPT_TURNS_MAX = 50;
const TRANSCRIPT_LIMITS = { maxCharacters: 24 * 2 ** 10, callMaxCharacters: 500 } as const;

interface RemoteSessionOptions {
  readonly options: AcpAgentOptions;
  readonly context: AgentOpenContext;
  readonly requests: AgentRequests;
  /** The running turn. */
  readonly turn: () => AgentTurn | undefined;
  readonly offered: OfferedModels;
}

export class RemoteSession {
  readonly #options: RemoteSessionOptions;
  #connection: AcpConnection | undefined;
  /** A process that is starting. If its turn is cancelled, the next turn uses it. */
  #connecting: Promise<AcpConnection> | undefined;
  #thread: Thread | undefined;
  #bridge: Promise<ToolBridge> | undefined;
  /** A chosen model that the agent does not have, once people have been told. */
  #missed: string | undefined;
  /** Further folders that the agent does not take, once people have been told. */
  #untaken: readonly string[] = [];
  /** Processes that are ending. */
  readonly #ending = new Set<Promise<void>>();

  constructor(options: RemoteSessionOptions) {
    this.#options = options;
  }

  get thread(): Thread | undefined {
    return this.#thread;
  }

  /** The connection to the running process, or to a new one. */
  async connected(): Promise<AcpConnection> {
    if (this.#connection?.isOpen) return this.#connection;
    this.#connecting ??= this.#start().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #start(): Promise<AcpConnection> {
    this.#thread = undefined;
    const { options, context, requests } = this.#options;
    const { command, args = [], env = {}, cwd = context.workingDirectory, displayName, login } = options;
    const start = { displayName, command, args, env, cwd, login, startProgram: context.startProgram };
    const connection = await AcpConnection.open(start, requests, context.signal);
    this.#connection = connection;
    return connection;
  }

  get #folder(): string {
    return this.#options.context.workingDirectory ?? os.tmpdir();
  }

  /**
   * Opens the agent's session with the first turn, not earlier: only then are the lent tools known, and a missing login
   * fails the turn, which can be repeated, and not the session.
   */
  async opened(turn: AgentTurn): Promise<{ connection: AcpConnection; thread: Thread }> {
    const connection = await this.connected();
    // The next turn uses the process. If two turns opened its session at once, everything would be shown twice.
    turn.signal.throwIfAborted();
    const further = this.#furtherFolders(turn, connection);
    if (this.#thread && !isSameList(this.#thread.further, further)) await this.#closeSession(connection, this.#thread);
    const thread = this.#thread ?? (await this.#open(turn, connection, further));
    return { connection, thread: await this.#withModel(turn, connection, thread) };
  }

  /** The folders beside the first one, if the agent takes them. If it does not, people are told. */
  #furtherFolders(turn: AgentTurn, { capabilities }: AcpConnection): readonly string[] {
    const further = turn.workingDirectories.slice(1);
    if (capabilities.sessionCapabilities?.additionalDirectories) return further;
    if (further.length > 0 && !isSameList(further, this.#untaken)) {
      const { displayName } = this.#options.options;
      turn.notify(
        `${displayName} works in ${this.#folder} only. It does not take further folders: ${further.join(', ')}.`,
      );
    }
    this.#untaken = further;
    return [];
  }

  /** Closes the agent's session, to resume it with other folders: they can be named only when a session is opened. */
  async #closeSession(connection: AcpConnection, { id: sessionId }: Thread): Promise<void> {
    this.#thread = undefined;
    if (!connection.capabilities.sessionCapabilities?.close) return;
    const closed = connection.request((agent) => agent.request('session/close', { sessionId }), SESSION_MAX_MS);
    await closed.catch(() => {});
  }

  async #open(turn: AgentTurn, connection: AcpConnection, further: readonly string[]): Promise<Thread> {
    const { options, context } = this.#options;
    const takesTools = connection.capabilities.mcpCapabilities?.http === true;
    if (takesTools) this.#bridge ??= ToolBridge.start({ turn: this.#options.turn });
    const bridge = takesTools ? await this.#bridge : undefined;
    const mcpServers = bridge ? [bridge.addressAt(await connection.reach(bridge.port))] : [];
    const place = { cwd: this.#folder, mcpServers, mode: options.mode, further };
    const thread = await openThread(connection, place, context);
    // Another process may have been started meanwhile, and it does not know this session.
    turn.signal.throwIfAborted();
    this.#thread = thread;
    this.#report(turn, thread, takesTools);
    return thread;
  }

  /** Sets the chosen model. If the agent does not have it, the turn goes on without it. */
  async #withModel(turn: AgentTurn, connection: AcpConnection, thread: Thread): Promise<Thread> {
    this.#options.offered.set(thread.model?.models ?? []);
    const { id } = turn.model ?? {};
    if (id === undefined || id === thread.model?.current || id === this.#missed) return thread;
    try {
      const model = await chooseModel(connection, thread, id);
      this.#missed = undefined;
      return this.#changed({ ...thread, model });
    } catch (error) {
      if (!connection.isOpen) throw error;
      this.#missed = id;
      turn.notify(`${this.#options.options.displayName} does not work with the model ${id}: ${errorText(error)}`);
      return thread;
    }
  }

  /** Takes in settings that the agent reports: it may have changed its model. */
  settingsChanged(configOptions: unknown): void {
    const thread = this.#thread;
    const model = modelSettingIn(configOptions);
    if (thread && model) this.#changed({ ...thread, model });
  }

  #changed(thread: Thread): Thread {
    if (this.#thread?.id === thread.id) this.#thread = thread;
    return thread;
  }

  /** Tells people how the session was opened. */
  #report(turn: AgentTurn, { isNew, transcript }: Thread, takesTools: boolean): void {
    const { displayName } = this.#options.options;
    if (isNew && transcript === undefined) turn.title(titleFrom(turn.message.text) || 'Untitled');
    if (transcript !== undefined)
      turn.notify(`${displayName} could not resume this session, so it was told what was said before.`);
    const names = turn.tools().map(({ name }) => name);
    if (!takesTools && names.length > 0) turn.notify(`${displayName} cannot be lent tools: ${names.join(', ')}.`);
  }

  /** Records that the agent has the preface and the transcript, so that the next prompt leaves them out. */
  markSent({ id }: Thread, preface: string): void {
    if (this.#thread?.id !== id) return;
    const { model, further } = this.#thread;
    this.#thread = { id, preface, model, further };
    remember(this.#options.context, id);
  }

  /** Forgets the agent's session; the next turn starts a new one. */
  async forget(): Promise<void> {
    const thread = this.#thread;
    this.#options.context.memory.set(undefined);
    this.#thread = undefined;
    if (thread && this.#connection) await this.#closeSession(this.#connection, thread);
  }

  /** Ends a process that does not react; the next turn starts another. */
  giveUp(): void {
    if (!this.#connection) return;
    const ended = this.#close(END_AFTER_CANCEL_GRACE_MS).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async close(): Promise<void> {
    // Closing the session has already cancelled a start under way; it ends its process, and then fails.
    await this.#connecting?.catch(() => undefined);
    await Promise.all([this.#close(), ...this.#ending]);
  }

  /** Closes the tools with the process, so that its last calls do not reach the next turn. */
  async #close(graceMs?: number): Promise<void> {
    const connection = this.#connection;
    const bridge = this.#bridge;
    this.#connection = undefined;
    this.#bridge = undefined;
    await Promise.all([connection?.close(graceMs), bridge?.then((tools) => tools.close()).catch(() => {})]);
  }
}

/** The agent's own session. */
export interface Thread {
  /** The agent's own id. */
  readonly id: string;
  /** The agent had no session before. */
  readonly isNew?: boolean;
  /** The earlier turns, if the agent does not know them. */
  readonly transcript?: string | undefined;
  /** The instructions that the agent has; they are sent again only when they change. */
  readonly preface?: string;
  /** Absent when the agent chooses its model itself. */
  readonly model?: ModelSetting | undefined;
  /** The folders, beside the first one, with which it was opened. */
  readonly further: readonly string[];
}

interface ThreadPlace {
  readonly cwd: string;
  readonly mcpServers: McpServer[];
  readonly mode: string | undefined;
  /** Folders beside `cwd`, for an agent that takes them. */
  readonly further: readonly string[];
}

async function openThread(connection: AcpConnection, place: ThreadPlace, context: AgentOpenContext): Promise<Thread> {
  const { mode: modeId, further, cwd, mcpServers } = place;
  const params = { cwd, mcpServers, ...(further.length > 0 && { additionalDirectories: [...further] }) };
  const thread = { ...(await openedThread(connection, params, context)), further };
  const { id: sessionId } = thread;
  if (modeId === undefined) return thread;
  await connection.request((agent) => agent.request('session/set_mode', { sessionId, modeId }), SESSION_MAX_MS);
  return thread;
}

type Params = Pick<ThreadPlace, 'cwd' | 'mcpServers'> & { readonly additionalDirectories?: string[] };

async function openedThread(
  connection: AcpConnection,
  params: Params,
  context: AgentOpenContext,
): Promise<Omit<Thread, 'further'>> {
  const known = knownId(context.memory.get());
  const answer = known === undefined ? undefined : await resumed(connection, params, known);
  if (known !== undefined && answer) return { id: known, model: modelSettingIn(answer.configOptions) };
  const opened = await connection.request<NewSessionResponse>(
    (agent) => agent.request('session/new', params),
    SESSION_MAX_MS,
  );
  const { sessionId: id } = opened;
  const turns = await context.history(TRANSCRIPT_TURNS_MAX);
  const transcript = transcriptOf(turns, TRANSCRIPT_LIMITS);
  // Do not store the id yet: until the agent has been told of the earlier turns, its session must not be resumed.
  if (transcript === undefined) remember(context, id);
  return { id, isNew: true, transcript, model: modelSettingIn(opened.configOptions) };
}

/** Stores the id with which another process of the agent can resume the session. */
function remember({ memory }: AgentOpenContext, sessionId: string): void {
  if (knownId(memory.get()) !== sessionId) memory.set({ sessionId });
}

function knownId(memory: unknown): string | undefined {
  return isRecord(memory) && typeof memory.sessionId === 'string' ? memory.sessionId : undefined;
}

type Resumed = Pick<NewSessionResponse, 'configOptions'>;

/**
 * Resumes a session. Some agents claim that they can, but cannot. Any failure except a missing login means that the
 * session is gone.
 */
async function resumed(connection: AcpConnection, opening: Params, sessionId: string): Promise<Resumed | undefined> {
  const { loadSession, sessionCapabilities } = connection.capabilities;
  if (!loadSession && !sessionCapabilities?.resume) return undefined;
  const params = { ...opening, sessionId };
  // Resume if possible: loading would repeat all earlier updates.
  const method = sessionCapabilities?.resume ? 'session/resume' : 'session/load';
  try {
    return (
      (await connection.request<Resumed | undefined>((agent) => agent.request(method, params), SESSION_MAX_MS)) ?? {}
    );
  } catch (error) {
    if (!connection.isOpen || (error instanceof AgentError && error.errorType === 'auth')) throw error;
    return undefined;
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface ModelSetting {
  /** The agent's id of the setting. */
  readonly configId: string;
  readonly current: string;
  readonly models: readonly OfferedModel[];
}

/** Finds the model among the settings of a session; undefined when the agent offers no choice. */
export function modelSettingIn(configOptions: unknown): ModelSetting | undefined {
  for (const option of listOf(configOptions)) {
    const { id, category, type, currentValue, options } = option;
    if (category !== 'model' || type !== 'select' || typeof id !== 'string') continue;
    // Some agents group the models, for example by vendor.
    const models = listOf(options).flatMap((one) => ('options' in one ? listOf(one.options) : [one]));
    const current = typeof currentValue === 'string' ? currentValue : '';
    return { configId: id, current, models: models.flatMap(modelOf).slice(0, MODELS_MAX) };
  }
  return undefined;
}

/** Sets the model. Throws an error with the reason, in words for people. */
async function chooseModel(connection: AcpConnection, { id: sessionId, model }: Thread, value: string) {
  if (!model) throw new Error('it chooses its model itself. Choose it in the settings of the agent.');
  if (!model.models.some(({ id }) => id === value)) {
    const names = model.models.map(({ id }) => id).join(', ');
    throw new Error(`it offers ${names || 'none'}, and goes on with ${model.current || 'its own'}.`);
  }
  const params = { sessionId, configId: model.configId, value };
  const answer = await connection.request<SetSessionConfigOptionResponse>(
    (agent) => agent.request('session/set_config_option', params),
    SESSION_MAX_MS,
  );
  return modelSettingIn(answer.configOptions) ?? { ...model, current: value };
}

function modelOf({ value, name }: Record<string, unknown>): OfferedModel[] {
  if (typeof value !== 'string' || value === '' || value.length > MODEL_TEXT_MAX_CHARACTERS) return [];
  const shown = typeof name === 'string' && name !== '' ? name.slice(0, MODEL_TEXT_MAX_CHARACTERS) : value;
  return [{ id: value, name: shown }];
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
