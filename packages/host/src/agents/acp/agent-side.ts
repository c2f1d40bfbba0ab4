/** The agent's side of a session: its process, its own session and the tools it is lent, opened again when lost. */
import os from 'node:os';
import type { AgentOpenContext, AgentTurn } from '../../core/contracts/agent.js';
import { childEnvironment } from '../../core/util/child-environment.js';
import { titleFrom } from '../shared/prompt.js';
import type { AcpAgentOptions } from './acp-agent.js';
import { ToolBridge } from './bridge/bridge.js';
import { END_AFTER_CANCEL_GRACE_MS, SESSION_MAX_MS } from './limits.js';
import { AcpLink, type AgentRequests } from './link.js';
import { chooseModel, modelSettingIn } from './model-setting.js';
import type { OfferedModels } from './offered-models.js';
import { openThread, remember, type Thread } from './thread.js';

export interface AgentSideParts {
  readonly options: AcpAgentOptions;
  readonly context: AgentOpenContext;
  readonly requests: AgentRequests;
  /** The turn that is running. */
  readonly turn: () => AgentTurn | undefined;
  readonly offered: OfferedModels;
}

export class AgentSide {
  readonly #parts: AgentSideParts;
  #link: AcpLink | undefined;
  /** A process that is being started: a turn that was cancelled meanwhile leaves it to the next one. */
  #linking: Promise<AcpLink> | undefined;
  #thread: Thread | undefined;
  #bridge: Promise<ToolBridge> | undefined;
  /** The model that people chose and the agent does not have, once they were told so. */
  #missed: string | undefined;
  /** Processes that are on their way out. */
  readonly #ending = new Set<Promise<void>>();

  constructor(parts: AgentSideParts) {
    this.#parts = parts;
  }

  get thread(): Thread | undefined {
    return this.#thread;
  }

  /** A process that speaks the protocol: the one that runs, or a new one. */
  async linked(): Promise<AcpLink> {
    if (this.#link?.isOpen) return this.#link;
    this.#linking ??= this.#start().finally(() => {
      this.#linking = undefined;
    });
    return this.#linking;
  }

  async #start(): Promise<AcpLink> {
    this.#thread = undefined;
    const { options, context, requests } = this.#parts;
    const { command, args = [], env, cwd = this.#folder, displayName, login } = options;
    const start = { displayName, command, args, env: { ...childEnvironment(), ...env }, cwd, login };
    const link = await AcpLink.open(start, requests, context.signal);
    this.#link = link;
    return link;
  }

  get #folder(): string {
    return this.#parts.context.workingDirectory ?? os.tmpdir();
  }

  /**
   * The agent's own session, opened with the first turn and not before: only then are the tools known that it is lent,
   * and a missing login ends a turn, which can be tried again, and not the session.
   */
  async opened(turn: AgentTurn): Promise<{ link: AcpLink; thread: Thread }> {
    const link = await this.linked();
    // The process is left to the next turn. Two that open its session at once would make it say everything twice.
    turn.signal.throwIfAborted();
    const thread = this.#thread ?? (await this.#open(turn, link));
    return { link, thread: await this.#withModel(turn, link, thread) };
  }

  async #open(turn: AgentTurn, link: AcpLink): Promise<Thread> {
    const { options, context } = this.#parts;
    const takesTools = link.capabilities.mcpCapabilities?.http === true;
    if (takesTools) this.#bridge ??= ToolBridge.start({ turn: this.#parts.turn });
    const bridge = takesTools ? await this.#bridge : undefined;
    const mcpServers = bridge ? [bridge.address] : [];
    const thread = await openThread(link, { cwd: this.#folder, mcpServers, mode: options.mode }, context);
    // Another process may have been started meanwhile, which does not know this session.
    turn.signal.throwIfAborted();
    this.#thread = thread;
    this.#tellOf(turn, thread, takesTools);
    return thread;
  }

  /** The agent's session with the model that people chose. One that is not to be had is no reason to fail. */
  async #withModel(turn: AgentTurn, link: AcpLink, thread: Thread): Promise<Thread> {
    this.#parts.offered.set(thread.model?.models ?? []);
    const { id } = turn.model ?? {};
    if (id === undefined || id === thread.model?.current || id === this.#missed) return thread;
    try {
      const model = await chooseModel(link, thread, id);
      this.#missed = undefined;
      return this.#changed({ ...thread, model });
    } catch (error) {
      if (!link.isOpen) throw error;
      this.#missed = id;
      turn.notify(`${this.#parts.options.displayName} does not work with the model ${id}: ${reasonOf(error)}`);
      return thread;
    }
  }

  /** The agent tells of its settings by itself: it may have changed its model. */
  settingsChanged(configOptions: unknown): void {
    const thread = this.#thread;
    const model = modelSettingIn(configOptions);
    if (thread && model) this.#changed({ ...thread, model });
  }

  #changed(thread: Thread): Thread {
    if (this.#thread?.id === thread.id) this.#thread = thread;
    return thread;
  }

  /** What a person should know about how the session was opened. */
  #tellOf(turn: AgentTurn, { isNew, transcript }: Thread, takesTools: boolean): void {
    const { displayName } = this.#parts.options;
    if (isNew && transcript === undefined) turn.title(titleFrom(turn.message.text) || 'Untitled');
    if (transcript !== undefined)
      turn.notify(`${displayName} could not go back to this session, so it was told of it.`);
    const names = turn.tools().map(({ name }) => name);
    if (!takesTools && names.length > 0) turn.notify(`${displayName} cannot be lent tools: ${names.join(', ')}.`);
  }

  /** The agent has heard what went with a prompt, and need not hear it again. */
  heard({ id }: Thread, preface: string): void {
    if (this.#thread?.id !== id) return;
    this.#thread = { id, preface, model: this.#thread.model };
    remember(this.#parts.context, id);
  }

  /** The next turn begins a new session of the agent. */
  async forget(): Promise<void> {
    const { id: sessionId } = this.#thread ?? {};
    this.#parts.context.memory.set(undefined);
    this.#thread = undefined;
    if (!sessionId || !this.#link?.capabilities.sessionCapabilities?.close) return;
    await this.#link.request((agent) => agent.request('session/close', { sessionId }), SESSION_MAX_MS).catch(() => {});
  }

  /** The process no longer listens: it ends, and the next turn finds another. */
  giveUp(): void {
    if (!this.#link) return;
    const ended = this.#letGo(END_AFTER_CANCEL_GRACE_MS).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async close(): Promise<void> {
    // A start was called off with the session; what it began is gone when it has failed.
    await this.#linking?.catch(() => undefined);
    await Promise.all([this.#letGo(), ...this.#ending]);
  }

  /** With the process goes the way to the tools: what it still asks for on its way out is not for the next turn. */
  async #letGo(graceMs?: number): Promise<void> {
    const link = this.#link;
    const bridge = this.#bridge;
    this.#link = undefined;
    this.#bridge = undefined;
    await Promise.all([link?.close(graceMs), bridge?.then((tools) => tools.close()).catch(() => {})]);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
