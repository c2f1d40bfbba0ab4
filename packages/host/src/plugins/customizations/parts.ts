/** What customizations need of the host. */

import type { Session } from '../../core/sessions/session.js';
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import type { Connection } from '../../core/wire/connection.js';
import type { SessionTrust } from '../trust/session-trust.js';
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
