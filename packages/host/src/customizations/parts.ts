/** What customizations need of the host. */
import type { Clock } from '../clock.js';
import type { Logger } from '../logger.js';
import type { Session } from '../sessions/session.js';
import type { SessionTrust } from '../trust/session-trust.js';
import type { Connection } from '../wire/connection.js';
import type { CustomizationsOptions } from './options.js';

export interface CustomizationsParts {
  readonly options: CustomizationsOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  trustOf(session: Session): SessionTrust;
  isTrusted(folder: string): Promise<boolean>;
  connectionOf(clientId: string): Connection | undefined;
  /** To everybody who watches a channel. */
  notify(channel: string, method: string, params: object): void;
}
