/** The prompts of one turn: what they have in common, and what was found out for the earlier ones. */
import type { TurnRunner } from '../sessions/turn.js';
import { CallbackMemory } from './callbacks.js';
import { TurnFacts } from './facts.js';
import { renderPrompt } from './prompt.js';
import type { Sections } from './sections.js';

export class TurnPrompt {
  readonly #turn: TurnRunner;
  readonly #facts: TurnFacts;
  readonly #memory = new CallbackMemory();

  constructor(turn: TurnRunner) {
    this.#turn = turn;
    this.#facts = new TurnFacts(turn.message, turn.agent);
  }

  async render(pristine?: Sections, projectInstructions?: string): Promise<Sections> {
    const { session, signal } = this.#turn;
    const { backend, core } = session.parts;
    if (!backend) return new Map();
    const { clock, logger, telemetry, connections } = core;
    const { activeClient } = session.committed;
    const connectionOf = (clientId: string) => connections.of(clientId);
    return renderPrompt({
      session: session.uri,
      backend,
      pristine,
      projectInstructions,
      extensions: session.extensions.all(),
      facts: this.#facts.after(session.state.activeTurn?.responseParts ?? []),
      logger,
      turn: { memory: this.#memory, clock, signal, activeClient, connectionOf, telemetry },
    });
  }
}
