/** The newest actions, kept so that a client that was away for a moment can be given just what it missed. */
import type { ActionEnvelope } from '@atrium/protocol';
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from '../limits.js';
import type { Log } from '../log/log.js';

interface Kept {
  readonly seq: number;
  readonly envelope: ActionEnvelope | undefined;
  readonly actionText: string;
}

/** An action that a client missed, also as the text that goes out. */
export interface MissedAction {
  readonly envelope: ActionEnvelope;
  readonly text: string;
}

export class ReplayBuffer {
  readonly #kept: Kept[] = [];
  #bytes = 0;
  /** The greatest number that was ever put in, kept or not. */
  #last: number;

  constructor(
    lastSeq: number,
    readonly limits = { envelopes: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES },
  ) {
    this.#last = lastSeq;
  }

  /** A restarted host can still tell returning clients what they missed. */
  async load(log: Log): Promise<void> {
    const after = Math.max(log.oldest - 1, log.head - this.limits.envelopes);
    for (const { seq, channel, action, origin, isDamaged } of await log.read({ after })) {
      // Who missed this cannot be told what it was, and needs a snapshot.
      if (isDamaged) this.#startBehind(seq);
      if (isDamaged) continue;
      const whose = origin && { origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } };
      this.add(seq, channel ? { channel, serverSeq: seq, action: JSON.parse(action), ...whose } : undefined, action);
    }
  }

  /** Takes the next number: with its envelope, or without one when it was used up by a rejection. */
  add(seq: number, envelope: ActionEnvelope | undefined, actionText: string): void {
    this.#kept.push({ seq, envelope, actionText });
    this.#bytes += actionText.length;
    this.#last = seq;
    while (this.#kept.length > this.limits.envelopes || this.#bytes > this.limits.bytes) this.#drop();
  }

  #startBehind(seq: number): void {
    this.#kept.length = 0;
    this.#bytes = 0;
    this.#last = seq;
  }

  #drop(): void {
    this.#bytes -= this.#kept.shift()?.actionText.length ?? 0;
  }

  /** Everything behind a number, or undefined when that is no longer known: then a snapshot is needed. */
  after(seq: number): MissedAction[] | undefined {
    const oldest = this.#kept[0]?.seq ?? this.#last + 1;
    if (seq < oldest - 1 || seq > this.#last) return undefined;
    return this.#kept
      .slice(seq - oldest + 1)
      .flatMap(({ envelope, actionText }) => (envelope ? { envelope, text: envelopeText(envelope, actionText) } : []));
  }
}

/** The envelope as JSON, around the action that is JSON already. */
function envelopeText({ channel, serverSeq, origin }: ActionEnvelope, actionText: string): string {
  const whose = origin ? `,"origin":${JSON.stringify(origin)}` : '';
  return `{"channel":${JSON.stringify(channel)},"action":${actionText},"serverSeq":${serverSeq}${whose}}`;
}
