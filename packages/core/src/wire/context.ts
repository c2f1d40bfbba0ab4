/** What every connection needs from the host. The composition root makes it once. */
import type { OpenChannel } from '../channels/open-channel.js';
import type { Writer } from '../channels/writer.js';
import type { Access } from '../contracts/access.js';
import type { Log } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import type { AccessControl } from './access-control.js';
import type { Clients } from './clients.js';
import type { ConnectionRegistry } from './connections.js';
import type { DialectView } from './dialects/dialects.js';
import type { Editions } from './editions.js';
import type { Requests } from './requests.js';
import type { Subscriptions } from './subscriptions.js';

export interface WireContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Writer;
  readonly clients: Clients;
  readonly connections: ConnectionRegistry;
  readonly subscriptions: Subscriptions;
  readonly log: Pick<Log, 'missed' | 'read'>;
  readonly requests: Requests;
  /** Decides who may see and do what. */
  readonly control: AccessControl;
  readonly editions: Editions;
  /** What dialects may look up while they translate. */
  readonly view: DialectView;
  /** Brings a channel into memory; undefined when this URI has none. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** Adds the host's own members to the answer to `initialize`. */
  greeting(access: Access): Readonly<Record<string, unknown>>;
  /** Called when a client that stays connected may no longer lend tools and plugins. */
  lendingRevoked(clientId: string): void;
}
