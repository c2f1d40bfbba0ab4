/** What customizations need from the host, and from one of its sessions. */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Chat } from '@atrium/core/sessions/chat.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { HostRequestMethod, HostRequests, SessionAction, SessionState } from '@atrium/protocol/ahp-1';
import type { SessionTrust } from '../trust/session-trust.js';

/** The folders with customizations on this machine; the host searches nowhere else. */
export interface CustomizationsOptions {
  /** The user's own folder, usually `~/.agents`: plugins, agents, skills, rules and prompts for all projects. */
  readonly userFolder?: string;
  /** The user's configuration file, which may have `plugins` and `mcpServers`. */
  readonly userConfigFile?: string;
  /** Below it, the host creates a data folder for each plugin. */
  readonly dataFolder?: string;
}

export interface CustomizationsPorts {
  readonly options: CustomizationsOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a person trusts a folder. */
  isTrusted(folder: string): Promise<boolean>;
  connectionOf(clientId: string): ClientConnection | undefined;
  /** Notifies every client that is subscribed to a channel. */
  notify(channel: string, method: string, params: object): void;
}

export interface ClientConnection {
  /** Rejects on an error, on a malformed result, on silence, and when the client leaves. */
  request<M extends HostRequestMethod>(
    method: M,
    params: HostRequests[M]['params'],
    timeoutMs?: number,
  ): Promise<HostRequests[M]['result']>;
}

/** The part of a session that customizations use. */
export interface HostSession extends Pick<Session, 'uri' | 'isClosed' | 'selection' | 'select'> {
  readonly state: SessionState;
  readonly chats: readonly Pick<Chat, 'state'>[];
  chatAt(uri: string): Pick<Chat, 'state' | 'write'> | undefined;
  readonly extensions: {
    set(extension: Extension): void;
    remove(id: string): void;
    tools(): readonly HostTool[];
    /** Tells clients the list of tools, if it changed. */
    changed(): void;
  };
  /** Questions to people that outlive turns. */
  readonly standing: Pick<Session['standing'], 'ask'>;
  /** What a person allowed for the rest of the session. */
  readonly toolPermissions: Pick<Session['toolPermissions'], 'load' | 'has' | 'add'>;
  write(action: SessionAction): void;
}

/** Facts about a session that are not in its state. */
export interface SessionFacts {
  readonly trust: Pick<SessionTrust, 'whenTrusted' | 'close'>;
  /** The session's agent; undefined if this host does not have it. */
  readonly agent: AgentFacts | undefined;
  /** The model of the session before a custom agent changed it. */
  readonly modelBefore: {
    load(): Promise<object | undefined>;
    save(model: object | undefined): void;
  };
}

export type AgentFacts = Pick<AgentBackend, 'info' | 'ownToolNames'>;
