/** One session of Copilot. Its conversation is in Copilot's own files, under an id made from the session's. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { AgentOpenContext, AgentSession, AgentTurn } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import { succeedsWithin, untilAborted } from '@atrium/core/util/waiting.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { type CopilotAgentOptions, DEFAULT_NAME } from './backend.js';
import { type Connected, SessionConnection } from './connection.js';
import { runtimeError } from './errors.js';
import { CopilotPrompt } from './prompt.js';
import type { CopilotRuntime } from './runtime.js';
import { CopilotTurn } from './turn.js';

/** How long the runtime may take to stop a turn. */
const ABORT_MAX_MS = 400;
/** How long a stopped turn may take to fall silent, so that nothing of it ends up in the next one. */
const SILENCE_MAX_MS = 200;
/** How long a session may take to close. */
const CLOSE_MAX_MS = 500;

export interface CopilotSessionOptions {
  readonly agent: CopilotAgentOptions;
  readonly runtime: CopilotRuntime;
  readonly context: AgentOpenContext;
}

const HISTORY_RESENT = 'Copilot did not know what was said before; it was told again, as text.';

/**
 * The name from which Copilot's id is made. For the default chat it is the session, as it was before there were more
 * chats.
 */
function knownAs({ session, chat }: AgentOpenContext): string {
  return chat === defaultChatUri(session) ? session : chat;
}

export class CopilotSession implements AgentSession {
  readonly #options: CopilotSessionOptions;
  readonly #connection: SessionConnection;
  #turn: CopilotTurn | undefined;
  /** Settles when the last turn has really ended, which may be a moment after it was cancelled. */
  #busy: Promise<unknown> = Promise.resolve();

  private constructor(options: CopilotSessionOptions, folder: string) {
    const { agent, runtime, context } = options;
    const id = `atrium-${createHash('sha256').update(knownAs(context)).digest('hex').slice(0, 32)}`;
    const side = { options: agent, folder, prompt: new CopilotPrompt(), turn: () => this.#turn };
    this.#options = options;
    this.#connection = new SessionConnection({ id, runtime, context, side });
  }

  static async open(options: CopilotSessionOptions): Promise<CopilotSession> {
    options.runtime.join();
    try {
      const session = new CopilotSession(options, await folderOf(options));
      await options.runtime.during(() => session.#connection.open());
      options.context.signal.throwIfAborted();
      return session;
    } catch (error) {
      await options.runtime.release();
      throw runtimeError(error);
    }
  }

  async runTurn(turn: AgentTurn): Promise<void> {
    await untilAborted(turn.signal, this.#busy);
    await this.#options.runtime.during(async () => {
      const ready = this.#connection.ready(turn);
      const played = this.#play(turn, ready);
      this.#busy = Promise.allSettled([ready, played]);
      await played;
    });
  }

  async truncated(): Promise<void> {
    await this.#busy;
    const aligned = this.#options.runtime.during(() => this.#connection.align());
    this.#busy = aligned.catch(() => {});
    await aligned;
  }

  async close(): Promise<void> {
    // A turn that was cancelled with the session may still be connecting; that connection must be closed, too.
    await succeedsWithin(systemClock, CLOSE_MAX_MS, this.#busy);
    if (this.#turn) {
      await succeedsWithin(systemClock, ABORT_MAX_MS, this.#connection.stop());
      await this.#connection.endCommands();
    }
    await succeedsWithin(systemClock, CLOSE_MAX_MS, this.#connection.close());
    await this.#options.runtime.release();
  }

  async #play(turn: AgentTurn, ready: Promise<Connected>): Promise<void> {
    try {
      await this.#send(turn, await untilAborted(turn.signal, ready));
    } catch (error) {
      await this.#giveUp();
      turn.signal.throwIfAborted();
      throw runtimeError(error);
    } finally {
      this.#turn = undefined;
    }
  }

  async #send(turn: AgentTurn, connected: Connected): Promise<void> {
    this.#turn = this.#turnOf(turn, connected);
    const watching = new AbortController();
    const gone = this.#options.runtime.gone(connected.client, watching.signal);
    try {
      await untilAborted(turn.signal, Promise.race([this.#turn.send(), gone]));
    } finally {
      watching.abort();
    }
  }

  #turnOf(turn: AgentTurn, { session, tools, model = '' }: Connected): CopilotTurn {
    const { displayName = DEFAULT_NAME, providerConfig, retries } = this.#options.agent;
    const place = { displayName, modelId: model, baseURL: providerConfig?.baseUrl };
    const { transcript } = this.#connection;
    const keepsTitle = transcript !== undefined;
    if (keepsTitle) turn.notify(HISTORY_RESENT);
    const context = keepsTitle ? [transcript, ...turn.context] : turn.context;
    const begun = (eventId: string) => this.#connection.hasReceived(turn.id, eventId);
    const isFlat = providerConfig === undefined;
    return new CopilotTurn({ turn, session, tools, context, keepsTitle, place, isFlat, retries, begun });
  }

  /** Stops the turn, whatever state the runtime is in. */
  async #giveUp(): Promise<void> {
    const turn = this.#turn;
    const isStopped = turn !== undefined && (await succeedsWithin(systemClock, ABORT_MAX_MS, this.#connection.stop()));
    const stilled = isStopped
      ? succeedsWithin(systemClock, SILENCE_MAX_MS, turn.silence)
      : this.#options.runtime.check();
    await Promise.all([stilled, this.#connection.endCommands()]);
  }
}

/** The folder to work in. Without one, an empty folder is used, not the one in which the host runs. */
async function folderOf({ agent, context }: CopilotSessionOptions): Promise<string> {
  if (context.workingDirectory !== undefined) return context.workingDirectory;
  const folder = path.join(agent.home, 'no-folder');
  await makeFolder(folder);
  return folder;
}
