/** The agent of a session at work: opened when it is needed, given its turns, stopped, and ended. */

import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import { canReadResults } from '../tool-calls/model-output.js';
import { AgentOpener } from './agent-opener.js';
import type { Session } from './session.js';
import { TurnRunner } from './turn.js';

export class AgentAtWork {
  readonly #session: Session;
  readonly #opener: AgentOpener;
  #runner: TurnRunner | undefined;

  constructor(session: Session, prepare: () => Promise<void>, isResting: () => boolean) {
    this.#session = session;
    this.#opener = new AgentOpener(session.parts, {
      prepare,
      isResting,
      canReadResults: () => canReadResults(session),
    });
  }

  get isOpening(): boolean {
    return this.#opener.isOpening;
  }

  /** Starts the agent of a new session. The outcome shows in the state. */
  create(): void {
    this.#opener.opened().then(
      () => this.#session.write({ type: 'session/ready' }),
      (error) => this.#session.write({ type: 'session/creationFailed', error: AgentOpener.errorInfo(error) }),
    );
  }

  /** Gives it a turn, unless that is over already. */
  run(turnId: string): void {
    const turn = this.#session.state.activeTurn;
    if (turn?.id !== turnId) return;
    this.#runner = new TurnRunner(this.#session, turn);
    void this.#runner.run(this.#opener.forTurn());
  }

  /** A step has been stored: a turn may have waited for it. */
  observe(step: Step<SessionState>): void {
    this.#runner?.observe(step);
  }

  /** Its own history is cut too. */
  truncated(turnId: string | undefined): void {
    this.#opener.truncated(turnId);
  }

  /** Stops it, if it is at work on this turn. */
  stop(turnId: string): void {
    if (this.#runner?.id === turnId) this.#runner.stop();
  }

  /** The session rests: an agent that keeps a process ends it. */
  rest(): Promise<void> {
    return this.#opener.rest();
  }

  async close(): Promise<void> {
    this.#runner?.stop();
    await this.#opener.close();
  }
}
