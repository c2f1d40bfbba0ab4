/** Opens a session's agent when it is first needed, and closes it. */
import { fileURLToPath } from 'node:url';
import type { ErrorInfo, SessionState } from '@atrium/protocol';
import { wholeTurns } from '../../blobs/whole-turns.js';
import { AgentError, type AgentSession } from '../contracts/agent.js';
import { AGENT_CLOSE_MAX_MS } from '../limits.js';
import { turnsForModel } from '../tool-calls/model-output.js';
import { isFolder } from '../util/folders.js';
import { within } from '../util/waiting.js';
import { agentMemory } from './agent-memory.js';
import type { SessionParts } from './session-parts.js';

/** What an agent finds in its session. */
export interface AroundAgent {
  /** Makes everything ready that it needs. */
  prepare(): Promise<void>;
  /** What it needs was ended, and has to be prepared again. */
  isResting(): boolean;
  canReadResults(): boolean;
}

export class AgentOpener {
  readonly #parts: SessionParts;
  readonly #abort = new AbortController();
  #opened: Promise<AgentSession> | undefined;
  #opening = false;
  /** What it needs was not prepared again to the end: a turn was cancelled meanwhile, or it failed. */
  #isUnprepared = false;
  #preparing: Promise<void> | undefined;
  /** What the agent is being told; the next turn waits for it. */
  #told: Promise<void> = Promise.resolve();

  constructor(
    parts: SessionParts,
    private readonly around: AroundAgent,
  ) {
    this.#parts = parts;
  }

  get isOpening(): boolean {
    return this.#opening;
  }

  /** The agent's side of the session: opened now, if it was not yet. A failure is not kept: the next call tries again. */
  opened(): Promise<AgentSession> {
    this.#opened ??= this.#open().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<AgentSession> {
    const { backend, channel, core, pages, notes, predecessor } = this.#parts;
    const { provider } = channel.live.summary;
    if (!backend) throw new AgentError('agent-missing', `no agent ${provider} is here; start the host with it`);
    this.#opening = true;
    try {
      await predecessor;
      await this.around.prepare();
      await this.#checkFolder();
      return await backend.open({
        session: channel.uri,
        workingDirectory: folderOf(channel.live),
        signal: this.#abort.signal,
        history: async (last) => {
          const total = pages.total(channel.committed);
          const turns = await pages.slice(channel.committed, Math.max(0, total - last), total);
          const whole = core.contents ? await wholeTurns(core.contents, turns) : turns;
          const { toolOutputMaxCharacters: maxCharacters } = core;
          return turnsForModel(whole, { maxCharacters, canRead: this.around.canReadResults() });
        },
        memory: await agentMemory(channel.uri, notes),
      });
    } finally {
      this.#opening = false;
    }
  }

  /** The agent, once it has heard of everything that came before: a turn must not begin on history that was cut. */
  async forTurn(): Promise<AgentSession> {
    await this.#told;
    if (this.#opened && (this.#isUnprepared || this.around.isResting())) await this.#prepareAgain();
    const isFirst = this.#opened === undefined;
    const agent = await this.opened();
    // Not before: while it opens, its folder may still be being made. A worktree can be made again.
    if (!isFirst && (await this.#missingFolder()) !== undefined) {
      await this.#prepareAgain();
      await this.#checkFolder();
    }
    return agent;
  }

  /** Folders are moved and deleted. The session can still be read then, but an agent has no place to work in. */
  async #checkFolder(): Promise<void> {
    const folder = await this.#missingFolder();
    if (folder === undefined) return;
    const advice = 'Put it back, or begin a new session in another folder.';
    throw new AgentError('folder-missing', `the folder of this session, ${folder}, is not there any more. ${advice}`);
  }

  async #missingFolder(): Promise<string | undefined> {
    const folder = folderOf(this.#parts.channel.live);
    return folder === undefined || (await isFolder(folder)) ? undefined : folder;
  }

  async #prepareAgain(): Promise<void> {
    this.#opening = true;
    this.#isUnprepared = true;
    this.#preparing ??= this.around.prepare().finally(() => {
      this.#opening = false;
      this.#preparing = undefined;
    });
    await this.#preparing;
    this.#isUnprepared = false;
  }

  /** Closes an agent that keeps a process; the next turn opens it again. */
  async rest(): Promise<void> {
    if (!this.#parts.backend?.abilities.ownProcess) return;
    const resting = this.#close();
    this.#opened = undefined;
    await resting;
  }

  truncated(turnId: string | undefined): void {
    this.#told = this.#told.then(() => this.#tell((agent) => agent.truncated?.(turnId)));
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#close();
  }

  /** The host goes on without an agent that does not end. */
  async #close(): Promise<void> {
    const { core, channel } = this.#parts;
    await within(
      core.clock,
      AGENT_CLOSE_MAX_MS,
      this.#tell((agent) => agent.close()),
      () => {
        core.logger.log('warn', 'an agent did not end in time', {
          session: channel.uri,
          milliseconds: AGENT_CLOSE_MAX_MS,
        });
      },
    );
  }

  /** Tells the agent something, if it is there. When it fails at that, the session goes on. */
  async #tell(what: (agent: AgentSession) => Promise<void> | undefined): Promise<void> {
    try {
      const agent = await this.#opened?.catch(() => undefined);
      if (agent) await what(agent);
    } catch (error) {
      const { core, channel } = this.#parts;
      core.logger.log('warn', 'an agent failed', { session: channel.uri, error: String(error) });
    }
  }

  static errorInfo(error: unknown): ErrorInfo {
    if (error instanceof AgentError) return { errorType: error.errorType, message: error.message };
    return { errorType: 'agent-failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** The session's folder as a path, when it is one of this machine. */
export function folderOf({ summary }: SessionState): string | undefined {
  const { workingDirectory } = summary;
  if (!workingDirectory?.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(workingDirectory);
  } catch {
    return undefined;
  }
}
