/** One session of Copilot. Its conversation lies in Copilot's own files, under an id that follows from the session's. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { AgentOpenContext, AgentSession, AgentTurn } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { makeFolder } from '../../core/util/folders.js';
import { succeedsWithin, untilAborted } from '../../core/util/waiting.js';
import { type CopilotAgentOptions, DEFAULT_NAME } from './copilot-agent.js';
import { runtimeError } from './errors.js';
import { ABORT_MAX_MS, CLOSE_MAX_MS, SILENCE_MAX_MS } from './limits.js';
import { type Connected, CopilotLine } from './line.js';
import { CopilotPrompt } from './prompt.js';
import type { CopilotRuntime } from './runtime.js';
import { TurnRun } from './turn-run.js';

export interface SessionParts {
  readonly options: CopilotAgentOptions;
  readonly runtime: CopilotRuntime;
  readonly context: AgentOpenContext;
}

const TOLD_AGAIN = 'Copilot did not know what was said before; it was told again, as text.';

export class CopilotSession implements AgentSession {
  readonly #parts: SessionParts;
  readonly #line: CopilotLine;
  #run: TurnRun | undefined;
  /** What still goes on, also for a moment after a turn was cancelled. Whatever comes next waits for it. */
  #busy: Promise<unknown> = Promise.resolve();

  private constructor(parts: SessionParts, folder: string) {
    const { options, runtime, context } = parts;
    const id = `atrium-${createHash('sha256').update(context.session).digest('hex').slice(0, 32)}`;
    const side = { options, folder, prompt: new CopilotPrompt(), run: () => this.#run };
    this.#parts = parts;
    this.#line = new CopilotLine({ id, runtime, context, side });
  }

  static async open(parts: SessionParts): Promise<CopilotSession> {
    parts.runtime.join();
    try {
      const session = new CopilotSession(parts, await folderOf(parts));
      await parts.runtime.during(() => session.#line.open());
      parts.context.signal.throwIfAborted();
      return session;
    } catch (error) {
      await parts.runtime.leave();
      throw runtimeError(error);
    }
  }

  async runTurn(turn: AgentTurn): Promise<void> {
    await untilAborted(turn.signal, this.#busy);
    await this.#parts.runtime.during(async () => {
      const ready = this.#line.ready(turn);
      const played = this.#play(turn, ready);
      this.#busy = Promise.allSettled([ready, played]);
      await played;
    });
  }

  async truncated(): Promise<void> {
    await this.#busy;
    const aligned = this.#parts.runtime.during(() => this.#line.align());
    this.#busy = aligned.catch(() => {});
    await aligned;
  }

  async close(): Promise<void> {
    // A turn that was cancelled with the session may still be opening a line, which would stay open.
    await succeedsWithin(systemClock, CLOSE_MAX_MS, this.#busy);
    if (this.#run) {
      await succeedsWithin(systemClock, ABORT_MAX_MS, this.#line.stop());
      await this.#line.endCommands();
    }
    await succeedsWithin(systemClock, CLOSE_MAX_MS, this.#line.close());
    await this.#parts.runtime.leave();
  }

  async #play(turn: AgentTurn, ready: Promise<Connected>): Promise<void> {
    try {
      await this.#send(turn, await untilAborted(turn.signal, ready));
    } catch (error) {
      await this.#giveUp();
      turn.signal.throwIfAborted();
      throw runtimeError(error);
    } finally {
      this.#run = undefined;
    }
  }

  async #send(turn: AgentTurn, connected: Connected): Promise<void> {
    this.#run = this.#runOf(turn, connected);
    const watching = new AbortController();
    const gone = this.#parts.runtime.gone(connected.client, watching.signal);
    try {
      await untilAborted(turn.signal, Promise.race([this.#run.send(), gone]));
    } finally {
      watching.abort();
    }
  }

  #runOf(turn: AgentTurn, { session, tools, model = '' }: Connected): TurnRun {
    const { displayName = DEFAULT_NAME, providerConfig, retries } = this.#parts.options;
    const place = { displayName, modelId: model, baseURL: providerConfig?.baseUrl };
    const { transcript } = this.#line;
    const keepsTitle = transcript !== undefined;
    if (keepsTitle) turn.notify(TOLD_AGAIN);
    const context = keepsTitle ? [transcript, ...turn.context] : turn.context;
    const begun = (eventId: string) => this.#line.heard(turn.id, eventId);
    return new TurnRun({ turn, session, tools, context, keepsTitle, place, retries, begun });
  }

  /** Soon, whatever state the runtime is in. */
  async #giveUp(): Promise<void> {
    const run = this.#run;
    const isStopped = run !== undefined && (await succeedsWithin(systemClock, ABORT_MAX_MS, this.#line.stop()));
    const stilled = isStopped ? succeedsWithin(systemClock, SILENCE_MAX_MS, run.silence) : this.#parts.runtime.check();
    await Promise.all([stilled, this.#line.endCommands()]);
  }
}

/** A session without a folder must not get the one that the host happens to run in. */
async function folderOf({ options, context }: SessionParts): Promise<string> {
  if (context.workingDirectory !== undefined) return context.workingDirectory;
  const folder = path.join(options.home, 'no-folder');
  await makeFolder(folder);
  return folder;
}
