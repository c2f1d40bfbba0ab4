/** Notices of a chat about its session: how much a turn changed, and that the agent could not start. */
import type { Client, OpenSessionState, Subscription } from '@atrium/client';
import type { SessionState } from '@atrium/protocol/ahp-1';
import { totalsOf, totalsText } from '../changes/changes-view.js';
import { settled, turnUri } from '../changes/changeset.js';
import { callsIn, turnOf } from '../sessions/turn-text.js';

/** The changes of an agent with tools of its own are known a moment after its turn. */
const LOOK_MAX_MS = 5_000;

export class SessionNotices {
  readonly #client: Client;
  readonly #say: (text: string) => void;
  #running: string | undefined;
  #isFailureTold = false;

  constructor(client: Client, say: (text: string) => void) {
    this.#client = client;
    this.#say = say;
  }

  /** Looks for news in the state. */
  follow(state: OpenSessionState): void {
    this.#tellFailure(state.session);
    this.#tellChanges(state);
  }

  /** Says once that the agent could not start and will not answer. */
  #tellFailure({ lifecycle, creationError }: SessionState): void {
    if (lifecycle !== 'failed' || this.#isFailureTold) return;
    this.#isFailureTold = true;
    this.#say(`The agent could not be started: ${creationError?.message ?? 'it does not say why'}`);
  }

  /** Tells the changes of a turn that has just ended. */
  #tellChanges(state: OpenSessionState): void {
    const { id } = state.chat.activeTurn ?? {};
    const ended = this.#running;
    this.#running = id;
    if (ended === undefined || ended === id) return;
    const turn = turnOf(state.chat, ended);
    // Nobody asked for this notice, so an error stays silent.
    if (turn && callsIn(turn).length > 0) void this.#look(state, ended).catch(() => {});
  }

  async #look(state: OpenSessionState, turnId: string): Promise<void> {
    const changeset: Subscription<'changeset'> = await this.#client.subscribe(turnUri(state, turnId), {
      kind: 'changeset',
    });
    try {
      await settled(changeset, ({ status, files }) => status !== 'computing' && files.length > 0, LOOK_MAX_MS);
      const { files } = changeset.state;
      if (files.length > 0) this.#say(`${totalsText(totalsOf(files)).replace(' (', ' changed (')}: /changes`);
    } finally {
      changeset.close();
    }
  }
}
