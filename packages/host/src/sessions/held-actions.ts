/** Actions that wait for the end of the turn: a turn keeps the model and the agent it began with. */
import type { SessionAction } from '@atrium/protocol';
import type { Asker, HostCore } from '../core.js';
import type { EntryOrigin } from '../log/log.js';
import { notificationOf } from '../wire/connection.js';
import { echoesEarly } from '../wire/dialects/dialects.js';

interface Held {
  readonly action: SessionAction;
  readonly origin: EntryOrigin;
}

export class HeldActions {
  readonly #held: Held[] = [];

  constructor(private readonly core: HostCore) {}

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  hold(action: SessionAction, origin: EntryOrigin, { connection, original }: Asker): void {
    this.#held.push({ action, origin });
    const { dialect } = connection;
    if (!echoesEarly(dialect)) return;
    const { writer } = this.core;
    const { clientId, clientSeq } = origin;
    const stamp = { serverSeq: writer.assignedSeq, origin: { clientId, clientSeq } };
    writer.tell(connection, () => {
      connection.echoedEarly.add(clientSeq);
      return notificationOf(dialect.encodeEcho(original, stamp));
    });
  }

  /** Applies everything that was held, in the order it came. */
  release(apply: (action: SessionAction, origin: EntryOrigin) => void): void {
    for (const { action, origin } of this.#held.splice(0)) apply(action, origin);
  }
}
