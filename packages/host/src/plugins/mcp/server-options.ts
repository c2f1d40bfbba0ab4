/** What a configured server is made of. */
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import type { McpServerConfig } from '../customizations/parse/mcp-config.js';
import type { People } from './elicitation.js';

export interface McpServerOptions {
  /** Of its customization. */
  readonly id: string;
  readonly name: string;
  /** The plugin that declares it; absent for one of the host's configuration. */
  readonly plugin?: string | undefined;
  /** The user's own: what it says of its tools is believed. By default it is not. */
  readonly isOfUser?: boolean | undefined;
  readonly config: McpServerConfig;
  /** Where a process starts when its declaration does not say: the session's folder. */
  readonly folder?: string | undefined;
  /** What a process inherits; by default the host's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What is to be over before it starts: the server that had its place, which may hold a port or a file. */
  readonly after?: Promise<void> | undefined;
  /** Whom it may ask something; without them, questions count as cancelled. */
  readonly people?: People | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The state or the tools are other than before. */
  changed(): void;
}
