/**
 * A channel that ends with the host: a terminal, a view of changes, a watch. Nothing of it is kept. Its owner writes
 * the actions, and decides what clients may ask for.
 */
import type { StateAction } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';
import { Channel } from './channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from './open-channel.js';
import type { Writer } from './writer.js';

export interface EphemeralChannelOptions<State> {
  readonly writer: Writer;
  readonly uri: string;
  readonly reduce: Channel<State>['reduce'];
  readonly initial: State;
  /**
   * Says why a client may not do this now; undefined when it may. The shape of the action is already checked, and
   * clients may dispatch this type on such a channel.
   */
  refusal?(action: StateAction, clientId: string): string | undefined;
  /** Called when a client's action has been applied; the owner carries out its effect here. */
  applied?(action: StateAction, clientId: string): void;
}

export class EphemeralChannel<State> implements OpenChannel {
  readonly #options: EphemeralChannelOptions<State>;
  readonly #channel: Channel<State>;

  constructor(options: EphemeralChannelOptions<State>) {
    this.#options = options;
    this.#channel = new Channel(options.uri, options.reduce, options.initial, { isEphemeral: true });
  }

  get uri(): string {
    return this.#channel.uri;
  }

  get channel(): Channel {
    return this.#channel as unknown as Channel;
  }

  /** The live state: every accepted action is in it. */
  get state(): State {
    return this.#channel.live;
  }

  write(action: StateAction): void {
    this.#options.writer.write({ channel: this.#channel, action });
  }

  takeSnapshot(): ChannelSnapshot {
    const { writer } = this.#options;
    return { snapshot: { resource: this.uri, state: this.#channel.committed, fromSeq: writer.shown } };
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    const { writer, refusal, applied } = this.#options;
    const reason = refusal ? refusal(action, origin.clientId) : `clients cannot dispatch ${action.type} here`;
    if (reason !== undefined) return asker.reject(origin, reason);
    writer.write({ channel: this.#channel, action, origin });
    applied?.(action, origin.clientId);
  }
}
