/** The parts of the gateway: each takes some messages of bound providers, and hears what happens around them. */
import type { SessionState } from '@atrium/protocol';
import type { ToGatewayMessageMap, ToGatewayMessageType } from '@atrium/protocol/provider';
import type { Step } from '../core/channels/channel.js';
import type { Extension } from '../core/contracts/extension.js';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Group, Room } from './gateway-session.js';
import type { Binding, Provider } from './provider.js';

/** What the parts share. */
export interface GatewayCore {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where calls are told of, if anybody wants to hear of them. */
  readonly telemetry?: Telemetry | undefined;
  rooms(): readonly Room[];
  /** Resolves when everything written to sessions so far is stored: from then on it is in force for everybody. */
  settled(): Promise<void>;
  /** Takes a provider out of a session where it has no right to be, and tells it why. */
  evict(binding: Binding, why: string): void;
  /** Calls back, in order, when everything written so far is stored. */
  afterCommit(then: () => void): void;
}

/** How a provider went away: lost (it may come back), left for good, or bound anew. */
export type Leaving = 'lost' | 'left' | 'rebound';

export type Handlers = {
  readonly [Type in ToGatewayMessageType]?: (message: ToGatewayMessageMap[Type], provider: Provider) => void;
};

export interface GatewayService {
  readonly handlers?: Handlers;
  /** What it adds to a session for all instances of a provider there. */
  extend?(group: Group): Partial<Extension>;
  /** A provider stands in a session now: newly, or again after it had been away. */
  bound?(binding: Binding, isBack: boolean): void;
  /** It stands there no more. */
  unbound?(binding: Binding): void;
  /** Something of a provider changed in a session. */
  changed?(group: Group): void;
  /** Whatever waits for this provider ends now. */
  left?(provider: Provider, how: Leaving): void;
  /** A session is open to providers. */
  opened?(room: Room): void;
  /** A session that is open is being worked in, newly or again: what belongs to it may start. */
  used?(room: Room): void;
  /** A session rests: resolves when the processes that ran for it have ended. `used` is said again when it works. */
  resting?(room: Room): Promise<void> | undefined;
  /** A session is about to end; resolves when its providers are ready for that, or their time is up. */
  ending?(room: Room): Promise<void> | undefined;
  /** No provider stands in it any more; resolves when everything that ran for it has ended. */
  ended?(room: Room): Promise<void> | undefined;
  /** An action was taken in a session, in this very tick. */
  observe?(room: Room, step: Step<SessionState>): void;
}
