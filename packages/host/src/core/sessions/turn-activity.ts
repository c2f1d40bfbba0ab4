/** What a turn says it is doing is over with the turn. What others put there between turns stays. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';

export class TurnActivity {
  /** Whether the activity that is shown was set while a turn was running. */
  #isOfTurn: boolean;

  /** A turn that is running already was cut off by a crash: nobody remembers who set the activity, so it goes with it. */
  constructor({ activeTurn }: SessionState) {
    this.#isOfTurn = activeTurn !== undefined;
  }

  /** Looks at every action: true when the turn is over whose activity is still shown. */
  hasOutlived({ envelope, before, after }: Step<SessionState>): boolean {
    if (envelope.action.type === 'session/activityChanged') this.#isOfTurn = after.activeTurn !== undefined;
    if (!before.activeTurn || after.activeTurn) return false;
    return this.#isOfTurn && after.summary.activity !== undefined;
  }
}
