/** Where this machine keeps customizations. What is not named here is not looked for. */

import type { Session } from '../../core/sessions/session.js';
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import type { Connection } from '../../core/wire/connection.js';
import type { SessionTrust } from '../trust/session-trust.js';

export interface CustomizationsOptions {
  /** The user's own folder, usually `~/.agents`: plugins, agents, skills, rules and prompts for all projects. */
  readonly userFolder?: string;
  /** The user's configuration file, for `plugins` and `mcpServers`. */
  readonly userConfigFile?: string;
  /** Where plugins may keep data of their own, each in a folder that the host makes. */
  readonly dataFolder?: string;
}

/** What customizations need of the host. */

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
