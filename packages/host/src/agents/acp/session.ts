/** A session with an agent behind a command, turn by turn. */

import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { AgentOpenContext, AgentSession, AgentTurn } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { isRecord } from '../../core/util/shape.js';
import { succeedsWithin, untilAborted } from '../../core/util/waiting.js';
import type { AcpAgentOptions } from './acp-agent.js';
import { AgentSide } from './agent-side.js';
import { CANCEL_GRACE_MS, UNTOLD_MAX } from './limits.js';
import type { AcpLink, AgentRequests } from './link.js';
import type { OfferedModels } from './offered-models.js';
import { CANCELLED } from './permission.js';
import { promptBlocks } from './prompt.js';
import type { Thread } from './thread.js';
import { showEnd } from './turn-end.js';
import { TurnWork } from './turn-work.js';

export interface AcpOpening {
  readonly options: AcpAgentOptions;
  readonly context: AgentOpenContext;
  readonly offered: OfferedModels;
}

export class AcpSession implements AgentSession {
  readonly #options: AcpAgentOptions;
  readonly #side: AgentSide;
  #work: TurnWork | undefined;
  #untold: readonly string[] = [];
  /** A cancelled turn may still be ending when the next begins; what it still says must not end up there. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(opening: AcpOpening) {
    this.#options = opening.options;
    this.#side = new AgentSide({ ...opening, requests: this.#requests(), turn: () => this.#work?.turn });
  }

  static async open(opening: AcpOpening): Promise<AcpSession> {
    const session = new AcpSession(opening);
    await session.#side.linked();
    return session;
  }

  runTurn(turn: AgentTurn): Promise<void> {
    const running = this.#last.then(() => this.#run(turn));
    this.#last = running.catch(() => {});
    return running;
  }

  async #run(turn: AgentTurn): Promise<void> {
    turn.signal.throwIfAborted();
    const work = new TurnWork(turn);
    this.#work = work;
    try {
      const { link, thread } = await this.#ready(turn);
      const response = await this.#prompt(turn, link, thread);
      await work.end();
      showEnd(turn, response, this.#options.displayName);
    } finally {
      const denials = work.denials.map((reason) => `In an earlier turn a call was denied: ${reason}`);
      this.#untold = [...this.#untold, ...denials].slice(-UNTOLD_MAX);
      this.#work = undefined;
    }
  }

  /** The protocol cannot cut off history: the agent begins anew, with what is left of it as text. */
  truncated(): Promise<void> {
    return this.#side.forget();
  }

  close(): Promise<void> {
    return this.#side.close();
  }

  async #ready(turn: AgentTurn): Promise<{ link: AcpLink; thread: Thread }> {
    try {
      return await untilAborted(turn.signal, this.#side.opened(turn));
    } catch (error) {
      // Nobody knows how far it got.
      if (turn.signal.aborted) this.#side.giveUp();
      throw error;
    }
  }

  async #prompt(turn: AgentTurn, link: AcpLink, thread: Thread): Promise<PromptResponse> {
    const sections = await untilAborted(turn.signal, turn.renderPrompt());
    const preface = [...sections.values()].filter((text) => text !== '').join('\n\n');
    const parts = {
      preface: preface === thread.preface ? undefined : preface,
      transcript: thread.transcript,
      untold: this.#untold,
      context: turn.context,
      message: turn.message,
    };
    const prompt = promptBlocks(parts, link.capabilities.promptCapabilities ?? {});
    const answered = link.request((agent) => agent.request('session/prompt', { sessionId: thread.id, prompt }));
    try {
      const response = await untilAborted(turn.signal, answered);
      this.#heard(thread, preface);
      return response;
    } catch (error) {
      // One that failed may have heard nothing, so it is told everything again. One that was cancelled has heard it.
      if (turn.signal.aborted) {
        this.#heard(thread, preface);
        await this.#stop(link, thread, answered);
      }
      throw error;
    }
  }

  #heard(thread: Thread, preface: string): void {
    this.#side.heard(thread, preface);
    this.#untold = [];
  }

  /** Asks the agent to stop. One that does not is ended. */
  async #stop(link: AcpLink, { id: sessionId }: Thread, answered: Promise<unknown>): Promise<void> {
    link.tell((agent) => agent.notify('session/cancel', { sessionId }));
    const settled = answered.catch(() => {});
    if (!(await succeedsWithin(systemClock, CANCEL_GRACE_MS, settled))) this.#side.giveUp();
  }

  /** What the agent may ask of the turn that is running; between two it may ask nothing. */
  #requests(): AgentRequests {
    const work = () => {
      if (!this.#work) throw new Error('no turn is running');
      return this.#work;
    };
    return {
      update: (params) => {
        const isOurs = isRecord(params) && params.sessionId === this.#side.thread?.id;
        if (!isOurs || !isRecord(params.update)) return;
        if (params.update.sessionUpdate === 'config_option_update')
          this.#side.settingsChanged(params.update.configOptions);
        this.#work?.update(params.update);
      },
      permission: async (request) => ({ outcome: (await this.#work?.permission(request)) ?? CANCELLED }),
      ...(this.#options.files && {
        files: {
          read: async (request) => ({ content: await work().read(request) }),
          write: (request) => work().write(request),
        },
      }),
    };
  }
}
