/** The agent's side of a session: its process, its own session and the tools it is lent, opened again when lost. */
import os from 'node:os';
import { childEnvironment } from '../../child-environment.js';
import type { AgentOpenContext, AgentTurn } from '../agent.js';
import { titleFrom } from '../offline/title.js';
import type { AcpAgentOptions } from './acp-agent.js';
import { ToolBridge } from './bridge/bridge.js';
import { END_AFTER_CANCEL_GRACE_MS, SESSION_MAX_MS } from './limits.js';
import { AcpLink, type AgentRequests } from './link.js';
import { openThread, type Thread } from './thread.js';

export interface AgentSideParts {
  readonly options: AcpAgentOptions;
  readonly context: AgentOpenContext;
  readonly requests: AgentRequests;
  /** The turn that is running. */
  readonly turn: () => AgentTurn | undefined;
}

export class AgentSide {
  readonly #parts: AgentSideParts;
  #link: AcpLink | undefined;
  #thread: Thread | undefined;
  #bridge: ToolBridge | undefined;
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
    if (this.#thread) return { link, thread: this.#thread };
    const { options, context } = this.#parts;
    const takesTools = link.capabilities.mcpCapabilities?.http === true;
    if (takesTools) this.#bridge ??= await ToolBridge.start({ turn: this.#parts.turn });
    const mcpServers = takesTools && this.#bridge ? [this.#bridge.address] : [];
    const thread = await openThread(link, { cwd: this.#folder, mcpServers, mode: options.mode }, context);
    this.#thread = thread;
    this.#tellOf(turn, thread, takesTools);
    return { link, thread };
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
    if (this.#thread?.id === id) this.#thread = { id, preface };
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
    const link = this.#link;
    this.#link = undefined;
    if (!link) return;
    const ended = link.close(END_AFTER_CANCEL_GRACE_MS).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    await Promise.all([link?.close(), this.#bridge?.close(), ...this.#ending]);
  }
}
