/**
 * How a turn begins and how it comes to its end, as far as extensions and people have a say in it: what the agent is told
 * beside the message, and whether it is sent on when it is done.
 */
import type { UserMessage } from '@atrium/protocol';
import { AgentError } from '../contracts/agent.js';
import { adviceFor, untilReady } from '../extensions/turn-advice.js';
import { objectionTo } from '../extensions/turn-ending.js';
import { TURN_SENT_ON_MAX } from '../limits.js';
import type { TurnRunner } from './turn.js';

export class TurnCourse {
  readonly #turn: TurnRunner;
  #message: UserMessage;
  #context: readonly string[] = [];
  /** How often extensions had something against the end of it. */
  #sentOn = 0;

  constructor(turn: TurnRunner, message: UserMessage) {
    this.#turn = turn;
    this.#message = message;
  }

  /** What the agent works on: the message of the turn, or what it was sent on with. */
  get message(): UserMessage {
    return this.#message;
  }

  get context(): readonly string[] {
    return this.#context;
  }

  get isSentOn(): boolean {
    return this.#sentOn > 0;
  }

  /** Extensions hear of the turn before the agent does: they may add to it, or stop it. */
  async begin(): Promise<void> {
    const { id: turnId, agent, session } = this.#turn;
    const isFirst = session.state.turns.length === 0;
    const opening = { turnId, text: this.#message.text, agent, isFirst };
    await untilReady(this.#surroundings());
    const advice = await adviceFor({ opening, ...this.#surroundings() });
    if (advice.blocked !== undefined) throw new AgentError('blocked', advice.blocked);
    for (const note of advice.notes) this.#turn.notify(note);
    this.#context = advice.context;
  }

  /** Extensions may object to the end: the agent hears why in place of a message, and people see it. */
  async goesOn(): Promise<boolean> {
    const seen = this.#turn.session.state.steeringMessage?.id;
    const ending = { turnId: this.#turn.id, isSentOn: this.isSentOn };
    const reason = await objectionTo({ ending, ...this.#surroundings() });
    if (reason === undefined) return this.#isSteeredOn(seen);
    this.#turn.notify(reason);
    if (this.#sentOn === TURN_SENT_ON_MAX) {
      this.#turn.notify(`The turn ends all the same: the agent was sent on ${TURN_SENT_ON_MAX} times already.`);
      return false;
    }
    this.#sentOn += 1;
    this.#continueWith({ text: `[Not written by a person. You were about to stop, but:]\n${reason}` });
    return true;
  }

  /** Extensions take their time: a person may have said something meanwhile. What was said before, the agent has seen. */
  #isSteeredOn(seen: string | undefined): boolean {
    const { state, parts } = this.#turn.session;
    const isNew = state.steeringMessage !== undefined && state.steeringMessage.id !== seen;
    const message = isNew && parts.backend?.abilities.steer ? this.#turn.takeSteering() : undefined;
    if (message) this.#continueWith(message);
    return message !== undefined;
  }

  #continueWith(message: UserMessage): void {
    this.#message = message;
    this.#context = [];
  }

  #surroundings() {
    const { session, signal } = this.#turn;
    const { clock, logger } = session.parts.core;
    return { extensions: session.extensions.all(), signal, clock, logger };
  }
}
